//! Exchanges in the simulator: on many core counts and over many seeds, and with the operations taken away that they need.

mod common;

use common::run;
use hal::{emulated::Omit, sim::Machine};
use tests::{check_eq, exchanges, exchanges::Case, exchanges::Operation, suite};

fn names() -> impl Iterator<Item = &'static str> {
    suite::NAMES.iter().copied().filter(|name| name.starts_with("exchanges::"))
}

#[test]
fn on_all_core_counts() {
    for cores in (1..=17).chain([31, 47, 48]) {
        let random = run(&Machine::scc(cores), |context| exchanges::at_random(context, cores, 24, 7000));
        assert_eq!(random, Ok(()), "{cores} cores");
    }
}

#[test]
fn over_many_seeds() {
    for seed in 1..=60 {
        let cores = 1 + seed * 7 % 12;
        let machine = Machine::scc(cores).with_seed(seed as u64);
        let random = run(&machine, |context| exchanges::at_random(context, seed, 16, 4000));
        assert_eq!(random, Ok(()), "{cores} cores with seed {seed}");
    }
}

#[test]
fn on_more_ranks_than_lines() {
    for cores in [100] {
        for name in names() {
            assert_eq!(run(&Machine::scc(cores), |context| suite::run(name, context)), Ok(()), "{name}, {cores} cores");
        }
    }
}
