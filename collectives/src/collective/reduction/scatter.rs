//! Long reduce-scatter: rank j combines block j, straight from the MPBs of all others.
//!
//! What all ranks put has the same place in every MPB. If the whole vector fits the staging lines, it is put as it
//! is, and each rank gets its own block from everybody: one barrier. A longer vector goes in rounds: each puts a
//! piece of every block that is not exhausted, but for its own. Where there are more blocks than lines, some ranks
//! after others get their blocks.
//!
//! A communicator of some ranks has too few lines for that. Equal blocks of a few lines take a few [goes]; with others it goes
//! from [pair to pair](super::pairs).
//!
//! The brackets are those of [`blocks`](super::blocks). Per rank and round, with n lines and P ranks: n lines put,
//! n/P of the others' read from each, and a barrier; rounds alternate between two halves of the staging, so that one
//! barrier is enough.

use core::ops::Range;

use bytemuck::Pod;
use hal::{LINE_BYTES, Messenger, Mpb, Wait};

use super::{
    Combine,
    blocks::{Staging, combine_all},
    buffers::Buffers,
    goes, pairs,
};
use crate::{
    Comm, Error,
    collective::{exchange::Spans, goes::Goes},
};

/// Reduces and scatters.
pub(super) fn reduce_scatter<C: Messenger, T: Pod>(
    comm: &Comm<'_, C>,
    mut buffers: Buffers<'_, T>,
    operation: &impl Combine<T>,
    blocks: &Spans,
) -> Result<(), Error> {
    let size = size_of::<T>();
    let all_lines = (buffers.len() * size).div_ceil(LINE_BYTES);
    if all_lines <= comm.shared_staging_lines() {
        whole(comm, buffers, operation, blocks, all_lines);
        return Ok(());
    }
    let half = comm.mpb_layout().buffer_lines();
    let element_lines = size.div_ceil(LINE_BYTES);
    if element_lines > half {
        return Err(Error::ElementTooLarge { len_bytes: size, limit_bytes: half * LINE_BYTES });
    }
    if comm.is_part() {
        match goes(comm, blocks, size, half) {
            Some((goes, len)) => goes::reduce_scatter(&goes, comm, buffers, operation, len),
            None => pairs::reduce_scatter(comm, buffers, operation, blocks, half),
        }
        return Ok(());
    }
    let staging = Staging::take(comm, 2 * half);
    let mut parity = 0;
    let together = half / element_lines;
    for first in (0..comm.size()).step_by(together) {
        let ranks = first..comm.size().min(first + together);
        let mut done = 0;
        while let Some(round) = Round::new(blocks, ranks.clone(), done, half, size) {
            done = round.elements.end;
            round.run(comm, &mut buffers, operation, staging.first + parity * half);
            parity = 1 - parity;
        }
    }
    staging.give_back(comm);
    Ok(())
}

/// The goes that equal blocks take, and elements of one, if that is faster than from pair to pair.
fn goes(comm: &Comm<'_, impl Mpb + Wait>, blocks: &Spans, size: usize, half: usize) -> Option<(Goes, usize)> {
    let &Spans::Equal(len) = blocks else { return None };
    let (goes, terms) = (Goes::of(comm, len * size)?, comm.choices().terms());
    (goes.cost(terms) < pairs::cost(terms, len * size, half)).then_some((goes, len))
}

/// The whole vector as it is.
fn whole<C: Messenger, T: Pod>(
    comm: &Comm<'_, C>,
    mut buffers: Buffers<'_, T>,
    operation: &impl Combine<T>,
    blocks: &Spans,
    lines: usize,
) {
    let (hal, mine) = (comm.hal(), blocks.of(comm.rank()));
    let staging = Staging::take(comm, lines);
    hal.put(buffers.bytes(0..buffers.len()), comm.mpb_line(comm.rank(), staging.first));
    comm.meet();
    if !mine.is_empty() {
        let own = buffers.read(hal, mine.clone());
        let at = mine.start * size_of::<T>();
        let place = |peer| (comm.mpb_line(peer, staging.first + at / LINE_BYTES), at % LINE_BYTES);
        let combined = combine_all(comm, operation, own, place);
        buffers.write(hal, mine.start, &combined);
    }
    staging.give_back(comm);
}

/// A piece of each block.
struct Round<'c> {
    blocks: &'c Spans,
    /// The ranks whose blocks are served.
    ranks: Range<usize>,
    /// Elements of each of these blocks, as far as it has them.
    elements: Range<usize>,
    /// Lines that such a piece has.
    lines: usize,
}

impl<'c> Round<'c> {
    /// The next round after `done` elements of each block; none if there is nothing left.
    fn new(blocks: &'c Spans, ranks: Range<usize>, done: usize, lines: usize, size: usize) -> Option<Self> {
        let left = || ranks.clone().map(|rank| blocks.of(rank).len()).filter(|&len| len > done);
        let longest = left().max()?;
        let each = (lines / left().count() * LINE_BYTES / size).min(longest - done);
        Some(Self { blocks, ranks, elements: done..done + each, lines: (each * size).div_ceil(LINE_BYTES) })
    }

    /// The elements of `rank`'s block, in the vector.
    fn piece(&self, rank: usize) -> Range<usize> {
        let block = self.blocks.of(rank);
        let end = block.end.min(block.start + self.elements.end);
        end.min(block.start + self.elements.start)..end
    }

    /// The ranks that have a piece, each with the first of its lines.
    fn pieces(&self) -> impl Iterator<Item = (usize, usize)> {
        let ranks = self.ranks.clone().filter(|&rank| !self.piece(rank).is_empty());
        ranks.enumerate().map(|(place, rank)| (rank, place * self.lines))
    }

    fn run<C: Messenger, T: Pod>(
        &self,
        comm: &Comm<'_, C>,
        buffers: &mut Buffers<'_, T>,
        operation: &impl Combine<T>,
        first: usize,
    ) {
        let (hal, me) = (comm.hal(), comm.rank());
        for (rank, line) in self.pieces().filter(|&(rank, _)| rank != me) {
            hal.put(buffers.bytes(self.piece(rank)), comm.mpb_line(me, first + line));
        }
        comm.meet();
        if let Some((_, line)) = self.pieces().find(|&(rank, _)| rank == me) {
            let own = buffers.read(hal, self.piece(me));
            let combined = combine_all(comm, operation, own, |peer| (comm.mpb_line(peer, first + line), 0));
            buffers.write(hal, self.piece(me).start, &combined);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{vec, vec::Vec};

    use hal::sim::{Machine, Strategy};

    use super::*;
    use crate::{InPlace, Operator};

    /// Goes and short allreduces on duplicates, of which the last ones have no lines of their own, on half of the ranks and on all, in
    /// turns: nobody writes to lines that others read or look for tags in.
    #[test]
    fn goes_take_turns_with_what_has_their_lines() {
        for seed in 0..3 {
            let machine = Machine::scc(16).with_strategy(Strategy::Seeded { seed });
            let outcome = machine.run(|core| {
                let world = Comm::world(core, regions::of_a_test()).unwrap();
                let part = world.split(Some(world.rank() as u32 % 2), 0).unwrap().unwrap();
                let duplicates: Vec<_> = (0..6).map(|_| world.dup().unwrap()).collect();
                assert!(!duplicates[5].mpb_layout().has_own_lines());
                for round in 0..3 {
                    for (number, comm) in (0..).zip([&part].into_iter().chain(&duplicates).chain([&world])) {
                        let (me, size) = (comm.rank() as u64, comm.size() as u64);
                        let len = 384 / comm.size();
                        let is_in_goes = goes(comm, &Spans::Equal(len), 8, comm.mpb_layout().buffer_lines()).is_some();
                        assert!(is_in_goes || !comm.mpb_layout().has_own_lines(), "{number}");
                        let value = |rank: u64, at: u64| rank * at + number + round;
                        let operands: Vec<_> = (0..384).map(|at| value(me, at)).collect();
                        let mut block = vec![0; len];
                        comm.reduce_scatter(&operands, &mut block, &Operator::SUM).unwrap();
                        let sum = |at| (0..size).map(|rank| value(rank, at)).sum::<u64>();
                        assert!(
                            (me * len as u64..).zip(&block).all(|(at, found)| *found == sum(at)),
                            "{number}, {round}"
                        );
                        let mut short = [value(me, 1)];
                        comm.allreduce(InPlace, &mut short, &Operator::SUM).unwrap();
                        assert_eq!(short, [sum(1)], "{number}, {round}");
                    }
                }
                // They keep their lines to the end.
                core::mem::forget((part, duplicates));
            });
            outcome.unwrap();
        }
    }
}
