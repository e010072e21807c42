//! Builds a program for the host and runs it in the simulator.

use crate::{
    command_line,
    console::Transcript,
    cores,
    findings::{self, FOUND},
    host_command, image,
    image::Profile,
    laboratory, loading,
    machine::{self, Machine},
    program::Program,
    report, result_files,
    run::{self, Common, Domains},
    sim_replay::{self, MadeOf, Replay, StopOptions},
    statics, trace,
    wanted::Wanted,
    workspace,
};
use anyhow::{Context, Result};
use clap::{Args, Parser};
use std::{
    collections::BTreeMap,
    env, fs, iter,
    path::{Path, PathBuf},
    time::Duration,
};

/// The word that asks the simulator for a table of where the traffic was, and the result file with the table.
pub(crate) const HEAT_MAP_WORD: &str = "heatmap";
const HEAT_MAP_FILE: &str = "traffic.csv";

/// Run a program in the simulator: the same program, in virtual time, on the host
#[derive(Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    wanted: Wanted,

    /// Repeat the run that has left this file when it failed, as it was started then; of the other options only those about
    /// stopping count
    #[arg(long, value_name = "FILE", conflicts_with = "program")]
    replay: Option<PathBuf>,

    #[command(flatten)]
    stop: StopOptions,

    /// The machine: `scc`, another one with a name (`machines` lists them), one's own `FILE.toml`, `mesh:WxHxC` (tiles wide,
    /// tiles high, cores per tile), or `cluster-fpga:NxC` or `cluster-asic:NxC` (nodes, cores of each). Accesses wait for
    /// each other wherever they meet. Behind meshes `+ideal` (they never do) or any of `+ports` (of MPBs), `+links` and
    /// `+controllers` (of memory; they do so there alone), `+flat` (all distances are one) and `+domains=D`; behind clusters
    /// `+unlimited-loads` (of sockets) and `+ideal-engines`
    #[arg(long, value_name = "M", default_value = "scc")]
    machine: Machine,

    /// Number of cores [default: all of the machine's]
    #[arg(long, value_name = "N")]
    cores: Option<u32>,

    /// Seconds of processor time until a simulation that does not end is given up
    #[arg(long, value_name = "SECONDS", default_value_t = command_line::TIMEOUT_S, value_parser = command_line::seconds())]
    timeout: u64,

    /// Switch off the model of non-coherent memory
    #[arg(long)]
    coherent: bool,

    /// Price operations as the formulas of papers do: our own software is free, and private memory has no caches
    #[arg(long)]
    accesses_only: bool,

    /// Draw where the traffic was: accesses to each tile's MPBs and to each memory controller, packets on each link
    #[arg(long, value_name = "FILE.svg", value_parser = command_line::new_file())]
    heatmap: Option<PathBuf>,

    /// Send what the run costs this host (accesses, processor time, memory) as samples of this name
    #[arg(long, value_name = "NAME")]
    work: Option<String>,

    /// Build without optimisation
    #[arg(long)]
    debug: bool,

    /// The fingerprint of the run that this one repeats.
    #[arg(skip)]
    repeats: Option<u32>,

    /// What it does differently from the plain run, where it was found by exploring.
    #[arg(skip)]
    deviations: Option<String>,

    #[command(flatten)]
    domains: Domains,

    #[command(flatten)]
    trace: trace::Options,

    #[command(flatten)]
    report: report::ReportOptions,

    #[command(flatten)]
    common: Common,
}

/// What a replay file has.
#[derive(Parser)]
struct Replayed {
    #[command(flatten)]
    arguments: Arguments,
}

/// Carries out `cargo xtask sim`.
pub(crate) fn main(arguments: &Arguments) -> Result<()> {
    let Some(file) = &arguments.replay else { return run(arguments) };
    let Replay { directory, words, fingerprint, deviations } = sim_replay::read(file)?;
    let shown = workspace::display(file);
    // Names of files among the words are those of this directory.
    env::set_current_dir(&directory).with_context(|| format!("cannot go to {}", directory.display()))?;
    let Replayed { arguments: mut replayed } = Replayed::try_parse_from(iter::once("sim".into()).chain(words))
        .with_context(|| format!("{shown} has words that mean nothing"))?;
    replayed.stop = arguments.stop.clone();
    replayed.repeats = Some(fingerprint);
    replayed.deviations = deviations;
    if replayed.stop.is_wanted() {
        // What the failure has left stays as it is.
        (replayed.trace, replayed.report, replayed.heatmap) = Default::default();
    }
    run(&replayed)
}

fn run(arguments: &Arguments) -> Result<()> {
    let common = &arguments.common;
    let machine = machine::with_domains(arguments.machine.clone(), arguments.domains.domains)?;
    let count = arguments.cores.unwrap_or_else(|| machine.default_cores());
    machine::check(&machine, count)?;
    let Some(mut program) = arguments.wanted.program()? else { return Ok(()) };
    let is_checked = arguments.deviations.is_some();
    if is_checked {
        // It was, when it was explored.
        program = program.checked();
    } else if !arguments.accesses_only && !machine.is_cluster() {
        program = program.priced();
    }
    let inputs = common.given.inputs(&program)?;
    let words = loading::words(&program, common.words(&program, None, arguments.coherent)?, arguments.wanted.yes)?
        .value("work", arguments.work.as_deref());
    let words = words.value("machine", Some(&machine)).value("cores", Some(count));
    let words = words.switch("accesses_only", arguments.accesses_only);
    let words = match &program.c {
        Some(sources) => sources.prices(words, &machine, &common.given.words),
        None => words,
    };
    let is_reported = arguments.report.is_wanted();
    let words = words.switch(HEAT_MAP_WORD, arguments.heatmap.is_some() || is_reported);
    let words = trace::Memory::add(arguments.trace.on_host(count, arguments.report.purpose(common.lines)), words);
    let words = arguments.stop.add(words, &program)?;
    let words = sim_replay::deviating(words, arguments.deviations.as_deref());
    let words = if is_checked { findings::words(words) } else { words };
    let profile = if arguments.debug { Profile::Debug } else { Profile::Release };
    let binary = if common.no_build { image::built_for_host(&program, profile)? } else { build(&program, profile)? };
    let mut command = host_command::of(&binary, words, &inputs)?;
    let loaded = host_command::loaded(&command);
    let files = [&binary].into_iter().chain(&loaded).chain(&inputs).map(PathBuf::as_path);
    let made_of = MadeOf::new(&machine, files)?;
    if let Some(repeated) = arguments.repeats
        && made_of.fingerprint()? != repeated
    {
        eprintln!("the program, its input or the machine is not what it was then: this run may be another one");
    }
    let label = format!("{} on {} simulated", program.name, cores::cores(count));
    if common.lines {
        return run::pass_on(&label, &mut command, None, Duration::from_secs(arguments.timeout));
    }
    let outcome = run::live(&label, &mut command, None, Duration::from_secs(arguments.timeout))?;
    if arguments.stop.is_wanted() {
        let verdict = outcome.verdict();
        if verdict.is_err() {
            outcome.show_messages();
        }
        return run::conclude(&outcome, verdict);
    }
    let directory = workspace::results(&program.name).join("sim");
    let judged = run::judge(&outcome, &directory, &inputs, common.given.counters).and_then(|()| {
        let mut found = BTreeMap::new();
        findings::note(&findings::of(&outcome.transcript, loaded.as_deref())?, &mut found);
        found.keys().for_each(|line| println!("{line}"));
        if found.is_empty() { Ok(()) } else { Err(command_line::SaidWith(FOUND).into()) }
    });
    if judged.is_err()
        && arguments.repeats.is_none()
        && sim_replay::has_begun(&outcome.transcript)
        && let Err(error) = sim_replay::write(&directory, &made_of)
    {
        eprintln!("no file repeats this run: {error:#}");
    }
    let draw = || heat_map(&outcome.transcript, &format!("{} on {machine}", program.name));
    let more = || Ok(report::More { traffic: draw()?.map(|map| map.svg), ..report::More::default() });
    let judged = arguments.report.conclude(&outcome, &directory, judged, more);
    arguments.trace.conclude(&outcome, &directory, run::conclude(&outcome, judged))?;
    if let Some(path) = &arguments.heatmap {
        let map = draw()?.context("the simulator has not sent a table of its traffic")?;
        result_files::put(path, &map.svg)?;
        println!("wrote {}; {}", workspace::display(path), map.summary);
    }
    Ok(())
}

/// Builds a program's simulator, and checks it for writable statics.
pub(crate) fn build(program: &Program, profile: Profile) -> Result<PathBuf> {
    let built = image::host(program, profile)?;
    check_statics(&built.executable, program)?;
    Ok(built.executable)
}

/// A table of traffic, drawn.
pub(crate) struct HeatMap {
    pub(crate) svg: Vec<u8>,
    /// Where most of it was.
    summary: String,
}

/// Has the table of traffic drawn that the simulator has sent, if it was asked for one.
pub(crate) fn heat_map(transcript: &Transcript, title: &str) -> Result<Option<HeatMap>> {
    let Some(table) = transcript.files.iter().find(|file| file.name == HEAT_MAP_FILE) else { return Ok(None) };
    let scratch = workspace::scratch()?;
    let [file, picture] = [HEAT_MAP_FILE, "traffic.svg"].map(|name| scratch.path().join(name));
    result_files::put(&file, &table.bytes)?;
    let summary = laboratory::draw("heat-map", &[&file, &picture, Path::new(title)])?;
    let svg = fs::read(&picture).with_context(|| format!("cannot read {}", workspace::display(&picture)))?;
    Ok(Some(HeatMap { svg, summary }))
}

/// Checks the code that runs on every rank for writable statics.
pub(crate) fn check_statics(binary: &Path, program: &Program) -> Result<()> {
    let own = [&program.binary, &program.package].map(|name| format!("{}::", name.replace('-', "_")));
    let mut paths = statics::IN_TREE.to_vec();
    if program.is_own {
        paths.extend(own.iter().map(String::as_str));
    }
    statics::check(binary, &paths)
}
