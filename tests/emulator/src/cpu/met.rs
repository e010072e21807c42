//! Why a core that is debugged stops.

use crate::chip::Watchpoint;

/// What a core has met.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Met {
    /// A breakpoint: the instruction is next.
    Breakpoint,
    /// The end of its step.
    Step,
    /// With the instruction before, bytes that are watched.
    Watchpoint(Watchpoint),
}
