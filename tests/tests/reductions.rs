//! Reductions in the simulator: on all rank counts, over many seeds, and with what keeps them right taken away.

mod common;

use common::run;
use hal::{emulated::Omit, sim::Machine};
use tests::{
    random::Numbers,
    reductions::{AFFINE, Case, everything, map},
    suite,
};

fn names() -> impl Iterator<Item = &'static str> {
    suite::NAMES.iter().copied().filter(|name| name.starts_with("reductions::"))
}

#[test]
fn on_many_rank_counts() {
    for cores in [1, 2, 3, 5, 16, 47, 48, 100] {
        for name in names() {
            if let Err(failure) = run(&Machine::scc(cores), |context| suite::run(name, context)) {
                panic!("{name} on {cores} cores: {failure}");
            }
        }
    }
}

#[test]
fn over_many_seeds() {
    for (cores, seeds) in [(2, 20), (3, 20), (5, 20), (17, 3)] {
        for seed in 1..=seeds {
            for name in names() {
                if let Err(failure) = run(&Machine::scc(cores).with_seed(seed), |context| suite::run(name, context)) {
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
            for most in [6, 100, 1200] {
                let case = Case { operation: &AFFINE, operand: map, len: numbers.below(most), what: "maps" };
                everything(context, &case, &mut numbers)?;
            }
            Ok(())
        });
        assert_eq!(outcome, Ok(()), "on {cores} cores");
    }
}
