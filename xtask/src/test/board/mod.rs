//! Programs on emulated boards like the SCC, from the very files that `flash` writes: the main job, in-kernel tests, and
//! damage that has to be noticed.

mod corrupt;
mod damage;
mod refusals;

use super::{
    Arguments, guests,
    main_job::{same_counters_but, same_results},
    summary::{Suite, Summary},
};
use crate::{
    build::Built,
    console::{Event, Transcript},
    cores,
    emulator::{self, Flashed},
    flash::{Flash, Setup},
    guest::{self, Outcome},
    image,
    inquiry::Inquiry,
    program::Program,
    progress::Progress,
    run,
    setup::{EmulatorTools, Tools},
    words::Words,
    workspace,
};
use anyhow::{Context, Result};
use boards::Board;
use std::{fs, path::Path, time::Duration};

/// The board that there is one of, and a small one that differs from it wherever a board may.
const SCC: &str = "scc";
const SMALL: &str = "scc-2x2";

/// Cores of the main job.
const CORES: u16 = 48;

/// Boards, cores of them, and which in-kernel tests run there, all of them where few cores make them quick: names of
/// modules, with commas between.
const IN_KERNEL: [(&str, u16, Option<&str>); 4] = [
    (SCC, 1, None),
    (SCC, 3, None),
    (SMALL, 8, Some(MODULES)),
    (SCC, CORES, Some("barrier,broadcast,pscw,registers,interrupts")),
];

/// Modules of what the backend does, and of what rests on it.
const MODULES: &str = "memory,exposed,registers,interrupts,barrier,coherence,broadcast,window,pscw";

/// Names of the tests of the main job, for `--filter`.
const MAIN_JOB: [&str; 3] = ["board-main-job", "board-main-job-counters-equal", "board-main-job-results-equal"];

/// Programs that have to end a board with a report: one of each kind of trap, and what cores say of their waits.
const FATAL: [&str; 6] = [
    "reads_null",
    "jumps_into_nothing",
    "overflows_its_stack",
    "exhausts_its_heap",
    "waits_in_a_circle",
    "undrained_flag",
];

/// Name of the test that core 0 can start all others.
const STARTED: &str = "board-started-by-core-0";

/// Whether the user wants any test with a name of its own.
pub(super) fn is_wanted(arguments: &Arguments) -> bool {
    let names = MAIN_JOB.into_iter().chain([STARTED]).chain(damage::names()).chain(refusals::NAMES);
    names.into_iter().any(|name| arguments.wants(name)) || wants_fatal(arguments)
}

fn wants_fatal(arguments: &Arguments) -> bool {
    FATAL.iter().any(|case| arguments.wants(&fatal_name(case)))
}

fn fatal_name(case: &str) -> String {
    format!("board-fatal::{case}")
}

/// Whether the user wants the main job on a board, which is compared with QEMU's.
pub(super) fn wants_main_job(arguments: &Arguments) -> bool {
    MAIN_JOB.iter().any(|name| arguments.wants(name))
}

/// Boards in the emulator.
pub(super) struct Boards<'t> {
    tools: &'t Tools,
    emulator: Built,
    limit: Duration,
}

impl<'t> Boards<'t> {
    /// Builds the emulator.
    ///
    /// # Errors
    ///
    /// When it does not build.
    pub(super) fn new(arguments: &Arguments, tools: &'t Tools, emulator_tools: &EmulatorTools) -> Result<Self> {
        Ok(Self { tools, emulator: emulator::build(emulator_tools)?, limit: arguments.limit() })
    }

    /// The image of a program for boards.
    ///
    /// # Errors
    ///
    /// When it does not build.
    fn image(&self, program: &Program) -> Result<Vec<u8>> {
        let built = image::board(program, self.tools)?;
        fs::read(&built.executable).with_context(|| format!("cannot read {}", workspace::display(&built.executable)))
    }

    /// Flashes an image, lets something happen to the files, and runs them.
    ///
    /// # Errors
    ///
    /// When it cannot be flashed, damaged or started.
    fn run(
        &self,
        label: &str,
        image: &[u8],
        flash: &Flash,
        damage: impl FnOnce(&Path) -> Result<()>,
    ) -> Result<Outcome> {
        let progress = Progress::new(format!("flashing {label}"));
        let scratch = workspace::scratch()?;
        let directory = scratch.path().join("flashed");
        flash.write(image, &directory)?;
        let flashed = Flashed::read(&directory)?;
        damage(&directory)?;
        progress.say(label.to_owned());
        let mut command = emulator::command(&self.emulator.executable, &directory, &flashed, self.limit);
        let inquiry = Inquiry { directory, image: scratch.path().join("image") };
        fs::write(&inquiry.image, image).context("cannot write the image")?;
        let mut done = 0;
        guest::run(label, &mut command, Some(&inquiry), self.limit + emulator::GRACE, |event| {
            if matches!(event, Event::Test) {
                done += 1;
                progress.say(format!("{label}: {done} tests"));
            }
        })
    }
}

/// In-kernel tests to be flashed for a board.
fn suite_of(board: &str, setup: &Setup, words: &Words) -> Result<Flash> {
    Flash::new(Board::find(board)?, setup, &Program::integration(), words, &[])
}

/// Some cores of a board that are all loaded from outside.
fn some(cores: u16) -> Setup {
    Setup { cores: Some(cores.into()), ..Setup::default() }
}

/// Flashes and runs the in-kernel tests, a boot for each board and number of cores.
///
/// # Errors
///
/// When a board cannot be started.
pub(super) fn in_kernel(
    summary: &mut Summary,
    arguments: &Arguments,
    tools: &Tools,
    emulator_tools: &EmulatorTools,
) -> Result<()> {
    let boards = Boards::new(arguments, tools, emulator_tools)?;
    let image = boards.image(&Program::integration())?;
    for (board, cores, modules) in IN_KERNEL {
        let machine = format!("{} of {board}", cores::cores(cores.into()));
        summary.suite(&format!("in-kernel, {machine}"), |suite| {
            let words = Words::default().value("filter", arguments.filter.as_ref()).value("modules", modules);
            let flash = suite_of(board, &some(cores), &words)?;
            let outcome = boards.run(&format!("in-kernel tests on {machine}"), &image, &flash, |_| Ok(()))?;
            if guests::count(suite, &outcome, arguments.filter.is_some()) {
                outcome.show_tail();
            }
            Ok(())
        })?;
    }
    Ok(())
}

/// Runs the tests with names of their own.
///
/// # Errors
///
/// When something cannot be built or started.
pub(super) fn run(
    suite: &mut Suite,
    arguments: &Arguments,
    tools: &Tools,
    emulator_tools: &EmulatorTools,
    in_qemu: Option<&Transcript>,
) -> Result<()> {
    let boards = &Boards::new(arguments, tools, emulator_tools)?;
    if wants_main_job(arguments) {
        main_job(suite, arguments, boards, in_qemu)?;
    }
    let image = boards.image(&Program::integration())?;
    if arguments.wants(STARTED) {
        let setup = Setup { starts_others: true, ..some(CORES) };
        let flash = suite_of(SCC, &setup, &Words::default().value("modules", Some("barrier")))?;
        let outcome = shown(boards.run(STARTED, &image, &flash, |_| Ok(()))?);
        suite.check(STARTED, outcome.verdict());
    }
    fatal(suite, arguments, boards, &image)?;
    damage::run(suite, arguments, boards, &image)?;
    refusals::run(suite, arguments, &image)
}

/// Runs some of the programs that have to end the machine with a report, which have to say what they say in QEMU.
fn fatal(suite: &mut Suite, arguments: &Arguments, boards: &Boards<'_>, image: &[u8]) -> Result<()> {
    if !wants_fatal(arguments) {
        return Ok(());
    }
    let words = || Words::default().value("program", Some("fatal"));
    let list = boards.run("the list of fatal programs", image, &suite_of(SCC, &some(1), &words())?, |_| Ok(()))?;
    list.verdict()?;
    for case in FATAL {
        let name = fatal_name(case);
        if !arguments.wants(&name) {
            continue;
        }
        let report = list.transcript.fatal.iter().find(|(listed, _)| listed == case);
        let (_, report) = report.with_context(|| format!("the image has no program `{case}`"))?;
        // A second of the board's own time, and a heap that is quickly full.
        let words = words().value("case", Some(case)).value("stuck_s", Some(1)).value("heap_kib", Some(4096));
        let outcome = boards.run(&name, image, &suite_of(SCC, &some(3), &words)?, |_| Ok(()))?;
        let verdict = outcome.verdict_of_fatal(report);
        if verdict.is_err() {
            outcome.show_tail();
        }
        suite.check(&name, verdict);
    }
    Ok(())
}

/// The main job, whose picture and results have to be QEMU's.
fn main_job(suite: &mut Suite, arguments: &Arguments, boards: &Boards<'_>, in_qemu: Option<&Transcript>) -> Result<()> {
    let program = Program::resolve(run::DEFAULT_PROGRAM)?;
    let words = Words::default().value("program", Some(&program.name));
    let flash = Flash::new(Board::find(SCC)?, &some(CORES), &program, &words, &[run::default_input()])?;
    let outcome = shown(boards.run("main job on the board", &boards.image(&program)?, &flash, |_| Ok(()))?);
    let (found, expected) = (&outcome.transcript, in_qemu.context("the main job was not run in QEMU"));
    let same = |compare: fn(&str, &Transcript, &str, &Transcript) -> Result<()>| {
        compare("in QEMU", expected.as_ref().map_err(|error| anyhow::anyhow!("{error}"))?, "on the board", found)
    };
    let results = [outcome.verdict(), same(same_but_uncounted), same(same_results)];
    for (name, result) in MAIN_JOB.into_iter().zip(results) {
        if arguments.wants(name) {
            suite.check(name, result);
        }
    }
    Ok(())
}

/// Compares all counters that there are on a board, which does not tell what its caches write back.
fn same_but_uncounted(left_name: &str, left: &Transcript, right_name: &str, right: &Transcript) -> Result<()> {
    same_counters_but(&["lines_written_back"], left_name, left, right_name, right)
}

/// Shows the last lines of a board whose program has failed.
fn shown(outcome: Outcome) -> Outcome {
    if outcome.verdict().is_err() {
        outcome.show_tail();
    }
    outcome
}
