//! Non-blocking operations in the simulator: on many core counts and over many seeds, and what they hide.

mod common;

use common::run;
use hal::sim::Machine;
use tests::{nonblocking, suite};

fn names() -> impl Iterator<Item = &'static str> {
    suite::NAMES.iter().copied().filter(|name| name.starts_with("nonblocking::"))
}

#[test]
fn on_all_core_counts() {
    for cores in (1..=17).chain([31, 47, 48]) {
        for name in names() {
            assert_eq!(run(&Machine::scc(cores), |context| suite::run(name, context)), Ok(()), "{name}, {cores} cores");
        }
        let random = run(&Machine::scc(cores), |context| nonblocking::at_random(context, cores, 6, 20));
        assert_eq!(random, Ok(()), "{cores} cores");
    }
}

#[test]
fn over_many_seeds() {
    for seed in 1..=80 {
        let cores = 1 + seed * 7 % 12;
        let machine = Machine::scc(cores).with_seed(seed as u64);
        let random = run(&machine, |context| nonblocking::at_random(context, seed, 5, 20));
        assert_eq!(random, Ok(()), "{cores} cores with seed {seed}");
    }
}

#[test]
fn on_very_many_cores() {
    for cores in [255, 1024] {
        for name in ["nonblocking::broadcasts", "nonblocking::allreduces", "nonblocking::several_in_any_order"] {
            assert_eq!(run(&Machine::scc(cores), |context| suite::run(name, context)), Ok(()), "{name}, {cores} cores");
        }
    }
}
