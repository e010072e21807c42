//! Non-blocking operations in the simulator: on many core counts and over many seeds, and what they hide.

use std::cell::Cell;

use crate::common::run;
use collectives::{InPlace, Operator};
use hal::{Clock, emulated::Omit, sim::Machine};
use tests::{check, check_eq, nonblocking, suite};

#[test]
fn on_all_core_counts() {
    for cores in (1..=17).chain([31, 47, 48]) {
        let random = run(&Machine::scc(cores), |context| nonblocking::at_random(context, cores, 6, 20));
        assert_eq!(random, Ok(()), "{cores} cores");
    }
}

#[test]
fn elements_of_any_size_on_all_core_counts() {
    for cores in (2..=17).chain([47, 48, 255]) {
        let outcome = run(&Machine::scc(cores).with_seed(cores as u64), |context| {
            suite::run_simulated("nonblocking::elements_of_any_size", context)
        });
        assert_eq!(outcome, Ok(()), "{cores} cores");
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
fn on_1024_cores() {
    for name in ["nonblocking::broadcasts", "nonblocking::allreduces", "nonblocking::several_in_any_order"] {
        assert_eq!(run(&Machine::scc(1024), |context| suite::run_simulated(name, context)), Ok(()), "{name}");
    }
}

/// Some operations one after the other, so that all lines are used again.
fn with_omission(omitted: Omit) -> Result<(), String> {
    run(&Machine::scc(5), |context| {
        context.hal().omit(omitted);
        nonblocking::at_random(context, 3, 4, 10)
    })
}

#[test]
fn polls_need_their_invalidation() {
    assert_eq!(with_omission(Omit::empty()), Ok(()));
    assert!(with_omission(Omit::INVALIDATE_MPB).is_err(), "requests pass on stale lines");
}

/// Ticks that an allreduce and some computation take a rank on average; `split` computes between begin and end.
fn ticks(cores: usize, split: bool) -> u64 {
    let total = Cell::new(0);
    let outcome = run(&Machine::scc(cores), |context| {
        let hal = context.hal();
        let mut sum = [1.0; 3];
        context.comm.barrier();
        context.comm.barrier();
        let begin = hal.now();
        let mut request = context.comm.start_allreduce(InPlace, &mut sum, Operator::SUM)?;
        if !split {
            request.wait()?;
            hal.compute(20_000);
        } else {
            // An application that asks now and then, as it has to for others to get on.
            for _ in 0..10 {
                if !request.is_over() {
                    request.test()?;
                }
                hal.compute(2000);
            }
            if !request.is_over() {
                request.wait()?;
            }
        }
        drop(request);
        total.set(total.get() + hal.now() - begin);
        check_eq!(sum, [cores as f64; 3], "sums");
        Ok(())
    });
    assert_eq!(outcome, Ok(()));
    total.get() / cores as u64
}

/// What an allreduce takes disappears behind computation, save for the looks that it needs.
#[test]
fn computation_hides_latency() {
    let (apart, together) = (ticks(48, false), ticks(48, true));
    let computation = 20_000 * 1000 / 533;
    let (exposed, hidden) = (apart - computation, together - computation);
    assert!(2 * hidden < exposed, "{hidden} ns of {exposed} ns are left");
}

/// A rank that is late holds nobody up that does not need it: the broadcast's root goes on, and so do those before
/// the late one.
#[test]
fn a_late_rank_is_not_awaited_by_the_root() {
    let outcome = run(&Machine::scc(8), |context| {
        let mut message = [context.rank() as u8; 20];
        if context.rank() == 7 {
            context.hal().compute(1_000_000);
        }
        let begin = context.hal().now();
        context.comm.start_broadcast(&mut message, 0)?.wait()?;
        let took = context.hal().now() - begin;
        check!(took < 20_000, "rank {} took {took} ns", context.rank());
        check_eq!(message, [0; 20], "message");
        Ok(())
    });
    assert_eq!(outcome, Ok(()));
}

/// A request that nobody answers is named, with the rank that is missing.
#[test]
fn deadlocks_are_named() {
    let failure = run(&Machine::scc(4), |context| {
        if context.rank() != 3 {
            context.comm.start_barrier()?.wait()?;
        }
        Ok(())
    });
    let failure = failure.expect_err("nobody is missing");
    assert!(failure.contains("a non-blocking barrier, chunk 0 from core 3"), "{failure}");
}
