//! Clusters of machines: the in-kernel tests on them, and what they say of a node that is gone.

use super::{guests, jobs::Job, kit::Kit, summary::Suite, traces::ends_with_failure};
use crate::{
    cluster::{Cluster, Disturbance, Shape},
    guest::Outcome,
    kernel_line::KernelLine,
    memory::Plan,
    program::Program,
    progress::Progress,
    trace,
};
use anyhow::{Result, ensure};
use std::time::Duration;

/// Clusters for the in-kernel tests, and which of them they run: more nodes than a small host has processors take
/// their turns on these, and are slow.
const SHAPES: [(Shape, Option<&str>); 2] =
    [(Shape { nodes: 2, cores: 4 }, None), (Shape { nodes: 3, cores: 2 }, Some("cluster::"))];

/// What becomes of node 1, by the names of the tests.
pub(super) const DISTURBANCES: [(&str, i32); 2] =
    [("cluster-node-is-killed", libc::SIGKILL), ("cluster-node-is-stopped", libc::SIGSTOP)];

/// Seconds without a sign of life in these tests, once all nodes have come up. Each node counts them by the interrupts of its timer
/// that it takes: on a busy host fewer come, to all nodes alike.
const DEADLINE_S: u64 = 5;

/// Seconds of its own processor time after which a node that waits must have reported: it computes all the time, so that it
/// has used less than has passed.
const REPORT_S: u64 = DEADLINE_S + 15;

/// Seconds without a sign of life in all others, where a node that a busy host holds up is not to be taken for lost.
const PATIENT_DEADLINE_S: u64 = 120;

/// A way to fail.
pub(super) struct Failure {
    /// The name of its test.
    pub(super) name: &'static str,
    case: &'static str,
    /// What is said of it.
    report: &'static str,
    limit: Option<Duration>,
}

/// On two nodes of one core each. The last word of a deadlock names the circle across them.
pub(super) const FAILURES: [Failure; 4] = [
    Failure {
        name: "cluster-deadlock-names-its-circle",
        case: "waits_in_a_circle",
        report: "core 0 waits for core 1 waits for core 0; core ",
        limit: None,
    },
    Failure { name: "cluster-panic-leaves-traces", case: "panics", report: "core 0 panicked", limit: None },
    Failure { name: "cluster-fault-leaves-traces", case: "reads_null", report: "core 0: read of 0x20", limit: None },
    Failure {
        name: "cluster-endless-loop-leaves-traces",
        case: guests::ENDLESS.0,
        report: guests::ENDLESS.1[0],
        limit: Some(guests::ENDLESS_LIMIT),
    },
];

/// Jobs that boot the image with the tests on clusters, or have something happen to a node.
pub(super) fn jobs<'t>(kit: &'t Kit<'t>, in_kernel: bool) -> impl Iterator<Item = Job<'t>> {
    let tests = SHAPES.into_iter().filter(move |_| in_kernel).map(move |(shape, part)| {
        Job::new(format!("in-kernel, {shape}"), 30, move |suite| run(suite, kit, shape, part))
    });
    let disturbances = DISTURBANCES.into_iter().filter(|(name, _)| kit.arguments.wants(name));
    let failures = FAILURES.iter().filter(|failure| kit.arguments.wants(failure.name));
    let failures =
        failures.map(move |failure| Job::new("nodes that fail", 5, move |suite| failed(suite, kit, failure)));
    let disturbances = disturbances.map(move |(name, signal)| {
        Job::new("nodes that disappear", 10, move |suite| disturbed(suite, kit, name, signal))
    });
    tests.chain(failures).chain(disturbances)
}

/// Has two nodes fail, each of which tells what it did.
fn failed(suite: &mut Suite, kit: &Kit<'_>, failure: &Failure) -> Result<()> {
    let Failure { name, case, report, limit } = *failure;
    let words = KernelLine::default().value("program", Some("fatal")).value("case", Some(case));
    let outcome = boot(kit, Shape { nodes: 2, cores: 1 }, words, name, limit.unwrap_or(kit.limit()), None)?;
    let said = match limit {
        None => outcome.verdict_of_fatal(report),
        Some(_) => guests::judge_endless(&outcome, guests::ENDLESS.1, 2),
    };
    let verdict = said.and_then(|()| ends_with_failure(&outcome, 2));
    if verdict.is_err() {
        suite.note(outcome.tail());
    }
    suite.check(name, verdict);
    Ok(())
}

/// Boots the image with the tests on a cluster and counts them.
fn run(suite: &mut Suite, kit: &Kit<'_>, shape: Shape, part: Option<&str>) -> Result<()> {
    let filter = match (kit.arguments.filter.as_deref(), part) {
        // What is asked for and not part of this is not run.
        (Some(filter), Some(part)) if !filter.starts_with(part) => return Ok(()),
        (filter, part) => filter.or(part),
    };
    let words = KernelLine::default().value("filter", filter);
    let label = format!("in-kernel tests on {shape}");
    let outcome = boot(kit, shape, words, &label, kit.limit(), None)?;
    guests::count(suite, &outcome, kit.arguments.filter.is_some());
    Ok(())
}

/// Has something happen to one of three nodes. The others have to report it in time.
fn disturbed(suite: &mut Suite, kit: &Kit<'_>, name: &str, signal: i32) -> Result<()> {
    let words = KernelLine::default().value("program", Some("endless"));
    let disturbance = Disturbance { node: 1, signal, after: Duration::from_millis(500) };
    let limit = Duration::from_secs(REPORT_S);
    let outcome = boot(kit, Shape { nodes: 3, cores: 2 }, words, name, limit, Some(disturbance))?;
    // What the lost node has noted is lost, too.
    suite.check(name, judge(&outcome).and_then(|()| ends_with_failure(&outcome, 4)));
    Ok(())
}

fn judge(outcome: &Outcome) -> Result<()> {
    let Err(error) = outcome.verdict() else { anyhow::bail!("a cluster without one of its nodes ended well") };
    let report = error.to_string();
    let expected = format!("node 1 has disappeared: no sign of life for {DEADLINE_S} s");
    ensure!(report.contains(&expected), "`{report}` instead of `{expected}`");
    ensure!(report.contains("waits for"), "`{report}` does not say who waits for what");
    Ok(())
}

fn boot(
    kit: &Kit<'_>,
    shape: Shape,
    words: KernelLine,
    label: &str,
    limit: Duration,
    disturbance: Option<Disturbance>,
) -> Result<Outcome> {
    let cluster = Cluster {
        qemu: &kit.tools()?.qemu,
        image: &kit.image(&Program::integration())?.executable,
        inputs: &[],
        shape,
        plan: &Plan::new(shape.cores, 0, None, None)?.with_traces(shape.cores, Some(trace::UNASKED_KIB))?,
        words: words.value("failure_trace_kib", Some(trace::UNASKED_KIB)),
        deadline_s: if disturbance.is_some() { DEADLINE_S } else { PATIENT_DEADLINE_S },
    };
    let _progress = Progress::new(label);
    cluster.run(label, limit, disturbance, |_, _| {})
}
