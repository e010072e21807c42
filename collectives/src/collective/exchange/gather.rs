//! Gather: every rank's block to the root.
//!
//! *Short* blocks (up to 56 bytes) stay with their rank: it puts them into its own cells, data and tag in one line,
//! and the root polls one rank's cells after the other. Nothing is signalled and nothing acknowledged. Per block:
//! ⌈n / 28⌉ lines written to the own MPB, as many polled by the root.
//!
//! *Long* blocks are pulled: a rank puts chunks into its own staging and signals the root, which gets them straight
//! to where they belong: each line is read once from an MPB and written once to memory, which is all that keeps the
//! root busy. A block that does not fit the staging goes in two halves of it by turns, and the root goes around the
//! ranks chunk by chunk, so that one half is filled while the root reads elsewhere; it acknowledges a chunk only
//! where another one follows in the same half.
//!
//! Which of the two it is, is decided for each block by its length, which both ends know.

use hal::{LINE_BYTES, Messenger, Mpb, Reason, Wait};

use crate::{
    Comm,
    mpb::{
        sequence::Writers,
        tagged::{Source, put_tagged},
    },
};

use super::{
    Exchange,
    pieces::Spans,
    transfer::{Chunks, account_copy, await_tagged, is_short, others, turn_lines},
};

/// A rank that is not the root sends its block. `common` is the length of all blocks where all ranks know it.
pub(super) fn send<C: Messenger>(
    comm: &Comm<'_, C>,
    exchange: Exchange,
    common: Option<usize>,
    block: &[u8],
    root: usize,
) {
    let hal = comm.hal();
    let turn = comm.turn(turn_lines(comm, exchange, common), Writers::Owner);
    if is_short(exchange, block.len()) {
        if !block.is_empty() {
            put_tagged(hal, block, Source::Memory, turn.tag, comm.mpb_line(comm.rank(), turn.cells[0]));
        }
        return;
    }
    let chunks = Chunks::new(&turn.staging, block.len());
    for index in 0..chunks.count() {
        if index >= 2 {
            comm.take_signal(root, Reason::new("gather, the root to take chunk").number(index as u32 - 2));
        }
        hal.put(&block[chunks.bytes(index)], comm.mpb_line(comm.rank(), chunks.line(index)));
        comm.signal(root);
    }
}

/// The root collects all blocks but its own.
pub(super) fn collect<C: Messenger>(
    comm: &Comm<'_, C>,
    exchange: Exchange,
    common: Option<usize>,
    all: &mut [u8],
    spans: &Spans,
) {
    let (hal, me) = (comm.hal(), comm.rank());
    let turn = comm.turn(turn_lines(comm, exchange, common), Writers::Owner);
    let mut most = 0;
    let mut short = false;
    for rank in others(comm) {
        let block = &mut all[spans.of(rank)];
        if !is_short(exchange, block.len()) {
            most = most.max(Chunks::new(&turn.staging, block.len()).count());
        } else if !block.is_empty() {
            let reason = Reason::new("gather, the block").from(comm.core_of(rank));
            await_tagged(comm, comm.mpb_line(rank, turn.cells[0]), turn.tag, block, reason);
            short = true;
        }
    }
    if short {
        // Short blocks were taken to L1, from where they go to memory in whole lines.
        let lens = |rank| spans.of(rank).len();
        let is_kept = |rank: &usize| *rank != me && is_short(exchange, lens(*rank));
        let lines = match spans {
            Spans::Equal(_) => spans.memory_lines(comm.size()),
            Spans::Each(_) => (0..comm.size()).filter(is_kept).map(|rank| lens(rank).div_ceil(LINE_BYTES)).sum(),
        };
        hal.account_memory(0, lines);
    }
    for index in 0..most {
        for rank in others(comm) {
            let block = &mut all[spans.of(rank)];
            let chunks = Chunks::new(&turn.staging, block.len());
            if is_short(exchange, block.len()) || index >= chunks.count() {
                continue;
            }
            comm.take_signal(rank, Reason::new("gather, chunk").number(index as u32));
            hal.get(comm.mpb_line(rank, chunks.line(index)), &mut block[chunks.bytes(index)]);
            if index + 2 < chunks.count() {
                comm.signal(rank);
            }
        }
    }
}

/// The root's own block goes to its place.
pub(super) fn keep_own<C: Mpb + Wait>(comm: &Comm<'_, C>, block: &[u8], all: &mut [u8], spans: &Spans) {
    account_copy(comm.hal(), block.len());
    all[spans.of(comm.rank())].copy_from_slice(block);
}
