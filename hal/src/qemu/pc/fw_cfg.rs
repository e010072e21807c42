//! QEMU's firmware configuration device: by it an image knows that it runs in QEMU, and how many vCPUs there are where
//! no table says so.
//!
//! With the word `no_fw_cfg` an image takes QEMU for the PC that it emulates.

use core::sync::atomic::{AtomicBool, Ordering};

use crate::bare::port;

/// The word that forbids to use the device.
const FORBIDDEN: &str = "no_fw_cfg";

const SELECTOR: u16 = 0x510;
const DATA: u16 = 0x511;
const ITEM_SIGNATURE: u16 = 0;
const ITEM_CPU_COUNT: u16 = 5;

#[unsafe(link_section = ".emulator")]
static IS_USED: AtomicBool = AtomicBool::new(false);

fn read<const N: usize>(item: u16) -> [u8; N] {
    // SAFETY: the ports belong to fw_cfg in QEMU and to nobody on a PC; without DMA it does not access memory.
    unsafe {
        port::out16(SELECTOR, item);
        core::array::from_fn(|_| port::in8(DATA))
    }
}

/// Looks for the device. Called once, first of all.
pub(crate) fn probe() {
    IS_USED.store(read::<4>(ITEM_SIGNATURE) == *b"QEMU", Ordering::Relaxed);
}

/// Forgets the device if the command line says so.
pub(crate) fn obey(line: &str) {
    if line.split_ascii_whitespace().any(|word| word == FORBIDDEN) {
        IS_USED.store(false, Ordering::Relaxed);
    }
}

/// Whether this is QEMU. Otherwise it is a PC: with a screen that somebody watches, with a clock of unknown rate, and
/// without a way to end it.
pub(crate) fn is_used() -> bool {
    IS_USED.load(Ordering::Relaxed)
}

/// The number of vCPUs, or nothing where the device is not used.
pub(crate) fn cpu_count() -> Option<usize> {
    is_used().then(|| usize::from(u16::from_le_bytes(read(ITEM_CPU_COUNT))))
}
