//! Private memory: L1 and L2, neither of which anybody else sees.

use emulator::{Chip, PageKind::*, Settings};

use super::setup::*;

const L1_WAY: u32 = 4 << 10;
const L2_WAY: u32 = 64 << 10;

/// What the board's programs do to L2: four reads for each set, from one of two areas in turn.
fn purge(chip: &mut Chip, area: u32) {
    chip.wbinvd(0).unwrap();
    for set in 0..2048 {
        (0..4).for_each(|way| {
            load(chip, 0, area + way * L2_WAY + set * 32, WriteBack);
        });
    }
}

#[test]
fn memory_is_never_zero_and_different_in_each_page() {
    let mut chip = chip();
    let first = load(&mut chip, 0, 0x5000, Uncached);
    assert_eq!((first >> 16, load(&mut chip, 0, 0x5FFC, Uncached)), (0xDEAD, first));
    assert_ne!(load(&mut chip, 0, 0x6000, Uncached), first);
    assert_eq!(load(&mut chip, 0, mpb(7), Uncached) >> 16, 0xDEAD);
    store(&mut chip, 0, 0x5004, Uncached, 7);
    assert_eq!(load(&mut chip, 0, 0x5008, Uncached), first);
}

#[test]
fn the_host_reads_and_writes_across_pages() {
    let mut chip = chip();
    let bytes: Vec<u8> = (0..9000).map(|index| (index % 251) as u8).collect();
    chip.memory_mut(0).poke(0x5FFF, &bytes);
    let mut found = vec![0; 9000];
    chip.memory(0).peek(0x5FFF, &mut found);
    assert_eq!(found, bytes);
    assert_eq!(load(&mut chip, 0, 0x6000, WriteBack), u32::from_le_bytes([1, 2, 3, 4]));
    let end = chip.memory(0).bytes();
    chip.memory_mut(0).poke(end - 2, &bytes);
    found.fill(0xEE);
    chip.memory(0).peek(end - 2, &mut found);
    assert_eq!(found[..3], [0, 1, 0xEE]);
}

#[test]
fn values_of_all_sizes_and_alignments_arrive() {
    for kind in [WriteBack, Uncached, Mpbt, MpbtWriteBack] {
        let mut chip = chip();
        let mut expected = [0_u8; 96];
        for place in 0..96 {
            chip.store(0, SHARED + place, kind, 1, 0).unwrap();
        }
        let mut number = 0x9E37_79B9_7F4A_7C15_u64;
        for offset in 0..64_u32 {
            for len in 1..=8 {
                number = number.rotate_left(7) ^ u64::from(offset);
                if offset % 3 == 0 {
                    chip.load(0, SHARED + offset, kind, len).unwrap();
                }
                chip.store(0, SHARED + offset, kind, len, number).unwrap();
                expected[offset as usize..][..len].copy_from_slice(&number.to_le_bytes()[..len]);
                // Makes the buffer drain.
                chip.store(0, SHARED + 4096, Mpbt, 1, 0).unwrap();
                let mut bytes = [0; 8];
                bytes[..len].copy_from_slice(&expected[offset as usize..][..len]);
                let found = chip.load(0, SHARED + offset, kind, len).unwrap();
                assert_eq!(found, u64::from_le_bytes(bytes), "{kind:?} {len} bytes at {offset}");
            }
        }
    }
}

#[test]
fn a_store_that_misses_goes_to_memory_and_allocates_nothing() {
    let mut chip = chip();
    store(&mut chip, 0, 0x5000, WriteBack, 1);
    assert_eq!((in_memory(&chip, 0x5000), chip.counts(0).missed_stores), (1, 1));
    store(&mut chip, 0, 0x5000, WriteBack, 2);
    assert_eq!((in_memory(&chip, 0x5000), chip.counts(0).missed_stores), (2, 2));
}

#[test]
fn a_store_that_hits_stays_with_its_core() {
    let mut chip = chip();
    let address = SHARED + 0x40;
    store(&mut chip, 0, address, Uncached, 1);
    assert_eq!(load(&mut chip, 0, address, WriteBack), 1);
    assert_eq!(load(&mut chip, 1, address, WriteBack), 1);
    store(&mut chip, 0, address, WriteBack, 2);
    assert_eq!((load(&mut chip, 0, address, WriteBack), load(&mut chip, 1, address, WriteBack)), (2, 1));
    assert_eq!(in_memory(&chip, address), 1);
}

#[test]
fn wbinvd_moves_l1_to_l2_and_leaves_memory_as_it_is() {
    let mut chip = chip();
    let before = load(&mut chip, 0, 0x5000, WriteBack);
    store(&mut chip, 0, 0x5000, WriteBack, 1);
    chip.wbinvd(0).unwrap();
    assert_eq!(in_memory(&chip, 0x5000), before);
    let hits = chip.counts(0).l2_hits;
    assert_eq!((load(&mut chip, 0, 0x5000, WriteBack), chip.counts(0).l2_hits), (1, hits + 1));
}

#[test]
fn without_l2_wbinvd_writes_to_memory() {
    let mut chip = chip();
    let configuration = load(&mut chip, 0, register(0, 0x20), Uncached);
    assert_eq!(configuration, 0x6CF);
    store(&mut chip, 0, register(0, 0x20), Uncached, configuration | 1 << 4);
    load(&mut chip, 0, 0x5000, WriteBack);
    store(&mut chip, 0, 0x5000, WriteBack, 1);
    chip.wbinvd(0).unwrap();
    assert_eq!((in_memory(&chip, 0x5000), chip.counts(0).l2_hits), (1, 0));
}

#[test]
fn l2_is_not_switched_off_with_something_modified_in_it() {
    let mut chip = chip();
    load(&mut chip, 0, 0x5000, WriteBack);
    store(&mut chip, 0, 0x5000, WriteBack, 1);
    chip.wbinvd(0).unwrap();
    load(&mut chip, 0, register(0, 0x20), Uncached);
    let result = chip.store(0, register(0, 0x20), Uncached, 4, 0x6DF);
    refused(result, 0, register(0, 0x20), "switched off with 0x5000 modified");
}

#[test]
fn a_modified_line_leaves_l2_when_four_others_of_its_set_come() {
    let mut chip = chip();
    let before = load(&mut chip, 0, 0x5000, WriteBack);
    store(&mut chip, 0, 0x5000, WriteBack, 1);
    chip.wbinvd(0).unwrap();
    for way in 1..4 {
        load(&mut chip, 0, 0x5000 + way * L2_WAY, WriteBack);
        assert_eq!(in_memory(&chip, 0x5000), before);
    }
    load(&mut chip, 0, 0x5000 + 4 * L2_WAY, WriteBack);
    assert_eq!((in_memory(&chip, 0x5000), chip.counts(0).lines_written_back), (1, 1));
    let lines = chip.counts(0).memory_lines_read;
    assert_eq!(load(&mut chip, 0, 0x5000, WriteBack), 1);
    assert_eq!(chip.counts(0).memory_lines_read, lines + 1);
}

#[test]
fn lines_leave_l1_in_the_order_of_its_tree() {
    let mut chip = chip();
    (0..4).for_each(|way| {
        load(&mut chip, 0, way * L1_WAY, WriteBack);
    });
    // Way 0 is used last, so that the other half is older, of which way 2 was used first.
    load(&mut chip, 0, 0, WriteBack);
    load(&mut chip, 0, 4 * L1_WAY, WriteBack);
    let hits = |chip: &mut Chip, way| {
        let before = chip.counts(0).l1_hits;
        load(chip, 0, way * L1_WAY, WriteBack);
        chip.counts(0).l1_hits - before
    };
    assert_eq!([0, 1, 3, 4].map(|way| hits(&mut chip, way)), [1; 4]);
    assert_eq!(hits(&mut chip, 2), 0);
}

#[test]
fn four_reads_for_each_set_purge_l2() {
    let mut chip = chip();
    let modified = || (0..0x4_0000).step_by(32);
    for (value, area) in [(1, 0x10_0000), (2, 0x14_0000), (3, 0x10_0000)] {
        modified().for_each(|address| {
            load(&mut chip, 0, address, WriteBack);
            store(&mut chip, 0, address, WriteBack, value);
        });
        let written = |chip: &Chip| modified().filter(|address| in_memory(chip, *address) == value).count();
        assert!(written(&chip) <= 8192 - 512, "L1 alone holds more");
        purge(&mut chip, area);
        assert_eq!(written(&chip), 8192);
    }
}

#[test]
fn reads_of_lines_that_l2_has_displace_nothing() {
    let (one, other) = (0x10_0000, 0x14_0000);
    let mut chip = chip();
    // What is left of an earlier purge, and a modified line that came in between.
    (0..3).for_each(|way| {
        load(&mut chip, 0, one + way * L2_WAY, WriteBack);
    });
    load(&mut chip, 0, 0, WriteBack);
    store(&mut chip, 0, 0, WriteBack, 1);
    purge(&mut chip, one);
    assert_ne!(in_memory(&chip, 0), 1);
    purge(&mut chip, other);
    assert_eq!(in_memory(&chip, 0), 1);
}

#[test]
fn a_purge_shows_what_others_wrote() {
    let mut chip = chip();
    let address = SHARED + 0x1234 * 32;
    store(&mut chip, 1, address, Uncached, 1);
    assert_eq!(load(&mut chip, 0, address, WriteBack), 1);
    store(&mut chip, 1, address, Uncached, 2);
    chip.wbinvd(0).unwrap();
    assert_eq!(load(&mut chip, 0, address, WriteBack), 1, "L2 has it still");
    purge(&mut chip, 0x10_0000);
    assert_eq!(load(&mut chip, 0, address, WriteBack), 2);
}

#[test]
fn a_line_is_written_back_as_a_whole() {
    let mut chip = chip();
    (0..8).for_each(|word| store(&mut chip, 1, SHARED + 4 * word, Uncached, word));
    load(&mut chip, 0, SHARED, WriteBack);
    store(&mut chip, 0, SHARED, WriteBack, 77);
    store(&mut chip, 1, SHARED + 4, Uncached, 88);
    purge(&mut chip, 0x10_0000);
    assert_eq!([0, 4].map(|at| in_memory(&chip, SHARED + at)), [77, 1], "what the other core wrote is lost");
}

#[test]
fn lines_are_evicted_at_any_moment_if_that_is_asked_for() {
    let mut chip = chip_with(Settings { evictions: Some(5), ..Settings::default() });
    load(&mut chip, 0, 0x5000, WriteBack);
    store(&mut chip, 0, 0x5000, WriteBack, 1);
    (0..200).for_each(|line| {
        load(&mut chip, 0, 0x8000 + 32 * (line % 96), WriteBack);
        chip.wbinvd(0).unwrap();
    });
    assert_eq!(in_memory(&chip, 0x5000), 1);
}

#[test]
fn without_caches_everybody_sees_everything() {
    let mut chip = chip_with(Settings { coherent: true, ..Settings::default() });
    load(&mut chip, 1, SHARED, WriteBack);
    load(&mut chip, 1, mpb(0), Mpbt);
    load(&mut chip, 0, SHARED, WriteBack);
    store(&mut chip, 0, SHARED, WriteBack, 1);
    store(&mut chip, 0, mpb(0), Mpbt, 2);
    assert_eq!((load(&mut chip, 1, SHARED, WriteBack), load(&mut chip, 1, mpb(0), Mpbt)), (1, 2));
}

#[test]
fn instructions_are_fetched_from_memory_and_what_is_modified_over_it() {
    let mut chip = chip();
    let before = load(&mut chip, 0, 0x5000, WriteBack);
    store(&mut chip, 0, 0x5004, WriteBack, 0x1234_5678);
    let page = chip.fetch_page(0, 0x5123).unwrap();
    assert_eq!(page[..4], before.to_le_bytes());
    assert_eq!(page[4..8], 0x1234_5678_u32.to_le_bytes());
    chip.wbinvd(0).unwrap();
    assert_eq!(chip.fetch_page(0, 0x5000).unwrap(), page);
    assert_eq!(page[32..36], before.to_le_bytes());
    refused(chip.fetch_page(0, mpb(0)), 0, mpb(0), "no memory");
    refused(chip.fetch_page(0, 0x5000_0000), 0, 0x5000_0000, "never written");
}

#[test]
fn a_line_is_not_accessed_in_two_ways() {
    let mut chip = chip();
    load(&mut chip, 0, SHARED, WriteBack);
    refused(chip.load(0, SHARED + 4, Uncached, 4), 0, SHARED + 4, "L1 holds it as a write-back line");
    refused(chip.store(0, SHARED + 4, Mpbt, 4, 0), 0, SHARED + 4, "L1 holds it as a write-back line");
    store(&mut chip, 0, SHARED, WriteBack, 5);
    chip.wbinvd(0).unwrap();
    refused(chip.load(0, SHARED, Uncached, 4), 0, SHARED, "around L2, which holds it modified");
    refused(chip.load(0, SHARED, Mpbt, 4), 0, SHARED, "around L2, which holds it modified");
    load(&mut chip, 0, SHARED + 64, Mpbt);
    refused(chip.load(0, SHARED + 64, WriteBack, 4), 0, SHARED + 64, "L1 holds it as an MPBT line");
    store(&mut chip, 0, SHARED + 96, Mpbt, 5);
    refused(chip.load(0, SHARED + 96, Uncached, 1), 0, SHARED + 96, "while the write-combine buffer holds it");
}
