//! Counting stores that go through the write-combine buffer.

use core::cell::Cell;

use crate::{LineAddress, counters::Counting};

/// The run of stores that was counted last: its line, and which of its bytes it has.
///
/// Runs are what programs make; that the buffer drained by itself in the middle of one does not count.
#[derive(Default)]
pub(super) struct StoreRuns(Cell<Option<(LineAddress, u32)>>);

impl StoreRuns {
    /// Counts a store as part of the last run of stores to its line, or as the first of a new one.
    #[inline]
    pub(super) fn count(&self, counting: &Counting, at: LineAddress, mask: u32) {
        let before = match self.0.get() {
            Some((line, mask)) if line == at => mask,
            _ => {
                counting.count(|counters| match at {
                    LineAddress::Mpb(_) => counters.mpb_lines_written += 1,
                    LineAddress::Shared(_) => counters.combined_lines_written += 1,
                });
                0
            }
        };
        self.0.set((before | mask != u32::MAX).then_some((at, before | mask)));
    }

    /// The line that was stored to last and has not been pushed out since, as far as programs know.
    pub(super) fn last(&self) -> Option<LineAddress> {
        self.0.get().map(|(line, _)| line)
    }

    /// The next store begins a new run.
    #[inline]
    pub(super) fn end(&self) {
        self.0.set(None);
    }
}

/// The mask of `len` bytes of a line from `offset`.
pub fn mask_of(offset: usize, len: usize) -> u32 {
    let ones = if len >= 32 { u32::MAX } else { (1 << len) - 1 };
    ones << offset
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{CoreId, MpbLine, SharedAddress};

    #[test]
    fn a_run_ends_with_its_line() {
        let (runs, counting) = (StoreRuns::default(), Counting::default());
        let line = |line| LineAddress::Mpb(MpbLine::new(CoreId::new(0), line));
        let shared = LineAddress::Shared(SharedAddress::new(0, 32));
        for at in [line(1), line(1), line(2), line(1), shared, shared] {
            runs.count(&counting, at, mask_of(0, 8));
        }
        let counters = counting.snapshot();
        assert_eq!((counters.mpb_lines_written, counters.combined_lines_written), (3, 1));
        runs.count(&counting, shared, mask_of(8, 24));
        runs.count(&counting, shared, mask_of(0, 1));
        assert_eq!(counting.snapshot().combined_lines_written, 2, "a full line has left");
        runs.end();
        runs.count(&counting, shared, mask_of(1, 1));
        assert_eq!(counting.snapshot().combined_lines_written, 3);
    }
}
