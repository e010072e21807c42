//! What times are read from.

use collectives::names;
use hal::Core;

use crate::measure::look_ticks;

/// What times are read from. Reading takes time itself, part of which is in what is measured.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) enum Clock {
    /// The machine's: those of all cores are the same. In virtual time looking costs nothing; elsewhere what a look takes
    /// is not in what is measured.
    #[default]
    Core,
    /// The board's, as in section 6.1 of the paper: the clocks of an SCC's cores cannot be compared, and this one is
    /// the same for all.
    Board,
}

impl Clock {
    /// What there is to choose from.
    pub(super) const ABOUT: &'static str =
        "core, whose looks do not count, or board, which is read as the paper's authors did; core if not given";

    /// What names of times end with, so that those of different clocks are not pooled.
    pub(super) const fn suffix(self) -> &'static str {
        match self {
            Self::Core => "",
            Self::Board => ".board",
        }
    }

    /// Whether it is the clock that the machine has for its own. That of a board is, if a look at it takes time.
    pub(super) fn is_own<C: Core>(self, hal: &C) -> bool {
        self == Self::Core || look_ticks(hal) > 0
    }

    /// What looks at it take that are to be left out, in ticks of the core. Those of the paper's authors are in their
    /// numbers.
    pub(super) fn look_ticks<C: Core>(self, hal: &C) -> u64 {
        if self == Self::Core { look_ticks(hal) } else { 0 }
    }

    /// What it shows, in ticks of the core; the machine's own if it [is that](Self::is_own).
    ///
    /// The board has its clock in two words beside its atomic counters, and whoever reads it reads the high one, the low
    /// one, and the high one again, lest it was raised in between. Nobody has published what such an access takes: it
    /// is charged as one to a counter. The time is that at which the low word is read on the board, half-way through
    /// the second access; so between two readings there are three accesses that belong to the clock.
    pub(super) fn read<C: Core>(hal: &C, is_own: bool) -> u64 {
        if is_own {
            return hal.now();
        }
        hal.read_counter(0);
        let before = hal.now();
        hal.read_counter(0);
        let shown = before + (hal.now() - before) / 2;
        hal.read_counter(0);
        shown
    }
}

names! { "clock": pub(super) Clock { Core => "core", Board => "board" } }
