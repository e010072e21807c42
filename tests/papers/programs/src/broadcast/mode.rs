//! How one broadcast follows the other.

use collectives::names;

use crate::measure::spread;

/// How one broadcast follows the other.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Mode {
    /// After a barrier, the root being the last one to call: what a broadcast alone takes.
    Separated,
    /// After a barrier, all calling at one moment, as the model assumes.
    Together,
    /// At once: what a broadcast takes in a sequence of them.
    BackToBack,
    /// After a delay that is drawn for each rank and call: what it takes when ranks come at different times.
    Skewed,
}

impl Mode {
    /// Cycles until `rank` makes call `number`, of which some are drawn.
    ///
    /// A root that is late finds all others in the call; those that are there before have drawn when they came, so that
    /// their polls are not in step.
    pub(super) fn delay(self, seed: u64, number: u64, rank: usize, root: usize, most_skew: u64) -> u64 {
        /// Longer than ranks leave a barrier one after the other.
        const LATE_CYCLES: u64 = 8192;
        /// More than a poll takes.
        const JITTER_CYCLES: u64 = 512;
        let drawn = |most: u64| spread(seed, number << 16 | rank as u64) % most.max(1);
        match self {
            Self::Separated if rank == root => LATE_CYCLES + drawn(JITTER_CYCLES),
            Self::Separated => drawn(JITTER_CYCLES),
            Self::Together | Self::BackToBack => 0,
            Self::Skewed => drawn(most_skew),
        }
    }
}

names! {
    "mode": pub(super) Mode {
        Separated => "separated",
        Together => "together",
        BackToBack => "back-to-back",
        Skewed => "skewed",
    }
}
