//! Lines on their way from rank to rank in short reductions: pieces of the vector in [tagged](crate::mpb::tagged) lines.

use alloc::{vec, vec::Vec};
use core::ops::Range;

use bytemuck::{Pod, Zeroable};
use hal::{Deadline, Messenger, Place, Reason};

use crate::{
    Comm, Error,
    mpb::tagged::{Source, TAGGED_BYTES, put_tagged, tagged_data, tagged_lines},
};

/// How a vector is cut into pieces, each of which takes a [turn](crate::mpb::sequence) of its own.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pieces {
    /// Elements of the vector, and of each piece but the last.
    len: usize,
    piece: usize,
    /// Lines of a piece, the last one's too.
    pub(super) lines: usize,
}

impl Pieces {
    /// Pieces of `len` elements of type `T`, of which every MPB holds `slots` at a time.
    ///
    /// # Errors
    /// [`Error::ElementTooLarge`] if not one element fits.
    pub(super) fn new<T>(len: usize, slots: usize, staging_lines: usize) -> Result<Self, Error> {
        let most = staging_lines / slots * TAGGED_BYTES / size_of::<T>();
        if most == 0 {
            let limit_bytes = staging_lines / slots * TAGGED_BYTES;
            return Err(Error::ElementTooLarge { len_bytes: size_of::<T>(), limit_bytes });
        }
        let piece = len.min(most);
        Ok(Self { len, piece, lines: tagged_lines(piece * size_of::<T>()) })
    }

    /// The elements of each piece.
    pub(super) fn iter(self) -> impl Iterator<Item = Range<usize>> {
        (0..self.len).step_by(self.piece).map(move |start| start..self.len.min(start + self.piece))
    }
}

/// The lines of a turn, `slots` times those of a piece in each MPB.
pub(super) struct Slots {
    first: usize,
    lines: usize,
    tag: u32,
}

impl Slots {
    pub(super) fn new(turn: &crate::mpb::sequence::Turn, lines: usize) -> Self {
        Self { first: turn.staging.start, lines, tag: turn.tag }
    }

    fn line(&self, slot: usize) -> usize {
        self.first + slot * self.lines
    }

    /// Puts elements that were just read or computed into slot `slot` of `rank`'s MPB. Lines are whole, so that they
    /// need no drain.
    pub(super) fn put<T: Pod>(&self, comm: &Comm<'_, impl Messenger>, values: &[T], rank: usize, slot: usize) {
        let to = comm.mpb_line(rank, self.line(slot));
        put_tagged(comm.hal(), bytemuck::cast_slice(values), Source::Cache, self.tag, to);
    }

    /// Costs what it costs to call a get. What it gets by [`take`](Self::take) is consecutive lines of `rank`'s MPB,
    /// those of one slot or of slots one after the other; it waits for each.
    pub(super) fn begin_taking(&self, comm: &Comm<'_, impl Messenger>, rank: usize) {
        comm.hal().get_used(comm.mpb_line(rank, self.first), 0, |_, _| {});
    }

    /// Takes elements `elements` of the piece in slot `slot` of `rank`'s MPB when they are there, into scratch. Each
    /// line is read by a poll, so that all that it costs beside is the call.
    pub(super) fn take<T: Pod>(
        &self,
        comm: &Comm<'_, impl Messenger>,
        (rank, slot): (usize, usize),
        elements: Range<usize>,
        reason: Reason,
    ) -> Vec<T> {
        let mut values = vec![T::zeroed(); elements.len()];
        let wanted = elements.start * size_of::<T>()..elements.end * size_of::<T>();
        let target: &mut [u8] = bytemuck::cast_slice_mut(&mut values);
        for index in wanted.start / TAGGED_BYTES..tagged_lines(wanted.end) {
            let line = comm.mpb_line(rank, self.line(slot) + index);
            let data = comm
                .wait_until(&[Place::Line(line)], Deadline::Never, reason, |poll| {
                    tagged_data(&poll.line(0), self.tag).copied()
                })
                // Only a machine that is dying gets here, and nobody will look at the result.
                .unwrap_or_else(|_| Zeroable::zeroed());
            let at = index * TAGGED_BYTES;
            let (from, to) = (wanted.start.max(at), wanted.end.min(at + TAGGED_BYTES));
            target[from - wanted.start..to - wanted.start].copy_from_slice(&data[from - at..to - at]);
        }
        values
    }
}
