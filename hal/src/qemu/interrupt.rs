//! Interrupts from core to core.
//!
//! One vector is used. A core takes it only while its interrupt flag is set; cores start with the flag clear.

use super::private::Private;
use super::{cpu, lapic};
use core::arch::asm;

pub use super::cpu::InterruptsOff;

/// Vector of the interrupts between cores.
pub(super) const VECTOR: u8 = 0x40;

static HANDLER: Private<Option<fn()>> = Private::new(None);

/// Sets what this core does when another one interrupts it. The handler runs with interrupts off and must not use the x87.
pub fn set_handler(handler: fn()) {
    let _interrupts = InterruptsOff::new();
    // SAFETY: only this core reaches the value, and its interrupts are off.
    unsafe { HANDLER.get().write(Some(handler)) }
}

/// Interrupts another core.
///
/// # Panics
///
/// There is no such core, or it is the calling one.
pub fn send(core: usize) {
    assert!(core < super::boot::core_count() && core != super::this_core());
    lapic::send_interrupt(core, VECTOR);
}

/// Lets this core be interrupted from now on.
pub fn enable() {
    // SAFETY: the core's interrupt table is loaded, so an interrupt finds its handler.
    unsafe { asm!("sti", options(nostack)) }
}

/// Called by the trap code.
pub(super) fn handle() {
    // SAFETY: only this core reaches the value, and its interrupts are off in a handler.
    if let Some(handler) = unsafe { HANDLER.get().read() } {
        handler();
    }
    lapic::end_of_interrupt();
}

/// Waits for an interrupt with the processor stopped; returns with interrupts on.
pub fn wait() {
    // SAFETY: `sti` takes effect after `hlt`, so no interrupt is lost between them; see `enable`.
    unsafe { asm!("sti", "hlt", options(nostack)) }
    cpu::pause();
}
