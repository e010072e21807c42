//! How a vector is divided into a block for each rank.

use alloc::{vec, vec::Vec};
use core::ops::Range;

use crate::{Error, collective::lengths::check_len};

/// Where blocks begin: one after the other, and where the last one ends.
pub(super) struct Counts(Vec<usize>);

impl Counts {
    /// Blocks of these lengths.
    ///
    /// # Errors
    /// [`Error::Length`] unless there is one for each rank. Blocks longer than memory end where memory does.
    pub(super) fn of(counts: &[usize], ranks: usize) -> Result<Self, Error> {
        check_len(counts.len(), ranks)?;
        let mut starts = vec![0];
        let mut end = 0usize;
        starts.extend(counts.iter().map(|&count| {
            end = end.saturating_add(count);
            end
        }));
        Ok(Self(starts))
    }

    /// Blocks of `count` elements.
    pub(super) fn equal(count: usize, ranks: usize) -> Self {
        Self((0..=ranks).map(|rank| rank.saturating_mul(count)).collect())
    }

    /// Elements of all blocks.
    pub(super) fn total(&self) -> usize {
        self.0[self.0.len() - 1]
    }

    /// The elements of `rank`'s block.
    pub(super) fn block(&self, rank: usize) -> Range<usize> {
        self.0[rank]..self.0[rank + 1]
    }
}
