//! Broadcasts of two ranks in all orders of their operations.

use hal::{
    MpbCoherence,
    sim::{Machine, Spontaneous, explore_exhaustively},
};

use crate::{Broadcast, Comm};

/// Runs that an exploration may take.
const LIMIT: u64 = 200_000;

/// Broadcasts these lengths one after the other, from rank 0 and 1 in turns, in all orders, and returns how many
/// there are.
fn explore(algorithm: Broadcast, lens: &[usize], spontaneous: Spontaneous) -> u64 {
    let exploration = explore_exhaustively(
        &Machine::scc(2),
        spontaneous,
        LIMIT,
        |core| {
            let comm = Comm::world(core, regions::of_a_test()).expect("the machine is small enough");
            for (root, len) in lens.iter().enumerate() {
                let byte = |rank| 0x10 * rank as u8 + root as u8;
                let mut message = std::vec![byte(comm.rank()); *len];
                comm.using(algorithm, |comm| comm.broadcast(&mut message, root % 2)).expect("there is such a root");
                assert!(message.iter().all(|found| *found == byte(root % 2)), "{message:?} in broadcast {root}");
            }
            core.drain();
        },
        |outcome| {
            outcome.expect("every order comes to its end");
        },
    );
    assert!(exploration.complete, "too many runs");
    exploration.runs
}

#[test]
fn short_and_long_ones_in_all_orders() {
    for lens in [&[5, 5, 5][..], &[30, 30]] {
        assert!(explore(Broadcast::Short, lens, Spontaneous::default()) > 1);
    }
    for lens in [&[5, 40][..], &[70]] {
        assert!(explore(Broadcast::Long, lens, Spontaneous::default()) > 1);
    }
    assert!(explore(Broadcast::Default, &[5, 33], Spontaneous { drains: true, ..Spontaneous::default() }) > 1);
}
