//! Running tests of the suite in the simulator.

use std::cell::RefCell;

use collectives::Comm;
use hal::{
    Cached,
    sim::{Checked, Machine, SimCore},
};
use tests::{Context, Failed};

/// Runs `test` on all cores of `machine` and returns the first failure: what a rank found wrong, or what became of
/// the machine.
#[allow(dead_code, reason = "not every binary of tests runs without the checker")]
pub(crate) fn run(
    machine: &Machine,
    test: impl Fn(&mut Context<'_, '_, SimCore>) -> Result<(), Failed>,
) -> Result<(), String> {
    // A rank that fails leaves the others waiting, and its reason is worth more than their deadlock.
    let failed = RefCell::new(None);
    let outcome = machine.run(|core| on_a_core(core, &failed, &test));
    match failed.into_inner() {
        Some(failed) => Err(failed),
        None => outcome.map(|_| ()).map_err(|failure| failure.to_string()),
    }
}

/// Runs a test on all cores under the coherence checker, which has to find nothing.
#[allow(dead_code, reason = "not every binary of tests checks")]
pub(crate) fn check(
    machine: &Machine,
    test: impl Fn(&mut Context<'_, '_, SimCore>) -> Result<(), Failed>,
) -> Result<(), String> {
    let (failed, checked) = checked(machine, test);
    if let Some(finding) = checked.findings.first() {
        return Err(format!("{} findings, such as {finding}", checked.findings.len()).replace('\t', "\n    "));
    }
    match failed {
        Some(failed) => Err(failed),
        None => checked.result.map(|_| ()).map_err(|failure| failure.to_string()),
    }
}

/// Runs a test on all cores under the coherence checker: the first failure of a rank, and all that the checker says.
pub(crate) fn checked(
    machine: &Machine,
    test: impl Fn(&mut Context<'_, '_, SimCore>) -> Result<(), Failed>,
) -> (Option<String>, Checked<()>) {
    let failed = RefCell::new(None);
    let checked = machine.check(|core, _| on_a_core(core, &failed, &test));
    (failed.into_inner(), checked)
}

/// Runs `test` on one core, and keeps the first failure.
fn on_a_core(
    core: &SimCore,
    failed: &RefCell<Option<String>>,
    test: &impl Fn(&mut Context<'_, '_, SimCore>) -> Result<(), Failed>,
) {
    let comm = Comm::world(core, regions::of_a_test()).expect("the machine is small enough");
    let mut caches = core.take_caches().expect("it is asked for once");
    if let Err(reason) = test(&mut Context { comm: &comm, caches: &mut caches, all_is_coherent: false }) {
        failed.borrow_mut().get_or_insert_with(|| format!("rank {}: {reason}", comm.rank()));
    }
}
