//! QEMU's firmware configuration device, the only place that tells the number of vCPUs without ACPI tables.

use super::port;

const SELECTOR: u16 = 0x510;
const DATA: u16 = 0x511;
const ITEM_SIGNATURE: u16 = 0;
const ITEM_CPU_COUNT: u16 = 5;

fn read<const N: usize>(item: u16) -> [u8; N] {
    // SAFETY: the ports belong to fw_cfg in QEMU and to nobody on a PC; without DMA it does not access memory.
    unsafe {
        port::out16(SELECTOR, item);
        core::array::from_fn(|_| port::in8(DATA))
    }
}

/// The number of vCPUs, or `None` on a machine that is not QEMU's.
pub(super) fn cpu_count() -> Option<usize> {
    if read::<4>(ITEM_SIGNATURE) != *b"QEMU" {
        return None;
    }
    Some(usize::from(u16::from_le_bytes(read(ITEM_CPU_COUNT))))
}
