//! Runs a program in the simulator under the coherence checker, and names its mistakes.

mod explored;
mod lint;

use crate::{
    command_line, cores,
    findings::{self, FOUND},
    guest, host_command,
    image::{self, Profile},
    loading,
    machine::{self, Machine},
    report::{More, ReportOptions},
    run::{self, Common, Domains},
    sim,
    sim_replay::MadeOf,
    trace,
    wanted::Wanted,
    workspace,
};
use anyhow::{Result, ensure};
use clap::Args;
use serde_json::Value;
use std::{collections::BTreeMap, path::PathBuf, time::Duration};

use self::{
    explored::Explored,
    lint::{Lint, Wasted},
};

/// Find missing flushes, invalidations and drains, and races, where they are in a program
///
/// Runs the program in the simulator with an account of every byte of shared memory. Each mistake takes one line, which begins
/// with its kind and its place: `stale` (a load may return an older value), `lost` (a write-back may put old bytes over newer
/// ones), `race` (nothing orders two accesses), `flag before data`, `never written`, `mixed kinds` (one mapping still holds what
/// another one reads), `register released before the drain`; in programs in C `one-sided misuse` (an operation of MPI that is
/// under way is met by something that it must not meet) and `buffer in use` (of a message that is not over), too. Where this run got away with it makes no difference. The exit
/// status is 0 without findings, 6 with some, and otherwise that of `sim`.
///
/// With `--explore`, other runs are made as well: with other orders of accesses, with ranks that are slow, and with caches and buffers that
/// write back by themselves, to find one that has a mistake, fails, or stands still. What it does differently from the plain run is cut
/// down to what is needed, and told.
#[derive(Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    wanted: Wanted,

    /// The machine, as for `sim`
    #[arg(long, value_name = "M", default_value = "scc")]
    machine: Machine,

    /// Number of cores [default: all of the machine's]
    #[arg(long, value_name = "N")]
    cores: Option<u32>,

    /// Runs with seeds 1 to N as well, in which other cores come first
    #[arg(long, value_name = "N", default_value_t = 0, conflicts_with = "seed")]
    seeds: u64,

    /// Name drains, invalidations, flushes and purges that have changed nothing in any run, too, and what they cost. That is no
    /// mistake, and leaves the exit status as it is. `--lint=all` names those that Atoll's own protocols make, as well
    #[arg(long, value_name = "OF", num_args = 0..=1, require_equals = true, default_missing_value = "program", value_enum)]
    lint: Option<Lint>,

    /// Look for other runs that go wrong, for so many seconds of processor time; what is needed for one that does may take as long again
    #[arg(long, value_name = "SECONDS", num_args = 0..=1, require_equals = true, default_missing_value = "60", value_parser = command_line::seconds())]
    explore: Option<u64>,

    /// Show findings as JSON, for tools, and nothing else
    #[arg(long, conflicts_with_all = ["report", "file"])]
    json: bool,

    /// Seconds of processor time until a run that does not end is given up
    #[arg(long, value_name = "SECONDS", default_value_t = command_line::TIMEOUT_S, value_parser = command_line::seconds())]
    timeout: u64,

    #[command(flatten)]
    domains: Domains,

    #[command(flatten)]
    trace: trace::Options,

    #[command(flatten)]
    report: ReportOptions,

    #[command(flatten)]
    common: Common,
}

/// Carries out `cargo xtask check`.
///
/// # Errors
/// When a run fails without a finding, or cannot be made; [`command_line::SaidWith`] when something was found.
pub(crate) fn main(arguments: &Arguments) -> Result<()> {
    let common = &arguments.common;
    ensure!(!common.lines || arguments.seeds == 0, "--lines shows those of one run");
    let machine = machine::with_domains(arguments.machine.clone(), arguments.domains.domains)?;
    let count = arguments.cores.unwrap_or_else(|| machine.default_cores());
    machine::check(&machine, count)?;
    let Some(program) = arguments.wanted.program()? else { return Ok(()) };
    let program = program.checked();
    let inputs = common.given.inputs(&program)?;
    let loaded = loading::built(&program, arguments.wanted.yes)?;
    let plain = loading::words_of_built(loaded.as_deref(), common.words(&program, None, false)?);
    let plain = plain.value("machine", Some(&machine)).value("cores", Some(count));
    let words = |seed: u64| {
        let words = plain.clone().value("seed", (seed > 0).then_some(seed));
        let words = words.value("explore", arguments.explore.filter(|_| seed == 0));
        let words = trace::Memory::add(arguments.trace.on_host(count, arguments.report.purpose(arguments.json)), words);
        if arguments.lint.is_some() { lint::words(words) } else { findings::words(words) }
    };
    let binary = if common.no_build {
        image::built_for_host(&program, Profile::Release)?
    } else {
        sim::build(&program, Profile::Release)?
    };
    let label = format!("{} on {} simulated", program.name, cores::cores(count));
    let files = [&binary].into_iter().chain(&loaded).chain(&inputs).map(PathBuf::as_path);
    let made_of = arguments.explore.map(|_| MadeOf::new(&machine, files)).transpose()?;
    // To cut a run down may take as long as to find it.
    let seconds = arguments.timeout.saturating_add(arguments.explore.unwrap_or(0).saturating_mul(2));
    let (limit, mut found, mut asked_for) = (Duration::from_secs(seconds), BTreeMap::new(), Vec::new());
    if common.lines {
        return run::pass_on(&label, &mut host_command::of(&binary, words(0), &inputs)?, None, limit);
    }
    let mut explored = None;
    // The first run that has failed, or else the first of all.
    let mut shown: Option<(guest::Outcome, Result<()>)> = None;
    for seed in 0..=arguments.seeds {
        let mut command = host_command::of(&binary, words(seed), &inputs)?;
        let label = if seed == 0 { label.clone() } else { format!("{label} with seed {seed}") };
        let outcome = if arguments.json || seed > 0 {
            guest::run(&label, &mut command, None, limit, |_| {})?
        } else {
            run::live(&label, &mut command, None, limit)?
        };
        findings::note(&findings::of(&outcome.transcript, loaded.as_deref())?, &mut found);
        explored = explored.or(Explored::of(&outcome.transcript, loaded.as_deref(), count)?);
        asked_for.extend(lint::asked_for(&outcome.transcript, loaded.as_deref())?);
        let verdict = outcome.verdict();
        if shown.as_ref().is_none_or(|(_, known)| known.is_ok() && verdict.is_err()) {
            shown = Some((outcome, verdict));
        }
    }
    let Some((outcome, mut verdict)) = shown else { return Ok(()) };
    let failing = explored.as_ref().and_then(|explored| explored.failing.as_ref());
    let is_right = found.is_empty() && verdict.is_ok() && failing.is_none();
    // What looks useless in a run that went wrong may be what the right one needs.
    let lint = arguments.lint.filter(|_| is_right);
    let wasted = lint.map_or_else(Vec::new, |of| lint::wasted(&asked_for, of, &workspace::root()));
    if arguments.json {
        let all = found.values().map(findings::to_json).chain(wasted.iter().map(Wasted::to_json));
        let all = all.chain(explored.iter().map(Explored::to_json));
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
        verdict = arguments.trace.conclude(&outcome, &directory, verdict);
        if let Some(explored) = &explored {
            println!("{explored}");
        }
    }
    if let (Some(explored), Some(failing), Some(made_of)) = (&explored, failing, &made_of) {
        let mut command = host_command::of(&binary, failing.words(plain, count), &inputs)?;
        let outcome = guest::run(&label, &mut command, None, limit, |_| {})?;
        let written = if explored.is_repeated_by(&outcome) {
            failing.write(&outcome, &workspace::results(&program.name).join("check"), made_of)?
        } else {
            "no file repeats it: made once more, it has not ended like that".into()
        };
        if !arguments.json {
            println!("{written}");
        }
    }
    match (found.len(), verdict) {
        (0, Err(error)) if failing.is_none() => {
            outcome.show_messages();
            Err(error)
        }
        (0, _) if failing.is_some() => {
            if !arguments.json {
                println!("{label}: another run than the plain one goes wrong");
            }
            Err(command_line::SaidWith(FOUND).into())
        }
        (0, _) => {
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
