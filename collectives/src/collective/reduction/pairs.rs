//! Long reduce-scatter through few staging lines: from pair to pair.
//!
//! A rank stages for one other at a time: the operands that this one wants next, which it gets and combines when a signal says
//! that they are there. Another signal says that they were taken. Each stages for its lower neighbour first, then for the one
//! below, and so gets operands in the order in which [`blocks`](super::blocks) does, with its brackets. Staging has two halves, so that
//! nobody waits for what it stages to be taken before it has got what it wants itself.
//!
//! Rounds in which all stage for all, as [`scatter`](super::scatter) has them, need lines for every rank at a time. Through 36 of them,
//! as a communicator of 48 ranks has in a half, blocks of 1 KB took 1.75 times as long that way as they take here.
//!
//! Signals between two ranks are of both kinds, and are taken in the order in which they were sent: in each step a rank sends
//! that operands are there for the next one, then that it has taken those of this one; and takes that those of this step are there, then
//! that those of the step before were taken.

use core::ops::Range;

use alloc::vec;

use bytemuck::Pod;
use hal::{LINE_BYTES, Messenger, Reason};

use super::{
    Combine,
    blocks::get_operands,
    buffers::{Buffers, Wrapped},
};
use crate::{Comm, collective::exchange::Spans, comm::choices::Terms};

const TAKEN: Reason = Reason::new("a reduce-scatter, operands to be taken");

/// What signals and calls take more than reads of all blocks of this many bytes, through this many lines of either half.
pub(super) fn cost(terms: &Terms, bytes: usize, half: usize) -> u64 {
    let steps = (terms.ranks - 1) * bytes.div_ceil(half * LINE_BYTES) as u64;
    steps * (2 * (terms.signal_done() + terms.seen()) + terms.put())
}

/// Reduces and scatters, through this many lines of either half; an element fits them.
pub(super) fn reduce_scatter<C: Messenger, T: Pod>(
    comm: &Comm<'_, C>,
    mut buffers: Buffers<'_, T>,
    operation: &impl Combine<T>,
    blocks: &Spans,
    half: usize,
) {
    comm.own_staging_turn(2 * half);
    let (hal, me, size) = (comm.hal(), comm.rank(), comm.size());
    let cut = Cut::new::<T>(blocks, size, half);
    let mut staged = Staged { first: comm.mpb_layout().buffer(0), half, readers: [None; 2], steps: 0 };
    staged.put(comm, &buffers, &cut);
    let mut steps = 0;
    for start in (0..cut.longest).step_by(cut.piece) {
        let own = cut.piece(me, start);
        let mut combined = (!own.is_empty()).then(|| Wrapped::new(buffers.read(hal, own.clone())));
        let mut operands = vec![T::zeroed(); own.len()];
        for peer in (1..size).map(|distance| (me + distance) % size) {
            if combined.is_some() {
                comm.take_signal(peer, Reason::new("a reduce-scatter, operands"));
            }
            staged.put(comm, &buffers, &cut);
            if let Some(combined) = &mut combined {
                get_operands(comm, (comm.mpb_line(peer, staged.line(steps)), 0), &mut operands);
                comm.signal(peer);
                combined.add(hal, operation, peer, &operands);
            }
            steps += 1;
        }
        if let Some(combined) = combined {
            buffers.write(hal, own.start, &combined.finish(hal, operation));
        }
    }
    for reader in staged.readers.into_iter().flatten() {
        comm.take_signal(reader, TAKEN);
    }
}

/// How blocks are cut into pieces, one of each for every step.
struct Cut<'s> {
    blocks: &'s Spans,
    /// Elements of the longest block, and of a piece at most.
    longest: usize,
    piece: usize,
}

impl<'s> Cut<'s> {
    /// Pieces that fit `lines` lines, as equal as whole lines make them.
    fn new<T>(blocks: &'s Spans, ranks: usize, lines: usize) -> Self {
        let size = size_of::<T>();
        let longest = (0..ranks).map(|rank| blocks.of(rank).len()).max().unwrap_or(0);
        let most = lines * LINE_BYTES / size;
        let full = (LINE_BYTES >> size.trailing_zeros().min(LINE_BYTES.trailing_zeros())).min(most);
        let pieces = longest.div_ceil(most / full * full);
        Self { blocks, longest, piece: longest.div_ceil(pieces).next_multiple_of(full) }
    }

    /// The elements, in the vector, of the piece of `rank`'s block that begins so far from its begin.
    fn piece(&self, rank: usize, start: usize) -> Range<usize> {
        let block = self.blocks.of(rank);
        block.end.min(block.start + start)..block.end.min(block.start + start + self.piece)
    }
}

/// What a rank has staged for others.
struct Staged {
    first: usize,
    half: usize,
    /// Who is to take what is in either half.
    readers: [Option<usize>; 2],
    /// Steps that it was staged for.
    steps: usize,
}

impl Staged {
    /// The first line of the half that a step has.
    fn line(&self, step: usize) -> usize {
        self.first + step % 2 * self.half
    }

    /// Stages for the next step, if there is one and it has anything, when that half is free.
    fn put<C: Messenger, T: Pod>(&mut self, comm: &Comm<'_, C>, buffers: &Buffers<'_, T>, cut: &Cut<'_>) {
        let (me, size, step) = (comm.rank(), comm.size(), self.steps);
        self.steps += 1;
        let (round, distance) = (step / (size - 1), 1 + step % (size - 1));
        let reader = (me + size - distance) % size;
        if let Some(earlier) = self.readers[step % 2].take() {
            comm.take_signal(earlier, TAKEN);
        }
        let piece = cut.piece(reader, round * cut.piece);
        if piece.is_empty() {
            return;
        }
        self.readers[step % 2] = Some(reader);
        comm.hal().put(buffers.bytes(piece), comm.mpb_line(me, self.line(step)));
        comm.signal(reader);
    }
}

#[cfg(test)]
mod tests {
    use std::vec::Vec;

    use hal::{
        emulated::Omit,
        sim::{Machine, SimCore, Spontaneous, Strategy},
    };

    use super::*;
    use crate::{
        Operation, Pieces,
        in_all_orders::{DRAINS, in_all_orders},
        testing::{compose, composed},
    };

    fn operands(rank: usize, len: usize) -> Vec<[u32; 2]> {
        (0..len as u32).map(|at| [at.wrapping_mul(2_654_435_761) + 2 * rank as u32 + 3, at ^ 77 << rank]).collect()
    }

    /// Reduces and scatters blocks of these lengths, and whether this rank has what it is to have.
    fn is_right(comm: &Comm<'_, SimCore>, counts: &[usize], half: usize) -> bool {
        let len = counts.iter().sum();
        let blocks = Spans::of_vector(Some(Pieces::packed(counts)), len, comm.size()).unwrap();
        let (own, mine) = (operands(comm.rank(), len), blocks.of(comm.rank()));
        let mut block = std::vec![[0; 2]; mine.len()];
        let buffers = Buffers::apart(&own, &mut block, mine.start);
        reduce_scatter(comm, buffers, &Operation::new(compose), &blocks, half);
        block == composed((0..comm.size()).map(|rank| operands(rank, len)))[mine]
    }

    #[test]
    fn blocks_of_all_lengths_are_combined_in_order() {
        for (seed, ranks) in [2, 3, 4, 5, 7, 8].into_iter().cycle().take(24).enumerate() {
            let machine = Machine::scc(ranks).with_strategy(Strategy::Seeded { seed: seed as u64 });
            let outcome = machine.run(|core| {
                let comm = Comm::world(core, regions::of_a_test()).unwrap();
                (0..3).all(|round| {
                    let count = |rank: usize| [0, 1, 4, 5, 9, 23][(rank * 5 + round + seed) % 6];
                    is_right(&comm, &(0..ranks).map(count).collect::<Vec<_>>(), [1, 2, 36][round])
                })
            });
            assert!(outcome.unwrap().results().iter().all(|right| *right), "{ranks} ranks with seed {seed}");
        }
    }

    /// Three pieces for one of two ranks, so that a half is used again; and pieces for both.
    #[test]
    fn halves_are_used_again_in_all_orders() {
        for (counts, spontaneous) in
            [([9, 0], Spontaneous::default()), ([5, 2], Spontaneous::default()), ([5, 0], DRAINS)]
        {
            let runs = in_all_orders(spontaneous, |comm| assert!(is_right(comm, &counts, 1)));
            assert!(runs > 1, "{runs} runs");
        }
    }

    /// Without the drains and invalidations of its signals it fails.
    #[test]
    fn signals_need_what_they_do() {
        let outcome = |omitted| {
            let outcome = Machine::scc(3).run(|core| {
                let comm = Comm::world(core, regions::of_a_test()).unwrap();
                assert!(is_right(&comm, &[3, 3, 3], 1));
                core.omit(omitted);
                let right = is_right(&comm, &[9, 9, 9], 1);
                core.omit(Omit::empty());
                right
            });
            outcome.is_ok_and(|outcome| outcome.results().iter().all(|right| *right))
        };
        assert!(outcome(Omit::empty()));
        for omitted in [Omit::DRAIN, Omit::INVALIDATE_MPB] {
            assert!(!outcome(omitted), "{omitted:?}");
        }
    }
}
