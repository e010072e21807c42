//! `bench-pscw-design`: what SCOSCo's decisions about its synchronisation data cost and save (section IV.B of the paper).
//!
//! | decision | here |
//! |---|---|
//! | the data of each process at its nearest memory controller | [`placement`] |
//! | uncached memory for the match vector | [`mapping`] |
//! | where everything is, exchanged between all processes when a window is made | [`offsets`] |
//!
//! Each is measured against its alternative with operations of the hardware alone, without windows, so that nothing
//! else is in it.

mod mapping;
mod offsets;
mod placement;

use alloc::vec::Vec;

use collectives::{Comm, Placement};
use hal::{Core, Region, kind};

use crate::measure::demand;
use kernel::{Failure, Program, Rank};

/// Measures design decisions.
pub struct Design;

impl Program for Design {
    const NAME: &'static str = "bench-pscw-design";
    const ABOUT: &'static str = "measures where and how synchronisation data is kept, against the alternatives";

    fn run<C: Core>(rank: &mut Rank<'_, C>) -> Result<(), Failure> {
        demand(rank.comm.size() > 1, "this takes 2 cores or more, and there is 1")?;
        rank.phase("placement");
        placement::measure(rank)?;
        rank.phase("mapping");
        mapping::measure(rank)?;
        rank.phase("offsets");
        offsets::measure(rank)
    }
}

/// Allocates a region for each of these placements, all zero, for all ranks. Collective.
pub(super) fn allocate_for_all<C: Core>(
    comm: &Comm<'_, C>,
    len_bytes: usize,
    placements: impl Iterator<Item = Placement>,
) -> Result<Vec<Region<kind::Uncached>>, Failure> {
    placements.map(|placement| Ok(comm.share_zeroed(len_bytes, placement)?)).collect()
}

/// Frees what was allocated for all. Collective; nobody uses it any more.
pub(super) fn free_for_all<C: Core>(comm: &Comm<'_, C>, regions: Vec<Region<kind::Uncached>>) -> Result<(), Failure> {
    comm.barrier();
    if comm.rank() == 0 {
        regions.into_iter().try_for_each(|region| comm.allocator().free(region))?;
    }
    comm.barrier();
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{refused, run};
    use std::vec;

    #[test]
    fn decisions_are_measured_against_their_alternatives() {
        let printed = run::<Design>("machine=scc+ideal cores=48");
        // The first number of each rank.
        let of = |algorithm: &str, param: u64, bytes: u64, metric: &str| -> Vec<u64> {
            let lists = printed.lists(algorithm, metric);
            lists[&(param, bytes)].iter().map(|list| list[0]).collect()
        };
        let sum = |numbers: Vec<u64>| numbers.into_iter().sum::<u64>();
        assert!(sum(of("nearest", 0, 4, "poll")) < sum(of("one-controller", 0, 4, "poll")));
        // Half of all ranks load memory and measure nothing.
        assert_eq!((of("nearest", 0, 4, "update").len(), of("nearest", 24, 4, "update").len()), (48, 24));
        let polls = ["uncached", "cached-line", "cached-all"].map(|algorithm| of(algorithm, 0, 4, "poll")[0]);
        assert!(polls.is_sorted(), "{polls:?}");
        assert!(of("exchanged", 48, 0, "access.words_read").iter().all(|words| *words == 0));
        assert!(of("shared", 48, 0, "access.words_read").iter().all(|words| *words == 3));
        assert_eq!(of("exchanged", 8, 0, "memory.bytes"), vec![96; 8]);
        assert_eq!(of("shared", 8, 0, "memory.bytes"), vec![12; 8]);
    }

    #[test]
    fn one_rank_decides_nothing() {
        refused::<Design>(&[("cores=1", "rank 0 failed: this takes 2 cores or more, and there is 1\n")]);
        run::<Design>("cores=2");
    }
}
