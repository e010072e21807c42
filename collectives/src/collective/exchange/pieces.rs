//! Where the blocks of an exchange lie in a buffer.

use alloc::{boxed::Box, vec, vec::Vec};
use core::ops::Range;

use hal::LINE_BYTES;

use crate::{Error, collective::lengths::check_len};

use super::all_of;

/// Where the blocks that belong to the ranks lie in a buffer: MPI's counts and displacements, in elements. The default
/// has none, for ranks whose buffer is not used.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Pieces<'p> {
    counts: &'p [usize],
    starts: Option<&'p [usize]>,
}

impl<'p> Pieces<'p> {
    /// Blocks of `counts` elements, one for each rank, one behind the other.
    pub fn packed(counts: &'p [usize]) -> Self {
        Self { counts, starts: None }
    }

    /// Blocks of `counts` elements, one for each rank, which begin at `starts`.
    pub fn at(counts: &'p [usize], starts: &'p [usize]) -> Self {
        Self { counts, starts: Some(starts) }
    }

    /// Elements of a rank's block; 0 if there is no such block.
    pub(in crate::collective) fn count(&self, rank: usize) -> usize {
        self.counts.get(rank).copied().unwrap_or(0)
    }

    /// Elements of all blocks.
    pub(crate) fn counts(&self) -> impl Iterator<Item = usize> + '_ {
        self.counts.iter().copied()
    }

    /// First element of each block, and how many it has.
    fn blocks(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        let mut end = 0;
        self.counts.iter().enumerate().map(move |(rank, &count)| {
            let start = self.starts.map_or(end, |starts| starts.get(rank).copied().unwrap_or(0));
            end = start.saturating_add(count);
            (start, count)
        })
    }

    /// Refuses what is not one block for each of `ranks` ranks inside of a buffer of `len` elements; and, where
    /// blocks are to be written, any that overlap.
    ///
    /// # Errors
    /// [`Error::Pieces`], [`Error::PieceOutOfRange`], [`Error::PiecesOverlap`].
    pub(super) fn check(&self, ranks: usize, len: usize, written: bool) -> Result<(), Error> {
        for pieces in [self.counts.len(), self.starts.map_or(ranks, <[usize]>::len)] {
            if pieces != ranks {
                return Err(Error::Pieces { pieces, size: ranks });
            }
        }
        for (rank, (start, count)) in self.blocks().enumerate() {
            let end = start.saturating_add(count);
            if end > len || start.checked_add(count).is_none() {
                return Err(Error::PieceOutOfRange { rank, end, len });
            }
        }
        if written && self.starts.is_some() {
            let mut blocks: Vec<_> = self
                .blocks()
                .enumerate()
                .filter(|(_, (_, count))| *count > 0)
                .map(|(r, (s, c))| (s, s + c, r))
                .collect();
            blocks.sort_unstable();
            if let Some(pair) = blocks.windows(2).find(|pair| pair[1].0 < pair[0].1) {
                return Err(Error::PiecesOverlap { rank: pair[0].2.min(pair[1].2), other: pair[0].2.max(pair[1].2) });
            }
        }
        Ok(())
    }

    /// The blocks in bytes; they were checked.
    pub(super) fn spans<T>(&self) -> Spans {
        let bytes = size_of::<T>();
        Spans::Each(self.blocks().map(|(start, count)| start * bytes..(start + count) * bytes).collect())
    }

    /// Blocks of these counts in a buffer of their own, for a rank that has to take part although it was called
    /// wrongly: the blocks, and bytes of the buffer. Counts that no memory could hold are taken for 0.
    pub(super) fn spans_apart<T>(&self, ranks: usize) -> (Spans, usize) {
        let mut end = 0;
        let mut block = |rank| {
            let start: usize = end;
            let after = self.count(rank).checked_mul(size_of::<T>()).and_then(|len| start.checked_add(len));
            end = after.filter(|after| *after <= isize::MAX as usize).unwrap_or(start);
            start..end
        };
        let spans = (0..ranks).map(&mut block).collect();
        (Spans::Each(spans), end)
    }
}

/// Where the blocks of one rank's buffer of elements `T` lie, and a buffer to take its place if that is not possible.
pub(crate) struct Laid {
    pub(crate) spans: Spans,
    /// What is wrong with the pieces.
    pub(crate) checked: Result<(), Error>,
    /// Zeros for all blocks, if anything is.
    zeros: Vec<u8>,
}

impl Laid {
    /// These pieces, or blocks of `count` elements, of a buffer of `len` for `ranks` ranks; `checked` says whether
    /// anything else is wrong.
    pub(crate) fn new<T>(
        checked: Result<(), Error>,
        pieces: Option<Pieces<'_>>,
        count: usize,
        (len, ranks): (usize, usize),
        written: bool,
    ) -> Self {
        let checked = checked.and(match pieces {
            Some(pieces) => pieces.check(ranks, len, written),
            None => check_len(len, all_of(count, ranks)),
        });
        let (spans, zeros) = match (pieces, checked) {
            (Some(pieces), Ok(())) => (pieces.spans::<T>(), 0),
            (Some(pieces), Err(_)) => pieces.spans_apart::<T>(ranks),
            (None, _) => {
                let block = count.saturating_mul(size_of::<T>());
                (Spans::Equal(block), if checked.is_ok() { 0 } else { all_of(block, ranks) })
            }
        };
        Self { spans, checked, zeros: vec![0; zeros] }
    }

    /// The buffer to be read, or zeros.
    pub(crate) fn read<'b>(&'b self, buffer: &'b [u8]) -> &'b [u8] {
        if self.checked.is_ok() { buffer } else { &self.zeros }
    }

    /// The buffer to be written, or another one, and where its blocks are.
    pub(super) fn write<'b>(&'b mut self, buffer: &'b mut [u8]) -> (&'b mut [u8], &'b Spans) {
        (if self.checked.is_ok() { buffer } else { &mut self.zeros }, &self.spans)
    }
}

/// Where the blocks of the ranks lie in a buffer, in bytes, or in elements of a vector.
#[derive(Debug)]
pub(crate) enum Spans {
    /// Blocks of this length, one behind the other.
    Equal(usize),
    /// One for each rank.
    Each(Box<[Range<usize>]>),
}

impl Spans {
    /// The blocks of a vector of `len` elements, in elements, each of which is in one of them.
    ///
    /// # Errors
    /// [`Error::Pieces`], [`Error::PieceOutOfRange`], [`Error::PiecesOverlap`] or [`Error::Length`] for anything else.
    pub(crate) fn of_vector(pieces: Option<Pieces<'_>>, len: usize, ranks: usize) -> Result<Self, Error> {
        let Some(pieces) = pieces else {
            let count = len / ranks;
            return check_len(len, count * ranks).map(|()| Self::Equal(count));
        };
        pieces.check(ranks, len, true)?;
        check_len(len, pieces.counts().sum())?;
        Ok(pieces.spans::<u8>())
    }

    /// The block of a rank.
    pub(crate) fn of(&self, rank: usize) -> Range<usize> {
        match self {
            Self::Equal(len) => rank * len..(rank + 1) * len,
            Self::Each(spans) => spans[rank].clone(),
        }
    }

    /// Lines of memory in which the blocks of `ranks` ranks lie: blocks that follow each other share them.
    pub(super) fn memory_lines(&self, ranks: usize) -> usize {
        let (mut lines, mut run) = (0, 0..0);
        for span in (0..ranks).map(|rank| self.of(rank)).filter(|span| !span.is_empty()) {
            if span.start != run.end {
                lines += run.len().div_ceil(LINE_BYTES);
                run.start = span.start;
            }
            run.end = span.end;
        }
        lines + run.len().div_ceil(LINE_BYTES)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_checked() {
        let counts = [2, 0, 3];
        assert_eq!(Pieces::packed(&counts).check(3, 5, true), Ok(()));
        assert_eq!(Pieces::packed(&counts).check(3, 4, true), Err(Error::PieceOutOfRange { rank: 2, end: 5, len: 4 }));
        assert_eq!(Pieces::packed(&counts).check(4, 9, true), Err(Error::Pieces { pieces: 3, size: 4 }));
        let overlapping = Pieces::at(&counts, &[4, 5, 3]);
        assert_eq!(overlapping.check(3, 9, false), Ok(()));
        assert_eq!(overlapping.check(3, 9, true), Err(Error::PiecesOverlap { rank: 0, other: 2 }));
        assert_eq!(Pieces::at(&counts, &[3, 4, 0]).check(3, 5, true), Ok(()));
        assert_eq!(Pieces::at(&counts, &[0]).check(3, 5, true), Err(Error::Pieces { pieces: 1, size: 3 }));
        let endless = [usize::MAX, 2, usize::MAX];
        assert!(matches!(Pieces::packed(&endless).check(3, 5, true), Err(Error::PieceOutOfRange { rank: 0, .. })));
        assert_eq!(Pieces::packed(&endless).spans_apart::<u32>(4).1, 8);
    }

    #[test]
    fn lines_of_neighbours_are_shared() {
        assert_eq!(Spans::Equal(8).memory_lines(48), 12);
        assert_eq!(Pieces::at(&[8, 8, 4], &[0, 8, 40]).spans::<u8>().memory_lines(3), 2);
        assert_eq!(Pieces::packed(&[0, 0]).spans::<u8>().memory_lines(2), 0);
    }
}
