//! The local APIC's registers.

use bitflags::bitflags;
use core::ptr::NonNull;
use volatile::VolatilePtr;

/// Physical and virtual address of the registers; a P54C cannot move them.
pub(crate) const BASE: usize = 0xFEE0_0000;
const END_OF_INTERRUPT: usize = 0xB0;
const SPURIOUS: usize = 0xF0;

/// The two local interrupt pins.
const LOCAL_PINS: [usize; 2] = [0x350, 0x360];
/// Deliver as NMI, whatever the vector.
pub(crate) const DELIVER_NMI: u32 = 0b100 << 8;

/// Vector of interrupts between cores.
pub(crate) const INTERRUPT_VECTOR: u8 = 0x40;

/// Vector of interrupts that were withdrawn before they were taken.
pub(crate) const SPURIOUS_VECTOR: u8 = 0xFF;

bitflags! {
    /// The spurious interrupt register, apart from the vector in its lowest byte.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    struct Spurious: u32 {
        const ENABLE = 1 << 8;
        const _ = !0;
    }
}

/// A register by its offset.
pub(crate) fn register(offset: usize) -> VolatilePtr<'static, u32> {
    let address = NonNull::new(core::ptr::with_exposed_provenance_mut::<u32>(BASE + offset));
    // SAFETY: every address space maps the register page at this address, uncached; registers are aligned 32-bit words.
    unsafe { VolatilePtr::new(address.unwrap_unchecked()) }
}

/// Switches on this core's local APIC, and lets it take NMIs by pin 1: somebody may want to know where the core is.
pub(crate) fn enable() {
    // First, since entries of the local table stay masked while it is off.
    register(SPURIOUS).write(Spurious::ENABLE.bits() | u32::from(SPURIOUS_VECTOR));
    register(LOCAL_PINS[1]).write(DELIVER_NMI);
}

/// Lets pin 0 interrupt this core with [`INTERRUPT_VECTOR`], at each of its edges.
pub(crate) fn take_interrupts_by_pin() {
    register(LOCAL_PINS[0]).write(u32::from(INTERRUPT_VECTOR));
}

/// Acknowledges the interrupt that this core handles.
pub(crate) fn end_interrupt() {
    register(END_OF_INTERRUPT).write(0);
}
