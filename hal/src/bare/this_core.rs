//! The calling core.

use core::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use super::cpu;

/// The number of this core, in private memory: reading the register that says it takes longer.
static THIS_CORE: AtomicUsize = AtomicUsize::new(0);

/// The number of the calling core among those of its machine, or its node of a cluster, from 0.
#[inline]
pub fn this_core() -> usize {
    THIS_CORE.load(Relaxed)
}

pub(crate) fn set_this_core(core: usize) {
    THIS_CORE.store(core, Relaxed);
}

/// Calls `action` with interrupts from other cores off: for state that a handler might want as well.
pub fn without_interrupts<R>(action: impl FnOnce() -> R) -> R {
    let _interrupts = cpu::InterruptsOff::new();
    action()
}
