//! Traces of one program on both backends: every rank does the same in the same order, and every wait is explained.

use super::{backends::Backends, jobs::Job, kit::Kit, summary::Suite, trace_files};
use crate::{
    guest::Outcome,
    kernel_line::KernelLine,
    progress::Progress,
    trace::{self, Trace},
};
use anyhow::{Context, Result, ensure};

/// Names of the tests in here, for `--filter`.
const NAMES: [&str; 3] = ["traces-qemu", "traces-simulator", "traces-equal"];

/// Ranks of it talk to each other in an order that does not depend on time.
const PROGRAM: &str = "hello";

const CORES: u16 = 4;

/// Memory for each rank's trace.
const TRACE_KIB: u64 = 256;

/// A job that traces the program in QEMU and in the simulator, and compares.
pub(super) fn job<'t>(kit: &'t Kit<'t>) -> Option<Job<'t>> {
    NAMES.iter().any(|name| kit.arguments.wants(name)).then(|| Job::new("traces", 5, |suite| run(suite, kit)))
}

fn run(suite: &mut Suite, kit: &Kit<'_>) -> Result<()> {
    let backends = Backends::of(PROGRAM, Vec::new(), kit)?;
    let _progress = Progress::new("traces");
    let words = KernelLine::default().value("trace_kib", Some(TRACE_KIB));
    let plan = crate::run::plan(&backends.program, CORES, &[], &[])?.with_traces(CORES, Some(TRACE_KIB))?;
    let (in_qemu, simulated) = (backends.in_qemu(CORES, &plan, &words)?, backends.simulated(CORES, &words)?);
    let results = [
        in_qemu.verdict().and_then(|()| explained(&in_qemu.transcript.trace)),
        simulated.verdict().and_then(|()| explained(&simulated.transcript.trace)),
        same(&in_qemu.transcript.trace, &simulated.transcript.trace),
    ];
    for (name, result) in NAMES.into_iter().zip(results) {
        if kit.arguments.wants(name) {
            suite.check(name, result);
        }
    }
    suite.explain(&in_qemu);
    suite.explain(&simulated);
    Ok(())
}

/// Whether the trace of a run that has failed is one that tools read, has so many ranks, and ends with the failure.
///
/// # Errors
///
/// When not.
pub(super) fn ends_with_failure(outcome: &Outcome, ranks: usize) -> Result<()> {
    let Err(error) = outcome.verdict() else { anyhow::bail!("the run has not failed") };
    let message = format!("{error:#}");
    let found = trace_files::read(&trace::of_failure(outcome, message.clone())?)?;
    let (_, said) = found.failure.as_ref().context("the trace does not end with the failure")?;
    ensure!(*said == message, "the trace ends with `{said}` instead of `{message}`");
    ensure!(found.ranks().len() == ranks, "{} instead of {ranks} ranks are traced", found.ranks().len());
    Ok(())
}

/// Whether all ranks were traced, and each wait for a place has an ender.
fn explained(trace: &Trace) -> Result<()> {
    ensure!(trace.ranks.len() == usize::from(CORES), "{} ranks were traced", trace.ranks.len());
    let trace = crate::trace::with_enders(trace.clone());
    for (rank, records) in &trace.ranks {
        ensure!(records.lost == 0, "rank {rank} has lost {} records", records.lost);
        for wait in records.waits.iter().filter(|wait| wait.polls > 0) {
            let begin = wait.begin;
            ensure!(wait.ender.is_some(), "nobody ended the wait of rank {rank} for {} at {begin}", wait.what);
        }
    }
    Ok(())
}

/// Compares what each rank did, without times.
fn same(left: &Trace, right: &Trace) -> Result<()> {
    for (rank, left) in &left.ranks {
        let right = right.ranks.get(rank).with_context(|| format!("rank {rank} was traced in QEMU alone"))?;
        for (index, (left, right)) in left.spans.iter().zip(&right.spans).enumerate() {
            let what = |span: &crate::trace::Span| (span.depth, span.name.clone(), span.peer, span.bytes);
            let (left, right) = (what(left), what(right));
            ensure!(left == right, "operation {index} of rank {rank} is {left:?} in QEMU, {right:?} in the simulator");
        }
        let (left, right) = (left.spans.len(), right.spans.len());
        ensure!(left == right && left > 0, "rank {rank} has {left} operations in QEMU, {right} in the simulator");
    }
    Ok(())
}
