//! `bench-loads`: what a load of an uncached word takes, from memory that is near and from memory that is far.
//!
//! The word is at the home that is nearest to rank 0 (`near`) or to the last rank (`far`). On a cluster both go over
//! the engine of stores and loads: the first is the loopback access, the second the remote one of *Highly Scalable
//! Barriers for Future High-Performance Computing Clusters* (Fröning et al., section IV.C).
//!
//! What is varied is how many cores of rank 0's coherence domain load at the same time, each its own word: sockets have
//! one load under way (section III.C), so that cores of one socket wait for each other.

use alloc::format;

use collectives::Placement;
use hal::{Core, LINE_BYTES};

use kernel::{Failure, Program, Rank, args::KnownOption};

use super::{
    design::{allocate_for_all, free_for_all},
    measure::{Of, Splits, repetitions, turns},
};

/// How many cores load at the same time, as far as a domain has them.
const CROWDS: [usize; 6] = [1, 2, 4, 5, 8, 16];

/// Loads that do not count: the first ones meet those of cores that have left the barrier earlier.
const WARM_UP: u32 = 2;

/// Measures loads.
pub struct Loads;

impl Program for Loads {
    const NAME: &'static str = "bench-loads";
    const ABOUT: &'static str = "measures loads of uncached words near rank 0 and near the last rank";
    const OPTIONS: &'static [KnownOption] = &[("repetitions", "loads of each core that count, 8 if not given")];

    fn run<C: Core>(rank: &mut Rank<'_, C>) -> Result<(), Failure> {
        let (comm, hal, me) = (rank.comm, rank.hal(), rank.comm.rank());
        let repetitions = repetitions(rank, 8)?;
        let domain_of = |rank: usize| hal.layout().domain(comm.core_of(rank));
        let domain = (0..comm.size()).take_while(|rank| domain_of(*rank) == domain_of(0)).count();
        for (algorithm, of) in [("near", 0), ("far", comm.size() - 1)] {
            // Words of different lines, so that nothing but sockets and engines can be what cores share.
            let placement = Placement::Near(comm.core_of(of));
            let words = allocate_for_all(comm, LINE_BYTES, (0..domain).map(|_| placement))?;
            for cores in CROWDS.into_iter().filter(|cores| *cores <= domain) {
                rank.phase(&format!("{algorithm}, {cores} at a time"));
                let mut loads = Splits::new("load");
                comm.barrier();
                if me < cores {
                    for counts in turns(WARM_UP, repetitions) {
                        loads.take(hal, counts, || hal.load_word(words[me], 0));
                    }
                }
                loads.send(rank, Of(algorithm, cores as u64, 4), &["words_read"]);
            }
            free_for_all(comm, words)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{median, refused, run};

    #[test]
    fn loads_take_what_the_paper_measured_and_a_call() {
        for (machine, near, far) in [("cluster-fpga", 1_210, 1_890), ("cluster-asic", 534, 534)] {
            let printed = run::<Loads>(&format!("machine={machine}:2x4"));
            for (algorithm, expected) in [("near", near), ("far", far)] {
                let found = printed.at(algorithm, "load", (1, 4));
                assert_eq!(found.len(), 8);
                assert!(found.iter().all(|load| load.abs_diff(expected) <= 6), "{machine} {algorithm}: {found:?}");
            }
        }
    }

    #[test]
    fn cores_of_a_socket_wait_for_each_other() {
        let printed = run::<Loads>("machine=cluster-fpga:2x8");
        let [one, four, eight] = [1, 4, 8].map(|cores| {
            let found = printed.at("far", "load", (cores, 4));
            assert_eq!(found.len() as u64, 8 * cores);
            median(found)
        });
        // Four cores are on four sockets, eight are two on each.
        assert!(four * 10 < one * 11 && eight * 10 > one * 19, "{one}, {four} and {eight} ns");
    }

    #[test]
    fn any_machine_has_loads() {
        for words in ["cores=1", "cores=3", "cores=48", "machine=cluster-fpga:3x1", "machine=cluster-asic:1x2"] {
            let printed = run::<Loads>(words);
            assert!(["near", "far"].iter().all(|algorithm| !printed.samples(algorithm, "load").is_empty()), "{words}");
        }
        refused::<Loads>(&[("cores=2 repetitions=0", "nothing to measure")]);
    }
}
