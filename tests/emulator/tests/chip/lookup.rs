//! Lookup tables, and where their entries may lead.

use emulator::{Chip, PageKind::*, Settings, System};

use super::setup::*;

/// Points slot 0x40 of core 3, on tile (1, 0), somewhere, and loads through it.
fn through(entry: u32) -> Result<u64, emulator::Violation> {
    let mut chip = chip();
    point(&mut chip, 3, 0x40, entry);
    chip.load(3, 0x4000_0010, Uncached, 4)
}

#[test]
fn entries_lead_to_everything() {
    let chip = chip();
    let private = 2 * 5 * (16 << 20) + 0x12_3456;
    assert_eq!(chip.translate(5, 0x12_3456), Ok(System::Memory { controller: 0, address: private }));
    assert_eq!(chip.translate(5, 0x8300_0004), Ok(System::Memory { controller: 3, address: 0xF000_0004 }));
    assert_eq!(chip.translate(5, mpb(23) + 0x2000), Ok(System::Mpb { tile: 23, offset: 0x2000 }));
    assert_eq!(chip.translate(5, register(7, 0x100)), Ok(System::Registers { tile: 7, offset: 0x100 }));
    assert_eq!(chip.translate(5, 0xF800_0100), Ok(System::Registers { tile: 2, offset: 0x100 }));
    assert_eq!(chip.translate(5, fpga(0x8224)), Ok(System::Board { offset: 0x8224 }));
}

#[test]
fn entries_that_lead_nowhere_are_refused_when_they_are_used() {
    for (entry, reason) in [
        (0x6 << 13 | 0xC00, "tile that does not exist"),
        (0x4 << 17 | 0x800, "tile that does not exist"),
        (0x0_1800 | 256, "beyond the memory"),
        (0x1 << 13 | 0x1800, "side of a tile where there is nothing"),
        (0x1000, "side of a tile where there is nothing"),
        (0x0_7600, "side of a tile where there is nothing"),
        (0x0_7580, "side of a tile where there is nothing"),
        (0x0_1400, "side of a tile where there is nothing"),
        (0x0000, "side of a tile where there is nothing"),
        (0xC01, "address where a tile has none"),
        (0x801, "address where a tile has none"),
        (1 << 21 | 1 << 13 | 0xC00, "around the router, which is broken"),
        (1 << 21 | 2 << 13 | 0xC00, "around the router to another tile"),
    ] {
        refused(through(entry), 3, 0x4000_0010, reason);
    }
    assert!(through(0x0_1800 | 255).is_ok());
    refused(chip().load(3, 0x4000_0010, Uncached, 4), 3, 0x4000_0010, "never written");
}

#[test]
fn stores_are_refused_as_loads_are() {
    for kind in [WriteBack, Uncached, Mpbt, MpbtWriteBack] {
        refused(chip().store(3, 0x4000_0010, kind, 1, 0), 3, 0x4000_0010, "never written");
    }
}

#[test]
fn the_bypass_works_if_that_is_asked_for() {
    let mut chip = chip_with(Settings { bypass_works: true, ..Settings::default() });
    point(&mut chip, 3, 0xD8, 1 << 21 | 1 << 13 | 0xC00);
    store(&mut chip, 3, 0xD800_0000, Uncached, 9);
    assert_eq!(chip.mpb(1)[0], 9);
}

#[test]
fn a_core_points_its_slots_elsewhere_and_others_slots_too() {
    let mut chip = chip();
    // Slot 0x40 of core 3 becomes what slot 1 of core 10 is.
    let entry = load(&mut chip, 3, register(5, 0x800 + 8), Uncached);
    assert_eq!(entry, 0x1800 | 21);
    store(&mut chip, 3, register(1, 0x1000 + 8 * 0x40), Uncached, entry);
    store(&mut chip, 3, 0x4000_0020, Uncached, 77);
    assert_eq!(load(&mut chip, 10, 0x0100_0020, WriteBack), 77);
    let unwritten = load(&mut chip, 3, register(1, 0x1000 + 8 * 0x41), Uncached);
    assert!(unwritten != 0 && unwritten < 1 << 22);
    let at = register(1, 0x1000 + 8 * 0x40);
    refused(chip.store(3, at, Uncached, 4, 1 << 22), 3, at, "22 bits");
}

/// Points slot 0x40 of core 0 elsewhere after something was done.
fn repointed(prepare: impl FnOnce(&mut Chip)) -> Result<(), emulator::Violation> {
    let mut chip = chip();
    point(&mut chip, 0, 0x40, 0x1800 | 180);
    prepare(&mut chip);
    chip.store(0, register(0, 0x800 + 8 * 0x40), Uncached, 4, 0x1800 | 180)?;
    chip.store(0, register(0, 0x800 + 8 * 0x40), Uncached, 4, 0x1800 | 181)
}

#[test]
fn a_slot_is_not_pointed_elsewhere_with_something_of_it_in_a_cache() {
    let at = register(0, 0x800 + 8 * 0x40);
    for kind in [WriteBack, Mpbt] {
        let cache = |chip: &mut Chip| {
            load(chip, 0, 0x4000_0040, kind);
        };
        refused(repointed(cache), 0, at, "slot 0x40 of core 0 is pointed elsewhere while L1 holds 0x40000040");
    }
    let in_l2 = |chip: &mut Chip| {
        load(chip, 0, 0x4000_0040, WriteBack);
        chip.wbinvd(0).unwrap();
    };
    refused(repointed(in_l2), 0, at, "while L2 holds 0x40000040");
    let pending = |chip: &mut Chip| store(chip, 0, 0x4000_0044, Mpbt, 1);
    refused(repointed(pending), 0, at, "while the write-combine buffer holds 0x40000040");
    repointed(|chip| {
        load(chip, 0, 0x4000_0084, Mpbt);
        pending(chip);
        store(chip, 0, mpb(0), Mpbt, 1);
        chip.cl1invmb(0);
        store(chip, 0, 0x4000_0048, Uncached, 1);
    })
    .unwrap();
}

#[test]
fn hops_are_counted() {
    let mut chip = chip();
    load(&mut chip, 0, mpb(0), Uncached);
    assert_eq!(chip.counts(0).hops, 0);
    load(&mut chip, 0, mpb(23), Uncached);
    assert_eq!(chip.counts(0).hops, 8);
    load(&mut chip, 0, 0x8300_0000, Uncached);
    assert_eq!(chip.counts(0).hops, 8 + 7);
}
