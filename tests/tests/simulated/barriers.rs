//! Barriers where the suite does not go: many cores, clusters, and without what makes them correct.

use crate::common::run;
use collectives::Barrier;
use hal::{
    emulated::Omit,
    sim::{Description, Machine, SimCore},
};
use tests::{Context, Failed, suite};

/// Runs all tests of the suite that are about barriers on flags.
fn suite_on(machine: &Machine, what: &str) {
    for name in suite::NAMES.iter().filter(|name| name.starts_with("group_barriers::")) {
        assert_eq!(run(machine, |context| suite::run_simulated(name, context)), Ok(()), "{name} {what}");
    }
}

fn machine(name: &str) -> Machine {
    Machine::new(Description::parse(name).expect("there is such a machine"))
}

#[test]
fn on_other_numbers_of_cores() {
    for cores in [9, 33, 65] {
        suite_on(&Machine::scc(cores), &format!("on {cores} cores"));
    }
}

#[test]
fn in_other_domains() {
    for name in ["scc+ideal+domains=5", "scc+ideal+domains=48"] {
        suite_on(&machine(name), &format!("on {name}"));
    }
}

#[test]
fn on_64_nodes_of_64_cores() {
    let outcome = run(&machine("cluster-fpga:64x64"), |context| {
        let barrier: Barrier = "hierarchical".parse()?;
        let mut barrier = context.comm.barrier_of(&context.comm.group(), barrier)?;
        barrier.wait();
        barrier.wait();
        Ok(())
    });
    assert_eq!(outcome, Ok(()));
}

const NAMES: [&str; 8] = [
    "rcce-linear",
    "central-push",
    "butterfly",
    "dissemination-2-pull",
    "tree-k2-pull",
    "tree-k2-polled",
    "tournament",
    "hierarchical-k2",
];

/// Three barriers without drains, or with polls that find what L1 has.
fn without(omitted: Omit, name: &str) -> Result<(), String> {
    let barriers = |context: &mut Context<'_, '_, SimCore>| -> Result<(), Failed> {
        let comm = context.comm;
        let barrier: Barrier = name.parse()?;
        let mut barrier = comm.barrier_of(&comm.group(), barrier)?;
        context.hal().omit(omitted);
        (0..3).for_each(|_| barrier.wait());
        context.hal().omit(Omit::empty());
        Ok(())
    };
    run(&Machine::scc(6), barriers)
}

#[test]
fn flags_need_their_drain_and_their_invalidation() {
    for name in NAMES {
        assert_eq!(without(Omit::empty(), name), Ok(()), "{name}");
        let undrained = without(Omit::DRAIN, name).expect_err(name);
        assert!(undrained.contains("has not drained"), "{name}: {undrained}");
        assert!(without(Omit::INVALIDATE_MPB, name).is_err(), "{name} passes on stale lines");
    }
}

/// Who waits says for whom, even where it waits for several flags of a line.
#[test]
fn reports_name_who_is_missing() {
    for name in ["default", "central-push", "rcce-linear", "tree-k2-pull", "hierarchical", "butterfly"] {
        let outcome = run(&Machine::scc(7), |context| {
            let barrier: Barrier = name.parse()?;
            let comm = context.comm;
            let mut barrier = comm.barrier_of(&comm.group(), barrier)?;
            barrier.wait();
            if comm.rank() == 5 {
                comm.barrier();
            }
            barrier.wait();
            Ok(())
        });
        let report = outcome.expect_err(name);
        assert!(report.contains("a barrier from core 5"), "{name}: {report}");
    }
}
