//! What a core did, for reports.

/// What a core did. Loads and stores count once for each line that they touch.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Counts {
    /// Loads that L1 had.
    pub l1_hits: u64,
    /// Loads of write-back pages that L1 did not have and L2 had.
    pub l2_hits: u64,
    /// Loads of write-back pages that went to memory.
    pub memory_lines_read: u64,
    /// Loads of MPBT pages that L1 did not have.
    pub mpbt_lines_read: u64,
    /// Loads of uncached memory, of registers, and of the board.
    pub uncached_loads: u64,
    /// Stores to write-back pages.
    pub cached_stores: u64,
    /// Those of them that went to memory, because neither L1 nor L2 had the line.
    pub missed_stores: u64,
    /// Stores to MPBT pages.
    pub mpbt_stores: u64,
    /// Stores to uncached memory, registers, and the board.
    pub uncached_stores: u64,
    /// Modified lines that went from the caches to memory.
    pub lines_written_back: u64,
    /// Times that the write-combine buffer drained with a full line.
    pub full_drains: u64,
    /// Times that it drained with a part of a line.
    pub partial_drains: u64,
    /// CL1INVMB executed.
    pub mpbt_invalidations: u64,
    /// Modified MPBT lines that CL1INVMB lost.
    pub lost_mpbt_lines: u64,
    /// `wbinvd` executed.
    pub l1_flushes: u64,
    /// Reads of locks that found them taken.
    pub failed_locks: u64,
    /// Instructions of the blocks that were begun, where time is kept.
    pub instructions: u64,
    /// Lines of instructions that L1 did not have, where time is kept.
    pub instruction_misses: u64,
    /// Mesh hops of everything that left the tile.
    pub hops: u64,
}

impl Counts {
    /// Those that grow while a core polls.
    #[cfg(feature = "cpu")]
    fn of_polls(&mut self) -> [&mut u64; 7] {
        let Self {
            l1_hits,
            mpbt_lines_read,
            uncached_loads,
            cached_stores,
            mpbt_invalidations,
            instructions,
            hops,
            ..
        } = self;
        [l1_hits, mpbt_lines_read, uncached_loads, cached_stores, mpbt_invalidations, instructions, hops]
    }

    /// What has grown since, if only such have.
    #[cfg(feature = "cpu")]
    pub(crate) fn since(mut self, mut before: Self) -> Option<Self> {
        let mut grown = Self::default();
        for ((grown, now), before) in grown.of_polls().into_iter().zip(self.of_polls()).zip(before.of_polls()) {
            *grown = std::mem::take(now) - std::mem::take(before);
        }
        (self == before).then_some(grown)
    }

    /// They grow so many times by as much.
    #[cfg(feature = "cpu")]
    pub(crate) fn grow(&mut self, mut by: Self, times: u64) {
        self.of_polls().into_iter().zip(by.of_polls()).for_each(|(count, by)| *count += *by * times);
    }
}
