//! MPBs, and other memory of their type.

use emulator::{PageKind, PageKind::*};

use super::setup::*;

#[test]
fn a_line_is_stale_until_cl1invmb() {
    let mut chip = chip();
    for address in [mpb(3) + 0x2040, SHARED + 0x40] {
        store(&mut chip, 1, address, Uncached, 1);
        assert_eq!(load(&mut chip, 0, address, Mpbt), 1);
        store(&mut chip, 1, address, Uncached, 2);
        assert_eq!(load(&mut chip, 0, address + 4, Mpbt) >> 16, 0xDEAD);
        assert_eq!(load(&mut chip, 0, address, Mpbt), 1);
        chip.cl1invmb(1);
        assert_eq!(load(&mut chip, 0, address, Mpbt), 1, "another core's CL1INVMB does nothing");
        chip.cl1invmb(0);
        assert_eq!(load(&mut chip, 0, address, Mpbt), 2);
    }
}

#[test]
fn cl1invmb_keeps_all_other_lines() {
    let mut chip = chip();
    load(&mut chip, 0, 0x5000, WriteBack);
    store(&mut chip, 0, 0x5000, WriteBack, 1);
    load(&mut chip, 0, mpb(0) + 0x1000, Mpbt);
    chip.cl1invmb(0);
    let hits = chip.counts(0).l1_hits;
    assert_eq!((load(&mut chip, 0, 0x5000, WriteBack), chip.counts(0).l1_hits), (1, hits + 1));
}

#[test]
fn wbinvd_forgets_lines_of_the_mpb_too() {
    let mut chip = chip();
    store(&mut chip, 1, mpb(0), Uncached, 1);
    load(&mut chip, 0, mpb(0), Mpbt);
    store(&mut chip, 1, mpb(0), Uncached, 2);
    chip.wbinvd(0).unwrap();
    assert_eq!(load(&mut chip, 0, mpb(0), Mpbt), 2);
}

#[test]
fn a_part_of_a_line_stays_in_the_buffer() {
    let mut chip = chip();
    let before = load(&mut chip, 1, mpb(1), Uncached);
    store(&mut chip, 0, mpb(1), Mpbt, 1);
    chip.cl1invmb(0);
    chip.wbinvd(0).unwrap();
    load(&mut chip, 0, mpb(2), Mpbt);
    store(&mut chip, 0, 0x5000, WriteBack, 1);
    store(&mut chip, 0, SHARED, Uncached, 1);
    assert_eq!(load(&mut chip, 0, mpb(1), Mpbt), before, "not even its own core sees it");
    assert_eq!(load(&mut chip, 1, mpb(1), Mpbt), before);
    // A store to another line, be it of DRAM, drains it.
    chip.cl1invmb(1);
    store(&mut chip, 0, SHARED + 0x100, Mpbt, 2);
    assert_eq!(load(&mut chip, 1, mpb(1), Mpbt), 1);
    assert_eq!((chip.counts(0).full_drains, chip.counts(0).partial_drains), (0, 1));
}

#[test]
fn a_full_line_drains_by_itself_as_one() {
    let mut chip = chip();
    let changes = chip.changes();
    for word in 0..8 {
        assert_eq!(chip.changes(), changes);
        store(&mut chip, 0, mpb(5) + 4 * word, Mpbt, word);
    }
    assert_eq!(chip.changes(), changes + 1);
    assert_eq!((chip.counts(0).full_drains, chip.counts(0).partial_drains), (1, 0));
    assert_eq!(chip.mpb(5)[28], 7);
}

#[test]
fn only_bytes_that_were_stored_to_drain() {
    let mut chip = chip();
    let line = mpb(4) + 0x80;
    chip.store(0, line + 3, Mpbt, 1, 0xAA).unwrap();
    (0..8).for_each(|word| store(&mut chip, 1, line + 4 * word, Uncached, word));
    chip.store(0, line + 0x1E, Mpbt, 2, 0xBBCC).unwrap();
    store(&mut chip, 0, mpb(0), Mpbt, 0);
    let found = [0, 4, 28].map(|at| load(&mut chip, 1, line + at, Uncached));
    assert_eq!(found, [0xAA00_0000, 1, 0xBBCC_0007]);
}

#[test]
fn stores_to_lines_that_l1_has_go_on_if_the_page_is_written_through() {
    for (kind, seen) in [(Mpbt, 5), (MpbtWriteBack, 1)] {
        let mut chip = chip();
        store(&mut chip, 1, mpb(9), Uncached, 1);
        load(&mut chip, 0, mpb(9), kind);
        store(&mut chip, 0, mpb(9), kind, 5);
        store(&mut chip, 0, mpb(0), kind, 0);
        assert_eq!(load(&mut chip, 0, mpb(9), kind), 5);
        assert_eq!(load(&mut chip, 1, mpb(9), Uncached), seen);
        chip.cl1invmb(0);
        assert_eq!(load(&mut chip, 0, mpb(9), kind), seen, "{kind:?}");
        assert_eq!(chip.counts(0).lost_mpbt_lines, u64::from(kind == MpbtWriteBack));
    }
}

#[test]
fn mpb_lines_are_not_in_l2() {
    let mut chip = chip();
    store(&mut chip, 1, mpb(0), Uncached, 1);
    assert_eq!(load(&mut chip, 0, mpb(0), Mpbt), 1);
    refused(chip.load(0, mpb(0) + 0x40, WriteBack, 4), 0, mpb(0) + 0x40, "not of the MPB's type");
    refused(chip.store(0, mpb(0) + 0x44, WriteBack, 4, 0), 0, mpb(0) + 0x44, "not of the MPB's type");
}

#[test]
fn a_tile_has_16_kb() {
    let mut chip = chip();
    load(&mut chip, 0, mpb(0) + 0x3FFC, Mpbt);
    refused(chip.load(0, mpb(0) + 0x4000, Mpbt, 4), 0, mpb(0) + 0x4000, "beyond the end of a tile's MPB");
    refused(chip.store(0, mpb(0) + 0x4004, Mpbt, 4, 1), 0, mpb(0) + 0x4004, "beyond the end of a tile's MPB");
}

#[test]
fn pages_are_of_four_kinds() {
    let (through, uncached, mpbt) = (1_u32 << 3, 1_u32 << 4, 1_u32 << 7);
    let kind = |bits| PageKind::from_page_bits(0x1234_5023 | bits);
    assert_eq!(kind(0), Ok(WriteBack));
    assert_eq!(kind(uncached), Ok(Uncached));
    assert_eq!(kind(uncached | through), Ok(Uncached));
    assert_eq!(kind(mpbt | through), Ok(Mpbt));
    assert_eq!(kind(mpbt), Ok(MpbtWriteBack));
    assert!(kind(mpbt | uncached).is_err() && kind(through).is_err());
}
