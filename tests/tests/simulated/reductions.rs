//! Reductions in the simulator where the suite does not go: by chance on all rank counts, and with what keeps them right taken
//! away.

use crate::common::run;
use collectives::{Reduction, Scan};
use hal::{emulated::Omit, sim::Machine};
use tests::{
    random::Numbers,
    reductions::cases::{AFFINE, Case, everything, map, random_counts},
};

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
