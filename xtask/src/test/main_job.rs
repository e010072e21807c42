//! The main job on 48 cores: twice in QEMU and once in the simulator, which must agree in every counter and every bit.

use super::{arguments::Arguments, backends::Backends, jobs::Job, kit::Kit, summary::Suite};
use crate::{
    agreement::{Runs, counters},
    console::Transcript,
    guest::Outcome,
    kernel_line::KernelLine,
    program::DEFAULT_PROGRAM,
    progress::Progress,
    result_files, run, wanted, workspace,
};
use anyhow::{Context, Result, bail, ensure};
use std::{fs, path::PathBuf};

/// Names of the comparisons in here, for `--filter`.
const NAMES: [&str; 5] =
    ["main-job-qemu", "main-job-simulator", "main-job-counters-equal", "main-job-results-equal", EXPECTED];

/// Name of the test against the recorded counters.
const EXPECTED: &str = "main-job-counters-expected";

/// Cores of the main job.
const CORES: u16 = 48;

/// The recorded counters.
fn expected_file() -> PathBuf {
    workspace::root().join("tests/expected/terrain-48.counters")
}

fn backends<'t>(kit: &'t Kit<'t>) -> Result<Backends<'t>> {
    Backends::of(DEFAULT_PROGRAM, vec![wanted::default_input()], kit)
}

/// Runs the main job in QEMU, with these words.
pub(super) fn in_qemu(kit: &Kit<'_>, words: &KernelLine) -> Result<Outcome> {
    let _progress = Progress::new("main job in QEMU");
    let backends = backends(kit)?;
    backends.in_qemu(CORES, &run::plan(&backends.program, CORES, backends.inputs(), &[])?, words)
}

/// How it ended in QEMU the first time, with which the second time and the simulator are compared.
fn first<'k>(kit: &'k Kit<'_>) -> Result<&'k Outcome> {
    kit.main_job(|| in_qemu(kit, &KernelLine::default()))
}

/// The jobs that run the main job and compare.
pub(super) fn jobs<'t>(kit: &'t Kit<'t>) -> Vec<Job<'t>> {
    let wants = |names: &[&str]| names.iter().any(|name| kit.arguments.wants(name));
    let mut jobs = Vec::new();
    if wants(&["main-job-repeats"]) {
        jobs.push(Job::new("main job", 20, |suite| {
            let first = first(kit)?;
            suite.begin();
            let again = in_qemu(kit, &KernelLine::default())?;
            let runs = Runs::new(["in the first run", "in the second"], [&first.transcript, &again.transcript]);
            let same = || runs.agree_in_counters_but(&[]).and_then(|()| runs.agree_in_results());
            suite.check("main-job-repeats", again.verdict().and_then(|()| same()));
            suite.explain(&again);
            Ok(())
        }));
    }
    if wants(&NAMES) {
        jobs.push(Job::new("main job", 40, |suite| compare(suite, kit)));
    }
    jobs
}

fn compare(suite: &mut Suite, kit: &Kit<'_>) -> Result<()> {
    let first = first(kit)?;
    let backends = backends(kit)?;
    let simulated = {
        let _progress = Progress::new("main job in the simulator");
        backends.simulated(CORES, &KernelLine::default())?
    };
    let files = workspace::results(DEFAULT_PROGRAM);
    let runs = Runs::new(["in QEMU", "in the simulator"], [&first.transcript, &simulated.transcript]);
    let results = [
        first.verdict().and_then(|()| result_files::write(&first.transcript, &files, backends.inputs()).map(drop)),
        simulated.verdict(),
        runs.agree_in_counters_but(&[]),
        runs.agree_in_results(),
        expected(&first.transcript, blesses(kit.arguments) && first.verdict().is_ok()),
    ];
    for (name, result) in NAMES.into_iter().zip(results) {
        if kit.arguments.wants(name) {
            suite.check(name, result);
        }
    }
    suite.explain(first);
    suite.explain(&simulated);
    Ok(())
}

/// Whether to record: a filter that does not name the test of the record leaves the record alone.
fn blesses(arguments: &Arguments) -> bool {
    arguments.bless && arguments.wants(EXPECTED)
}

/// The counters as they are recorded: one line per rank and counter.
fn record(transcript: &Transcript) -> String {
    counters(transcript).iter().map(|((rank, line, key), value)| format!("{rank} {line} {key} {value}\n")).collect()
}

/// Compares with the recorded counters, or records them.
fn expected(transcript: &Transcript, bless: bool) -> Result<()> {
    let path = expected_file();
    let found = record(transcript);
    if bless {
        return result_files::put(&path, found.as_bytes());
    }
    let shown = workspace::display(&path);
    let recorded = fs::read_to_string(&path).with_context(|| format!("cannot read {shown}; --bless records it"))?;
    let difference = recorded.lines().zip(found.lines()).find(|(recorded, found)| recorded != found);
    if let Some((recorded, found)) = difference {
        bail!("`{found}` instead of `{recorded}` (rank, line, counter, value); if it should be so, --bless records it");
    }
    ensure!(
        recorded.lines().count() == found.lines().count(),
        "more or fewer counters than in {shown}; if it should be so, --bless records it"
    );
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::console::Counters;

    #[test]
    fn a_filter_for_another_test_records_nothing() {
        #[derive(clap::Parser)]
        struct Line {
            #[command(flatten)]
            arguments: Arguments,
        }
        let blesses = |words: &[&str]| {
            let line = <Line as clap::Parser>::parse_from(["test"].iter().chain(words));
            super::blesses(&line.arguments)
        };
        assert!(blesses(&["--bless"]) && blesses(&["--bless", "--filter", "counters-expected"]));
        assert!(!blesses(&[]) && !blesses(&["--bless", "--filter", "main-job-qemu"]));
    }

    #[test]
    fn records_are_lines() {
        let values = [("drains", "1"), ("words_read", "2")].map(|(key, value)| (key.to_owned(), value.to_owned()));
        let counters = vec![Counters { rank: 0, values: values.into() }];
        let transcript = Transcript { counters, ..Transcript::default() };
        assert_eq!(record(&transcript), "0 1 drains 1\n0 1 words_read 2\n");
    }
}
