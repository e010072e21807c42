//! Whether somebody has asked for the end of the simulation that runs. What may go on for long without a core looks at this.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

static ASKED: AtomicBool = AtomicBool::new(false);

/// Asks for the end. Returns whether somebody has done so before.
pub(super) fn ask() -> bool {
    ASKED.swap(true, Relaxed)
}

/// Whether somebody has, and the core that ran then could not be told of.
pub(super) fn is_end_asked_for() -> bool {
    ASKED.load(Relaxed)
}
