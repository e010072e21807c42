//! Barriers of so many ranks that their flags fill words and lines, or go beyond: one rank is late in turns, and nobody leaves
//! without it.

use std::vec::Vec;

use hal::{Clock, sim::Machine};

use crate::Comm;

/// Cycles after which a rank comes that is late.
const LATE: u64 = 20_000;

/// Barriers that wait for one flag, for some of a line, and for some of several lines.
const NAMES: [&str; 6] =
    ["default", "central-push", "rcce-linear", "dissemination", "dissemination-3", "tree-k31-push"];

#[test]
fn nobody_is_left_out() {
    for ranks in [31, 32, 33, 48] {
        let outcome = Machine::scc(ranks).run(|core| {
            let comm = Comm::world(core, regions::of_a_test()).unwrap();
            let mut times = Vec::new();
            for name in NAMES {
                let mut barrier = comm.barrier_of(&comm.group(), name.parse().unwrap()).unwrap();
                for late in 0..ranks {
                    barrier.wait();
                    if comm.rank() == late {
                        core.compute(LATE);
                    }
                    let before = core.now();
                    barrier.wait();
                    times.push((late, before, core.now()));
                }
            }
            times
        });
        let outcome = outcome.unwrap();
        for (rank, core) in outcome.cores.iter().enumerate() {
            for (number, (late, _, over)) in core.result.iter().enumerate() {
                let (name, came) = (NAMES[number / ranks], outcome.cores[*late].result[number].1);
                assert!(*over >= came, "rank {rank} of {ranks} has left {name} before rank {late} came");
            }
        }
    }
}
