//! Programs on emulated boards like the SCC, from the very files that `flash` writes: the main job, in-kernel tests, and
//! damage that has to be noticed.

mod corrupt;
mod damage;
mod refusals;

#[cfg(test)]
pub(super) use damage::DAMAGES;

use super::{
    backends::Backends,
    guests::{self, Counting},
    jobs::Job,
    kit::Kit,
    main_job, page, rounds,
    summary::Suite,
    traces::{self, ends_with_failure},
};
use crate::{
    agreement::Runs,
    cores,
    emulator::{self, Flashed, Notes},
    flash::{Flash, Setup},
    guest::{self, Outcome},
    image,
    kernel_line::KernelLine,
    laboratory,
    monitor::Monitor,
    program::{DEFAULT_PROGRAM, Program},
    trace, wanted, workspace,
};
use anyhow::{Context, Result, ensure};
use descriptions::boards::Board;
use std::{fs, path::Path, time::Duration};

/// The board that there is one of, and a small one that differs from it wherever a board may.
const SCC: &str = "scc";
const SMALL: &str = "scc-2x2";

/// Cores of the main job.
const CORES: u16 = 48;

/// Its steps: in the fifth the numbers of marks, which have two bits, come again. The emulator takes a second of its processor for each.
const STEPS: u32 = 5;

/// Boards, cores of them, and what the in-kernel tests that run there have to depend on: few cores are quick.
const IN_KERNEL: [(&str, u16, Option<&str>); 4] =
    [(SCC, 1, Some("machine")), (SCC, 3, None), (SMALL, 8, Some("machine")), (SCC, CORES, Some(guests::LARGEST))];

/// Names of the tests of the main job, for `--filter`.
const MAIN_JOB: [&str; 3] = ["board-main-job", "board-main-job-counters-equal", "board-main-job-results-equal"];

/// What the names of programs begin with that have to end a board.
const FATAL: &str = "board-fatal::";

/// What such programs say on a board, where it is something else than on other machines.
const OTHERWISE: [(&str, &str); 2] = [
    // One line is refused as several are.
    ("reads_beyond_an_mpb", "lines from MPB line 60000 of core 0 on do not exist"),
    // The page that cores start in is there.
    ("writes_below_zero", "core 0: write to 0xfffff000, which is read-only"),
];

/// Cores of boards that they end.
const FATAL_CORES: u16 = 3;

/// One of them, which ends a board that keeps time, too.
const IN_TIME: &str = "reads_null";

/// Names of the tests of a board's trace: that it is one that tools read, has the operations that the simulator has, loads in
/// Perfetto, and makes a page.
const TRACED: [&str; 4] = ["board-traces", "board-traces-equal", "board-traces-load-in-perfetto", "page-of-a-board"];

/// Name of the test that core 0 can start all others.
const STARTED: &str = "board-started-by-core-0";

/// Name of the test that calls execute no more instructions than they may, of the bench `instructions`.
const INSTRUCTIONS: &str = "board-instructions";

/// Name of the test that the simulator's times are the emulated board's, of the bench `held-together-short`.
const HELD_TOGETHER: &str = "board-held-together";

/// Flashes an image, lets something happen to the files, and runs them in the emulator, which tells after a failure what cores did.
fn emulated(
    kit: &Kit<'_>,
    label: &str,
    image: &[u8],
    flash: &Flash,
    damage: impl FnOnce(&Path) -> Result<()>,
) -> Result<Outcome> {
    carried_out(kit, label, image, flash, How::functional(kit), damage)
}

/// How an image is run.
#[derive(Clone, Copy)]
struct How {
    /// What it is traced for.
    purpose: trace::Purpose,
    keeps_time: bool,
    /// The emulator's processor time until it is told to end.
    limit: Duration,
}

impl How {
    /// Traced in case it fails, without time.
    fn functional(kit: &Kit<'_>) -> Self {
        Self { purpose: trace::Purpose::Failure, keeps_time: false, limit: kit.limit() }
    }
}

/// Runs an image on the emulated board in another way.
fn carried_out(
    kit: &Kit<'_>,
    label: &str,
    image: &[u8],
    flash: &Flash,
    How { purpose, keeps_time, limit }: How,
    damage: impl FnOnce(&Path) -> Result<()>,
) -> Result<Outcome> {
    let emulator = &kit.emulator()?.executable;
    let counting = Counting::new(label);
    let scratch = workspace::scratch()?;
    let directory = scratch.path().join("flashed");
    flash.write(image, &directory)?;
    let flashed = Flashed::read(&directory)?;
    damage(&directory)?;
    let monitor = Monitor { directory, image: scratch.path().join("image") };
    fs::write(&monitor.image, image).context("cannot write the image")?;
    let notes = Notes::of(trace::Options::default().on_host(flashed.cores, purpose), Some(&monitor.image))?;
    let mut command = emulator::command(emulator, &monitor.directory, &flashed, !keeps_time, notes);
    guest::run(label, &mut command, Some(&monitor), limit, |event| counting.watch(event))
}

/// In-kernel tests to be flashed for a board.
fn suite_of(board: &str, setup: &Setup, words: &KernelLine) -> Result<Flash> {
    Flash::new(Board::find(board)?, setup, &Program::integration(), words, &[])
}

/// Some cores of a board that are all loaded from outside.
fn some(cores: u16) -> Setup {
    Setup { cores: Some(cores.into()), ..Setup::default() }
}

/// Jobs that flash and run the in-kernel tests, one for each board and number of cores.
pub(super) fn in_kernel<'t>(kit: &'t Kit<'t>) -> impl Iterator<Item = Job<'t>> {
    IN_KERNEL.into_iter().map(move |(board, cores, only)| {
        let machine = format!("{} of {board}", cores::cores(cores.into()));
        Job::new(format!("in-kernel, {machine}"), 20 + 2 * usize::from(cores), move |suite| {
            let words = KernelLine::default().value("filter", kit.arguments.filter.as_ref()).value("only", only);
            let flash = suite_of(board, &some(cores), &words)?;
            let label = format!("in-kernel tests on {machine}");
            let outcome = emulated(kit, &label, kit.board_image(&Program::integration())?, &flash, |_| Ok(()))?;
            guests::count(suite, &outcome, kit.arguments.filter.is_some());
            Ok(())
        })
    })
}

/// Jobs that run the tests with names of their own.
pub(super) fn jobs<'t>(kit: &'t Kit<'t>) -> Vec<Job<'t>> {
    let wants = |name: &&'static str| kit.arguments.wants(name);
    let mut jobs = Vec::new();
    if MAIN_JOB.iter().any(wants) {
        jobs.push(Job::new("boards", 200, |suite| runs_main_job(suite, kit)));
    }
    if wants(&STARTED) {
        jobs.push(Job::new("boards", 30, |suite| started(suite, kit)));
    }
    if TRACED.iter().any(wants) {
        jobs.push(Job::new("boards", 20, |suite| traced(suite, kit)));
    }
    if wants(&INSTRUCTIONS) {
        jobs.push(Job::new("boards", 60, |suite| {
            kit.emulator()?;
            suite.begin();
            suite.check(INSTRUCTIONS, laboratory::bench("instructions"));
            Ok(())
        }));
    }
    if wants(&HELD_TOGETHER) {
        jobs.push(Job::new("boards", 30, |suite| {
            kit.emulator()?;
            suite.begin();
            suite.check(HELD_TOGETHER, laboratory::bench("held-together-short"));
            Ok(())
        }));
    }
    if wants(&rounds::ON_BOARD) {
        jobs.push(Job::new("boards", 60, |suite| {
            kit.emulator()?;
            rounds::on_board(suite, kit, |program, cores| {
                let words = KernelLine::default().value("program", Some(&program.name));
                let flash = Flash::new(Board::find(SCC)?, &some(cores), program, &words, &[])?;
                emulated(kit, rounds::ON_BOARD, kit.board_image(program)?, &flash, |_| Ok(()))
            })
        }));
    }
    // What programs there are is known to the image.
    if wants(&FATAL) || kit.arguments.filter.as_deref().is_some_and(|filter| filter.starts_with(FATAL)) {
        jobs.push(Job::new("boards", 30, |suite| fatal(suite, kit)));
    }
    jobs.extend(damage::jobs(kit));
    if refusals::NAMES.iter().any(wants) {
        jobs.push(Job::new("boards", 5, |suite| refusals::run(suite, kit)));
    }
    jobs
}

/// Core 0 alone is loaded, and starts all others.
fn started(suite: &mut Suite, kit: &Kit<'_>) -> Result<()> {
    kit.emulator()?;
    suite.begin();
    let setup = Setup { starts_others: true, ..some(CORES) };
    let flash = suite_of(SCC, &setup, &KernelLine::default().value("filter", Some("barrier::separates_phases")))?;
    let outcome = emulated(kit, STARTED, kit.board_image(&Program::integration())?, &flash, |_| Ok(()))?;
    suite.check(STARTED, outcome.verdict());
    suite.explain(&outcome);
    Ok(())
}

/// An image that says what it does, on a board that keeps time: its trace and its page.
fn traced(suite: &mut Suite, kit: &Kit<'_>) -> Result<()> {
    let backends = Backends::of(traces::PROGRAM, Vec::new(), kit)?;
    let says = image::Besides { announces: true, ..image::Besides::default() };
    let image =
        fs::read(image::board(&backends.program, kit.tools()?, says)?.executable).context("there is no image")?;
    kit.emulator()?;
    suite.begin();
    let words = KernelLine::default().value("program", Some(&backends.program.name));
    let flash = Flash::new(Board::find(SCC)?, &some(traces::CORES), &backends.program, &words, &[])?;
    let how = How { purpose: trace::Purpose::Page, keeps_time: true, limit: kit.limit() };
    let outcome = carried_out(kit, TRACED[0], &image, &flash, how, |_| Ok(()))?;
    let results = [
        outcome.verdict().and_then(|()| traces::is_read_by_tools(&outcome, &["ended", "message"])),
        backends
            .simulated(traces::CORES, &traces::words())
            .and_then(|simulated| traces::same_operations(&outcome, &simulated)),
        traces::loads_in_perfetto(&outcome, kit),
        page::of_a_board(&outcome, kit),
    ];
    for (name, result) in TRACED.into_iter().zip(results) {
        if kit.arguments.wants(name) {
            suite.check(name, result);
        }
    }
    suite.explain(&outcome);
    Ok(())
}

/// Runs the programs that have to end the machine with a report, which have to say what they say in QEMU.
fn fatal(suite: &mut Suite, kit: &Kit<'_>) -> Result<()> {
    kit.emulator()?;
    let image = kit.board_image(&Program::integration())?;
    let words = || KernelLine::default().value("program", Some("fatal"));
    let list = emulated(kit, "the list of fatal programs", image, &suite_of(SCC, &some(1), &words())?, |_| Ok(()))?;
    list.verdict()?;
    let programs = &list.transcript.fatal;
    for (case, _) in OTHERWISE {
        ensure!(programs.iter().any(|(listed, _)| listed == case), "the image has no program `{case}`");
    }
    suite.begin();
    // A second of the board's own time.
    let words = |case: &str| words().value("case", Some(case)).value("stuck_s", Some(1));
    let flash = |case: &str| suite_of(SCC, &some(FATAL_CORES), &words(case));
    let in_time = programs.iter().filter(|(case, _)| case == IN_TIME).map(|program| (program, true));
    for ((case, report), keeps_time) in programs.iter().map(|program| (program, false)).chain(in_time) {
        let name = format!("{FATAL}{case}{}", if keeps_time { "-in-time" } else { "" });
        let report = OTHERWISE.iter().find(|(other, _)| other == case).map_or(&**report, |(_, report)| report);
        if kit.arguments.wants(&name) {
            let how = How { keeps_time, ..How::functional(kit) };
            let outcome = carried_out(kit, &name, image, &flash(case)?, how, |_| Ok(()))?;
            let verdict = outcome.verdict_of_fatal(report);
            let verdict = verdict.and_then(|()| ends_with_failure(&outcome, FATAL_CORES.into()));
            if verdict.is_err() {
                suite.explain(&outcome);
            }
            suite.check(&name, verdict);
        }
    }
    let (case, report) = guests::ENDLESS;
    let name = format!("{FATAL}{case}");
    if kit.arguments.wants(&name) {
        let how = How { limit: guests::ENDLESS_LIMIT, ..How::functional(kit) };
        let outcome = carried_out(kit, &name, image, &flash(case)?, how, |_| Ok(()))?;
        let verdict = guests::judge_endless(&outcome, report, FATAL_CORES);
        suite.check(&name, verdict.and_then(|()| ends_with_failure(&outcome, FATAL_CORES.into())));
    }
    Ok(())
}

/// The main job, whose picture and results have to be QEMU's.
fn runs_main_job(suite: &mut Suite, kit: &Kit<'_>) -> Result<()> {
    kit.emulator()?;
    let words = KernelLine::default().value("steps", Some(STEPS));
    let in_qemu = main_job::in_qemu(kit, &words)?;
    suite.begin();
    let program = Program::resolve(DEFAULT_PROGRAM)?;
    let words = words.value("program", Some(&program.name));
    let flash = Flash::new(Board::find(SCC)?, &some(CORES), &program, &words, &[wanted::default_input()])?;
    let outcome = emulated(kit, "main job on the board", kit.board_image(&program)?, &flash, |_| Ok(()))?;
    let runs = Runs::new(["in QEMU", "on the board"], [&in_qemu.transcript, &outcome.transcript]);
    // A board does not tell what its caches write back.
    let counters = runs.agree_in_counters_but(&["lines_written_back"]);
    let results = [outcome.verdict(), counters, runs.agree_in_results()];
    for (name, result) in MAIN_JOB.into_iter().zip(results) {
        if kit.arguments.wants(name) {
            suite.check(name, result);
        }
    }
    suite.explain(&outcome);
    Ok(())
}
