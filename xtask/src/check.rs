//! Runs a program in the simulator under the coherence checker, and names its mistakes.

mod lint;

use crate::{
    c, catalogue, command_line,
    console::Transcript,
    cores, guest, host_command,
    image::{self, Profile},
    kernel_line::KernelLine,
    loading,
    machine::{self, Machine},
    places::{self, Frame},
    program::Program,
    report::{More, ReportOptions},
    run::{self, Common, Domains},
    sim, workspace,
};
use anyhow::{Result, ensure};
use clap::Args;
use serde_json::{Value, json};
use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
    time::Duration,
};
use transcript::finding::{Access, Finding};

use self::lint::{Lint, Wasted};

/// The word that asks the simulator for the checker.
const CHECK_WORD: &str = "check_coherence";

/// The exit status if something was found.
const FOUND: u8 = 6;

/// Find missing flushes, invalidations and drains, and races, where they are in a program
///
/// Runs the program in the simulator with an account of every byte of shared memory. Each mistake takes one line, which begins
/// with its kind and its place: `stale` (a load may return an older value), `lost` (a write-back may put old bytes over newer
/// ones), `race` (nothing orders two accesses), `flag before data`, `never written`, `mixed kinds` (one mapping still holds what
/// another one reads), `register released before the drain`; in programs in C `one-sided misuse` (an operation of MPI that is
/// under way is met by something that it must not meet) and `buffer in use` (of a message that is not over), too. Where this run got away with it makes no difference. The exit
/// status is 0 without findings, 6 with some, and otherwise that of `sim`.
#[derive(Args)]
pub(crate) struct Arguments {
    /// Name of a program (`list` shows them all), directory of your own crate that depends on `kernel`, or files in C
    #[arg(required = true)]
    program: Vec<String>,

    #[command(flatten)]
    c: c::CompilerOptions,

    /// Install what is missing without asking
    #[arg(long)]
    yes: bool,

    /// The machine, as for `sim`
    #[arg(long, value_name = "M", default_value = "scc")]
    machine: Machine,

    /// Number of cores [default: all of the machine's]
    #[arg(long, value_name = "N")]
    cores: Option<u32>,

    /// Runs with seeds 1 to N as well, in which other cores come first
    #[arg(long, value_name = "N", default_value_t = 0)]
    seeds: u64,

    /// Name drains, invalidations, flushes and purges that have changed nothing in any run, too, and what they cost. That is no
    /// mistake, and leaves the exit status as it is. `--lint=all` names those that Atoll's own protocols make, as well
    #[arg(long, value_name = "OF", num_args = 0..=1, require_equals = true, default_missing_value = "program", value_enum)]
    lint: Option<Lint>,

    /// Show findings as JSON, for tools, and nothing else
    #[arg(long, conflicts_with = "report")]
    json: bool,

    /// Seconds of processor time until a run that does not end is given up
    #[arg(long, value_name = "SECONDS", default_value_t = command_line::TIMEOUT_S, value_parser = command_line::seconds())]
    timeout: u64,

    #[command(flatten)]
    domains: Domains,

    #[command(flatten)]
    report: ReportOptions,

    #[command(flatten)]
    common: Common,
}

/// Carries out `cargo xtask check`.
///
/// # Errors
///
/// When a run fails without a finding, or cannot be made; [`command_line::SaidWith`] when something was found.
pub(crate) fn main(arguments: &Arguments) -> Result<()> {
    let common = &arguments.common;
    ensure!(!common.lines, "`check` reads the lines for tools itself; `--json` shows what it has found");
    let machine = machine::with_domains(arguments.machine.clone(), arguments.domains.domains)?;
    let count = arguments.cores.unwrap_or_else(|| machine.default_cores());
    machine::check(&machine, count)?;
    let program = Program::of_words(&arguments.program, &arguments.c)?;
    let program = program.checked();
    if catalogue::listed(&program)? {
        return Ok(());
    }
    let inputs = common.inputs(&program)?;
    let loaded = loading::built(&program, arguments.yes)?;
    let words = |seed: u64| {
        let words = loading::words_of_built(loaded.as_deref(), common.words(&program, None, false)?);
        let words = words.value("machine", Some(&machine)).value("cores", Some(count));
        let words = words.value("seed", (seed > 0).then_some(seed));
        anyhow::Ok(if arguments.lint.is_some() { lint::words(words) } else { self::words(words) })
    };
    words(0)?;
    let binary = if common.no_build {
        image::built_for_host(&program, Profile::Release)?
    } else {
        sim::build(&program, Profile::Release)?
    };
    let label = format!("{} on {} simulated", program.name, cores::cores(count));
    let (limit, mut found, mut asked_for) = (Duration::from_secs(arguments.timeout), BTreeMap::new(), Vec::new());
    // The first run that has failed, or else the first of all.
    let mut shown: Option<(guest::Outcome, Result<()>)> = None;
    for seed in 0..=arguments.seeds {
        let mut command = host_command::of(&binary, words(seed)?, &inputs)?;
        let label = if seed == 0 { label.clone() } else { format!("{label} with seed {seed}") };
        let outcome = if arguments.json || seed > 0 {
            guest::run(&label, &mut command, None, limit, |_| {})?
        } else {
            run::live(&label, &mut command, None, limit)?
        };
        note(&findings(&outcome.transcript, loaded.as_deref())?, &mut found);
        asked_for.extend(lint::asked_for(&outcome.transcript, loaded.as_deref())?);
        let verdict = outcome.verdict();
        if shown.as_ref().is_none_or(|(_, known)| known.is_ok() && verdict.is_err()) {
            shown = Some((outcome, verdict));
        }
    }
    let Some((outcome, verdict)) = shown else { return Ok(()) };
    let is_right = found.is_empty() && verdict.is_ok();
    // What looks useless in a run that went wrong may be what the right one needs.
    let lint = arguments.lint.filter(|_| is_right);
    let wasted = lint.map_or_else(Vec::new, |of| lint::wasted(&asked_for, of, &workspace::root()));
    if arguments.json {
        let all = found.values().map(to_json).chain(wasted.iter().map(Wasted::to_json));
        println!("{:#}", Value::Array(all.collect()));
    } else {
        found.keys().for_each(|line| println!("{line}"));
        wasted.iter().for_each(|wasted| println!("{wasted}"));
        if arguments.lint.is_some() && !is_right {
            println!("--lint names nothing until the runs end well and without findings");
        }
        let more = || Ok(More { findings: found.keys().cloned().collect(), ..More::default() });
        let directory = workspace::results(&program.name).join("check");
        // How the run ended is told below.
        arguments.report.conclude(&outcome, &directory, Ok(()), more)?;
    }
    match (found.len(), verdict) {
        (0, Err(error)) => {
            outcome.show_messages();
            Err(error)
        }
        (0, Ok(())) => {
            if !arguments.json {
                match wasted.len() {
                    0 => println!("{label}: nothing found"),
                    count => println!("{label}: nothing is wrong, {count} wasted"),
                }
            }
            Ok(())
        }
        (count, verdict) => {
            if !arguments.json {
                let also = verdict.err().map_or_else(String::new, |error| format!(", and the run failed: {error:#}"));
                println!("{label}: {count} {}{also}", if count == 1 { "finding" } else { "findings" });
            }
            Err(command_line::SaidWith(FOUND).into())
        }
    }
}

/// The words of a run that is to be checked.
pub(crate) fn words(of_run: KernelLine) -> KernelLine {
    of_run.switch(CHECK_WORD, true)
}

/// What a run has found, with the places in a program that it has loaded.
///
/// # Errors
///
/// When the program cannot be looked into.
pub(crate) fn findings(transcript: &Transcript, loaded: Option<&Path>) -> Result<Vec<Finding>> {
    let mut findings = transcript.findings.clone();
    if let Some(loaded) = loaded {
        let accesses =
            findings.iter_mut().flat_map(|finding| [Some(&mut finding.place), finding.other.as_mut()]).flatten();
        places::find_loaded(accesses.map(|access| &mut access.frames), loaded)?;
    }
    Ok(findings)
}

/// The lines of a finding's places, if they are in the file of this name.
pub(crate) fn lines(finding: &Finding, file: &str) -> Option<BTreeSet<u32>> {
    let line = |access: &Access| {
        let (at, line) = place(access, &workspace::root())
            .0
            .rsplit_once(':')
            .map(|(at, line)| (at.to_owned(), line.parse().ok()))?;
        line.filter(|_| Path::new(&at).file_name().is_some_and(|name| name == file))
    };
    [Some(&finding.place), finding.other.as_ref()].into_iter().flatten().map(line).collect()
}

/// Adds what a run has found to what others have, each once.
fn note(findings: &[Finding], found: &mut BTreeMap<String, Finding>) {
    let root = workspace::root();
    let mut places: BTreeSet<_> = found.values().map(|finding| key(finding, &root)).collect();
    for finding in findings {
        if places.insert(key(finding, &root)) {
            found.insert(in_words(finding, &root), finding.clone());
        }
    }
}

/// Kinds of mistakes of which neither place is the one that has to change.
const NEITHER_FIRST: [&str; 2] = ["race", "one-sided misuse"];

/// What two findings have in common that are the same mistake: nothing orders the two places of a race.
fn key(finding: &Finding, root: &Path) -> (String, String, String) {
    let here = place(&finding.place, root).0;
    let other = finding.other.as_ref().map_or_else(String::new, |other| place(other, root).0);
    let (first, second) =
        if NEITHER_FIRST.contains(&finding.kind.as_str()) && other < here { (other, here) } else { (here, other) };
    (finding.kind.clone(), first, second)
}

/// A finding as one line.
fn in_words(finding: &Finding, root: &Path) -> String {
    let Finding { kind, remedy, bytes, place: here, other } = finding;
    let (at, function) = place(here, root);
    let mut line = format!("{kind} {at}: rank {} {} in {function}", here.rank, here.what);
    line += &within(here);
    if bytes != "no bytes" {
        line += &format!(", {bytes}");
    }
    if let Some(other) = other {
        let (at, function) = place(other, root);
        line += &format!("; rank {} {} at {at} in {function}{}", other.rank, other.what, within(other));
    }
    format!("{line}: {remedy}")
}

fn within(access: &Access) -> String {
    if access.spans.is_empty() { String::new() } else { format!(" ({})", access.spans) }
}

/// File and line of an access in the user's program, and the function; of a library's if nothing of the program is there.
fn place(access: &Access, root: &Path) -> (String, String) {
    let frames: Vec<_> = access.frames.iter().map(Frame::from).collect();
    let frame = frames.iter().find(|frame| frame.is_of_program(root)).or(frames.first());
    frame.map_or_else(|| ("an unknown place".into(), "an unknown function".into()), |frame| frame.place(root))
}

fn to_json(finding: &Finding) -> Value {
    let root = workspace::root();
    let access = |access: &Access| {
        let (at, function) = place(access, &root);
        let stack: Vec<_> = access
            .frames
            .iter()
            .map(|frame| json!({ "function": frame.function, "file": frame.file, "line": frame.line.parse::<u32>().ok() }))
            .collect();
        json!({
            "rank": access.rank, "does": access.what, "within": access.spans, "place": at, "function": function,
            "stack": stack,
        })
    };
    json!({
        "kind": finding.kind, "missing": finding.remedy, "bytes": finding.bytes, "place": access(&finding.place),
        "other": finding.other.as_ref().map(access),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_finding_begins_with_kind_and_place_in_the_program() {
        let line = "stale\ta drain is missing\t4 bytes\tA\t1\tstores\tput with core 0\tF\tput\t/w/hal/src/a.rs\t7\tF\trun<C>\t/u/b.rs\t8\
                    \tA\t0\tloads\t\tF\trun\t/w/tests/src/c.rs\t9";
        let findings = vec![Finding::parse(line).unwrap(); 2];
        let mut found = BTreeMap::new();
        note(&findings, &mut found);
        note(&findings, &mut found);
        assert_eq!(found.len(), 1, "each once");
        let words = in_words(&findings[0], Path::new("/w"));
        assert_eq!(
            words,
            "stale /u/b.rs:8: rank 1 stores in run (put with core 0), 4 bytes; rank 0 loads at tests/src/c.rs:9 in run: a drain \
             is missing"
        );
    }
}
