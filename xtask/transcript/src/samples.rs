//! What guests have measured, as it comes over the console.

/// What a number is, as it is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Unit {
    /// Virtual time; guests send nanoseconds.
    Microseconds,
    /// A number of something.
    Count,
    /// A part of a whole; guests send thousandths.
    Fraction,
    /// Throughput; guests send kilobytes (10^3) in a second.
    MegabytesPerSecond,
}

impl Unit {
    fn parse(wire: &str) -> Option<Self> {
        match wire {
            "ns" => Some(Self::Microseconds),
            "count" => Some(Self::Count),
            "permille" => Some(Self::Fraction),
            "kBps" => Some(Self::MegabytesPerSecond),
            _ => None,
        }
    }

    /// The name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Microseconds => "us",
            Self::Count => "count",
            Self::Fraction => "fraction",
            Self::MegabytesPerSecond => "MB/s",
        }
    }

    /// Whether it comes from a clock.
    pub fn is_of_time(self) -> bool {
        matches!(self, Self::Microseconds | Self::MegabytesPerSecond)
    }

    /// How much of what is sent makes one of what is shown.
    pub fn divisor(self) -> f64 {
        match self {
            Self::Microseconds | Self::Fraction | Self::MegabytesPerSecond => 1000.0,
            Self::Count => 1.0,
        }
    }
}

/// What makes a series: samples of equal keys are pooled.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Key {
    /// What was measured: the name of an algorithm, a class of windows, an operation.
    pub algorithm: String,
    /// What distinguishes the machine that the run has asked for, if it has: a suffix, `+contention` for example, or
    /// `@` and the family of a machine of its own, `@cluster-fpga`.
    pub variant: String,
    /// Ranks that took part.
    pub ranks: u64,
    /// What was varied: targets, hops, a degree; 0 if nothing was.
    pub param: u64,
    /// Bytes of an operation.
    pub bytes: u64,
    /// The quantity: `latency`, `throughput`, the name of a counter.
    pub metric: String,
    /// The unit of the quantity.
    pub unit: Unit,
}

impl Key {
    /// The name by which claims ask for it: the algorithm's, and the suffix of the machine.
    pub fn name(&self) -> String {
        format!("{}{}", self.algorithm, self.variant)
    }
}

/// Some samples of a series, as one line of a guest's brings them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Samples {
    /// The series that they belong to.
    pub key: Key,
    /// Whole numbers, in the unit that guests send.
    pub values: Vec<u64>,
}

impl Samples {
    /// Reads what follows `@samples`: the six words of the key in their order, then numbers, of which there is at
    /// least one.
    pub fn parse(words: &str) -> Option<Self> {
        let mut words = words.split(' ');
        let mut field = |name: &str| words.next()?.strip_prefix(name)?.strip_prefix('=');
        let key = Key {
            algorithm: field("algorithm")?.to_owned(),
            variant: String::new(),
            ranks: field("ranks")?.parse().ok()?,
            param: field("param")?.parse().ok()?,
            bytes: field("bytes")?.parse().ok()?,
            metric: field("metric")?.to_owned(),
            unit: Unit::parse(field("unit")?)?,
        };
        let values = words.map(str::parse).collect::<Result<Vec<_>, _>>().ok()?;
        (!values.is_empty()).then_some(Self { key, values })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_are_none_are_refused() {
        let good = "algorithm=a ranks=4 param=1 bytes=0 metric=post unit=ns 1 2";
        assert_eq!(Samples::parse(good).map(|samples| samples.values), Some(vec![1, 2]));
        for (from, to) in [
            (" 1 2", ""),
            ("unit=ns", "unit=days"),
            ("ranks=4", "ranks=many"),
            ("1 2", "1 x"),
            ("1 2", "1 -2"),
            ("param=1 ", ""),
        ] {
            assert_eq!(Samples::parse(&good.replace(from, to)), None, "{from} -> {to}");
        }
    }
}
