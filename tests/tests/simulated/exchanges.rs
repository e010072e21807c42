//! Exchanges in the simulator: on many core counts and over many seeds, and with the operations taken away that they
//! need.

use crate::common::run;
use collectives::{Exchange, Pieces};
use hal::{emulated::Omit, sim::Machine};
use tests::{
    check_eq, exchanges,
    exchanges::{Case, Operation},
};

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

/// Two long operations and two short ones in which ranks read lines again that they have read before.
fn with_omission(operation: Operation, way: Exchange, len: usize, omitted: Omit) -> Result<(), String> {
    run(&Machine::scc(5), |context| {
        context.hal().omit(omitted);
        for salt in 0..12 {
            let case = Case { operation, way, root: 1, in_place: false, common: Some(len), longest: len, salt };
            case.check(context)?;
        }
        Ok(())
    })
}

const ALL: [Operation; 4] = [Operation::Gather, Operation::Scatter, Operation::Allgather, Operation::Alltoall];

#[test]
fn long_exchanges_need_their_drains() {
    for operation in ALL {
        for len in [700, 20_001] {
            assert_eq!(with_omission(operation, Exchange::Default, len, Omit::empty()), Ok(()));
            let failure =
                with_omission(operation, Exchange::Default, len, Omit::DRAIN).expect_err("nothing was missed");
            assert!(failure.contains("has not drained"), "{operation:?} of {len} failed for another reason: {failure}");
        }
    }
}

#[test]
fn exchanges_need_their_invalidations() {
    for operation in ALL {
        for len in [20, 700, 20_001] {
            assert_eq!(with_omission(operation, Exchange::Default, len, Omit::empty()), Ok(()));
            let outcome = with_omission(operation, Exchange::Default, len, Omit::INVALIDATE_MPB);
            assert!(outcome.is_err(), "{operation:?} of {len} passes on stale lines");
        }
    }
}

/// Whoever is called wrongly is told, and whoever waits for what nobody sends is named.
#[test]
fn counts_that_differ_are_a_deadlock_that_says_so() {
    let failure = run(&Machine::scc(3), |context| {
        let counts = [10, if context.rank() == 0 { 90 } else { 10 }, 10];
        let mut all = [0u8; 200];
        let block = [1u8; 10];
        context.comm.gather(&block, Pieces::packed(&counts).of_mut(&mut all), 0)?;
        check_eq!(context.rank(), 3, "who comes so far");
        Ok(())
    });
    let failure = failure.expect_err("nothing was missed");
    assert!(failure.contains("who comes so far") || failure.contains("gather, chunk 0"), "{failure}");
}
