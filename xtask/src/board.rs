//! Flashes a program for a board like the SCC, and runs what was flashed on the emulator of boards.

use crate::{
    catalogue, command_line, cores,
    debugger::{DebuggerOptions, Stub},
    emulator::{self, Flashed, Notes},
    flash::{self, Choices, Flash},
    guest::Outcome,
    image::{self, Besides},
    monitor::Monitor,
    report,
    run::{self, Common},
    setup::{self, DebuggerTools, EmulatorTools, Tools},
    trace,
    wanted::Wanted,
    workspace,
};
use anyhow::{Context, Result};
use clap::Args;
use descriptions::boards::Board;
use std::{
    fs,
    path::{Path, PathBuf},
    time::Duration,
};

/// What results are called whose program has no name.
const NAMELESS: &str = "flashed";

/// What is in a directory already when it is flashed.
const FLASHED: [&str; 8] = ["program", "board", "cores", "memory_gib", "start_from_core_0", "input", "seed", "words"];

/// What a run that is debugged cannot have besides.
const DEBUGGED: [&str; 2] = ["gdb", "gdb_on_failure"];

/// Run a program on an emulated SCC board, or a board like it
///
/// Flashes the program as `flash` does, executes the very files that a board's host would load, from the reset on,
/// shows what the cores print and writes result files below target/out. The emulator is strict: what a board would not
/// stand ends it, with core, address and reason. And it keeps time: instructions, caches, the mesh and memory take what they
/// take on the chip, and accesses wait for each other where they meet.
#[derive(Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    wanted: Wanted,

    /// Board: a name (`cargo xtask boards` shows them all), or a board file FILE.toml
    #[arg(long, value_name = "BOARD", default_value = "scc")]
    board: String,

    #[command(flatten)]
    choices: Choices,

    /// Run what `cargo xtask flash` has written into this directory
    #[arg(long, value_name = "DIR", conflicts_with_all = FLASHED, conflicts_with_all = DEBUGGED)]
    dir: Option<PathBuf>,

    /// Seconds of the emulator's processor time until a board that does not end is given up
    #[arg(long, value_name = "SECONDS", default_value_t = 1800, value_parser = command_line::seconds())]
    timeout: u64,

    /// Keep no time, which is several times as fast: an instruction is a cycle, and cores take turns
    #[arg(long, conflicts_with_all = DEBUGGED, conflicts_with_all = ["file", "report"])]
    functional: bool,

    /// Write where the program has executed the instructions that it counted, as folded stacks for flame graphs
    #[arg(long, value_name = "FILE", conflicts_with = "dir", conflicts_with_all = DEBUGGED, value_parser = command_line::new_file())]
    profile: Option<PathBuf>,

    #[command(flatten)]
    debugger: DebuggerOptions,

    #[command(flatten)]
    trace: trace::Options,

    #[command(flatten)]
    report: report::ReportOptions,

    #[command(flatten)]
    common: Common,
}

impl Arguments {
    /// What a trace is for.
    fn purpose(&self) -> trace::Purpose {
        self.report.purpose(self.common.lines)
    }

    /// What is noted of what cores do, if a trace may be wanted.
    fn notes(&self, flashed: &Flashed, image: Option<&Path>) -> Result<Option<Notes>> {
        Notes::of(self.trace.on_host(flashed.cores, self.purpose()), image)
    }
}

/// Carries out `cargo xtask board`.
pub(crate) fn main(arguments: &Arguments) -> Result<()> {
    match &arguments.dir {
        Some(directory) => flashed(arguments, directory),
        None => program(arguments),
    }
}

/// Runs what was flashed before.
fn flashed(arguments: &Arguments, directory: &Path) -> Result<()> {
    // What is wrong with the directory is said before anything is installed or built.
    let flashed = Flashed::read(directory)?;
    let tools: EmulatorTools = setup::ensure(arguments.wanted.yes)?;
    let label = format!("{} on {}", workspace::display(directory), cores::cores(flashed.cores));
    let name = flashed.program().unwrap_or(NAMELESS);
    // Nobody knows the image that it was made of.
    live(arguments, &label, name, directory, &[], None, &tools)
}

/// Flashes and runs a program.
fn program(arguments: &Arguments) -> Result<()> {
    let common = &arguments.common;
    let Some(program) = arguments.wanted.program()? else { return Ok(()) };
    let words = flash::words(&program, &common.given)?;
    let inputs = common.given.inputs(&program)?;
    let flash = Flash::new(Board::find(&arguments.board)?, &arguments.choices.setup(), &program, &words, &inputs)?;
    if !common.no_build {
        catalogue::check(&program)?;
    }
    let (tools, emulator_tools): (Tools, EmulatorTools) = setup::for_program(&program, arguments.wanted.yes)?;
    let stop = arguments.debugger.stop();
    let debugger_tools = stop.map(|_| setup::ensure::<DebuggerTools>(arguments.wanted.yes)).transpose()?;
    // A failure that nobody expects is traced as far as accesses show what the program does: the image is the one that is timed.
    let besides = Besides {
        is_observed: common.given.counters || stop.is_some(),
        announces: arguments.trace.is_asked(arguments.purpose()),
    };
    let executable = image::for_board(&program, &tools, besides, common.no_build)?;
    let image = fs::read(&executable).with_context(|| format!("cannot read {}", workspace::display(&executable)))?;
    let scratch = workspace::scratch()?;
    let directory = scratch.path().join("flashed");
    flash.write(&image, &directory)?;
    if let Some((stop, tools)) = stop.zip(debugger_tools) {
        let built = emulator::build(&emulator_tools)?;
        let flashed = Flashed::read(&directory)?;
        let notes = arguments.notes(&flashed, Some(&executable))?;
        let mut command = emulator::command(&built.executable, &directory, &flashed, false, notes);
        let monitor = Monitor { directory: directory.clone(), image: executable };
        let debugger = stop.prepare(Stub::Board, &monitor, &program, &tools)?;
        let outcome = run::debugged(flash.label(), &mut command, &monitor, &debugger)?;
        return conclude(arguments, &outcome, &program.name, &inputs);
    }
    live(arguments, flash.label(), &program.name, &directory, &inputs, Some(&executable), &emulator_tools)
}

/// Runs a directory in front of the user.
fn live(
    arguments: &Arguments,
    label: &str,
    name: &str,
    directory: &Path,
    inputs: &[PathBuf],
    image: Option<&Path>,
    tools: &EmulatorTools,
) -> Result<()> {
    let built = emulator::build(tools)?;
    let limit = Duration::from_secs(arguments.timeout);
    let flashed = Flashed::read(directory)?;
    let notes = arguments.notes(&flashed, image)?;
    let mut command = emulator::command(&built.executable, directory, &flashed, arguments.functional, notes);
    if let Some((file, image)) = arguments.profile.as_ref().zip(image) {
        command.arg("--profile").arg(file).arg("--image").arg(image);
    }
    let monitor = Monitor { directory: directory.into(), image: image.unwrap_or(Path::new("")).into() };
    if arguments.common.lines {
        return run::pass_on(label, &mut command, Some(&monitor), limit);
    }
    let outcome = run::live(label, &mut command, Some(&monitor), limit)?;
    conclude(arguments, &outcome, name, inputs)
}

/// Writes results and judges.
fn conclude(arguments: &Arguments, outcome: &Outcome, name: &str, inputs: &[PathBuf]) -> Result<()> {
    let results = workspace::results(name).join("board");
    let judged = run::judge(outcome, &results, inputs, arguments.common.given.counters);
    let judged = arguments.report.conclude(outcome, &results, judged, || Ok(report::More::default()));
    arguments.trace.conclude(outcome, &results, run::conclude(outcome, judged))
}
