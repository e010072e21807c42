//! Messages between processors, by the local APIC.
//!
//! It is never touched on a machine with one core: a `pentium` of QEMU has no local APIC then.

use bitflags::bitflags;

use crate::{
    bare::{
        PAGE_BYTES, cpu,
        lapic::{DELIVER_NMI, INTERRUPT_VECTOR, register, write},
    },
    qemu::pc::apic_ids,
};

const COMMAND_LOW: usize = 0x300;
const COMMAND_HIGH: usize = 0x310;

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

/// # Safety
/// The target is ready for it.
unsafe fn command(target: usize, command: Command, vector: u8) {
    let _interrupts = cpu::InterruptsOff::new();
    // SAFETY: the caller says so.
    unsafe {
        write(COMMAND_HIGH, u32::from(apic_ids::apic_id(target)) << 24);
        write(COMMAND_LOW, command.bits() | u32::from(vector));
    }
    while Command::from_bits_retain(register(COMMAND_LOW).read()).contains(Command::PENDING) {
        cpu::pause();
    }
}

/// Resets another core; it waits for [`send_start_up`] then.
///
/// # Safety
/// The core does nothing that anybody relies on.
pub(crate) unsafe fn send_init(target: usize) {
    // SAFETY: the caller says so.
    unsafe {
        command(target, Command::INIT | Command::ASSERT | Command::LEVEL, 0);
        command(target, Command::INIT | Command::LEVEL, 0);
    }
}

/// Makes a core that waits after its reset begin at the start of a 4 KiB page below 1 MiB.
///
/// # Safety
/// There is code for it, and the core does not run yet.
pub(crate) unsafe fn send_start_up(target: usize, page_address: usize) {
    // SAFETY: the caller says so.
    unsafe { command(target, Command::START_UP | Command::ASSERT, (page_address / PAGE_BYTES) as u8) }
}

/// Interrupts another core.
pub(crate) fn send_interrupt(target: usize) {
    // SAFETY: every core has a gate for it before it takes interrupts.
    unsafe { command(target, Command::ASSERT, INTERRUPT_VECTOR) }
}

/// Interrupts another core even if its interrupts are off.
pub(crate) fn send_nmi(target: usize) {
    // SAFETY: every core that has arrived has a gate for it, whose handler leaves everything as it was or ends the machine.
    unsafe { command(target, Command::NMI | Command::ASSERT, 0) }
}
