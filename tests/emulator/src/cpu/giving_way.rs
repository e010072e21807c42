//! What a core that keeps time wants when it gives way, and how it goes on.

use prices::{Effect, Place};

use super::met::Met;

/// Cycles for which a core goes on that makes no access: an interrupt comes by up to this much later than it might.
pub(super) const TURN_CYCLES: u64 = 200;

/// Why a core gives way. Cycles are those of its clock.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Request {
    /// It makes an access from this cycle on.
    Access {
        /// When it begins.
        start: u64,
        /// Where it goes.
        place: Place,
        /// What it does there.
        effect: Effect,
    },
    /// It has not made one for a while.
    Turn(u64),
    /// It waits for an interrupt.
    Halted {
        /// Since when.
        since: u64,
        /// Whether that of its timer may be next.
        timer: bool,
    },
    /// Its next polls can be left out.
    Polls,
    /// It has met what a debugger wants it to stop at.
    Stopped {
        /// When.
        now: u64,
        /// What.
        met: Met,
    },
}

/// How it goes on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Resume {
    /// What it has asked for happens now.
    Go {
        /// The cycle in which it takes effect.
        effect: u64,
        /// The cycle in which its answer is there.
        complete: u64,
    },
    /// What it asks for has happened before, while its polls were left out: it executes that poll now, and gets the same answer.
    Again {
        /// The cycle in which it took effect.
        effect: u64,
        /// The cycle in which its answer was there.
        complete: u64,
    },
    /// The core is reset, or the run has ended.
    Over,
}
