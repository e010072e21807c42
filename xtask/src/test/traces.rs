//! Traces of one program on both backends: every rank does the same in the same order, and every wait is explained.

use super::{backends::Backends, jobs::Job, kit::Kit, page, perfetto, summary::Suite, trace_files};
use crate::{
    guest::Outcome,
    kernel_line::KernelLine,
    progress::Progress,
    trace::{self, Trace},
};
use anyhow::{Context, Result, ensure};

/// Names of the tests in here, for `--filter`.
const NAMES: [&str; 7] = [
    "traces-qemu",
    "traces-simulator",
    "traces-equal",
    "traces-are-read-by-tools",
    "traces-load-in-perfetto",
    "stops-show-the-same-twice",
    "stops-show-windows",
];

/// This one puts and gets, by windows.
const ONE_SIDED: &str = "wave";

/// Where the simulator stops: in a program without windows, and while another one has them.
const STOP: (&str, u64) = ("stop_at_access", 60);
const STOP_IN_WINDOWS: (&str, u64) = ("stop_at_access", 5_000);

/// Ranks of it talk to each other in an order that does not depend on time.
pub(super) const PROGRAM: &str = "hello";

pub(super) const CORES: u16 = 4;

/// Memory for each rank's trace.
const TRACE_KIB: u64 = 256;

/// A job that traces the program in QEMU and in the simulator, and compares.
pub(super) fn job<'t>(kit: &'t Kit<'t>) -> Option<Job<'t>> {
    NAMES.iter().any(|name| kit.arguments.wants(name)).then(|| Job::new("traces", 5, |suite| run(suite, kit)))
}

/// Words for traces.
pub(super) fn words() -> KernelLine {
    KernelLine::default().value("trace_kib", Some(TRACE_KIB))
}

fn run(suite: &mut Suite, kit: &Kit<'_>) -> Result<()> {
    let backends = Backends::of(PROGRAM, Vec::new(), kit)?;
    let _progress = Progress::new("traces");
    let words = words();
    let plan = crate::run::plan(&backends.program, CORES, &[], &[])?.with_traces(CORES, Some(TRACE_KIB))?;
    let (in_qemu, simulated) = (backends.in_qemu(CORES, &plan, &words)?, backends.simulated(CORES, &words)?);
    let one_sided = Backends::of(ONE_SIDED, Vec::new(), kit)?.simulated(CORES, &words)?;
    let in_windows = {
        let words = KernelLine::default().value(STOP_IN_WINDOWS.0, Some(STOP_IN_WINDOWS.1));
        Backends::of(ONE_SIDED, Vec::new(), kit)?.simulated(CORES, &words.value("show", Some("window:0@1")))?
    };
    let stopped = || {
        let words = KernelLine::default().value("failure_trace_kib", Some(trace::UNASKED_KIB));
        let words = words.value(STOP.0, Some(STOP.1)).value("show", Some("mpb:0:1,memory:0:0,window:0"));
        backends.simulated(CORES, &words)
    };
    let results = [
        in_qemu.verdict().and_then(|()| explained(&in_qemu.transcript.trace)),
        simulated.verdict().and_then(|()| explained(&simulated.transcript.trace)),
        same(&in_qemu.transcript.trace, &simulated.transcript.trace),
        [
            (&in_qemu, &["ended", "message"][..]),
            (&simulated, &["ended", "message"]),
            (&one_sided, &["ended", "put", "get"]),
        ]
        .into_iter()
        .try_for_each(|(outcome, arrows)| is_read_by_tools(outcome, arrows)),
        [&in_qemu, &simulated, &one_sided, &page::captured(&page::DEADLOCK)]
            .into_iter()
            .try_for_each(|outcome| loads_in_perfetto(outcome, kit)),
        shows_the_same(&stopped()?, &stopped()?),
        shows_a_window(&in_windows),
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

/// Whether a run that has stopped shows what memory has of the part of rank 1.
fn shows_a_window(outcome: &Outcome) -> Result<()> {
    outcome.verdict()?;
    let text = outcome.transcript.text.join("\n");
    let part = "window 0 of rank 1, byte 0: memory has ";
    ensure!(text.contains(part), "`{part}` is missing in {text}");
    ensure!(!text.contains("window 0 of rank 0"), "what nobody asked for is shown in {text}");
    Ok(())
}

/// Whether tools read the file of a trace: with a process for each tile, a thread for each rank, `arrows` of these
/// kinds, and counters.
pub(super) fn is_read_by_tools(outcome: &Outcome, arrows: &[&str]) -> Result<()> {
    let found = trace_files::read(&file(outcome)?)?;
    let label = &outcome.label;
    ensure!(found.failure.is_none(), "{label}: the trace says that it has failed");
    ensure!(found.ranks().len() == usize::from(CORES), "{label}: {} ranks are traced", found.ranks().len());
    let tiles = found.processes.values().filter(|name| name.starts_with("tile (")).count();
    ensure!(tiles == usize::from(CORES.div_ceil(2)), "{label}: {tiles} tiles for {CORES} cores");
    for kind in arrows {
        ensure!(found.flows.contains_key(*kind), "{label}: no arrow is a {kind}: {:?}", found.flows);
    }
    for counter in ["accesses to MPBs", "waiting ranks"] {
        let values = found.counters.iter().filter(|((_, name), _)| name == counter).flat_map(|(_, values)| values);
        let (least, most) =
            values.fold((f64::MAX, f64::MIN), |(least, most), value| (least.min(*value), most.max(*value)));
        ensure!(least == 0.0 && most >= 1.0, "{label}: {counter} are from {least} to {most}");
    }
    Ok(())
}

/// Whether Perfetto finds in the file of a run's trace what we find there.
pub(super) fn loads_in_perfetto(outcome: &Outcome, kit: &Kit<'_>) -> Result<()> {
    let file = file(outcome)?;
    perfetto::finds_the_same(&file, &trace_files::read(&file)?, kit).with_context(|| outcome.label.clone())
}

/// The file of a run's trace.
fn file(outcome: &Outcome) -> Result<Vec<u8>> {
    match outcome.verdict() {
        Ok(()) => trace::of_success(&outcome.label, &trace::with_enders(outcome.transcript.trace.clone())),
        Err(error) => trace::of_failure(outcome, format!("{error:#}")),
    }
}

/// Whether two runs that have stopped say the same, and all that there is to say.
fn shows_the_same(first: &Outcome, second: &Outcome) -> Result<()> {
    first.verdict()?;
    let (first, second) = (&first.transcript.text, &second.transcript.text);
    ensure!(first == second, "a run that was stopped at the same moment twice says {first:#?} and {second:#?}");
    let text = first.join("\n");
    let expected = [
        ", after 60 accesses",
        "MPB line 1 of core 0: memory has ",
        "window 0: there is none now",
        "under way: ",
        ".rs:",
    ];
    for part in expected.into_iter().map(str::to_owned).chain((0..CORES).map(|rank| format!("rank {rank}, at "))) {
        ensure!(text.contains(&part), "`{part}` is missing in {text}");
    }
    Ok(())
}

/// Whether the trace of a run that has failed is one that tools read, has `ranks` ranks, and ends with the failure.
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

/// Whether protocols on a board did the same as in the simulator, rank by rank, and whether each wait there was ended by somebody.
pub(super) fn same_operations(on_board: &Outcome, simulated: &Outcome) -> Result<()> {
    let [on_board, simulated] = [on_board, simulated].map(|outcome| {
        let mut trace = outcome.transcript.trace.clone();
        // A board's accesses are as long as its emulator sees them.
        trace.ranks.values_mut().for_each(|records| records.spans.retain(|span| !span.of_hardware));
        trace
    });
    same(&on_board, &simulated).context("what is said of QEMU is the board's")?;
    explained(&on_board)?;
    for (rank, records) in &on_board.ranks {
        let marks = |trace: &Trace| {
            trace
                .ranks
                .get(rank)
                .map(|records| records.phases.iter().map(|phase| phase.name.clone()).collect::<Vec<_>>())
        };
        ensure!(marks(&on_board) == marks(&simulated), "phases of rank {rank} are not those of the simulator");
        ensure!(!records.waits.is_empty(), "rank {rank} has never waited");
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
