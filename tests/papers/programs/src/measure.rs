//! What programs that measure have in common: a watch that is read before and after each call, loops whose first turns do
//! not count, and how numbers are sent.

use alloc::{format, vec::Vec};
use core::{fmt::Display, str::FromStr};

use hal::{Clock, Core, Counters, counters::COUNTS};

use crate::model::Time;
use collectives::Comm;
use kernel::{Failure, Rank, Series, Unit};

/// What one call took, each time that it was made.
pub(super) struct Splits {
    call: &'static str,
    ticks: Vec<u64>,
    /// Of each call, where the core counts.
    counters: Vec<Counters>,
}

impl Splits {
    /// No call of this name was made yet.
    pub(super) fn new(call: &'static str) -> Self {
        Self { call, ticks: Vec::new(), counters: Vec::new() }
    }

    /// Makes the call, and takes note of it if it `counts`; warming up does not.
    pub(super) fn take<C: Core, R>(&mut self, hal: &C, counts: bool, call: impl FnOnce() -> R) -> R {
        // On a board to note what was not counted would take as long as a short call.
        let counters = COUNTS.then(|| hal.counters());
        // What a look at the clock takes is not the call's.
        let (before, begin) = (hal.now(), hal.now());
        let result = call();
        let end = hal.now();
        let did = counters.map(|before| hal.counters() - before);
        if counts {
            self.ticks.push((end - begin).saturating_sub(begin - before));
            self.counters.extend(did);
        }
        result
    }

    /// What each call took.
    pub(super) fn ticks(&self) -> impl Iterator<Item = u64> + '_ {
        self.ticks.iter().copied()
    }

    /// Sends the times in a series of the call's name, and the counters of these names in series `call.counter`.
    pub(super) fn send<C: Core>(&self, rank: &Rank<'_, C>, of: Of<'_>, counters: &[&str]) {
        self.send_as(rank, of, self.call, Unit::Ticks, counters, |ticks| ticks);
    }

    /// The same, with something else that each time makes.
    pub(super) fn send_as<C: Core>(
        &self,
        rank: &Rank<'_, C>,
        of: Of<'_>,
        metric: &str,
        unit: Unit,
        counters: &[&str],
        value: impl Fn(u64) -> u64,
    ) {
        of.send(rank, metric, unit, self.ticks().map(value));
        for (place, name) in Counters::NAMES.iter().enumerate().filter(|(_, name)| counters.contains(name)) {
            let values = self.counters.iter().filter_map(|counters| counters.values().nth(place));
            of.send(rank, &format!("{}.{name}", self.call), Unit::Count, values);
        }
    }

    /// Sends how many bytes a second these bytes make, as `call.throughput`, and counters.
    pub(super) fn send_throughput<C: Core>(&self, rank: &Rank<'_, C>, of: Of<'_>, bytes: usize, counters: &[&str]) {
        let metric = format!("{}.throughput", self.call);
        self.send_as(rank, of, &metric, Unit::Rate, counters, |ticks| throughput(rank.hal(), bytes, ticks));
    }
}

/// Ticks that a look at the clock takes. Where times of several ranks are compared, half a look is before what a rank has
/// seen and half behind it. Where time is virtual a look takes nothing, unless everything is priced: then it takes three
/// accesses to the board's FPGA.
pub(super) fn look_ticks(clock: &impl Clock) -> u64 {
    const LOOKS: usize = 4;
    (0..LOOKS).map(|_| ticks_between_looks(clock)).min().unwrap_or(0)
}

/// Ticks from one look at the clock to the next one. Not inlined: a core that runs through copies of this code, each for the first time,
/// would fetch them from memory each time.
#[inline(never)]
fn ticks_between_looks(clock: &impl Clock) -> u64 {
    let before = clock.now();
    clock.now() - before
}

/// Lets `cycles` cycles pass: the core computes. On boards `compute` does nothing, so the core looks at its clock instead, until
/// they have passed. No cycles take nothing, not even a look.
pub(super) fn let_pass<C: Core>(hal: &C, cycles: u64) {
    if cycles == 0 {
        return;
    }
    let core_hz = u64::from(hal.layout().prices().core_mhz.max(1)) * 1_000_000;
    let until = hal.now() + cycles * hal.ticks_per_second() / core_hz;
    hal.compute(cycles);
    while hal.now() < until {
        hal.relax();
    }
}

/// What numbers are of: an algorithm, what was varied, and bytes.
#[derive(Clone, Copy)]
pub(super) struct Of<'s>(pub(super) &'s str, pub(super) u64, pub(super) usize);

impl Of<'_> {
    /// Sends them.
    pub(super) fn send<C: Core>(
        self,
        rank: &Rank<'_, C>,
        metric: &str,
        unit: Unit,
        values: impl IntoIterator<Item = u64>,
    ) {
        let Self(algorithm, param, bytes) = self;
        rank.samples(&Series { algorithm, param, bytes: bytes as u64, metric, unit }, values.into_iter());
    }
}

/// The turns of a loop: whether each of them counts.
pub(super) fn turns(warm_up: u32, repetitions: u32) -> impl Iterator<Item = bool> {
    (0..warm_up + repetitions).map(move |turn| turn >= warm_up)
}

/// Sizes in bytes, each `factor` times the one before.
pub(super) fn sizes(first: usize, factor: usize, most: usize) -> impl Iterator<Item = usize> {
    core::iter::successors(Some(first), move |bytes| bytes.checked_mul(factor)).take_while(move |bytes| *bytes <= most)
}

/// Demands what all ranks know alike; one of them says why not.
pub(super) fn demand(holds: bool, why_not: impl Display) -> Result<(), Failure> {
    if holds { Ok(()) } else { Err(Failure::new(why_not).on_all_ranks()) }
}

/// Refuses a machine that is too small.
pub(super) fn need_cores<C: Core>(comm: &Comm<'_, C>, needed: usize) -> Result<(), Failure> {
    let size = comm.size();
    demand(size >= needed, format_args!("this takes {needed} cores or more, and there are {size}"))
}

/// The option `repetitions`, of which there has to be one at least.
pub(super) fn repetitions<T, C: Core>(rank: &Rank<'_, C>, default: T) -> Result<T, Failure>
where
    T: FromStr<Err: Display> + Display + Default + PartialEq,
{
    let repetitions = rank.args.get("repetitions", default)?;
    demand(repetitions != T::default(), "`repetitions=0`: there is nothing to measure")?;
    Ok(repetitions)
}

/// Throughput in kilobytes (10^3) in a second.
pub(super) fn throughput(clock: &impl Clock, bytes: usize, ticks: u64) -> u64 {
    let kilobytes = bytes as u128 * u128::from(clock.ticks_per_second()) / u128::from(ticks.max(1)) / 1000;
    u64::try_from(kilobytes).unwrap_or(u64::MAX)
}

/// A time of the model in ticks of a clock.
pub(super) fn ticks(clock: &impl Clock, time: Time) -> u64 {
    let nanoseconds = u128::from(time.as_ps() / 1000);
    u64::try_from(nanoseconds * u128::from(clock.ticks_per_second()) / 1_000_000_000).unwrap_or(u64::MAX)
}

/// A number that is drawn: the same for equal seeds and places, and spread over all of its bits.
pub(super) fn spread(seed: u64, place: u64) -> u64 {
    let mut mixed = (seed ^ place.rotate_left(32)).wrapping_add(place).wrapping_add(1);
    for _ in 0..2 {
        mixed = (mixed ^ mixed >> 31).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    }
    mixed >> 16
}

#[cfg(test)]
mod tests {
    use super::*;
    use kernel::{
        Program,
        args::KnownOption,
        launch::{Only, simulate},
    };

    /// Lets no cycles pass, and some.
    struct Passing;

    impl Program for Passing {
        const NAME: &'static str = "passing";
        const ABOUT: &'static str = "lets cycles pass";
        const OPTIONS: &'static [KnownOption] = &[];

        fn run<C: Core>(rank: &mut Rank<'_, C>) -> Result<(), Failure> {
            let hal = rank.hal();
            let look = look_ticks(hal);
            let passes = |cycles| {
                let before = hal.now();
                let_pass(hal, cycles);
                hal.now() - before
            };
            let (none, some) = (passes(0), passes(53_300));
            demand(look > 0 && none == look, format_args!("{none} ns, and a look takes {look}"))?;
            demand(some > 100_000, format_args!("{some} ns instead of 100 us"))
        }
    }

    #[test]
    fn no_cycles_take_no_looks() {
        let simulation = simulate::<Only<Passing>>("machine=scc cores=1", &[]);
        assert!(simulation.success, "{}", simulation.console);
    }
}
