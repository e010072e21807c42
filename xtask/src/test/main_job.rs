//! The main job on 48 cores: twice in QEMU and once in the simulator, which must agree in every counter and every bit.

use super::{Arguments, backends::Backends, jobs::Job, kit::Kit, summary::Suite};
use crate::{
    console::{Counters, Transcript},
    guest::Outcome,
    kernel_line::KernelLine,
    progress::Progress,
    result_files, run, workspace,
};
use anyhow::{Context, Result, bail, ensure};
use std::{collections::BTreeMap, fs, path::PathBuf};

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
    Backends::of(run::DEFAULT_PROGRAM, vec![run::default_input()], kit)
}

/// Runs the main job in QEMU.
///
/// # Errors
///
/// When it cannot be built or started.
pub(super) fn in_qemu(kit: &Kit<'_>) -> Result<Outcome> {
    let _progress = Progress::new("main job in QEMU");
    let backends = backends(kit)?;
    backends.in_qemu(CORES, &run::plan(CORES, backends.inputs(), &[])?, &KernelLine::default())
}

/// The jobs that run the main job and compare.
pub(super) fn jobs<'t>(kit: &'t Kit<'t>) -> Vec<Job<'t>> {
    let wants = |names: &[&str]| names.iter().any(|name| kit.arguments.wants(name));
    let mut jobs = Vec::new();
    if wants(&["main-job-repeats"]) {
        jobs.push(Job::new("main job", 20, |suite| {
            let first = kit.main_job()?;
            suite.begin();
            let again = in_qemu(kit)?;
            let same = || same("in the first run", &first.transcript, "in the second", &again.transcript);
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
    let first = kit.main_job()?;
    let backends = backends(kit)?;
    let simulated = {
        let _progress = Progress::new("main job in the simulator");
        backends.simulated(CORES, &KernelLine::default())?
    };
    let files = workspace::results(run::DEFAULT_PROGRAM);
    let results = [
        first.verdict().and_then(|()| result_files::write(&first.transcript, &files, backends.inputs()).map(drop)),
        simulated.verdict(),
        same_counters("in QEMU", &first.transcript, "in the simulator", &simulated.transcript),
        same_results("in QEMU", &first.transcript, "in the simulator", &simulated.transcript),
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

fn same(left_name: &str, left: &Transcript, right_name: &str, right: &Transcript) -> Result<()> {
    same_counters(left_name, left, right_name, right)?;
    same_results(left_name, left, right_name, right)
}

/// Whether to record: a filter that does not name the test of the record leaves the record alone.
fn blesses(arguments: &Arguments) -> bool {
    arguments.bless && arguments.wants(EXPECTED)
}

/// Compares results bit for bit. The picture alone would not do: its heights are rounded, and the checksum's are not.
///
/// # Errors
///
/// When they differ, with the first difference.
pub(super) fn same_results(left_name: &str, left: &Transcript, right_name: &str, right: &Transcript) -> Result<()> {
    ensure!(!left.results.is_empty(), "no result value {left_name}");
    same_values(left_name, left, right_name, right)?;
    same_files(left_name, left, right_name, right)
}

/// Compares results that are no files.
///
/// # Errors
///
/// When they differ, with the first difference.
pub(crate) fn same_values(left_name: &str, left: &Transcript, right_name: &str, right: &Transcript) -> Result<()> {
    let (left, right) = (&left.results, &right.results);
    for name in left.keys().chain(right.keys()) {
        let of = |results: &BTreeMap<String, String>| results.get(name).map_or("missing", String::as_str).to_owned();
        let (one, other) = (of(left), of(right));
        ensure!(one == other, "result {name} is {one} {left_name}, {other} {right_name}");
    }
    Ok(())
}

/// Counters by rank and name. A rank may send several lines.
fn compared(transcript: &Transcript) -> BTreeMap<(u32, usize, &str), &str> {
    let mut lines: BTreeMap<u32, usize> = BTreeMap::new();
    let mut all = BTreeMap::new();
    for Counters { rank, values } in &transcript.counters {
        let line = lines.entry(*rank).or_default();
        *line += 1;
        for (key, value) in values {
            all.insert((*rank, *line, key.as_str()), value.as_str());
        }
    }
    all
}

/// Compares all counters.
///
/// # Errors
///
/// When they differ, with the first difference.
fn same_counters(left_name: &str, left: &Transcript, right_name: &str, right: &Transcript) -> Result<()> {
    same_counters_but(&[], left_name, left, right_name, right)
}

/// Compares all counters but some.
///
/// # Errors
///
/// When they differ, with the first difference.
pub(super) fn same_counters_but(
    left_out: &[&str],
    left_name: &str,
    left: &Transcript,
    right_name: &str,
    right: &Transcript,
) -> Result<()> {
    let (mut left, mut right) = (compared(left), compared(right));
    for counters in [&mut left, &mut right] {
        counters.retain(|(_, _, name), _| !left_out.contains(name));
    }
    ensure!(!left.is_empty(), "no counters {left_name}");
    ensure!(!right.is_empty(), "no counters {right_name}");
    let mut differences = Vec::new();
    for key in left.keys().chain(right.keys().filter(|key| !left.contains_key(*key))) {
        let (one, other) = (left.get(key).unwrap_or(&"missing"), right.get(key).unwrap_or(&"missing"));
        if one != other {
            differences.push(format!("rank {} {}: {one} {left_name}, {other} {right_name}", key.0, key.2));
        }
    }
    if let Some(first) = differences.first() {
        bail!("{} counters differ, the first: {first}", differences.len());
    }
    Ok(())
}

/// Compares result files bit for bit.
///
/// # Errors
///
/// When they differ, with the first difference.
pub(crate) fn same_files(left_name: &str, left: &Transcript, right_name: &str, right: &Transcript) -> Result<()> {
    ensure!(!left.files.is_empty(), "no result file {left_name}");
    ensure!(
        left.files.len() == right.files.len(),
        "{} result files {left_name}, {} {right_name}",
        left.files.len(),
        right.files.len()
    );
    for (one, other) in left.files.iter().zip(&right.files) {
        ensure!(one.name == other.name, "result file {} {left_name}, {} {right_name}", one.name, other.name);
        let difference = one.bytes.iter().zip(&other.bytes).position(|(one, other)| one != other);
        if let Some(place) = difference {
            bail!("{} differs from byte {place} on between the results {left_name} and {right_name}", one.name);
        }
        ensure!(one.bytes.len() == other.bytes.len(), "{} has another length {left_name} than {right_name}", one.name);
    }
    Ok(())
}

/// The counters as they are recorded: one line per rank and counter.
fn record(transcript: &Transcript) -> String {
    compared(transcript).iter().map(|((rank, line, key), value)| format!("{rank} {line} {key} {value}\n")).collect()
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
    use crate::console::Console;
    use transcript::sent_file::File;

    fn transcript(lines: &str) -> Transcript {
        let mut console = Console::default();
        for line in lines.lines() {
            console.line(line);
        }
        console.finish()
    }

    #[test]
    fn counters_are_compared() {
        let left = transcript("@counters 1 drains=2\n@counters 0 drains=1");
        let right = transcript("@counters 0 drains=1\n@counters 1 drains=2");
        assert!(same_counters("a", &left, "b", &right).is_ok());
        let right = transcript("@counters 0 drains=1\n@counters 1 drains=3");
        let message = same_counters("a", &left, "b", &right).unwrap_err().to_string();
        assert!(message.ends_with("rank 1 drains: 2 a, 3 b"), "{message}");
        assert!(same_counters("a", &left, "b", &transcript("@counters 0 drains=1")).is_err());
        assert!(same_counters("a", &left, "b", &transcript("")).is_err());
        assert!(same_counters("a", &transcript("@counters 0 drains=1"), "b", &left).is_err());
    }

    #[test]
    fn files_are_compared_bit_for_bit() {
        let with = |bytes: &[u8]| Transcript {
            files: vec![File { name: "terrain.pgm".into(), bytes: bytes.to_vec() }],
            ..Transcript::default()
        };
        assert!(same_files("a", &with(b"123"), "b", &with(b"123")).is_ok());
        assert!(same_files("a", &with(b"123"), "b", &with(b"129")).unwrap_err().to_string().contains("byte 2"));
        assert!(same_files("a", &with(b"123"), "b", &with(b"12")).is_err());
        assert!(same_files("a", &with(b"123"), "b", &Transcript::default()).is_err());
        assert!(same_files("a", &Transcript::default(), "b", &Transcript::default()).is_err());
    }

    #[test]
    fn values_are_compared_and_must_be_there() {
        let with = |value: &str| {
            let mut found = transcript(&format!("@result checksum {value}"));
            found.files = vec![File { name: "terrain.pgm".into(), bytes: b"123".to_vec() }];
            found
        };
        assert!(same_results("a", &with("12e1b553"), "b", &with("12e1b553")).is_ok());
        let message = same_results("a", &with("12e1b553"), "b", &with("0")).unwrap_err().to_string();
        assert_eq!(message, "result checksum is 12e1b553 a, 0 b");
        let none = Transcript { files: with("0").files, ..Transcript::default() };
        assert!(same_results("a", &none, "b", &none).is_err());
        assert!(same_values("a", &none, "b", &with("0")).unwrap_err().to_string().contains("missing a"));
        assert!(same_values("a", &none, "b", &none).is_ok());
    }

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
        assert_eq!(record(&transcript("@counters 0 drains=1 words_read=2")), "0 1 drains 1\n0 1 words_read 2\n");
    }
}
