//! `rounds`: every operation once or a few times, step by step, with what each rank's counters say about each step.
//!
//! It measures nothing. `cargo xtask test` runs it in QEMU and in the simulator and demands that every rank counts the
//! same in every step on both: each collective operation by each algorithm, each barrier, epochs of each class, fences,
//! locks, messages, notifications, copy engines.
//!
//! **What is compared** are the [counters](hal::Counters) that do not depend on timing. Where *which rank* does
//! something is a matter of timing, the counters of all ranks are compared together; where *how often* something is
//! done is, they are left out. Each step says so, and why: see [`Timing`](recorder::Timing).

mod barriers;
mod operations;
mod others;
mod recorder;
mod windows;

use collectives::Comm;
use hal::Core;

use self::recorder::Recorder;
use kernel::{Failure, Program, Rank, args::KnownOption};

/// Carries out everything, and tells the counters of each step.
pub struct Rounds;

impl Program for Rounds {
    const NAME: &'static str = "rounds";
    const ABOUT: &'static str = "carries out every operation, and tells the counters of each step and rank";
    const OPTIONS: &'static [KnownOption] = &[];

    fn run<C: Core>(rank: &mut Rank<'_, C>) -> Result<(), Failure> {
        let mut recorder = Recorder::new(rank.comm);
        rank.phase("barriers");
        barriers::run(rank, &mut recorder)?;
        rank.phase("collective operations");
        operations::run(rank, &mut recorder)?;
        rank.phase("windows");
        windows::run(rank, &mut recorder)?;
        rank.phase("messages, locks, notifications");
        others::run(rank, &mut recorder)?;
        rank.phase("counters");
        recorder.tell(rank);
        Ok(())
    }
}

/// The rank after this one and the one before it, in a ring.
fn neighbours<C: Core>(comm: &Comm<'_, C>) -> (usize, usize) {
    let (rank, size) = (comm.rank(), comm.size());
    ((rank + 1) % size, (rank + size - 1) % size)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::testing::run;

    #[test]
    fn every_rank_tells_every_step() {
        for cores in [1, 2, 5, 16] {
            let console = run::<Rounds>(&std::format!("cores={cores}")).0;
            let steps = |rank: usize| -> BTreeSet<&str> {
                let words = console.lines().filter_map(|line| line.strip_prefix("@step "));
                let of_rank = words.filter_map(|words| words.strip_prefix(&std::format!("{rank} ")));
                of_rank.filter_map(|words| words.split(' ').next()).collect()
            };
            let first = steps(0);
            assert!(first.len() > 60 && (1..cores).all(|rank| steps(rank) == first), "{cores} cores");
            for part in
                ["barrier/central", "broadcast/oc-k7", "alltoall/long", "default/pscw", "scosco/pscw", "default/fence"]
            {
                assert!(first.iter().any(|step| step.starts_with(part)), "{part} on {cores} cores");
            }
        }
    }
}
