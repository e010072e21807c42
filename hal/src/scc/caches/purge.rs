//! Which addresses to read so that a cache gives up what it holds: displacement, the only way to write L2 back.
//!
//! `wbinvd` empties L1 and nothing else. The dirty lines of L2 go to memory when others take their places, so a purge
//! reads, for each set, as many lines as there are ways, from a private area that nothing else uses.
//!
//! **Why that is enough.** The four ways of a set are replaced by a pseudo-LRU tree. A miss takes the way that the tree
//! points at, and turns all bits on the path to it away: the next miss goes to the other pair, and comes back to this
//! pair's other way. So four misses in a row take all four ways, whatever the tree and the set held before. A *hit*
//! would break that: it turns the tree without taking a way, and an old line stays. Therefore all reads have to miss.
//! The area has two halves, and each set is purged by the half that it was not purged by the last time. That time left
//! nothing but lines of the other half in the set, and nobody else reads the area: none of this half's lines is there.
//! The first of the four is not read again, as it is by drivers that have one area only: their reads may hit.
//!
//! **Empty ways.** After a reset of the core ways are empty, and a miss takes one of those before it asks the tree,
//! which it turns all the same: then four misses may leave an old line. So all sets are purged twice before anything
//! relies on it. Nothing but a reset empties a way of L2 again.
//!
//! **L1 above it.** A read that L1 answered would not reach L2. L1 is emptied before, so all reads miss there, too; and
//! what was dirty in it has been written to L2, or past it, before L2 is purged.
//!
//! **Nothing in between.** A line of the purging code's own that L1 gives up between the reads of a set would hit L2,
//! and turn the tree. So the reads are a loop in assembly that keeps to registers and stores nothing, interrupts are
//! off, and which half is next for each set is decided before.
//!
//! **But for page walks**, which nothing keeps away: L1 has just been emptied, so a walk may find the page table's line
//! in L2, in the very set. One hit among the four misses saves the line that it hits and no other, and nobody but this
//! core reads its page tables.

use boards::{
    Geometry,
    map::{L2_BYTES, LEAST_L2_SETS},
};

use crate::LINE_BYTES;

/// Sets that a cache can have: those of the largest one with a single way.
const MAX_SETS: usize = L2_BYTES as usize / LINE_BYTES;

/// A run of a cache's sets, which goes on with the first one after the last.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Sets {
    /// The first one.
    pub(crate) first: usize,
    /// How many, all of them at most.
    pub(crate) count: usize,
}

impl Sets {
    /// The sets that bytes may be in, of a cache with `sets` sets.
    pub(crate) const fn of(address: usize, len_bytes: usize, sets: usize) -> Self {
        if len_bytes == 0 {
            return Self { first: 0, count: 0 };
        }
        let (first, last) = (address / LINE_BYTES, (address + len_bytes - 1) / LINE_BYTES);
        if last - first + 1 >= sets {
            return Self::all(sets);
        }
        Self { first: first % sets, count: last - first + 1 }
    }

    /// All of them.
    pub(crate) const fn all(sets: usize) -> Self {
        Self { first: 0, count: sets }
    }
}

/// The area that is read, and which half of it is next for each set.
pub(crate) struct Purge {
    start: usize,
    half_bytes: usize,
    sets: usize,
    ways: usize,
    /// A bit for each set: whether it is the second half's turn.
    second_half: [u32; MAX_SETS / 32],
}

/// What the loop in assembly reads: for each set, lines as many as there are ways.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Reads {
    /// First set.
    pub(crate) set: u32,
    /// How many, at least one.
    pub(crate) sets: u32,
    /// The number of the last set, all of whose bits are 1.
    pub(crate) last_set: u32,
    /// Address of the first half's line for set 0.
    pub(crate) start: u32,
    /// From there to the second half's.
    pub(crate) half_bytes: u32,
    /// From the line of a way to that of the next.
    pub(crate) way_bytes: u32,
    /// Ways.
    pub(crate) ways: u32,
    /// A bit for each set: whether the second half is read.
    pub(crate) second_half: *const u32,
}

impl Purge {
    /// For the board's L2, with an area of twice `half_bytes` bytes.
    ///
    /// # Panics
    /// If a half is smaller than the cache, does not begin with its first set, or the cache is none that can be.
    pub(crate) const fn new(geometry: &Geometry, start: usize, half_bytes: usize) -> Self {
        let (sets, ways) = (geometry.l2_sets as usize, geometry.l2_ways as usize);
        let is_enough = geometry.l2_sets >= LEAST_L2_SETS;
        assert!(sets.is_power_of_two() && is_enough && sets <= MAX_SETS && ways > 0, "an L2 has 32 to 65536 sets");
        assert!(half_bytes >= sets * ways * LINE_BYTES, "what is read to purge L2 is as large as L2");
        assert!(
            start.is_multiple_of(sets * LINE_BYTES) && half_bytes.is_multiple_of(sets * LINE_BYTES),
            "what is read to purge L2 begins with its first set"
        );
        Self { start, half_bytes, sets, ways, second_half: [u32::MAX; MAX_SETS / 32] }
    }

    /// Sets of the cache.
    pub(crate) const fn sets(&self) -> usize {
        self.sets
    }

    /// What to read to purge some sets, at least one: of each the half that was not read the last time.
    pub(crate) fn turn(&mut self, sets: Sets) -> Reads {
        let count = sets.count.min(self.sets);
        if count == self.sets {
            self.second_half[..self.sets / 32].iter_mut().for_each(|bits| *bits = !*bits);
        } else {
            for index in sets.first..sets.first + count {
                let set = index % self.sets;
                self.second_half[set / 32] ^= 1 << (set % 32);
            }
        }
        Reads {
            set: (sets.first % self.sets) as u32,
            sets: count as u32,
            last_set: self.sets as u32 - 1,
            start: self.start as u32,
            half_bytes: self.half_bytes as u32,
            way_bytes: (self.sets * LINE_BYTES) as u32,
            ways: self.ways as u32,
            second_half: self.second_half.as_ptr(),
        }
    }
}

#[cfg(test)]
mod tests {
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
        for (tree, way, walk) in
            (0..8).flat_map(|tree| (0..4).flat_map(move |way| (0..4).map(move |at| (tree, way, at))))
        {
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
}
