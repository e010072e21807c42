//! Scatter: a block of the root to every rank.
//!
//! *Short* blocks of one length, if all of them fit the root's staging and that is faster: the root puts all at once and announces them
//! in its cell, which all ranks poll; then each gets its own. Blocks of different lengths go to their ranks' cells if
//! they fit, each with its tag.
//!
//! On a communicator of some ranks, which has fewer lines, the root may do so in two [goes](crate::collective::goes).
//!
//! *Long* blocks are pushed: the root puts chunks into the staging of their ranks, one after the other, signals each,
//! and does not wait for anyone: it comes back to a rank when all others have had a chunk. Ranks read their own MPB.
//! So the root is kept busy by nothing but reading its memory once and writing to MPBs. It awaits an acknowledgement
//! only where a third chunk goes to the half that the first one was in.

use hal::{Deadline, LINE_BYTES, Messenger, Mpb, Place, Poll, Reason, Wait};

use crate::{
    Comm,
    collective::goes::Goes,
    mpb::{
        sequence::{CELLS, Turn, Writers},
        tagged::{Source, put_tagged, tagged_data},
    },
};

use super::{
    Exchange,
    pieces::Spans,
    select,
    transfer::{Chunks, account_copy, await_tagged, get_bytes, is_short, others, turn_lines},
};

const BLOCK: Reason = Reason::new("scatter, the block");

/// How the root stages all blocks of one length for others to get them.
enum Together {
    /// At once; how many lines all blocks take.
    AtOnce(usize),
    InGoes(Goes),
}

impl Together {
    /// If they fit and that is the fastest.
    fn of<C: Mpb + Wait>(comm: &Comm<'_, C>, exchange: Exchange, common: Option<usize>) -> Option<Self> {
        let len = common.filter(|len| *len > 0 && exchange == Exchange::Default && comm.size() > 1)?;
        let lines = len.checked_mul(comm.size())?.div_ceil(LINE_BYTES);
        if lines <= comm.shared_staging_lines() {
            return select::scatters_together(comm, len, None).then_some(Self::AtOnce(lines));
        }
        // Each go has a cell.
        let goes = Goes::of(comm, len).filter(|goes| comm.is_part() && goes.count() <= CELLS)?;
        select::scatters_together(comm, len, Some(&goes)).then_some(Self::InGoes(goes))
    }
}

/// Says in cell `cell` of this rank that blocks are there.
fn announce<C: Messenger>(comm: &Comm<'_, C>, turn: &Turn, cell: usize) {
    put_tagged(comm.hal(), &[], Source::Cache, turn.tag, comm.mpb_line(comm.rank(), turn.cells[cell]));
}

/// Waits until the root has [announced](announce) blocks in this cell.
fn await_announced<C: Messenger>(comm: &Comm<'_, C>, turn: &Turn, cell: usize, root: usize) {
    let place = [Place::Line(comm.mpb_line(root, turn.cells[cell]))];
    let is_there = |poll: &Poll<'_>| tagged_data(&poll.line(0), turn.tag).map(|_| ());
    // It does not time out, unless the machine is dying.
    let _ = comm.wait_until(&place, Deadline::Never, BLOCK.from(comm.core_of(root)), is_there);
}

/// The root sends all blocks but its own. `common` is the length of all blocks where all ranks know it.
pub(super) fn send<C: Messenger>(
    comm: &Comm<'_, C>,
    exchange: Exchange,
    common: Option<usize>,
    all: &[u8],
    spans: &Spans,
) {
    let (hal, me) = (comm.hal(), comm.rank());
    match (Together::of(comm, exchange, common), common) {
        (Some(Together::AtOnce(lines)), _) => {
            let turn = comm.turn(lines, Writers::Owner);
            hal.put(all, comm.mpb_line(me, turn.staging.start));
            return announce(comm, &turn, 0);
        }
        (Some(Together::InGoes(goes)), Some(len)) => {
            let begun = goes.begin(comm);
            for (go, distances) in goes.distances().enumerate() {
                if go > 0 {
                    comm.meet();
                }
                goes.stage(comm, &begun, &distances, |blocks, line| {
                    hal.put(&all[blocks.start * len..blocks.end * len], line);
                });
                announce(comm, &begun.turn, go);
            }
            return goes.end(comm);
        }
        _ => {}
    }
    let turn = comm.turn(turn_lines(comm, exchange, common), Writers::Anyone);
    let chunks_of = |len| Chunks::new(&turn.staging, len);
    let mut most = 0;
    for rank in others(comm) {
        let block = &all[spans.of(rank)];
        if !is_short(exchange, block.len()) {
            most = most.max(chunks_of(block.len()).count());
        } else if !block.is_empty() {
            put_tagged(hal, block, Source::Memory, turn.tag, comm.mpb_line(rank, turn.cells[0]));
        }
    }
    for index in 0..most {
        for rank in others(comm) {
            let block = &all[spans.of(rank)];
            let chunks = chunks_of(block.len());
            if is_short(exchange, block.len()) || index >= chunks.count() {
                continue;
            }
            if index >= 2 {
                comm.take_signal(rank, Reason::new("scatter, a rank to take chunk").number(index as u32 - 2));
            }
            hal.put(&block[chunks.bytes(index)], comm.mpb_line(rank, chunks.line(index)));
            comm.signal(rank);
        }
    }
}

/// A rank that is not the root receives its block.
pub(super) fn receive<C: Messenger>(
    comm: &Comm<'_, C>,
    exchange: Exchange,
    common: Option<usize>,
    block: &mut [u8],
    root: usize,
) {
    let (hal, me, len) = (comm.hal(), comm.rank(), block.len());
    let mut get = |line, first| {
        get_bytes(hal, line, first..first + len, block);
        hal.account_memory(0, len.div_ceil(LINE_BYTES));
    };
    match Together::of(comm, exchange, common) {
        Some(Together::AtOnce(lines)) => {
            let turn = comm.turn(lines, Writers::Owner);
            await_announced(comm, &turn, 0, root);
            return get(comm.mpb_line(root, turn.staging.start), me * len);
        }
        Some(Together::InGoes(goes)) => {
            let begun = goes.begin(comm);
            for (go, distances) in goes.distances().enumerate() {
                if go > 0 {
                    comm.meet();
                }
                if let Some((line, first)) = goes.place(comm, &begun, &distances, root) {
                    await_announced(comm, &begun.turn, go, root);
                    get(line, first);
                }
            }
            return goes.end(comm);
        }
        None => {}
    }
    let turn = comm.turn(turn_lines(comm, exchange, common), Writers::Anyone);
    if is_short(exchange, block.len()) {
        if !block.is_empty() {
            await_tagged(comm, comm.mpb_line(me, turn.cells[0]), turn.tag, block, BLOCK.from(comm.core_of(root)));
            hal.account_memory(0, block.len().div_ceil(LINE_BYTES));
        }
        return;
    }
    let chunks = Chunks::new(&turn.staging, block.len());
    for index in 0..chunks.count() {
        comm.take_signal(root, Reason::new("scatter, chunk").number(index as u32));
        hal.get(comm.mpb_line(me, chunks.line(index)), &mut block[chunks.bytes(index)]);
        if index + 2 < chunks.count() {
            comm.signal(root);
        }
    }
}

/// The root's own block goes to its place.
pub(super) fn keep_own<C: Mpb + Wait>(comm: &Comm<'_, C>, all: &[u8], spans: &Spans, block: &mut [u8]) {
    account_copy(comm.hal(), block.len());
    block.copy_from_slice(&all[spans.of(comm.rank())]);
}

#[cfg(test)]
mod tests {
    use std::{cell::Cell, vec, vec::Vec};

    use hal::sim::{Machine, Strategy};

    use super::*;
    use crate::{InPlace, Operator};

    /// Scatters of blocks at once, in one go, in two, and in chunks, from one root on one communicator after the other, and short
    /// allreduces: on halves of the ranks and on duplicates.
    #[test]
    fn goes_take_turns_with_what_has_their_lines() {
        let (one_go, two_goes) = (Cell::new(0), Cell::new(0));
        for (cores, seed) in [(16, 0), (16, 1), (48, 0), (48, 1)] {
            let machine = Machine::scc(cores).with_strategy(Strategy::Seeded { seed });
            let outcome = machine.run(|core| {
                let world = Comm::world(core, regions::of_a_test()).unwrap();
                let part = world.split(Some(world.rank() as u32 % 2), 0).unwrap().unwrap();
                let comms = [part, world.dup().unwrap(), world.dup().unwrap()];
                for len in [3_usize, 16, 32, 40, 64, 72, 128, 300] {
                    let value = |number: usize, at: usize| (at * 7 + len + number) as u8;
                    let scattered: Vec<_> = (0..)
                        .zip(&comms)
                        .map(|(number, comm)| {
                            match Together::of(comm, Exchange::Default, Some(len)) {
                                Some(Together::InGoes(goes)) if goes.count() > 1 => two_goes.set(two_goes.get() + 1),
                                Some(Together::InGoes(_)) => one_go.set(one_go.get() + 1),
                                _ => {}
                            }
                            let all: Vec<u8> = (0..len * comm.size()).map(|at| value(number, at)).collect();
                            let mut block = vec![0; len];
                            comm.scatter(if comm.rank() == 0 { &all } else { &[][..] }, &mut block[..], 0).unwrap();
                            block
                        })
                        .collect();
                    for (number, (comm, block)) in comms.iter().zip(scattered).enumerate() {
                        let expected = (comm.rank() * len..).take(len).map(|at| value(number, at));
                        assert!(block.iter().copied().eq(expected), "{len} bytes on communicator {number}");
                        let mut short = [comm.rank() as u32];
                        comm.allreduce(InPlace, &mut short, &Operator::SUM).unwrap();
                        assert_eq!(short, [(0..comm.size() as u32).sum()], "{len} bytes on communicator {number}");
                    }
                }
                // They keep their lines to the end.
                core::mem::forget(comms);
            });
            outcome.unwrap();
        }
        assert!(one_go.get() > 0 && two_goes.get() > 0, "{} in one go, {} in two", one_go.get(), two_goes.get());
    }
}
