//! Reduce-scatter of equal blocks of a few lines through few staging lines: in [goes](crate::collective::goes).
//!
//! A rank gets operands in the order in which [`blocks`](super::blocks) does, with its brackets, and combines them as it gets them.
//! Signals from [pair to pair](super::pairs) take less than barriers where a go has room for few ranks: the
//! [estimate](Goes::cost) says which.

use alloc::vec;

use bytemuck::Pod;
use hal::Messenger;

use super::{
    Combine,
    blocks::get_operands,
    buffers::{Buffers, Wrapped},
};
use crate::{Comm, collective::goes::Goes};

/// Reduces and scatters blocks of `len` elements.
pub(super) fn reduce_scatter<C: Messenger, T: Pod>(
    goes: &Goes,
    comm: &Comm<'_, C>,
    mut buffers: Buffers<'_, T>,
    operation: &impl Combine<T>,
    len: usize,
) {
    let (hal, me) = (comm.hal(), comm.rank());
    let mut combined = Wrapped::new(buffers.read(hal, me * len..(me + 1) * len));
    let mut operands = vec![T::zeroed(); len];
    let put =
        |blocks: core::ops::Range<usize>, line| hal.put(buffers.bytes(blocks.start * len..blocks.end * len), line);
    goes.exchange(comm, put, |peer, place| {
        get_operands(comm, place, &mut operands);
        combined.add(hal, operation, peer, &operands);
    });
    buffers.write(hal, me * len, &combined.finish(hal, operation));
    goes.end(comm);
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
        let goes = Goes::new(size, 8 * len, lines).unwrap();
        reduce_scatter(&goes, comm, buffers, &Operation::new(compose), len);
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
                    .filter(|((len, _), lines)| Goes::new(ranks, 8 * len, *lines).is_some())
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
