//! Communicators and messages with tags in the simulator: the suite's tests on other core counts, and over seeds.

use crate::common::run;
use hal::sim::Machine;
use tests::{intercommunicators, suite};

const NAMES: [&str; 3] = [
    "communicators::rows_and_columns",
    "communicators::more_than_there_are_lines",
    "communicators::messages_with_tags",
];

#[test]
fn on_some_core_counts() {
    for cores in [1, 2, 3, 7, 16, 33] {
        for name in NAMES {
            assert_eq!(
                run(&Machine::scc(cores), |context| suite::run_simulated(name, context)),
                Ok(()),
                "{cores} {name}"
            );
        }
    }
}

#[test]
fn over_some_seeds() {
    for seed in 1..=6 {
        let machine = Machine::scc(4 + seed % 3).with_seed(seed as u64);
        for name in NAMES {
            assert_eq!(run(&machine, |context| suite::run_simulated(name, context)), Ok(()), "{name} with seed {seed}");
        }
    }
}

/// Two groups of 48 ranks, whose numbers are not in order.
#[test]
fn intercommunicators_of_all_cores() {
    assert_eq!(run(&Machine::scc(48), |context| intercommunicators::against_an_oracle(context, 9, 1)), Ok(()));
}
