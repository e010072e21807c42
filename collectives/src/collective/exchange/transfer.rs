//! What exchanges have in common: chunks in staging lines, blocks in cells, and who meets whom.

use core::ops::Range;

use hal::{Clock, Deadline, LINE_BYTES, Mpb, MpbCopy, MpbLine, Place, Reason, Wait};

use crate::{
    Comm,
    mpb::{
        sequence::CELLS,
        tagged::{TAGGED_BYTES, tagged_data, tagged_lines},
    },
};

use super::Exchange;

/// Bytes that the cells of one rank hold.
pub(super) const CELL_BYTES: usize = CELLS * TAGGED_BYTES;

/// Whether a block goes through cells.
pub(super) fn is_short(exchange: Exchange, len: usize) -> bool {
    len == 0 || exchange == Exchange::Default && len <= CELL_BYTES
}

/// Staging lines of an exchange whose blocks have the length `common`; of one in which ranks know of some blocks
/// only, all.
pub(super) fn turn_lines<C: Mpb + Wait>(comm: &Comm<'_, C>, exchange: Exchange, common: Option<usize>) -> usize {
    match common {
        Some(len) if is_short(exchange, len) => 0,
        Some(len) => len.div_ceil(LINE_BYTES).min(comm.shared_staging_lines()),
        None => comm.shared_staging_lines(),
    }
}

/// All other ranks, from the one above this one: no two ranks begin with the same.
pub(in crate::collective) fn others<C: Mpb + Wait>(comm: &Comm<'_, C>) -> impl Iterator<Item = usize> + use<C> {
    let (me, size) = (comm.rank(), comm.size());
    (1..size).map(move |distance| (me + distance) % size)
}

/// How a block goes through staging lines: at once if it fits them, else in two halves by turns.
#[derive(Debug)]
pub(super) struct Chunks {
    first_line: usize,
    lines: usize,
    len: usize,
}

impl Chunks {
    pub(super) fn new(staging: &Range<usize>, len: usize) -> Self {
        let fits = len <= staging.len() * LINE_BYTES;
        Self { first_line: staging.start, lines: if fits { staging.len() } else { staging.len() / 2 }, len }
    }

    /// A block that always goes in chunks of `staging`'s halves.
    pub(super) fn of_halves(staging: &Range<usize>, len: usize) -> Self {
        Self { first_line: staging.start, lines: staging.len() / 2, len }
    }

    pub(super) fn count(&self) -> usize {
        if self.len == 0 { 0 } else { self.len.div_ceil(self.lines * LINE_BYTES) }
    }

    /// The bytes of chunk `index`; none behind the last.
    pub(super) fn bytes(&self, index: usize) -> Range<usize> {
        let chunk = self.lines * LINE_BYTES;
        (index * chunk).min(self.len)..((index + 1) * chunk).min(self.len)
    }

    /// First line of chunk `index`.
    pub(super) fn line(&self, index: usize) -> usize {
        self.first_line + index % 2 * self.lines
    }
}

/// Waits for a block in the cells at `at`, and takes it out of the lines that the last poll has read. The caller
/// accounts for the memory that it is written to.
pub(super) fn await_tagged<C: Mpb + MpbCopy + Wait>(
    comm: &Comm<'_, C>,
    at: MpbLine,
    tag: u32,
    into: &mut [u8],
    reason: Reason,
) {
    let places: [Place; CELLS] = core::array::from_fn(|cell| Place::Line(at.plus(cell)));
    let places = &places[..tagged_lines(into.len())];
    let check = |poll: &hal::Poll<'_>| {
        for (place, piece) in into.chunks_mut(TAGGED_BYTES).enumerate() {
            piece.copy_from_slice(&tagged_data(&poll.line(place), tag)?[..piece.len()]);
        }
        Some(())
    };
    // It does not time out, unless the machine is dying.
    let _ = comm.wait_until(places, Deadline::Never, reason, check);
    // What a poll has read is taken at the price of a get, beside the line's read.
    comm.hal().get_used(at, 0, |_, _| ());
}

/// Gets the bytes `range` of what lies in lines from `base`. The caller accounts for the memory that they are written
/// to.
pub(super) fn get_bytes(hal: &impl MpbCopy, base: MpbLine, range: Range<usize>, into: &mut [u8]) {
    let first = range.start / LINE_BYTES;
    hal.get_used(base.plus(first), range.end - first * LINE_BYTES, |index, line| {
        let start = (first + index) * LINE_BYTES;
        let (from, to) = (range.start.max(start), start + line.len());
        let piece = &mut into[from - range.start..to - range.start];
        hal.bring_in(piece);
        piece.copy_from_slice(&line[from - start..]);
    });
}

/// Accounts for copying `len` bytes from memory to memory.
pub(super) fn account_copy(hal: &impl Clock, len: usize) {
    hal.account_memory(len.div_ceil(LINE_BYTES), len.div_ceil(LINE_BYTES));
}

/// Rounds in which every two ranks of `size` meet once.
pub(super) fn rounds(size: usize) -> usize {
    (size + size % 2).saturating_sub(1)
}

/// Whom `rank` of `size` meets in a round, as a round-robin tournament has it; nobody in one round of an odd number
/// of ranks.
pub(super) fn partner(rank: usize, size: usize, round: usize) -> Option<usize> {
    // All but the last player of an even number move around a circle; who would meet itself meets the last.
    let (circle, last) = (rounds(size), rounds(size));
    let partner = if rank == last {
        round * circle.div_ceil(2) % circle
    } else {
        match (round + circle - rank) % circle {
            itself if itself == rank => last,
            other => other,
        }
    };
    (partner < size).then_some(partner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_pairs_meet_once() {
        for size in 1..=20 {
            for rank in 0..size {
                let mut met: Vec<_> = (0..rounds(size)).filter_map(|round| partner(rank, size, round)).collect();
                met.sort_unstable();
                assert_eq!(met, (0..size).filter(|other| *other != rank).collect::<Vec<_>>(), "{rank} of {size}");
                for round in 0..rounds(size) {
                    let back = partner(rank, size, round).map(|other| partner(other, size, round));
                    assert!(back.is_none_or(|back| back == Some(rank)));
                }
            }
        }
    }

    #[test]
    fn chunks_cover_a_block() {
        for len in [1, 31, 32, 33, 320, 321, 1000] {
            for chunks in [Chunks::new(&(100..110), len), Chunks::of_halves(&(100..110), len)] {
                let mut end = 0;
                for index in 0..chunks.count() {
                    let bytes = chunks.bytes(index);
                    assert_eq!(bytes.start, end);
                    assert!(chunks.line(index) + bytes.len().div_ceil(LINE_BYTES) <= 110);
                    end = bytes.end;
                }
                assert_eq!(end, len);
                assert!(chunks.bytes(chunks.count()).is_empty());
            }
        }
    }
}
