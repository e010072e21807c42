//! Communicators that were made of communicators, by chance.

use hal::{
    Layout,
    sim::{Description, Machine, Strategy},
};

use super::run;
use crate::testing::Random;

#[test]
fn trees_of_communicators_do_what_operations_mean() {
    for (ranks, seeds, depth, steps) in [(1, 2, 2, 10), (2, 8, 3, 30), (5, 10, 3, 30), (16, 6, 2, 30), (48, 1, 2, 15)] {
        for seed in 0..seeds {
            let machine = Machine::scc(ranks);
            // Chance delays ranks, and drains and evicts lines, in every second run.
            let chance = Strategy::Seeded { seed: seed.into() };
            let machine = if seed % 2 == 1 { machine.with_strategy(chance) } else { machine };
            run(&machine, |world| world.grow(&mut Random(seed * 7919 + ranks as u32), depth, steps));
        }
    }
}

#[test]
fn many_ranks_have_communicators_too() {
    run(&Machine::scc(255), |world| world.grow(&mut Random(3), 1, 8));
}

#[test]
fn nodes_of_coherent_cores_have_communicators_too() {
    for (nodes, cores) in [(2, 4), (3, 2)] {
        let layout = Layout::cluster(nodes, cores);
        let machine = Machine::new(Description { layout, ..Description::parse("cluster-fpga").unwrap() });
        for seed in 0..3 {
            // Few enough for the lines of MPBs: beyond, who is in no communicator with the first domain cannot allocate.
            run(&machine, |world| world.grow(&mut Random(seed), 1, 30));
        }
    }
}
