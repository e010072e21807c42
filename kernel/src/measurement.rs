//! What a program has measured, on its way to the host.
//!
//! A measurement is a series of whole numbers with a name. Any rank may send some of them: the host pools the numbers
//! of equal names, computes quartiles, and writes tables (`cargo xtask bench`). Whole numbers, so that nothing is
//! rounded before it is sorted.

use core::fmt;

use hal::Core;

use crate::Rank;

/// Numbers on one line: far fewer letters than any serial line or pipe takes in one piece.
const VALUES_PER_LINE: usize = 32;

/// What was measured. Two of them that are equal are one series, whoever sends its numbers.
///
/// Names have no spaces and no `=`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Series<'s> {
    /// What was run.
    pub algorithm: &'s str,
    /// What was varied: the number of targets, of hops, the degree of a tree.
    pub param: u64,
    /// Bytes that were moved; 0 where nothing is.
    pub bytes: u64,
    /// What about it was measured: a call's name, `latency`, or a counter's name.
    pub metric: &'s str,
    /// What the numbers are.
    pub unit: Unit,
}

/// What the numbers of a series are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unit {
    /// Differences of [`Clock::now`](hal::Clock::now). They are sent in nanoseconds and shown in microseconds. Where
    /// the clock does not tell the time, under QEMU, the host drops them.
    Ticks,
    /// A number of something.
    Count,
    /// Thousandths of a whole; shown as a fraction.
    Permille,
    /// Kilobytes (10^3) in a second; shown in MB/s. As good as the clock: the host drops them where it drops
    /// [`Ticks`](Self::Ticks).
    Rate,
}

impl Unit {
    /// The name on the wire.
    fn name(self) -> &'static str {
        match self {
            Self::Ticks => "ns",
            Self::Count => "count",
            Self::Permille => "permille",
            Self::Rate => "kBps",
        }
    }

    /// A number as it is sent.
    fn sent(self, value: u64, ticks_per_second: u64) -> u64 {
        match self {
            Self::Ticks => {
                let nanoseconds = u128::from(value) * 1_000_000_000 / u128::from(ticks_per_second);
                u64::try_from(nanoseconds).unwrap_or(u64::MAX)
            }
            Self::Count | Self::Permille | Self::Rate => value,
        }
    }
}

impl<C: Core> Rank<'_, C> {
    /// Sends numbers that were measured.
    ///
    /// # Panics
    /// If a name in the series is empty, or has a space or `=`.
    pub fn samples(&self, series: &Series<'_>, values: impl Iterator<Item = u64>) {
        for name in [series.algorithm, series.metric] {
            let plain = !name.is_empty() && !name.contains(|letter: char| letter.is_whitespace() || letter == '=');
            assert!(plain, "`{name}` cannot be a name in a series of samples");
        }
        let (ranks, ticks_per_second) = (self.comm.size(), self.hal().ticks_per_second());
        let mut values = values.map(|value| series.unit.sent(value, ticks_per_second)).peekable();
        while values.peek().is_some() {
            let mut chunk = [0; VALUES_PER_LINE];
            let mut len = 0;
            for (place, value) in chunk.iter_mut().zip(&mut values) {
                *place = value;
                len += 1;
            }
            self.tell_host(format_args!("{}", Line { ranks, series, values: &chunk[..len] }));
        }
    }
}

/// One line of samples, without its `@`.
struct Line<'l> {
    ranks: usize,
    series: &'l Series<'l>,
    values: &'l [u64],
}

impl fmt::Display for Line<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Series { algorithm, param, bytes, metric, unit } = self.series;
        let (ranks, unit) = (self.ranks, unit.name());
        write!(
            out,
            "samples algorithm={algorithm} ranks={ranks} param={param} bytes={bytes} metric={metric} unit={unit}"
        )?;
        self.values.iter().try_for_each(|value| write!(out, " {value}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Failure, Program,
        launch::{Only, simulate},
    };

    const SERIES: Series<'_> = Series { algorithm: "ring", param: 3, bytes: 64, metric: "drains", unit: Unit::Count };

    /// Sends as many numbers as its option says, and how long a microsecond is.
    struct Sender;

    impl Program for Sender {
        const NAME: &'static str = "sender";
        const ABOUT: &'static str = "sends samples";
        const OPTIONS: &'static [(&'static str, &'static str)] = &[("count", "how many"), ("metric", "its name")];

        fn run<C: Core>(rank: &mut Rank<'_, C>) -> Result<(), Failure> {
            let metric: std::string::String = rank.args.get("metric", "drains".into())?;
            let series = Series { metric: &metric, ..SERIES };
            rank.samples(&series, 0..rank.args.get("count", 1)?);
            let before = rank.hal().now();
            rank.hal().compute(533);
            let elapsed = rank.hal().now() - before;
            rank.samples(&Series { unit: Unit::Ticks, metric: "latency", ..series }, [elapsed].into_iter());
            Ok(())
        }
    }

    fn lines(words: &str) -> std::vec::Vec<std::string::String> {
        // A look at the clock takes time of its own where everything has a price.
        let simulation = simulate::<Only<Sender>>(&std::format!("accesses_only {words}"), &[]);
        assert!(simulation.success, "{}", simulation.console);
        let lines = simulation.console.lines().filter(|line| line.starts_with("@samples "));
        lines.map(Into::into).collect()
    }

    #[test]
    fn every_rank_sends_its_numbers() {
        let count = "@samples algorithm=ring ranks=2 param=3 bytes=64 metric=drains unit=count 0 1 2";
        let latency = "@samples algorithm=ring ranks=2 param=3 bytes=64 metric=latency unit=ns 1000";
        let mut found = lines("cores=2 count=3");
        found.sort();
        assert_eq!(found, [count, count, latency, latency]);
    }

    #[test]
    fn long_series_take_several_lines() {
        for (count, expected) in [(0, 0), (1, 1), (32, 1), (33, 2), (65, 3)] {
            let found = lines(&std::format!("cores=1 count={count}"));
            let counts: std::vec::Vec<_> = found.iter().filter(|line| line.contains("unit=count")).collect();
            assert_eq!(counts.len(), expected, "{count}");
            let values =
                counts.iter().flat_map(|line| line.split(' ').skip(7)).map(|value| value.parse::<u64>().unwrap());
            assert!(values.eq(0..count), "{count}");
        }
    }

    #[test]
    fn ticks_become_nanoseconds() {
        assert_eq!(Unit::Ticks.sent(533, 533_000_000), 1000);
        assert_eq!(Unit::Ticks.sent(u64::MAX, 1), u64::MAX);
        assert_eq!(Unit::Permille.sent(250, 533_000_000), 250);
    }

    #[test]
    fn names_that_would_break_the_line_are_refused() {
        let simulation = simulate::<Only<Sender>>("cores=1 metric=a=b", &[]);
        assert!(!simulation.success && simulation.console.contains("`a=b` cannot be a name"), "{}", simulation.console);
    }
}
