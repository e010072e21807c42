//! All-to-all: a block of every rank to every rank.
//!
//! *Short* blocks of one length, if a rank's blocks fit its staging all together and it is faster, go at once: each rank puts all that
//! it sends into its own MPB with one call, enters a barrier, and gets its blocks from all others.
//!
//! *Longer* ones go in rounds, in each of which a rank meets some others, so many as half of its staging has room for
//! the blocks of: it puts the blocks for these, enters a barrier, and gets theirs. While staging has two halves, the
//! barrier of a round also says that those of the round before were taken.
//!
//! *Long* ones, and blocks of different lengths, go from pair to pair: ranks meet as in a tournament, and exchange
//! chunks. One signal says that a chunk is there and that the partner's chunk before it was taken. Nobody knows how
//! long others take, and nobody has to. Of blocks of different lengths, those that fit their places when half of the
//! staging is divided among all ranks go first, all at once.
//!
//! Whom a rank sends to in a round is whom it gets from, and what it sends is staged before what it gets arrives; so
//! an exchange may be in place. Every line is read once from memory, written once to an MPB, read once from there,
//! and written once to memory.

use core::ops::Range;

use hal::{Clock, LINE_BYTES, Messenger, Reason};

use crate::{Comm, mpb::sequence::Writers};

use super::{
    Exchange,
    pieces::Spans,
    select,
    transfer::{Chunks, account_copy, get_bytes, others, partner, rounds},
};

/// What a rank sends, and where it receives; or one buffer for both.
pub(super) struct Buffers<'b> {
    pub(super) send: Option<(&'b [u8], &'b Spans)>,
    pub(super) receive: &'b mut [u8],
    pub(super) received: &'b Spans,
}

impl Buffers<'_> {
    /// The block for `rank`.
    pub(super) fn to(&self, rank: usize) -> &[u8] {
        match self.send {
            Some((send, spans)) => &send[spans.of(rank)],
            None => &self.receive[self.received.of(rank)],
        }
    }

    /// All blocks to be sent.
    fn all(&self) -> &[u8] {
        self.send.map_or(&*self.receive, |(send, _)| send)
    }

    /// The place for the block from `rank`.
    pub(super) fn from(&mut self, rank: usize) -> &mut [u8] {
        &mut self.receive[self.received.of(rank)]
    }

    /// This rank's block for itself goes to its place. On a rank that takes part although it was called wrongly, the
    /// two may have different lengths.
    pub(super) fn keep_own(&mut self, hal: &impl Clock, me: usize) {
        if let Some((send, spans)) = self.send {
            let (own, place) = (&send[spans.of(me)], self.from(me));
            let len = own.len().min(place.len());
            account_copy(hal, len);
            place[..len].copy_from_slice(&own[..len]);
        }
    }
}

/// Exchanges blocks of `len` bytes.
pub(super) fn exchange_equal<C: Messenger>(
    comm: &Comm<'_, C>,
    exchange: Exchange,
    len: usize,
    buffers: &mut Buffers<'_>,
) {
    let (size, staging) = (comm.size(), comm.shared_staging_lines());
    let lines = len.div_ceil(LINE_BYTES);
    let all_lines = len.saturating_mul(size).div_ceil(LINE_BYTES);
    if len == 0 || size == 1 {
    } else if all_lines <= staging && exchange == Exchange::Default && select::meets_at_once(comm, len) {
        at_once(comm, all_lines, len, buffers);
    } else if select::goes_in_groups(lines, staging, size) {
        in_groups(comm, lines, buffers);
    } else {
        // A block in each half, where it fits.
        let turn = comm.turn((2 * lines).min(staging), Writers::Owner);
        in_pairs(comm, &turn.staging, |_| true, buffers);
    }
}

/// Exchanges blocks whose lengths only the two ranks know that have to do with them.
pub(super) fn exchange_each<C: Messenger>(comm: &Comm<'_, C>, exchange: Exchange, buffers: &mut Buffers<'_>) {
    let (hal, me, size) = (comm.hal(), comm.rank(), comm.size());
    if size == 1 {
        return;
    }
    let turn = comm.turn(comm.shared_staging_lines(), Writers::Owner);
    let (places, rest) = (turn.staging.len() / 2, turn.staging.start + turn.staging.len() / 2..turn.staging.end);
    let lines = if exchange == Exchange::Default { places / size } else { 0 };
    let is_short = |len: usize| len <= lines * LINE_BYTES;
    if lines > 0 {
        for rank in others(comm).filter(|rank| is_short(buffers.to(*rank).len())) {
            if !buffers.to(rank).is_empty() {
                hal.put(buffers.to(rank), comm.mpb_line(me, turn.staging.start + rank * lines));
            }
        }
        comm.barrier_within();
        for rank in others(comm) {
            let block = buffers.from(rank);
            if is_short(block.len()) && !block.is_empty() {
                hal.get(comm.mpb_line(rank, turn.staging.start + me * lines), block);
            }
        }
    }
    in_pairs(comm, &rest, |len| !is_short(len), buffers);
}

fn at_once<C: Messenger>(comm: &Comm<'_, C>, lines: usize, len: usize, buffers: &mut Buffers<'_>) {
    let (hal, me) = (comm.hal(), comm.rank());
    let turn = comm.turn(lines, Writers::Owner);
    hal.put(buffers.all(), comm.mpb_line(me, turn.staging.start));
    comm.barrier_within();
    for rank in others(comm) {
        let from = comm.mpb_line(rank, turn.staging.start);
        get_bytes(hal, from, me * len..(me + 1) * len, buffers.from(rank));
    }
    // Neighbouring blocks go to memory in whole lines.
    hal.account_memory(0, lines);
}

fn in_groups<C: Messenger>(comm: &Comm<'_, C>, lines: usize, buffers: &mut Buffers<'_>) {
    let (hal, me, size) = (comm.hal(), comm.rank(), comm.size());
    let (meetings, most) = (rounds(size), comm.shared_staging_lines());
    let half = if meetings * lines <= most { meetings * lines } else { most / 2 };
    let turn = comm.turn((2 * half).min(most), Writers::Owner);
    let group = half / lines;
    for (index, first) in (0..meetings).step_by(group).enumerate() {
        let met = |me| {
            let place = move |round: usize| turn.staging.start + index % 2 * half + (round - first) * lines;
            let rounds = first..meetings.min(first + group);
            rounds.filter_map(move |round| Some((partner(me, size, round)?, place(round))))
        };
        for (rank, line) in met(me) {
            hal.put(buffers.to(rank), comm.mpb_line(me, line));
        }
        comm.barrier_within();
        for (rank, line) in met(me) {
            hal.get(comm.mpb_line(rank, line), buffers.from(rank));
        }
    }
}

/// Exchanges the blocks whose length is one of those that are `meant`, from pair to pair, by way of these staging
/// lines.
fn in_pairs<C: Messenger>(
    comm: &Comm<'_, C>,
    staging: &Range<usize>,
    meant: impl Fn(usize) -> bool,
    buffers: &mut Buffers<'_>,
) {
    let (hal, me, size) = (comm.hal(), comm.rank(), comm.size());
    let taken = Reason::new("all-to-all, the last chunk to be taken");
    // Each half of the staging is for every second meeting, so that none begins by waiting for the end of the one
    // before.
    let half = staging.len() / 2;
    let halves = [staging.start..staging.start + half, staging.start + half..staging.start + 2 * half];
    let mut unfinished: [Option<usize>; 2] = [None; 2];
    for round in 0..rounds(size) {
        let Some(rank) = partner(me, size, round) else { continue };
        let chunks = |len| Chunks::new(&halves[round % 2], if meant(len) { len } else { 0 });
        let (out, back) = (chunks(buffers.to(rank).len()), chunks(buffers.from(rank).len()));
        let count = out.count().max(back.count());
        if count == 0 {
            continue;
        }
        if let Some(earlier) = unfinished[round % 2].replace(rank) {
            comm.take_signal(earlier, taken);
        }
        for index in 0..count {
            let bytes = out.bytes(index);
            if !bytes.is_empty() {
                hal.put(&buffers.to(rank)[bytes], comm.mpb_line(me, out.line(index)));
            }
            comm.signal(rank);
            comm.take_signal(rank, Reason::new("all-to-all, chunk").number(index as u32));
            let bytes = back.bytes(index);
            if !bytes.is_empty() {
                hal.get(comm.mpb_line(rank, back.line(index)), &mut buffers.from(rank)[bytes]);
            }
        }
        comm.signal(rank);
    }
    for rank in unfinished.into_iter().flatten() {
        comm.take_signal(rank, taken);
    }
}
