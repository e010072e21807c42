//! Which lines a communicator of some ranks gets among the spare ones.

use hal::LINE_BYTES;

use crate::{
    collective::{barrier, nonblocking::REQUEST_LINES},
    mpb::sequence::CELLS,
};

/// What a communicator of some ranks has among the spare lines, besides signals and the flags of its barrier.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Share {
    /// Operations that can be under way, a power of 2.
    pub(super) turns: u32,
    /// Non-blocking operations that can be outstanding.
    pub(super) requests: usize,
    /// Staging lines of short operations.
    pub(super) staging: usize,
}

/// What is tried, in this order. Twelve staging lines are what a scatter of 8 bytes takes on 48 ranks, and a reduction of one line
/// eleven of them. Fourteen, with the cells of eight turns, are what a reduction of 128 bytes takes on 24 ranks: so they are for more
/// than [`FEW_RANKS`].
pub(super) const SHARES: [Share; 4] = [
    Share { turns: 8, requests: 1, staging: 14 },
    Share { turns: 8, requests: 1, staging: 12 },
    Share { turns: 4, requests: 1, staging: 12 },
    Share { turns: 1, requests: 1, staging: 2 },
];

/// Up to this number of ranks, a reduction of 128 bytes takes 25 lines at most.
const FEW_RANKS: usize = 16;

impl Share {
    /// The largest share for `ranks` ranks that takes four fifths of `free` lines at most, so that there are some for the next
    /// one.
    pub(crate) fn fitting(ranks: usize, free: usize) -> Option<Self> {
        let mut shares = SHARES.into_iter().skip(usize::from(ranks <= FEW_RANKS));
        shares.find(|share| share.lines(ranks) * 5 <= free * 4)
    }

    /// Lines that it takes.
    pub(crate) fn lines(&self, ranks: usize) -> usize {
        ranks.div_ceil(LINE_BYTES)
            + barrier::world_lines(ranks)
            + self.turns as usize * CELLS
            + self.requests * REQUEST_LINES
            + self.staging
    }
}
