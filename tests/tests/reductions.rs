//! Reductions in the simulator: on all rank counts, over many seeds, and with what keeps them right taken away.

mod common;

use collectives::{Reduction, Scan};
use common::run;
use hal::{emulated::Omit, sim::Machine};
use tests::{
    random::Numbers,
    reductions::cases::{AFFINE, Case, everything, map, random_counts},
    suite,
};

fn names() -> impl Iterator<Item = &'static str> {
    suite::NAMES.iter().copied().filter(|name| name.starts_with("reductions::"))
}

#[test]
fn on_many_rank_counts() {
    for cores in [1, 2, 3, 5, 16, 47, 48, 255] {
        for name in names() {
            if let Err(failure) = run(&Machine::scc(cores), |context| suite::run_simulated(name, context)) {
                panic!("{name} on {cores} cores: {failure}");
            }
        }
    }
}

#[test]
fn over_many_seeds() {
    for (cores, seeds) in [(2, 10), (3, 10), (5, 20), (17, 3)] {
        for seed in 1..=seeds {
            for name in names() {
                if let Err(failure) =
                    run(&Machine::scc(cores).with_seed(seed), |context| suite::run_simulated(name, context))
                {
                    panic!("{name} on {cores} cores with seed {seed}: {failure}");
                }
            }
        }
    }
}

/// Random lengths, roots and counts on every number of ranks.
#[test]
fn by_chance() {
    for cores in 1..=48 {
        let outcome = run(&Machine::scc(cores).with_seed(cores as u64), |context| {
            let mut numbers = Numbers::new(&[cores]);
            for most in if cores < 8 { [6, 100, 2000] } else { [6, 60, 600] } {
                let case = Case { operation: &AFFINE, operand: map, len: numbers.below(most), what: "maps" };
                everything(context, &case, &mut numbers)?;
            }
            Ok(())
        });
        assert_eq!(outcome, Ok(()), "on {cores} cores");
    }
}

/// One after the other by one algorithm, on values that change.
fn with_omission(which: &str, omitted: Omit) -> Result<(), String> {
    run(&Machine::scc(5), |context| {
        let mut numbers = Numbers::new(&[7]);
        context.hal().omit(omitted);
        for turn in 0..12 {
            let operand = |rank, index| map(rank + turn, index);
            let case = Case { operation: &AFFINE, operand, len: 40, what: "maps" };
            if let Ok(scan) = which.parse::<Scan>() {
                case.scan(context, scan)?;
            } else {
                let reduction = which.parse::<Reduction>()?;
                case.reduce(context, reduction, turn % 5)?;
                case.scatter(context, reduction, &random_counts(40, 5, &mut numbers))?;
            }
        }
        Ok(())
    })
}

#[test]
fn everything_passes_when_nothing_is_omitted() {
    for which in ["tree", "blocks", "doubling", "chain"] {
        assert_eq!(with_omission(which, Omit::empty()), Ok(()), "{which}");
    }
}

/// Short ones need none: their lines are whole, and leave at once.
#[test]
fn long_ones_need_their_drains() {
    for which in ["blocks", "chain"] {
        let failure = with_omission(which, Omit::DRAIN).expect_err(which);
        assert!(failure.contains("has not drained"), "{which} failed for another reason: {failure}");
    }
}

#[test]
fn all_need_their_invalidations() {
    for which in ["tree", "blocks", "doubling", "chain"] {
        assert!(with_omission(which, Omit::INVALIDATE_MPB).is_err(), "{which} passes on stale lines");
    }
}
