//! Which bytes of a stretch are allocated. All ranks allocate alike, so that each finds the same places by itself.

use alloc::collections::BTreeMap;

/// The blocks of a stretch that are allocated: start and length, in bytes.
#[derive(Default)]
pub(super) struct Blocks {
    taken: BTreeMap<usize, usize>,
}

impl Blocks {
    /// Takes the first room for `len` bytes, a multiple of the unit, in a stretch without end. Returns where it starts.
    pub(super) fn take(&mut self, len: usize) -> usize {
        let mut start = 0;
        for (block, block_len) in &self.taken {
            if block - start >= len {
                break;
            }
            start = block + block_len;
        }
        self.taken.insert(start, len);
        start
    }

    /// Gives the block that starts there back; false if there is none.
    pub(super) fn give_back(&mut self, start: usize) -> bool {
        self.taken.remove(&start).is_some()
    }

    /// Whether all these bytes are allocated; blocks that follow each other are one.
    pub(super) fn hold(&self, start: usize, len: usize) -> bool {
        let (mut next, end) = (start, start + len);
        loop {
            let Some((block, block_len)) = self.taken.range(..=next).next_back() else { return false };
            let block_end = block + block_len;
            if next >= block_end && !(len == 0 && next == block_end) {
                return false;
            }
            if end <= block_end {
                return true;
            }
            next = block_end;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_room_is_taken() {
        let mut blocks = Blocks::default();
        assert_eq!([32, 64, 32].map(|len| blocks.take(len)), [0, 32, 96]);
        assert!(blocks.give_back(32) && !blocks.give_back(32) && !blocks.give_back(33));
        assert_eq!([96, 32, 32, 32].map(|len| blocks.take(len)), [128, 32, 64, 224]);
    }

    #[test]
    fn what_is_allocated_is_known() {
        let mut blocks = Blocks::default();
        assert!(!blocks.hold(0, 0) && !blocks.hold(0, 1));
        blocks.take(32);
        blocks.take(64);
        assert!(blocks.hold(0, 96) && blocks.hold(31, 2) && blocks.hold(96, 0) && blocks.hold(0, 0));
        assert!(!blocks.hold(0, 97) && !blocks.hold(97, 0));
        blocks.give_back(0);
        assert!(!blocks.hold(31, 2) && blocks.hold(32, 64));
    }
}
