//! Long reductions: each rank combines one part of the vector, straight from the MPBs of all others.
//!
//! Every rank puts a chunk of its operands into its own MPB. When all have, rank j gets the j-th part of the chunk
//! from everybody, combines it in the order of ranks, and puts the result over its own operands of that part, which
//! nobody else reads. When all have, those who want the result get all parts of it, each from the rank that made it.
//! No partial result travels, and every line of operands is read from memory once and crosses the chip once. Each
//! rank begins to get at its upper neighbour, so that no two get from the same MPB at a time; see [`Wrapped`] for
//! where that leaves the brackets.
//!
//! The next chunk may be put as soon as all have combined: it goes over operands only, since no rank puts the part
//! that it combines itself, and so does not touch results that others still get. So a chunk costs two barriers, and
//! the last one a third where its parts are shorter than those before.
//!
//! Where all fits the staging lines that operations share, it needs no more than these; longer vectors take both
//! staging buffers, and nobody leaves before all are done with them.
//!
//! Per rank, with n lines in a chunk and P ranks: n (1 − 1/P) lines put, n/P of the others' read from each, n/P put,
//! n read by who wants the result; and two barriers.

use alloc::{vec, vec::Vec};
use core::ops::Range;

use bytemuck::Pod;
use hal::{LINE_BYTES, Messenger, Mpb, Wait};

use super::{
    Combine,
    buffers::{Buffers, Wrapped},
};
use crate::{
    Comm, Error,
    mpb::{sequence::Writers, tagged::put_cached},
};

/// Staging lines of the own MPB, for as long as an operation lasts.
pub(super) struct Staging {
    pub(super) first: usize,
    pub(super) lines: usize,
    /// Whether the lines are to be given back by a barrier.
    kept: bool,
}

impl Staging {
    /// The first elements of this size that are too large for [`take`](Self::take).
    pub(super) fn check<T>(comm: &Comm<'_, impl Mpb + Wait>) -> Result<(), Error> {
        let limit_bytes = 2 * comm.mpb_layout().buffer_lines() * LINE_BYTES;
        let len_bytes = size_of::<T>();
        if len_bytes <= limit_bytes { Ok(()) } else { Err(Error::ElementTooLarge { len_bytes, limit_bytes }) }
    }

    /// Takes `lines` lines of every MPB if operations share as many, or else all that there are.
    pub(super) fn take(comm: &Comm<'_, impl Mpb + Wait>, lines: usize) -> Self {
        if lines <= comm.shared_staging_lines() {
            let turn = comm.turn(lines, Writers::Owner);
            Self { first: turn.staging.start, lines, kept: false }
        } else {
            let layout = comm.mpb_layout();
            let lines = 2 * layout.buffer_lines();
            comm.own_staging_turn(lines);
            Self { first: layout.buffer(0), lines, kept: true }
        }
    }

    /// Gives them back after the last [`Comm::meet`]. Others may still read what is there.
    pub(super) fn give_back(self, comm: &Comm<'_, impl Mpb + Wait>) {
        if self.kept {
            comm.synchronise();
        } else {
            comm.sequence().earlier_complete();
        }
    }
}

/// How a vector is cut into chunks, and chunks into parts that begin at lines.
#[derive(Clone, Copy, Debug)]
struct Cut {
    len: usize,
    /// Ranks that combine.
    combining: usize,
    /// Elements of a part, at most, and of which a part has a multiple, so that its lines are full and parts follow
    /// each other in the MPB as in memory; unless such a multiple does not fit.
    most: usize,
    even: usize,
}

impl Cut {
    fn new<T>(len: usize, ranks: usize, lines: usize) -> Self {
        let size = size_of::<T>();
        let combining = ranks.min(lines / size.div_ceil(LINE_BYTES));
        let most = lines / combining * LINE_BYTES / size;
        let full = LINE_BYTES >> size.trailing_zeros().min(LINE_BYTES.trailing_zeros());
        let even = if full <= most { full } else { 1 };
        Self { len, combining, most: most / even * even, even }
    }

    /// Lines that a vector takes if it is one chunk.
    fn lines_of_all<T>(len: usize, ranks: usize) -> usize {
        let cut = Self::new::<T>(len, ranks, ranks * (len * size_of::<T>()).div_ceil(LINE_BYTES));
        let part = len.div_ceil(cut.combining).next_multiple_of(cut.even);
        len.div_ceil(part) * (part * size_of::<T>()).div_ceil(LINE_BYTES)
    }

    fn chunks(self) -> impl Iterator<Item = Chunk> {
        (0..self.len).step_by(self.combining * self.most).map(move |start| {
            let end = self.len.min(start + self.combining * self.most);
            let part = (end - start).div_ceil(self.combining).next_multiple_of(self.even).min(self.most);
            Chunk { elements: start..end, part }
        })
    }
}

/// A part of the vector that is in the MPBs at a time.
struct Chunk {
    elements: Range<usize>,
    /// Elements of a part; the last may have less.
    part: usize,
}

impl Chunk {
    fn parts(&self) -> usize {
        self.elements.len().div_ceil(self.part)
    }

    /// The elements that rank `rank` combines.
    fn part(&self, rank: usize) -> Range<usize> {
        let start = self.elements.end.min(self.elements.start + rank * self.part);
        start..self.elements.end.min(start + self.part)
    }

    /// The parts of all but `rank`, in runs that lie in the MPB as they do in memory.
    fn others(&self, rank: usize, element_bytes: usize) -> impl Iterator<Item = Range<usize>> {
        let parts = self.parts();
        let step = if (self.part * element_bytes).is_multiple_of(LINE_BYTES) { parts } else { 1 };
        let runs = move |from: usize, to: usize| (from..to).step_by(step).map(move |run| run..to.min(run + step));
        runs(0, rank.min(parts)).chain(runs(parts.min(rank + 1), parts))
    }

    /// The staging line, counted from the first, where that begins.
    fn line_of<T>(&self, rank: usize) -> usize {
        rank * (self.part * size_of::<T>()).div_ceil(LINE_BYTES)
    }
}

/// Reduces to all ranks, or to one.
pub(super) fn reduce<C: Messenger, T: Pod>(
    comm: &Comm<'_, C>,
    mut buffers: Buffers<'_, T>,
    operation: &impl Combine<T>,
    root: Option<usize>,
) -> Result<(), Error> {
    Staging::check::<T>(comm)?;
    let (hal, rank, size) = (comm.hal(), comm.rank(), comm.size());
    let staging = Staging::take(comm, Cut::lines_of_all::<T>(buffers.len(), size));
    let cut = Cut::new::<T>(buffers.len(), size, staging.lines);
    for chunk in cut.chunks() {
        if chunk.elements.start > 0 && chunk.part < cut.most {
            // Parts lie elsewhere than in the chunk before, whose results others may still get.
            comm.synchronise();
        }
        let line = |of: usize, part: usize| comm.mpb_line(of, staging.first + chunk.line_of::<T>(part));
        for parts in chunk.others(rank, size_of::<T>()) {
            let elements = chunk.part(parts.start).start..chunk.part(parts.end - 1).end;
            hal.put(buffers.bytes(elements), line(rank, parts.start));
        }
        comm.meet();
        if rank < chunk.parts() {
            let own = buffers.read(hal, chunk.part(rank));
            let combined = combine_all(comm, operation, own, |peer| (line(peer, rank), 0));
            put_cached(hal, bytemuck::cast_slice(&combined), line(rank, rank));
        }
        comm.meet();
        if root.is_none_or(|root| root == rank) {
            for part in (0..chunk.parts()).map(|part| (rank + part) % chunk.parts()) {
                hal.get(line(part, part), buffers.result_bytes(chunk.part(part)));
            }
        }
    }
    staging.give_back(comm);
    Ok(())
}

/// Combines `own` with what all others have in their MPBs: from a byte of a line on.
pub(super) fn combine_all<C: Messenger, T: Pod>(
    comm: &Comm<'_, C>,
    operation: &impl Combine<T>,
    own: Vec<T>,
    place: impl Fn(usize) -> (hal::MpbLine, usize),
) -> Vec<T> {
    let (hal, rank, size) = (comm.hal(), comm.rank(), comm.size());
    let mut operands = vec![T::zeroed(); own.len()];
    let mut wrapped = Wrapped::new(own);
    for peer in (1..size).map(|distance| (rank + distance) % size) {
        get_operands(comm, place(peer), &mut operands);
        wrapped.add(hal, operation, peer, &operands);
    }
    wrapped.finish(hal, operation)
}

/// Gets operands into scratch: from a byte of a line on.
pub(super) fn get_operands<C: Messenger, T: Pod>(
    comm: &Comm<'_, C>,
    (line, offset): (hal::MpbLine, usize),
    operands: &mut [T],
) {
    let bytes: &mut [u8] = bytemuck::cast_slice_mut(operands);
    comm.hal().get_used(line, offset + bytes.len(), |index, found| {
        let begin = index * LINE_BYTES;
        if let (0, Some(line)) = (offset, found.first_chunk::<LINE_BYTES>())
            && let Some(whole) = bytes[begin..].first_chunk_mut()
        {
            // How much it is is known, so that nothing is called.
            *whole = *line;
            return;
        }
        let skipped = offset.saturating_sub(begin).min(found.len());
        bytes[begin + skipped - offset..begin + found.len() - offset].copy_from_slice(&found[skipped..]);
    });
}
