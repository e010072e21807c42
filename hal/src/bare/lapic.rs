//! The local APIC's registers.

use bitflags::bitflags;
use core::ptr::NonNull;
use volatile::{VolatilePtr, access::ReadOnly};

/// Physical and virtual address of the registers; a P54C cannot move them.
pub(crate) const BASE: usize = 0xFEE0_0000;
/// Offset of the identification register, which the start code of other cores reads.
pub(crate) const ID: usize = 0x20;
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

/// A register by its offset, to be read; [`write()`] writes.
///
/// # Panics
/// If the page of registers has no such one.
pub(crate) fn register(offset: usize) -> VolatilePtr<'static, u32, ReadOnly> {
    read_write(offset).read_only()
}

fn read_write(offset: usize) -> VolatilePtr<'static, u32> {
    assert!(offset < super::PAGE_BYTES && offset.is_multiple_of(size_of::<u32>()), "no register is at {offset:#x}");
    let address = NonNull::new(core::ptr::with_exposed_provenance_mut::<u32>(BASE + offset));
    // SAFETY: every address space maps the register page at this address, uncached, as it is without paging; registers
    // are aligned 32-bit words. The base is not 0.
    unsafe { VolatilePtr::new(address.unwrap_unchecked()) }
}

/// Writes a register, after a read: steppings of the P54C go wrong when two writes follow each other without a read in
/// between (erratum 11AP of the Pentium; Linux does the same).
///
/// # Safety
/// What the register does with the value breaks nobody's memory: it may interrupt this core or others, or reset them.
pub(crate) unsafe fn write(offset: usize, value: u32) {
    // This one can be read everywhere, and a read of it changes nothing.
    let _ = register(SPURIOUS).read();
    read_write(offset).write(value);
}

/// Switches on this core's local APIC, and lets it take NMIs by pin 1: somebody may want to know where the core is.
pub(crate) fn enable() {
    // First, since entries of the local table stay masked while it is off. SAFETY: NMIs and the spurious vector have gates
    // before any comes.
    unsafe {
        write(SPURIOUS, Spurious::ENABLE.bits() | u32::from(SPURIOUS_VECTOR));
        write(LOCAL_PINS[1], DELIVER_NMI);
    }
}

/// Lets pin 0 interrupt this core with [`INTERRUPT_VECTOR`], at each of its edges.
pub(crate) fn take_interrupts_by_pin() {
    // SAFETY: the vector has a gate before interrupts are on.
    unsafe { write(LOCAL_PINS[0], u32::from(INTERRUPT_VECTOR)) }
}

/// Acknowledges the interrupt that this core handles.
pub(crate) fn end_interrupt() {
    // SAFETY: the next interrupt comes when this core lets it.
    unsafe { write(END_OF_INTERRUPT, 0) }
}
