//! A chip whose lookup tables are as usual.

use emulator::{Board, Chip, PageKind, Settings, Violation};

/// Address of the shared memory behind the first controller.
pub(crate) const SHARED: u32 = 0x8000_0000;

/// Address of a tile's MPB.
pub(crate) const fn mpb(tile: u32) -> u32 {
    0xC000_0000 + (tile << 24)
}

/// Address of a register of a tile.
pub(crate) const fn register(tile: u32, offset: u32) -> u32 {
    0xE000_0000 + (tile << 24) + offset
}

/// Address of a register of the board.
pub(crate) const fn fpga(offset: u32) -> u32 {
    0xF900_0000 + offset
}

/// Sets a slot of a core's table, as the board's host does.
pub(crate) fn point(chip: &mut Chip, core: u32, slot: u32, entry: u32) {
    let (tile, which) = (core / 2, core % 2);
    chip.host_write(tile % 6, tile / 6, 2, 0x800 * (which + 1) + 8 * slot, entry.into()).unwrap();
}

/// A chip with two private slots for each core, behind the first controller, and everything else where it usually is.
pub(crate) fn chip_with(settings: Settings) -> Chip {
    let mut chip = Chip::with_settings(&Board::scc(4), settings);
    for core in 0..48 {
        (0..2).for_each(|slot| point(&mut chip, core, slot, 0x1800 | (2 * core + slot)));
        point(&mut chip, core, 0xFF, 0x1800 | (200 + core));
        for (slot, entry) in [0x0_18F0, 0x0_B0F0, 0x4_18F0, 0x4_B0F0].into_iter().enumerate() {
            point(&mut chip, core, 0x80 + slot as u32, entry);
        }
        for tile in 0..24 {
            let route = (tile / 6) << 17 | (tile % 6) << 13;
            point(&mut chip, core, 0xC0 + tile, route | 0xC00);
            point(&mut chip, core, 0xE0 + tile, route | 0x800);
        }
        let tile = core / 2;
        point(&mut chip, core, 0xF8, (tile / 6) << 17 | (tile % 6) << 13 | 0x800);
        point(&mut chip, core, 0xF9, 0x0_7500);
        chip.release(core as usize);
    }
    chip
}

pub(crate) fn chip() -> Chip {
    chip_with(Settings::default())
}

/// A word through a page.
pub(crate) fn load(chip: &mut Chip, core: usize, address: u32, kind: PageKind) -> u32 {
    chip.load(core, address, kind, 4).unwrap() as u32
}

/// Stores a word through a page.
pub(crate) fn store(chip: &mut Chip, core: usize, address: u32, kind: PageKind, value: u32) {
    chip.store(core, address, kind, 4, value.into()).unwrap();
}

/// A word of memory as the host sees it: `address` is one of core 0's, private or shared behind the first controller.
pub(crate) fn in_memory(chip: &Chip, address: u32) -> u32 {
    let address = if address >= SHARED { 0xF000_0000 + u64::from(address - SHARED) } else { address.into() };
    let mut bytes = [0; 4];
    chip.memory(0).peek(address, &mut bytes);
    u32::from_le_bytes(bytes)
}

/// That something was refused, with this core, address and reason.
#[track_caller]
pub(crate) fn refused<T: std::fmt::Debug>(result: Result<T, Violation>, core: usize, address: u32, reason: &str) {
    let violation = result.unwrap_err();
    assert_eq!((violation.core(), violation.address()), (core, address), "{violation}");
    assert!(violation.reason().contains(reason), "{violation}");
    let line = violation.to_string();
    assert!(line.starts_with(&format!("core {core} at {address:#010x}: ")) && !line.contains('\n'), "{line}");
}
