//! The blocks of memory that a core's program has allocated, by numbers that are the same in every run.
//!
//! Addresses of the host differ from run to run. The order in which a program allocates does not, so a block has a number, and
//! a place in it is told by that. A block that was freed hands its number on to the next one of its length, as heaps of
//! bare metal would hand on its memory, which caches still have.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

/// A block, and an offset in it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct BlockPlace {
    pub(super) block: u32,
    pub(super) offset: usize,
}

/// The blocks that one core's program has allocated.
#[derive(Default, Debug)]
pub(super) struct Blocks {
    /// Length and number of each, by its address.
    live: BTreeMap<usize, (usize, u32)>,
    /// Numbers of blocks that were freed, by their length; last which was freed last.
    free: FxHashMap<usize, Vec<u32>>,
    numbers: u32,
}

impl Blocks {
    /// A block was allocated.
    pub(super) fn begins(&mut self, address: usize, bytes: usize) {
        let number = self.free.get_mut(&bytes).and_then(Vec::pop).unwrap_or_else(|| {
            self.numbers += 1;
            self.numbers
        });
        self.live.insert(address, (bytes, number));
    }

    /// The block at an address is freed.
    pub(super) fn ends(&mut self, address: usize) {
        if let Some((bytes, number)) = self.live.remove(&address) {
            self.free.entry(bytes).or_default().push(number);
        }
    }

    /// In which block an address is.
    pub(super) fn place(&self, address: usize) -> Option<BlockPlace> {
        let (first, (bytes, number)) = self.live.range(..=address).next_back()?;
        let offset = address - first;
        (offset < *bytes).then_some(BlockPlace { block: *number, offset })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_told_by_the_order_in_which_they_are_allocated() {
        let at = |blocks: &Blocks, address: usize| blocks.place(address).map(|place| (place.block, place.offset));
        // Two runs, whose heap begins elsewhere and goes the other way.
        for (first, second) in [(1_000, 2_000), (9_000, 5_000)] {
            let mut blocks = Blocks::default();
            blocks.begins(first, 100);
            blocks.begins(second, 200);
            assert_eq!(
                [first, first + 99, second + 7].map(|address| at(&blocks, address)),
                [Some((1, 0)), Some((1, 99)), Some((2, 7))]
            );
            assert_eq!([first - 1, first + 100, second + 200].map(|address| at(&blocks, address)), [None; 3]);
            blocks.ends(first);
            assert_eq!(at(&blocks, first), None);
            // Of another length it is another block, of the same one it is this one again, wherever it is.
            blocks.begins(first + 300, 101);
            blocks.begins(first + 500, 100);
            assert_eq!([first + 300, first + 501].map(|address| at(&blocks, address)), [Some((3, 0)), Some((1, 1))]);
        }
    }
}
