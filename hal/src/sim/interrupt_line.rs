//! Interrupts: what has been raised on each core, and cores that compute until one arrives.
//!
//! The engine runs a core until its next access; a core that computes has none. So one that may be interrupted sleeps
//! until its computation is over, and an interrupt that arrives meanwhile wakes it; so it does a core that waits. In
//! a schedule without time an interrupt arrives when it is raised.

/// One core's interrupt.
#[derive(Clone, Copy, Default)]
pub(super) struct InterruptLine {
    /// Whether it interrupts the core.
    pub(super) open: bool,
    /// When what was raised and not taken arrives.
    pub(super) arrives_ps: Option<u64>,
    /// The end of a computation that it would interrupt.
    pub(super) sleeps_until_ps: Option<u64>,
}

impl InterruptLine {
    /// Whether what is raised interrupts the core.
    pub(super) fn is_open(&self) -> bool {
        self.open
    }
}
