//! Ranks in the order of their positions, which count from the root and go around.

use hal::{Mpb, Wait};

use crate::Comm;

/// This rank's place in that order.
pub(super) struct Ring {
    pub(super) position: usize,
    root: usize,
    size: usize,
}

impl Ring {
    pub(super) fn new<C: Mpb + Wait>(comm: &Comm<'_, C>, root: usize) -> Self {
        let size = comm.size();
        Self { position: (comm.rank() + size - root) % size, root, size }
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
