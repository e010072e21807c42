//! Configuration registers of tiles, and those of the board.

use emulator::{PageKind::*, Pins};

use super::setup::*;

#[test]
fn a_core_learns_which_one_it_is() {
    let mut chip = chip();
    for core in 0..48_u32 {
        let id = load(&mut chip, core as usize, 0xF800_0100, Uncached);
        let tile = (id >> 7 & 15) * 6 + (id >> 3 & 15);
        assert_eq!(tile * 2 + (id & 7), core);
    }
    refused(chip.load(0, register(1, 0x100), Uncached, 4), 0, register(1, 0x100), "says nothing");
    refused(chip.store(0, 0xF800_0100, Uncached, 4, 0), 0, 0xF800_0100, "read only");
}

#[test]
fn locks_are_taken_by_reads_and_freed_by_writes() {
    let mut chip = chip();
    for (offset, len) in [(0x200, 1), (0x400, 4)] {
        let lock = register(9, offset);
        chip.store(40, lock, Uncached, len, 0).unwrap();
        assert_eq!([1, 2, 3].map(|core| chip.load(core, lock, Uncached, len).unwrap()), [1, 0, 0]);
        chip.store(5, lock, Uncached, len, 1).unwrap();
        assert_eq!([1, 2].map(|core| chip.load(core, lock, Uncached, len).unwrap()), [1, 0]);
    }
    assert_eq!(chip.counts(2).failed_locks, 4);
}

#[test]
fn some_locks_are_taken_after_a_reset() {
    let mut chip = chip();
    let free = (0..24).filter(|tile| load(&mut chip, 0, register(*tile, 0x200), Uncached) == 1).count();
    assert!(0 < free && free < 24);
}

#[test]
fn registers_are_words_and_nothing_else() {
    let mut chip = chip();
    let at = register(2, 0x10);
    refused(chip.load(0, at, Uncached, 1), 0, at, "1 bytes");
    refused(chip.load(0, at, Uncached, 8), 0, at, "8 bytes");
    refused(chip.store(0, register(2, 0x800), Uncached, 2, 0), 0, register(2, 0x800), "2 bytes");
    refused(chip.load(0, register(2, 0x200), Uncached, 2), 0, register(2, 0x200), "2 bytes");
    for kind in [WriteBack, Mpbt] {
        refused(chip.load(0, at, kind, 4), 0, at, "not uncached");
    }
    for offset in [0, 0x14, 0x30, 0x201, 0x600, 0x804, 0x1800, 0x2000, 0xFF_FFFC] {
        refused(chip.load(0, register(2, offset), Uncached, 4), 0, register(2, offset), "no register with the offset");
        refused(chip.store(0, register(2, offset), Uncached, 4, 0), 0, register(2, offset), "no register");
    }
    load(&mut chip, 0, register(2, 0x40), Uncached);
    load(&mut chip, 0, register(2, 0x48), Uncached);
}

#[test]
fn cores_interrupt_each_other() {
    let mut chip = chip();
    assert_eq!(chip.interrupt_pins(7), Pins::default());
    let at = register(3, 0x18);
    let before = load(&mut chip, 0, at, Uncached);
    store(&mut chip, 0, at, Uncached, before | 2);
    assert_eq!(chip.interrupt_pins(7), Pins { intr: true, nmi: false });
    assert_eq!(chip.interrupt_pins(6), Pins::default());
    store(&mut chip, 0, at, Uncached, before | 1);
    assert_eq!(chip.interrupt_pins(7), Pins { intr: false, nmi: true });
    refused(chip.store(0, at, Uncached, 4, (before ^ 4).into()), 0, at, "bits that have to stay");
}

#[test]
fn a_change_of_another_core_is_not_written_over() {
    let mut chip = chip();
    let at = register(3, 0x18);
    let before = u64::from(load(&mut chip, 0, at, Uncached));
    refused(chip.store(1, at, Uncached, 4, before | 2), 1, at, "never read it");
    load(&mut chip, 1, at, Uncached);
    chip.store(1, at, Uncached, 4, before | 1).unwrap();
    refused(chip.store(0, at, Uncached, 4, before | 2), 0, at, "over a change by core 1");
}

#[test]
fn cores_are_started_and_stopped() {
    let mut chip = emulator::Chip::new(&emulator::Board::scc(4));
    point(&mut chip, 0, 0xE1, 1 << 13 | 0x800);
    assert!((0..48).all(|core| !chip.running(core)));
    chip.release(0);
    assert!(chip.running(0) && !chip.running(1));
    let at = register(1, 0x80);
    let all = load(&mut chip, 0, at, Uncached);
    assert_eq!(all & 0xFF, 0xFF);
    refused(chip.store(0, at, Uncached, 4, (all & !1).into()), 0, at, "core 2 is started with its L2 in reset");
    let mut chip = chip_started(1);
    let at = register(1, 0x80);
    assert!(chip.running(2) && !chip.running(3));
    let now = load(&mut chip, 0, at, Uncached);
    store(&mut chip, 0, at, Uncached, now & !0xA);
    assert!(chip.running(3));
    store(&mut chip, 0, at, Uncached, now);
    assert!(!chip.running(3));
    refused(chip.store(0, at, Uncached, 4, (now ^ 0x100).into()), 0, at, "bits that have to stay");
}

/// A chip where core 0 has started the first core of a tile.
fn chip_started(tile: u32) -> emulator::Chip {
    let mut chip = emulator::Chip::new(&emulator::Board::scc(4));
    point(&mut chip, 0, 0xE0 + tile, tile << 13 | 0x800);
    chip.release(0);
    let all = load(&mut chip, 0, register(tile, 0x80), Uncached);
    store(&mut chip, 0, register(tile, 0x80), Uncached, all & !5);
    chip
}

#[test]
fn a_reset_loses_what_was_not_written_back() {
    let mut chip = chip();
    let before = load(&mut chip, 2, SHARED, WriteBack);
    store(&mut chip, 2, SHARED, WriteBack, 1);
    store(&mut chip, 2, SHARED + 64, Mpbt, 1);
    let at = register(1, 0x80);
    let now = load(&mut chip, 0, at, Uncached);
    store(&mut chip, 0, at, Uncached, now | 5);
    store(&mut chip, 0, at, Uncached, now);
    assert_eq!(load(&mut chip, 2, SHARED, WriteBack), before);
    store(&mut chip, 2, SHARED + 128, Mpbt, 1);
    assert_ne!(in_memory(&chip, SHARED + 64), 1);
}

#[test]
fn the_timestamp_goes_with_the_cores() {
    let mut chip = chip();
    let read = |chip: &mut emulator::Chip, core| {
        let [low, high] = [0x8224, 0x8228].map(|offset| u64::from(load(chip, core, fpga(offset), Uncached)));
        high << 32 | low
    };
    let before = read(&mut chip, 0);
    assert_ne!(before >> 32, 0);
    chip.tick(0, 533_000_000);
    let second = read(&mut chip, 0) - before;
    assert!((125_000_000..125_001_000).contains(&second), "{second} ticks in a second");
    assert!(read(&mut chip, 47) >= before + second, "it is the same for all cores");
    refused(chip.store(0, fpga(0x8224), Uncached, 4, 0), 0, fpga(0x8224), "read only");
}

#[test]
fn counters_count_reads_up_and_writes_down() {
    let mut chip = chip();
    for counter in [fpga(0xE000), fpga(0xE000 + 8 * 47), fpga(0xF000), fpga(0xF000 + 8 * 47)] {
        assert_ne!(load(&mut chip, 0, counter + 4, Uncached), 0);
        store(&mut chip, 0, counter + 4, Uncached, 10);
        assert_eq!([1, 2].map(|core| load(&mut chip, core, counter, Uncached)), [10, 11]);
        store(&mut chip, 3, counter, Uncached, 99);
        assert_eq!([0; 2].map(|core| load(&mut chip, core, counter + 4, Uncached)), [11, 11]);
    }
}

#[test]
fn nothing_else_of_the_board_is_touched() {
    let mut chip = chip();
    for offset in [0, 0x8220, 0x822C, 0x8230, 0xD000, 0xD600, 0xD900, 0xE000 + 8 * 48, 0xF000 + 8 * 48, 0x1_0000] {
        refused(chip.load(0, fpga(offset), Uncached, 4), 0, fpga(offset), "may lock up");
        refused(chip.store(0, fpga(offset), Uncached, 4, 0), 0, fpga(offset), "may lock up");
    }
    refused(chip.load(0, fpga(0xE000), Uncached, 1), 0, fpga(0xE000), "1 bytes");
    refused(chip.load(0, fpga(0xE000), WriteBack, 4), 0, fpga(0xE000), "not uncached");
    refused(chip.load(0, 0xFB00_0000, Uncached, 4), 0, 0xFB00_0000, "never written");
}
