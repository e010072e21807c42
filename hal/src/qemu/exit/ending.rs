//! Whether the machine is ending.

use core::sync::atomic::{AtomicBool, Ordering};

#[unsafe(link_section = ".emulator")]
static ENDING: AtomicBool = AtomicBool::new(false);

/// Whether a core has begun to end the machine.
pub fn is_ending() -> bool {
    ENDING.load(Ordering::Acquire)
}

/// Notes that the calling core ends the machine. Returns false if another core does so already.
pub(crate) fn begin() -> bool {
    !ENDING.swap(true, Ordering::AcqRel)
}
