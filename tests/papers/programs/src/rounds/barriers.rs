//! Every barrier, of all ranks and of every other one.

use alloc::format;

use collectives::{Barrier, Group, Scope};
use hal::Core;

use super::recorder::{Recorder, Timing};
use kernel::{Failure, Rank};

/// Barriers in a row.
const ROUNDS: usize = 3;

/// All there are, with some of the numbers that they can have, and what of their counters depends on timing.
const BARRIERS: [(&str, Timing); 18] = [
    ("default", Timing::Nothing),
    ("central", Timing::Nothing),
    ("central-push", Timing::Nothing),
    // Who counts last releases the others.
    ("locked-counter", Timing::Who),
    ("registers", Timing::Nothing),
    ("atomic-counters", Timing::Who),
    ("rcce-linear", Timing::Nothing),
    ("butterfly", Timing::Nothing),
    ("dissemination", Timing::Nothing),
    ("dissemination-3", Timing::Nothing),
    ("dissemination-3-pull", Timing::Nothing),
    ("tree-k8-push", Timing::Nothing),
    ("tree-k8-pull", Timing::Nothing),
    ("tree-k3-polled", Timing::Nothing),
    ("tournament", Timing::Nothing),
    ("hierarchical", Timing::Nothing),
    ("hierarchical-k2", Timing::Nothing),
    ("flat", Timing::Nothing),
];

pub(super) fn run<C: Core>(rank: &mut Rank<'_, C>, recorder: &mut Recorder) -> Result<(), Failure> {
    let (comm, hal, size) = (rank.comm, rank.hal(), rank.comm.size());
    recorder.step(hal, "barrier/world", Timing::Nothing, || {
        (0..ROUNDS).for_each(|_| comm.barrier());
        Ok(())
    })?;
    let (all, half) = (comm.group(), Group::of((0..size).step_by(2))?);
    for (name, timing) in BARRIERS {
        for (group, suffix) in [(&all, ""), (&half, "/half")] {
            let by: Barrier = name.parse()?;
            recorder.step(hal, format!("barrier/{name}{suffix}"), timing, || {
                let mut barrier = comm.barrier_of(group, by)?;
                if group.contains(comm.rank()) {
                    (0..ROUNDS).for_each(|_| barrier.wait());
                }
                Ok(())
            })?;
            comm.barrier();
        }
    }
    recorder.step(hal, "barrier/split-phase", Timing::Nothing, || {
        let mut barrier = comm.barrier_of(&all, Barrier::Default)?;
        for _ in 0..ROUNDS {
            let arrived = barrier.arrive();
            hal.compute(100);
            arrived.wait();
        }
        Ok(())
    })?;
    recorder.step(hal, "barrier/coherent", Timing::Nothing, || {
        (0..ROUNDS).for_each(|_| comm.coherent_barrier(&mut rank.caches, Scope::Whole));
        Ok(())
    })
}
