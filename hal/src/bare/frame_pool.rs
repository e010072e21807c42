//! The physical memory that is still free while the machine is laid out.

use super::PAGE_BYTES;
use core::ops::Range;
use heapless::Vec;

/// Free ranges of physical memory, in whole pages.
pub(crate) struct FramePool {
    ranges: Vec<Range<usize>, 64>,
}

impl FramePool {
    pub(crate) const fn new() -> Self {
        Self { ranges: Vec::new() }
    }

    /// Adds free memory; incomplete pages at its ends are left out, and so is what exceeds the pool's table.
    pub(crate) fn add(&mut self, range: Range<usize>) {
        let start = range.start.next_multiple_of(PAGE_BYTES);
        let end = range.end & !(PAGE_BYTES - 1);
        if start < end {
            let _ = self.ranges.push(start..end);
            self.ranges.sort_unstable_by_key(|range| range.start);
        }
    }

    /// Takes a range out of the pool, with the pages at its ends that it touches only in part.
    pub(crate) fn reserve(&mut self, range: Range<usize>) {
        let start = range.start & !(PAGE_BYTES - 1);
        let end = range.end.next_multiple_of(PAGE_BYTES);
        for old in core::mem::take(&mut self.ranges) {
            self.add(old.start..old.end.min(start));
            self.add(old.start.max(end)..old.end);
        }
    }

    /// Number of free pages.
    pub(crate) fn pages(&self) -> usize {
        self.ranges.iter().map(|range| range.len() / PAGE_BYTES).sum()
    }

    /// Takes the lowest `bytes` bytes in one piece that start at a multiple of `alignment` and end before `limit`.
    pub(crate) fn contiguous(&mut self, bytes: usize, alignment: usize, limit: usize) -> Option<usize> {
        let start = self
            .ranges
            .iter()
            .map(|range| (range.start.next_multiple_of(alignment), range.end.min(limit)))
            .find(|&(start, end)| start < end && end - start >= bytes)?
            .0;
        self.reserve(start..start + bytes);
        Some(start)
    }

    /// Takes one page, the lowest.
    pub(crate) fn page(&mut self) -> Option<usize> {
        let range = self.ranges.iter_mut().find(|range| range.start < range.end)?;
        let start = range.start;
        range.start += PAGE_BYTES;
        Some(start)
    }
}
