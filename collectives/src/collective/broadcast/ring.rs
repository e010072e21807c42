//! Ranks in the order of their positions, which count from the root, whose position is 0, and go around.

use hal::{Mpb, Wait};

use crate::Comm;

/// A rank's place in that order.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ring {
    pub(super) position: usize,
    pub(super) root: usize,
    pub(super) size: usize,
}

impl Ring {
    pub(super) fn new<C: Mpb + Wait>(comm: &Comm<'_, C>, root: usize) -> Self {
        Self::of(comm.size(), root, comm.rank())
    }

    /// The place of `rank` among `size` ranks.
    pub(super) fn of(size: usize, root: usize, rank: usize) -> Self {
        Self { position: (rank + size - root) % size, root, size }
    }

    pub(super) fn rank_at(&self, position: usize) -> usize {
        (self.root + position) % self.size
    }

    /// The rank at the position before this one's.
    pub(super) fn left(&self) -> usize {
        self.rank_at(self.position + self.size - 1)
    }

    /// The rank at the position behind.
    pub(super) fn right(&self) -> usize {
        self.rank_at(self.position + 1)
    }
}
