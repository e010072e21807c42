//! Lines on their way from rank to rank in short reductions: pieces of the vector in [tagged](crate::mpb::tagged) lines.

use alloc::{vec, vec::Vec};
use core::ops::Range;

use bytemuck::Pod;
use hal::{Deadline, Messenger, Mpb, Place, Reason, Wait};

use crate::{
    Comm, Error,
    mpb::{
        sequence::SlotsTurn,
        tagged::{Source, TAGGED_BYTES, put_tagged, tagged_data, tagged_lines},
    },
};

/// Lines that an operation can have in every MPB.
#[derive(Clone, Copy, Debug)]
pub(super) struct Room {
    /// Without more ado, for data without tags and for tagged data.
    pub(super) own: usize,
    pub(super) tagged: usize,
    /// At most.
    pub(super) most: usize,
}

impl Room {
    pub(super) fn of(comm: &Comm<'_, impl Mpb + Wait>) -> Self {
        let (own, tagged) = (comm.mpb_layout().shared().len(), comm.mpb_layout().tagged().len());
        Self { own, tagged, most: tagged.max(comm.shared_staging_lines()) }
    }

    /// The most lines of a piece which others put into `written` slots, and its owner into another one: all slots among the
    /// lines that are there without more ado, or only the other one.
    pub(super) fn slot_lines(&self, written: usize) -> usize {
        let apart = (self.most / written.max(1)).min(self.tagged);
        let together = self.tagged / (written + 1);
        if self.most > self.tagged { together.max(apart) } else { together }
    }
}

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
    /// Pieces of `len` elements of type `T`, of `most_lines` lines at most.
    ///
    /// # Errors
    /// [`Error::ElementTooLarge`] if not one element fits.
    pub(super) fn new<T>(len: usize, most_lines: usize) -> Result<Self, Error> {
        let limit_bytes = most_lines * TAGGED_BYTES;
        let most = limit_bytes / size_of::<T>();
        if most == 0 {
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

/// The lines of a turn in each MPB: slots of a piece that others write to, and one for the result, which others read.
pub(super) struct Slots {
    turn: SlotsTurn,
    written: usize,
    lines: usize,
}

impl Slots {
    /// `written` slots that others write to, and one behind them for the result, of `lines` lines.
    pub(super) fn new(turn: SlotsTurn, written: usize, lines: usize) -> Self {
        Self { turn, written, lines }
    }

    fn line(&self, slot: usize) -> usize {
        if slot < self.written { self.turn.written + slot * self.lines } else { self.turn.read }
    }

    /// Puts elements that were just read or computed into slot `slot` of `rank`'s MPB. Lines are whole, so that they
    /// need no drain.
    pub(super) fn put<T: Pod>(&self, comm: &Comm<'_, impl Messenger>, values: &[T], rank: usize, slot: usize) {
        let to = comm.mpb_line(rank, self.line(slot));
        put_tagged(comm.hal(), bytemuck::cast_slice(values), Source::Cache, self.turn.tag, to);
    }

    /// Costs what it costs to call a get. What it gets by [`take`](Self::take) is consecutive lines of `rank`'s MPB,
    /// those of one slot or of slots one after the other; it waits for each.
    pub(super) fn begin_taking(&self, comm: &Comm<'_, impl Messenger>, rank: usize) {
        comm.hal().get_used(comm.mpb_line(rank, self.turn.written), 0, |_, _| {});
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
        let (mut rest, mut first): (&mut [u8], _) =
            (bytemuck::cast_slice_mut(&mut values), wanted.start % TAGGED_BYTES);
        for index in wanted.start / TAGGED_BYTES..tagged_lines(wanted.end) {
            let len = rest.len().min(TAGGED_BYTES - first);
            let (piece, behind) = rest.split_at_mut(len);
            let line = comm.mpb_line(rank, self.line(slot) + index);
            let found = comm.wait_until(&[Place::Line(line)], Deadline::Never, reason, |poll| {
                let line = poll.line(0);
                let data = tagged_data(&line, self.turn.tag)?;
                // Of all lines but the first and the last it is known how much they bring.
                match <&mut [u8; TAGGED_BYTES]>::try_from(&mut *piece) {
                    Ok(whole) => *whole = *data,
                    Err(_) => piece.copy_from_slice(&data[first..first + len]),
                }
                Some(())
            });
            if found.is_err() {
                // The machine is dying, and nobody will look at the result.
                break;
            }
            (rest, first) = (behind, 0);
        }
        values
    }
}
