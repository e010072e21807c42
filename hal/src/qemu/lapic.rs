//! The local APIC: identity of the core at start, and messages between processors.
//!
//! It is never touched on a machine with one core: a `pentium` of QEMU has no local APIC then.

use super::{cpu, memory};
use bitflags::bitflags;
use core::ptr::NonNull;
use volatile::VolatilePtr;

/// Physical and virtual address of the registers; a P54C cannot move them.
pub(super) const BASE: usize = 0xFEE0_0000;
/// Offset of the identification register, which the start code of the other cores reads.
pub(super) const ID: usize = 0x20;
const END_OF_INTERRUPT: usize = 0xB0;
const SPURIOUS: usize = 0xF0;
const COMMAND_LOW: usize = 0x300;
const COMMAND_HIGH: usize = 0x310;

/// The local interrupt pin that NMIs come in by (LINT1), and the way in which it is to deliver them.
const LOCAL_NMI: usize = 0x360;
const DELIVER_NMI: u32 = 0b100 << 8;

/// Vector of interrupts between cores.
pub(super) const INTERRUPT_VECTOR: u8 = 0x40;

/// Vector of interrupts that were withdrawn before they were taken.
pub(super) const SPURIOUS_VECTOR: u8 = 0xFF;

bitflags! {
    /// Low half of the interrupt command register, apart from the vector in its lowest byte.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    struct Command: u32 {
        const NMI = DELIVER_NMI;
        const INIT = 0b101 << 8;
        const START_UP = 0b110 << 8;
        const PENDING = 1 << 12;
        const ASSERT = 1 << 14;
        const LEVEL = 1 << 15;
        const _ = !0;
    }
}

bitflags! {
    /// The spurious interrupt register, apart from the vector in its lowest byte.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    struct Spurious: u32 {
        const ENABLE = 1 << 8;
        const _ = !0;
    }
}

fn register(offset: usize) -> VolatilePtr<'static, u32> {
    let address = NonNull::new(core::ptr::with_exposed_provenance_mut::<u32>(BASE + offset));
    // SAFETY: every address space maps the register page at this address, uncached; registers are aligned 32-bit words.
    unsafe { VolatilePtr::new(address.unwrap_unchecked()) }
}

/// Switches on this core's local APIC, and lets it take NMIs: somebody may want to know where the core is.
pub(super) fn enable() {
    register(LOCAL_NMI).write(DELIVER_NMI);
    register(SPURIOUS).write(Spurious::ENABLE.bits() | u32::from(SPURIOUS_VECTOR));
}

fn command(target: usize, command: Command, vector: u8) {
    let _interrupts = cpu::InterruptsOff::new();
    register(COMMAND_HIGH).write((target as u32) << 24);
    register(COMMAND_LOW).write(command.bits() | u32::from(vector));
    while Command::from_bits_retain(register(COMMAND_LOW).read()).contains(Command::PENDING) {
        cpu::pause();
    }
}

/// Resets another core; it waits for [`send_start_up`] then.
pub(super) fn send_init(target: usize) {
    command(target, Command::INIT | Command::ASSERT | Command::LEVEL, 0);
    command(target, Command::INIT | Command::LEVEL, 0);
}

/// Makes a core that waits after its reset begin at the start of a 4 KiB page below 1 MiB.
pub(super) fn send_start_up(target: usize, page_address: usize) {
    command(target, Command::START_UP | Command::ASSERT, (page_address / memory::PAGE_BYTES) as u8);
}

/// Interrupts another core.
pub(super) fn send_interrupt(target: usize) {
    command(target, Command::ASSERT, INTERRUPT_VECTOR);
}

/// Interrupts another core even if its interrupts are off.
pub(super) fn send_nmi(target: usize) {
    command(target, Command::NMI | Command::ASSERT, 0);
}

/// Acknowledges the interrupt that this core handles.
pub(super) fn end_interrupt() {
    register(END_OF_INTERRUPT).write(0);
}
