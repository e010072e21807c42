//! Broadcasts of two ranks in all orders of their operations.

use hal::sim::{Machine, Spontaneous};

use crate::{
    Broadcast, Comm,
    in_all_orders::{DRAINS, in_all_orders},
};

/// Broadcasts these lengths one after the other, from rank 0 and 1 in turns, in all orders, and returns how many
/// there are.
fn explore(algorithm: Broadcast, lens: &[usize], spontaneous: Spontaneous) -> u64 {
    in_all_orders(spontaneous, |comm| {
        for (root, len) in lens.iter().enumerate() {
            let byte = |rank| 0x10 * rank as u8 + root as u8;
            let mut message = std::vec![byte(comm.rank()); *len];
            comm.using(algorithm, |comm| comm.broadcast(&mut message, root % 2)).expect("there is such a root");
            assert!(message.iter().all(|found| *found == byte(root % 2)), "{message:?} in broadcast {root}");
        }
    })
}

#[test]
fn short_and_long_ones_in_all_orders() {
    for lens in [&[5, 5, 5][..], &[30, 30]] {
        assert!(explore(Broadcast::Short, lens, Spontaneous::default()) > 1);
    }
    for lens in [&[5, 40][..], &[70]] {
        assert!(explore(Broadcast::Long, lens, Spontaneous::default()) > 1);
    }
    assert!(explore(Broadcast::Default, &[5, 33], DRAINS) > 1);
}

/// Of messages around a line's length, of which it is found out first that they are short, and known then.
#[test]
fn lines_reach_all_ranks() {
    for ranks in [2, 31, 32, 33, 48] {
        let outcome = Machine::scc(ranks).run(|core| {
            let comm = Comm::world(core, regions::of_a_test()).expect("the machine is small enough");
            for (root, len) in
                [0, ranks / 2, ranks - 1].into_iter().flat_map(|root| [1, 27, 28, 29].map(|len| (root, len)))
            {
                for round in 0..3 {
                    let byte = |from: usize, at: usize| (from * 31 + round * 7 + at) as u8;
                    let mut message: std::vec::Vec<_> = (0..len).map(|at| byte(comm.rank(), at)).collect();
                    comm.broadcast(&mut message, root).expect("there is such a root");
                    assert!(message.iter().enumerate().all(|(at, found)| *found == byte(root, at)), "{message:?}");
                }
            }
        });
        outcome.unwrap();
    }
}
