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

#[cfg(test)]
mod tests;

use descriptions::boards::{
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
        let (sets, ways) = (geometry.costs.cache_sets as usize, geometry.l2_ways as usize);
        let is_enough = geometry.costs.cache_sets >= LEAST_L2_SETS;
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
