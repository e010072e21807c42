//! Counting stores that go through the write-combine buffer.

use core::cell::Cell;

use crate::{
    LINE_BYTES, LineAddress,
    counters::{COUNTS, Counting},
};

/// The run of stores that was counted last: its line, and which of its bytes it has.
///
/// Runs are what programs make; that the buffer drained by itself in the middle of one does not count.
///
/// Its bytes are looked at before they are stored to, in the one line of a cache that all of it is in: an SCC's caches take in no
/// line for a store, so that each store to what nobody loads would go to DRAM.
#[derive(Default)]
#[repr(align(16))]
pub(super) struct StoreRuns {
    /// The line, as its [key](LineAddress::key), which compares in two words.
    line: Cell<u64>,
    /// Its bytes that are in the run, or any where they are not counted; no bytes if there is none.
    bytes: Cell<u32>,
}

impl StoreRuns {
    /// Counts a store as part of the last run of stores to its line, or as the first of a new one.
    ///
    /// A core that does not [count](COUNTS) knows the line of the last store only, and takes one that several have filled for one
    /// that has not left.
    #[inline]
    pub(super) fn count(&self, counting: &Counting, at: LineAddress, offset: usize, len: usize) {
        if !COUNTS {
            let is_whole = len == LINE_BYTES;
            self.set_bytes((!is_whole).into());
            if !is_whole {
                self.line.set(at.key());
            }
            return;
        }
        let mask = mask_of(offset, len);
        let (key, run) = (at.key(), self.bytes.get());
        let before = match run {
            1.. if self.line.get() == key => run,
            _ => {
                match at {
                    LineAddress::Mpb(_) => counting.mpb_lines_written.add(1),
                    LineAddress::Shared(_) => counting.combined_lines_written.add(1),
                }
                0
            }
        };
        self.line.set(key);
        let bytes = before | mask;
        // A full line has left.
        self.bytes.set(if bytes == u32::MAX { 0 } else { bytes });
    }

    /// Counts stores to `lines` whole lines, one after the other.
    #[inline]
    pub(super) fn count_lines(&self, counting: &Counting, first: LineAddress, lines: usize) {
        self.count(counting, first, 0, LINE_BYTES);
        counting.mpb_lines_written.add(lines as u64 - 1);
    }

    /// The line that was stored to last and has not been pushed out since, as far as programs know.
    pub(super) fn last(&self) -> Option<LineAddress> {
        (self.bytes.get() != 0).then(|| LineAddress::of_key(self.line.get()))
    }

    /// The next store begins a new run.
    #[inline]
    pub(super) fn end(&self) {
        self.set_bytes(0);
    }

    #[inline]
    fn set_bytes(&self, bytes: u32) {
        if self.bytes.get() != bytes {
            self.bytes.set(bytes);
        }
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
            runs.count(&counting, at, 0, 8);
        }
        let counters = counting.snapshot();
        assert_eq!((counters.mpb_lines_written, counters.combined_lines_written), (3, 1));
        runs.count(&counting, shared, 8, 24);
        runs.count(&counting, shared, 0, 1);
        assert_eq!(counting.snapshot().combined_lines_written, 2, "a full line has left");
        runs.end();
        runs.count(&counting, shared, 1, 1);
        assert_eq!(counting.snapshot().combined_lines_written, 3);
    }
}
