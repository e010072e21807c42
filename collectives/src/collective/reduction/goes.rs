//! Reduce-scatter of equal blocks of a few lines through few staging lines: in goes.
//!
//! In each go a rank stages what the next of the ranks below it want, for as many of them as there is room: in the lines that the
//! communicator has, and in those that are lent to it. All meet, each gets what it wants, and combines it; and before the next go all meet
//! again. What is left for the last go mostly fits the communicator's own lines, and then nobody has to wait for others to be done
//! with those that were lent. Operands of one rank follow each other in its MPB as they do in memory, around the end of the vector.
//!
//! So a rank gets operands in the order in which [`blocks`](super::blocks) does, with its brackets. Signals from
//! [pair to pair](super::pairs) take less than barriers where a go has room for few ranks: the [estimate](Goes::cost) says which.

use core::ops::Range;

use alloc::vec;

use bytemuck::Pod;
use hal::{LINE_BYTES, Messenger, Mpb, Wait};

use super::{
    Combine,
    blocks::get_operands,
    buffers::{Buffers, Wrapped},
};
use crate::{Comm, comm::choices::Terms, mpb::sequence::Writers};

/// How many ranks are served in each go.
pub(super) struct Goes {
    ranks: usize,
    /// Elements of a block, and its bytes.
    len: usize,
    bytes: usize,
    /// The communicator's own lines, and those that are lent to it; and how many ranks' operands fit either.
    lines: [usize; 2],
    readers: [usize; 2],
}

impl Goes {
    /// For blocks of `len` elements of `size` bytes, through `lines[0]` lines of the communicator's own and `lines[1]` that are lent to
    /// it; none if no block fits.
    pub(super) fn new(ranks: usize, (len, size): (usize, usize), lines: [usize; 2]) -> Option<Self> {
        let bytes = len * size;
        // Where operands go around the end of the vector, they go on in a new line.
        let lost = usize::from(!bytes.is_multiple_of(LINE_BYTES));
        let readers = lines.map(|lines| lines.saturating_sub(lost) * LINE_BYTES / bytes);
        (readers != [0, 0]).then_some(Self { ranks, len, bytes, lines, readers })
    }

    /// Through all lines that a communicator of some ranks can have.
    pub(super) fn of(comm: &Comm<'_, impl Mpb + Wait>, len: usize, size: usize) -> Option<Self> {
        let layout = comm.mpb_layout();
        Self::new(comm.size(), (len, size), [layout.shared().len(), 2 * layout.buffer_lines()])
    }

    /// What barriers take, to which ranks come from reads of each other.
    pub(super) fn cost(&self, terms: &Terms) -> u64 {
        let goes = (self.ranks - 1).div_ceil(self.readers.iter().sum());
        (2 * goes - 1 + usize::from(self.ends_in_lent_lines())) as u64 * terms.barrier()
    }

    /// Ranks at such distances are served in each go, through either lines.
    fn distances(&self) -> impl DoubleEndedIterator<Item = [Range<usize>; 2]> + use<> {
        let ([own, lent], ranks) = (self.readers, self.ranks);
        let goes = (ranks - 1).div_ceil(own + lent);
        let ends = move |start: usize| [start, start + own, start + own + lent].map(|end| end.min(ranks));
        (0..goes).map(move |go| ends(1 + go * (own + lent))).map(|[start, middle, end]| [start..middle, middle..end])
    }

    fn ends_in_lent_lines(&self) -> bool {
        self.distances().next_back().is_some_and(|[_, lent]| !lent.is_empty())
    }

    /// The blocks of the ranks that are so far below `owner`: up to the end of the vector, and from its begin on.
    fn blocks(&self, owner: usize, distances: &Range<usize>) -> [Range<usize>; 2] {
        let first = (owner + 1 + self.ranks - distances.end) % self.ranks;
        let end = first + distances.len();
        [first..end.min(self.ranks), 0..end.saturating_sub(self.ranks)]
    }

    /// The line, counted from the first, where the second of these blocks begin.
    fn second_line(&self, blocks: &[Range<usize>; 2]) -> usize {
        (blocks[0].len() * self.bytes).div_ceil(LINE_BYTES)
    }

    /// Line and byte where `rank`'s block of `owner`'s operands begins.
    fn place(&self, owner: usize, distances: &Range<usize>, rank: usize) -> (usize, usize) {
        let blocks = self.blocks(owner, distances);
        let (line, before) =
            if blocks[0].contains(&rank) { (0, rank - blocks[0].start) } else { (self.second_line(&blocks), rank) };
        let at = before * self.bytes;
        (line + at / LINE_BYTES, at % LINE_BYTES)
    }

    /// Reduces and scatters.
    pub(super) fn reduce_scatter<C: Messenger, T: Pod>(
        &self,
        comm: &Comm<'_, C>,
        mut buffers: Buffers<'_, T>,
        operation: &impl Combine<T>,
    ) {
        let (hal, me, len) = (comm.hal(), comm.rank(), self.len);
        comm.own_staging_turn(self.lines[1]);
        let first = [comm.turn(self.lines[0], Writers::Owner).staging.start, comm.mpb_layout().buffer(0)];
        let mut combined = Wrapped::new(buffers.read(hal, me * len..(me + 1) * len));
        let mut operands = vec![T::zeroed(); len];
        for distances in self.distances() {
            let parts = || first.into_iter().zip(&distances);
            if distances[0].start > 1 {
                comm.meet();
            }
            for (first, distances) in parts() {
                let blocks = self.blocks(me, distances);
                let lines = [first, first + self.second_line(&blocks)];
                for (blocks, line) in blocks.into_iter().zip(lines).filter(|(blocks, _)| !blocks.is_empty()) {
                    hal.put(buffers.bytes(blocks.start * len..blocks.end * len), comm.mpb_line(me, line));
                }
            }
            comm.meet();
            for (first, distances) in parts() {
                for peer in distances.clone().map(|distance| (me + distance) % self.ranks) {
                    let (line, byte) = self.place(peer, distances, me);
                    get_operands(comm, (comm.mpb_line(peer, first + line), byte), &mut operands);
                    combined.add(hal, operation, peer, &operands);
                }
            }
        }
        buffers.write(hal, me * len, &combined.finish(hal, operation));
        if self.ends_in_lent_lines() {
            comm.synchronise();
        } else {
            comm.sequence().earlier_complete();
        }
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
        Operation,
        in_all_orders::{DRAINS, in_all_orders},
        testing::{compose, composed},
    };

    /// Reduces and scatters blocks of this length, and whether this rank has what it is to have. No two `rounds` are alike.
    fn is_right(comm: &Comm<'_, SimCore>, round: u32, len: usize, lines: [usize; 2]) -> bool {
        let (me, size) = (comm.rank(), comm.size());
        let operands = |rank: usize| {
            let value = |at: u32| [at.wrapping_mul(2_654_435_761) + 2 * rank as u32 + 3, at ^ round << 8 ^ 77 << rank];
            (0..(len * size) as u32).map(value).collect::<Vec<_>>()
        };
        let (own, mut block) = (operands(me), std::vec![[0; 2]; len]);
        let buffers = Buffers::apart(&own, &mut block, me * len);
        Goes::new(size, (len, 8), lines).unwrap().reduce_scatter(comm, buffers, &Operation::new(compose));
        block == composed((0..size).map(operands))[me * len..(me + 1) * len]
    }

    #[test]
    fn blocks_of_all_lengths_are_combined_in_order() {
        for (seed, ranks) in [2, 3, 4, 5, 7, 8].into_iter().cycle().take(24).enumerate() {
            let machine = Machine::scc(ranks).with_strategy(Strategy::Seeded { seed: seed as u64 });
            let outcome = machine.run(|core| {
                let comm = Comm::world(core, regions::of_a_test()).unwrap();
                let lens = [1, 3, 4, 5, 8, 9].into_iter().zip(0..);
                lens.zip([[4, 0], [2, 4], [3, 1], [0, 4], [2, 2], [12, 72]].into_iter().cycle().skip(seed / 6))
                    .filter(|((len, _), lines)| Goes::new(ranks, (*len, 8), *lines).is_some())
                    .all(|((len, round), lines)| is_right(&comm, round, len, lines))
            });
            assert!(outcome.unwrap().results().iter().all(|right| *right), "{ranks} ranks with seed {seed}");
        }
    }

    /// Twice through lines of one's own, and twice through those that are lent.
    #[test]
    fn lines_are_used_again_in_all_orders() {
        for (lines, spontaneous) in
            [([1, 0], Spontaneous::default()), ([0, 1], Spontaneous::default()), ([1, 0], DRAINS)]
        {
            let runs = in_all_orders(spontaneous, |comm| {
                assert!((0..2).all(|round| is_right(comm, round, 4, lines)));
            });
            assert!(runs > 1, "{runs} runs");
        }
    }

    /// Without what barriers drain and invalidate it fails, over three goes of three.
    #[test]
    fn goes_need_what_barriers_do() {
        let outcome = |omitted| {
            let outcome = Machine::scc(4).run(|core| {
                let comm = Comm::world(core, regions::of_a_test()).unwrap();
                assert!(is_right(&comm, 0, 3, [0, 2]));
                core.omit(omitted);
                let right = (1..4).all(|round| is_right(&comm, round, 3, [0, 2]));
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
