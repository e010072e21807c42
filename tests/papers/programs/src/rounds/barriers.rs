//! Every barrier, of all ranks and of every other one.

use alloc::format;

use collectives::{Barrier, Group, Scope};
use hal::Core;

use super::recorder::{Recorder, Timing};
use kernel::{Failure, Rank};

/// Barriers in a row.
const ROUNDS: usize = 3;

/// All there are, with some of the numbers that they can have.
const BARRIERS: [&str; 18] = [
    "default",
    "central",
    "central-push",
    "locked-counter",
    "registers",
    "atomic-counters",
    "rcce-linear",
    "butterfly",
    "dissemination",
    "dissemination-3",
    "dissemination-3-pull",
    "tree-k8-push",
    "tree-k8-pull",
    "tree-k3-polled",
    "tournament",
    "hierarchical",
    "hierarchical-k2",
    "flat",
];

/// Those in which who counts last releases the others.
const COUNTING: [&str; 2] = ["locked-counter", "atomic-counters"];

pub(super) fn run<C: Core>(rank: &mut Rank<'_, C>, recorder: &mut Recorder<'_, C>) -> Result<(), Failure> {
    let (comm, size) = (rank.comm, rank.comm.size());
    recorder.step("barrier/world", || {
        (0..ROUNDS).for_each(|_| comm.barrier());
        Ok(())
    })?;
    let (all, half) = (comm.group(), Group::of((0..size).step_by(2))?);
    for name in BARRIERS {
        let timing = if COUNTING.contains(&name) { Timing::Who } else { Timing::Nothing };
        for (group, suffix) in [(&all, ""), (&half, "/half")] {
            let by: Barrier = name.parse()?;
            recorder.timed_step(format!("barrier/{name}{suffix}"), timing, || {
                let mut barrier = comm.barrier_of(group, by)?;
                if group.contains(comm.rank()) {
                    (0..ROUNDS).for_each(|_| barrier.wait());
                }
                Ok(())
            })?;
        }
    }
    recorder.step("barrier/split-phase", || {
        let mut barrier = comm.barrier_of(&all, Barrier::Default)?;
        for _ in 0..ROUNDS {
            let arrived = barrier.arrive();
            comm.hal().compute(100);
            arrived.wait();
        }
        Ok(())
    })?;
    recorder.step("barrier/coherent", || {
        (0..ROUNDS).for_each(|_| comm.coherent_barrier(&mut rank.caches, Scope::Whole));
        Ok(())
    })
}
