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

/// A register by its offset, to be read; [`write`] writes.
pub(crate) fn register(offset: usize) -> VolatilePtr<'static, u32> {
    let address = NonNull::new(core::ptr::with_exposed_provenance_mut::<u32>(BASE + offset));
    // SAFETY: every address space maps the register page at this address, uncached, as it is without paging; registers
    // are aligned 32-bit words. The base is not 0.
    unsafe { VolatilePtr::new(address.unwrap_unchecked()) }
}

/// Writes a register, after a read: steppings of the P54C go wrong when two writes follow each other without a read in
/// between (erratum 11AP of the Pentium; Linux does the same).
pub(crate) fn write(offset: usize, value: u32) {
    // This one can be read everywhere, and a read of it changes nothing.
    let _ = register(SPURIOUS).read();
    register(offset).write(value);
}

/// Switches on this core's local APIC, and lets it take NMIs by pin 1: somebody may want to know where the core is.
pub(crate) fn enable() {
    // First, since entries of the local table stay masked while it is off.
    write(SPURIOUS, Spurious::ENABLE.bits() | u32::from(SPURIOUS_VECTOR));
    write(LOCAL_PINS[1], DELIVER_NMI);
}

/// Lets pin 0 interrupt this core with [`INTERRUPT_VECTOR`], at each of its edges.
pub(crate) fn take_interrupts_by_pin() {
    write(LOCAL_PINS[0], u32::from(INTERRUPT_VECTOR));
}

/// Acknowledges the interrupt that this core handles.
pub(crate) fn end_interrupt() {
    write(END_OF_INTERRUPT, 0);
}
