//! Allgather: every rank's block to all.
//!
//! *Short* blocks (up to 56 bytes) stay in the cells of their ranks, data and tag in one line, and everybody polls
//! everybody's, each beginning with another one. Per rank: ⌈n / 28⌉ lines written to the own MPB, P − 1 times as many
//! polled. Where several blocks fit one line, every so many ranks have a leader, which polls their cells and puts all
//! their blocks into its second one, from where all take them: n / 28 of the polls.
//!
//! *Long* blocks go in rounds. In each a rank puts a chunk into its own staging, enters a barrier, and gets the
//! chunks of all others straight to where they belong, in rotated order, so that no MPB is read by all at a time. The
//! barrier says that all chunks are there, and, since staging has two halves, that those of the round before were
//! taken: no rank signals another one. Every line is read once from an MPB and written once to memory by each rank.
//!
//! Where the ranks of a node would wait for each other to read all blocks of other nodes, long blocks of one length go
//! around a ring of [two-sided](super::two_sided) messages, in which one rank of each node reads from another node.

use hal::{LINE_BYTES, Messenger, Mpb, MpbCopy, Reason, Wait};

use crate::{
    Comm,
    mpb::{
        sequence::{Turn, Writers},
        tagged::{Source, TAGGED_BYTES, put_tagged},
    },
};

use super::{
    Exchange,
    pieces::Spans,
    select,
    transfer::{Chunks, await_tagged, is_short, others},
};

/// Whether blocks go around a ring of two-sided messages, because that is faster.
pub(super) fn goes_around<C: Mpb + Wait>(comm: &Comm<'_, C>, exchange: Exchange, spans: &Spans) -> bool {
    match spans {
        Spans::Equal(len) if exchange == Exchange::Default && comm.size() > 1 => {
            !is_short(exchange, *len) && select::gathers_around(comm, *len)
        }
        _ => false,
    }
}

/// Every rank gets all blocks; its own is in its place already.
pub(super) fn exchange<C: Messenger>(comm: &Comm<'_, C>, exchange: Exchange, all: &mut [u8], spans: &Spans) {
    let longest = (0..comm.size()).map(|rank| spans.of(rank).len()).max().unwrap_or(0);
    if longest == 0 || comm.size() == 1 {
        return;
    }
    match spans {
        _ if !is_short(exchange, longest) => staged(comm, all, spans, longest),
        Spans::Equal(len) if 2 * len <= TAGGED_BYTES && comm.size() > TAGGED_BYTES / len => by_leaders(comm, all, *len),
        _ => tagged(comm, all, spans),
    }
}

/// Takes the block of `rank`, or of a leader's ranks, from one of its cells.
fn take<C: Mpb + MpbCopy + Wait>(comm: &Comm<'_, C>, turn: &Turn, rank: usize, cell: usize, into: &mut [u8]) {
    if !into.is_empty() {
        let reason = Reason::new("allgather, the block").from(comm.core_of(rank));
        await_tagged(comm, comm.mpb_line(rank, turn.cells[cell]), turn.tag, into, reason);
    }
}

fn tagged<C: Messenger>(comm: &Comm<'_, C>, all: &mut [u8], spans: &Spans) {
    let (hal, me) = (comm.hal(), comm.rank());
    let turn = comm.turn(0, Writers::Owner);
    let own = &all[spans.of(me)];
    if !own.is_empty() {
        put_tagged(hal, own, Source::Memory, turn.tag, comm.mpb_line(me, turn.cells[0]));
    }
    for rank in others(comm) {
        take(comm, &turn, rank, 0, &mut all[spans.of(rank)]);
    }
    // Everybody has had a poll answered by everybody who has something to say.
    hal.account_memory(0, spans.memory_lines(comm.size()));
}

fn by_leaders<C: Messenger>(comm: &Comm<'_, C>, all: &mut [u8], len: usize) {
    let (hal, me, size) = (comm.hal(), comm.rank(), comm.size());
    let turn = comm.turn(0, Writers::Owner);
    let members = TAGGED_BYTES / len;
    let leaders = size.div_ceil(members);
    let bytes_of = |leader: usize| leader * members * len..((leader + 1) * members).min(size) * len;
    let own = me / members;
    if me % members == 0 {
        hal.account_memory(1, 0);
        for rank in me + 1..(me + members).min(size) {
            take(comm, &turn, rank, 0, &mut all[rank * len..(rank + 1) * len]);
        }
        put_tagged(hal, &all[bytes_of(own)], Source::Cache, turn.tag, comm.mpb_line(me, turn.cells[1]));
    } else {
        put_tagged(hal, &all[me * len..(me + 1) * len], Source::Memory, turn.tag, comm.mpb_line(me, turn.cells[0]));
    }
    for leader in (0..leaders).map(|distance| (own + 1 + distance) % leaders) {
        if leader * members != me {
            take(comm, &turn, leader * members, 1, &mut all[bytes_of(leader)]);
        }
    }
    hal.account_memory(0, (size * len).div_ceil(LINE_BYTES));
}

fn staged<C: Messenger>(comm: &Comm<'_, C>, all: &mut [u8], spans: &Spans, longest: usize) {
    let (hal, me) = (comm.hal(), comm.rank());
    let turn = comm.turn(longest.div_ceil(LINE_BYTES).min(comm.shared_staging_lines()), Writers::Owner);
    let is_one_round = longest <= turn.staging.len() * LINE_BYTES;
    let chunks_of = |rank| {
        let len = spans.of(rank).len();
        if is_one_round { Chunks::new(&turn.staging, len) } else { Chunks::of_halves(&turn.staging, len) }
    };
    let rounds = (0..comm.size()).map(|rank| chunks_of(rank).count()).max().unwrap_or(0);
    for round in 0..rounds {
        let own = chunks_of(me);
        hal.put(&all[spans.of(me)][own.bytes(round)], comm.mpb_line(me, own.line(round)));
        comm.barrier_within();
        for rank in others(comm) {
            let chunks = chunks_of(rank);
            let bytes = chunks.bytes(round);
            if !bytes.is_empty() {
                hal.get(comm.mpb_line(rank, chunks.line(round)), &mut all[spans.of(rank)][bytes]);
            }
        }
    }
}
