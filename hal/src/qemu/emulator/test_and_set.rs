//! The test-and-set registers of this node's cores.

use core::sync::atomic::{AtomicU32, Ordering};

use crate::{CoreId, qemu::cluster::nodes};

/// The test-and-set registers of this node's cores: 1 is free, as it reads on the chip.
#[unsafe(link_section = ".emulator")]
static REGISTERS: [AtomicU32; 256] = [const { AtomicU32::new(FREE) }; 256];

/// A register that nobody holds, and one that core 0 holds; those of other cores follow.
const FREE: u32 = 0;
const HELD: u32 = 1;

/// Who holds the register of a core of this node.
pub(crate) fn holder(register: CoreId) -> Option<CoreId> {
    let holder = REGISTERS[nodes::expect_local(register, "the register")].load(Ordering::Relaxed).checked_sub(HELD)?;
    Some(CoreId::new(holder as usize))
}

/// Takes a register for a core, if it is free; returns whether it was.
pub(crate) fn take(register: CoreId, core: CoreId) -> bool {
    let register = &REGISTERS[nodes::expect_local(register, "the register")];
    register.compare_exchange(FREE, HELD + core.index() as u32, Ordering::AcqRel, Ordering::Relaxed).is_ok()
}

/// Gives a register back.
pub(crate) fn free(register: CoreId) {
    REGISTERS[nodes::expect_local(register, "the register")].store(FREE, Ordering::Release);
}
