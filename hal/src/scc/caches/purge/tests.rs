use alloc::vec::Vec;

use super::*;
use crate::scc::testing::scc;

/// Four ways and a tree of three bits, as in a P54C's caches.
#[derive(Clone, Default)]
struct Set {
    ways: [Option<usize>; 4],
    upper: bool,
    lower: [bool; 2],
}

impl Set {
    fn read(&mut self, line: usize) {
        let held = self.ways.iter().position(|way| *way == Some(line));
        let empty = self.ways.iter().position(Option::is_none);
        let way = held.or(empty).unwrap_or_else(|| {
            let pair = usize::from(self.upper);
            2 * pair + usize::from(self.lower[pair])
        });
        self.ways[way] = Some(line);
        self.upper = way < 2;
        self.lower[way / 2] = way % 2 == 0;
    }
}

/// Does what the loop in assembly does.
fn purge(purge: &mut Purge, sets: Sets, mut read: impl FnMut(usize)) {
    let reads = purge.turn(sets);
    for index in reads.set..reads.set + reads.sets {
        let set = index & reads.last_set;
        let half = purge.second_half[set as usize / 32] >> (set % 32) & 1;
        let first = reads.start + half * reads.half_bytes + set * 32;
        (0..reads.ways).for_each(|way| read((first + way * reads.way_bytes) as usize));
    }
}

/// Something that depends on the last value and looks like chance.
fn next(state: &mut u32) -> usize {
    *state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
    (*state >> 8) as usize
}

#[test]
fn no_line_survives_a_purge_of_its_set() {
    const START: usize = 0x40_0000;
    let mut purge = Purge::new(&scc(), START, 256 << 10);
    let mut cache: Vec<Set> = alloc::vec![Set::default(); 2048];
    let mut state = 7;
    for line in 0..2048 + 1500 {
        cache[line % 2048].read(line);
    }
    for _ in 0..2 {
        self::purge(&mut purge, Sets::all(2048), |address| cache[address / 32 % 2048].read(address / 32));
    }
    assert!(cache.iter().flat_map(|set| set.ways).all(|way| way.is_some_and(|line| line >= START / 32)));
    for round in 0..40 {
        for _ in 0..20_000 {
            let line = next(&mut state) % (1 << 15);
            cache[line % 2048].read(line);
        }
        let (address, len) = (next(&mut state) % (1 << 20), next(&mut state) % (1 << (4 + round % 14)));
        let sets = Sets::of(address, len, 2048);
        self::purge(&mut purge, sets, |address| cache[address / 32 % 2048].read(address / 32));
        for line in address / 32..(address + len).div_ceil(32) {
            let set = &cache[line % 2048];
            assert!(set.ways.iter().all(|way| way.is_some_and(|line| line >= START / 32)), "round {round}");
        }
    }
}

#[test]
fn a_page_walk_in_between_saves_the_page_tables_line_only() {
    const TABLE: usize = 3;
    for (tree, way, walk) in (0..8).flat_map(|tree| (0..4).flat_map(move |way| (0..4).map(move |at| (tree, way, at)))) {
        let mut set = Set { ways: [Some(0), Some(1), Some(2), Some(4)], ..Set::default() };
        set.ways[way] = Some(TABLE);
        (set.upper, set.lower) = (tree & 1 != 0, [tree & 2 != 0, tree & 4 != 0]);
        for read in 0..4 {
            if read == walk {
                set.read(TABLE);
            }
            set.read(100 + read);
        }
        let is_gone = |line: &Option<usize>| line.is_some_and(|line| line == TABLE || line >= 100);
        assert!(set.ways.iter().all(is_gone), "tree {tree}, way {way}, before read {walk}: {:?}", set.ways);
    }
}

#[test]
fn a_range_has_the_sets_of_its_lines() {
    assert_eq!(Sets::of(0x8000_0000 + 64, 96, 2048), Sets { first: 2, count: 3 });
    assert_eq!(Sets::of(2047 * 32, 64, 2048), Sets { first: 2047, count: 2 });
    assert_eq!(Sets::of(31, 2, 2048), Sets { first: 0, count: 2 });
    assert_eq!(Sets::of(64, 0, 2048).count, 0);
    assert_eq!(Sets::of(32, 2047 * 32, 2048), Sets { first: 1, count: 2047 });
    assert_eq!(Sets::of(32, 2048 * 32, 2048), Sets::all(2048));
    assert_eq!(Sets::of(32, 1 << 24, 2048), Sets::all(2048));
}

#[test]
fn a_range_may_go_around() {
    let mut purge = Purge::new(&scc(), 0x10_0000, 256 << 10);
    let mut read = Vec::new();
    assert_eq!(purge.sets(), 2048);
    self::purge(&mut purge, Sets { first: 2047, count: 2 }, |address| read.push(address));
    let way = |set: usize| [0, 1, 2, 3].map(|way| 0x10_0000 + way * 0x1_0000 + set * 32);
    assert_eq!(read, [way(2047), way(0)].concat());
    read.clear();
    self::purge(&mut purge, Sets { first: 0, count: 2 }, |address| read.push(address));
    assert_eq!(read, [way(0).map(|address| address + 0x4_0000), way(1)].concat());
}
