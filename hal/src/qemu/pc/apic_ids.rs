//! Which local APIC each core has.

use core::sync::atomic::{AtomicU8, Ordering};

use crate::qemu::handed::facts::MAX_CORES;

/// What no core is called.
const NOBODY: u8 = MAX_CORES as u8;

/// The core that each local APIC belongs to, read by the start code.
#[unsafe(link_section = ".emulator")]
pub(crate) static CORES: [AtomicU8; 256] = [const { AtomicU8::new(NOBODY) }; 256];

/// The local APIC of each core.
#[unsafe(link_section = ".emulator")]
static APIC_IDS: [AtomicU8; MAX_CORES] = [const { AtomicU8::new(0) }; MAX_CORES];

/// Notes that a core has this local APIC.
pub(crate) fn assign(core: usize, apic_id: u8) {
    APIC_IDS[core].store(apic_id, Ordering::Relaxed);
    CORES[usize::from(apic_id)].store(core as u8, Ordering::Relaxed);
}

/// The local APIC of a core.
pub(crate) fn apic_id(core: usize) -> u8 {
    APIC_IDS[core].load(Ordering::Relaxed)
}
