//! Programs in C, on each backend, and whether they compute the same bits there.

use super::{jobs::Job, kit::Kit, summary::Suite};
use crate::{
    c, cores,
    emulator::{self, Flashed},
    flash::{self, Flash},
    guest::{self, Outcome},
    host_command, image,
    kernel_line::KernelLine,
    monitor::Monitor,
    program::Program,
    qemu::Machine,
    run,
    wanted::{self, Given},
    workspace,
};
use anyhow::{Context, Result, ensure};
use descriptions::boards::Board;
use std::{fs, path::PathBuf};

/// Where the programs are.
pub(super) const DIRECTORY: &str = "tests/c";

/// A variable that programs are given.
const ENVIRONMENT: &str = "COLOUR=dark blue";

/// From this number of cores on, programs are simulated where accesses do not wait for each other. Where they do the accesses of waiting
/// cores are made one by one: `rcce/shared` on 48 ranks, which wait long, takes nearly four times the processor time there.
const CORES_WITHOUT_CONTENTION: u16 = 48;

/// A run of a program.
#[derive(Clone, Copy)]
struct Case {
    /// Name of the test, and of the program's file.
    name: &'static str,
    file: &'static str,
    cores: u16,
    /// Arguments of the program.
    words: &'static [&'static str],
    ends: Ends,
}

/// How a run is to end.
#[derive(Clone, Copy)]
enum Ends {
    /// Well, on every rank, with these lines once from each.
    With(&'static [&'static str]),
    /// Not well, with a report that contains this.
    Failing(&'static str),
}

/// What runs on every backend.
const EVERYWHERE: [Case; 1] = [Case {
    name: "c-runtime",
    file: "runtime.c",
    cores: 2,
    words: &["a b", "cores=3", "/data/jacksboro-elevation.pgm"],
    ends: Ends::With(&["checked all of it", " @not for the host's tools", "to standard error", "ended in order"]),
}];

/// What runs in the simulator besides.
const SIMULATED: [Case; 10] = [
    Case {
        name: "c-takes-virtual-time",
        file: "time.c",
        cores: 1,
        words: &[],
        ends: Ends::With(&["computation takes its time"]),
    },
    fails("c-overruns-its-stack", &["deep"], "its stack has 8192 KiB; raise stack_kib=, in deep (tests/c/fails.c:"),
    fails("c-stores-to-nowhere", &["poke"], "write to 0x10, where it has no memory, in poke (tests/c/fails.c:"),
    fails("c-exits-with-a-status", &["exit"], "it exited with status 3"),
    fails("c-aborts", &["abort"], "it ended itself by the signal SIGABRT"),
    fails("c-waits-for-itself", &["waits"], "pthread_mutex_lock of a mutex that is locked would wait for ever"),
    fails("c-fails-an-assertion", &["assert"], "assertion \"argc == 0\" failed: file \""),
    // Alone, since the others may run on for a while, and would, too.
    Case {
        cores: 1,
        ..fails("c-runs-for-ever", &["loop", "stuck_s=2"], "endless loop: it has run for 2 s of the host")
    },
    Case { ends: Ends::With(&["11 MiB"]), ..fails("c-fills-its-heap", &["malloc", "heap_kib=16384"], "") },
    Case { cores: 1000, ends: Ends::With(&["small"]), ..fails("c-runs-on-1000-ranks", &["small"], "") },
];

/// A run of the program that fails as its first word says.
const fn fails(name: &'static str, words: &'static [&'static str], report: &'static str) -> Case {
    Case { name, file: "fails.c", cores: 2, words, ends: Ends::Failing(report) }
}

/// Bits are compared with those of the simulator.
const BITS: Case =
    Case { name: "c-computes-the-same-bits", file: "bits.c", cores: 1, words: &["300"], ends: Ends::With(&[]) };

/// Jobs for the simulator.
pub(super) fn simulated<'t>(kit: &'t Kit<'t>) -> Option<Job<'t>> {
    let cases: Vec<_> = EVERYWHERE.into_iter().chain(SIMULATED).filter(|case| kit.arguments.wants(case.name)).collect();
    (!cases.is_empty()).then(|| {
        Job::new("programs in C, simulated", 10, move |suite| {
            built(kit)?;
            suite.begin();
            for case in cases {
                judge(suite, &case, &Subject::of(&case, kit)?.simulated()?);
            }
            Ok(())
        })
    })
}

/// Builds what programs in C are linked with and what loads them, so that no test of one is taken for slow.
pub(super) fn built(kit: &Kit<'_>) -> Result<()> {
    kit.c_tools()?;
    kit.simulator(&Program::c_programs()).map(drop)
}

/// Jobs for QEMU.
pub(super) fn in_qemu<'t>(kit: &'t Kit<'t>) -> Option<Job<'t>> {
    on_bare_metal(kit, "programs in C", Subject::in_qemu)
}

/// Jobs for emulated boards.
pub(super) fn on_board<'t>(kit: &'t Kit<'t>) -> Option<Job<'t>> {
    on_bare_metal(kit, "programs in C on a board", Subject::on_board)
}

fn on_bare_metal<'t>(
    kit: &'t Kit<'t>,
    suite: &str,
    run: impl Fn(&Subject<'t>) -> Result<Outcome> + Send + 't,
) -> Option<Job<'t>> {
    let cases: Vec<_> = EVERYWHERE.into_iter().chain([BITS]).filter(|case| kit.arguments.wants(case.name)).collect();
    (!cases.is_empty()).then(|| {
        Job::new(suite, 20, move |suite| {
            for case in cases {
                let subject = Subject::of(&case, kit)?;
                let outcome = run(&subject)?;
                if case.name == BITS.name {
                    suite.check(case.name, same_bits(&subject.simulated()?, &outcome));
                    suite.explain(&outcome);
                } else {
                    judge(suite, &case, &outcome);
                }
            }
            Ok(())
        })
    })
}

/// A program that is tested.
pub(super) struct Subject<'t> {
    pub(super) kit: &'t Kit<'t>,
    pub(super) program: Program,
    pub(super) cores: u16,
    pub(super) words: Vec<String>,
    pub(super) inputs: Vec<PathBuf>,
}

impl<'t> Subject<'t> {
    fn of(case: &Case, kit: &'t Kit<'t>) -> Result<Self> {
        // Files are named as users name them, from the workspace on.
        let file = format!("{DIRECTORY}/{}", case.file);
        let file = workspace::root().join(file).to_string_lossy().into_owned();
        let program = Program::of_words(&[file], &c::CompilerOptions::with_environment(ENVIRONMENT))?;
        kit.c_tools()?;
        let words = case.words.iter().map(|word| (*word).to_owned()).collect();
        Ok(Self { kit, program, cores: case.cores, words, inputs: vec![wanted::default_input()] })
    }

    fn label(&self) -> String {
        format!("{} on {}", self.program.name, cores::cores(self.cores.into()))
    }

    fn words(&self) -> Result<KernelLine> {
        KernelLine::default().free(&self.program.words(&self.words))
    }

    /// As a user runs it: computation takes virtual time.
    pub(super) fn simulated(&self) -> Result<Outcome> {
        let program = self.program.clone().priced();
        let binary = self.kit.simulator(&program)?;
        let words = self.kit.loading(&program, self.words()?)?;
        let machine = if self.cores < CORES_WITHOUT_CONTENTION { "scc" } else { "scc+ideal" };
        let words = words.value("machine", Some(machine)).value("cores", Some(self.cores));
        let words = match &program.c {
            Some(sources) => sources.prices(words, &machine.parse().map_err(anyhow::Error::msg)?, &self.words),
            None => words,
        };
        let mut command = host_command::of(&binary.executable, words, &self.inputs)?;
        guest::run(&format!("{} simulated", self.label()), &mut command, None, self.kit.limit(), |_| {})
    }

    pub(super) fn in_qemu(&self) -> Result<Outcome> {
        let tools = self.kit.tools()?;
        let machine = Machine {
            image: &image::bare_metal(&self.program, tools)?.executable,
            qemu: &tools.qemu,
            inputs: &self.inputs,
            cores: self.cores,
            plan: &run::plan(&self.program, self.cores, &self.inputs, &self.words)?,
            words: self.words()?,
            thread_multi: false,
        };
        let mut staged = machine.stage()?;
        guest::run(&self.label(), &mut staged.command, Some(&staged.monitor), self.kit.limit(), |_| {})
    }

    fn on_board(&self) -> Result<Outcome> {
        let words = flash::words(&self.program, &Given::of_words(&self.words))?;
        let setup = flash::Setup { cores: Some(self.cores.into()), ..flash::Setup::default() };
        let flash = Flash::new(Board::find("scc")?, &setup, &self.program, &words, &self.inputs)?;
        let executable = image::board(
            &self.program,
            self.kit.tools()?,
            image::Besides { is_observed: true, ..image::Besides::default() },
        )?
        .executable;
        let image =
            fs::read(&executable).with_context(|| format!("cannot read {}", workspace::display(&executable)))?;
        let scratch = workspace::scratch()?;
        let directory = scratch.path().join("flashed");
        flash.write(&image, &directory)?;
        let emulator = self.kit.emulator()?;
        let mut command = emulator::command(&emulator.executable, &directory, &Flashed::read(&directory)?, true, None);
        let monitor = Monitor { directory, image: executable };
        guest::run(flash.label(), &mut command, Some(&monitor), self.kit.limit(), |_| {})
    }
}

/// Compares a run with what is expected of it.
fn judge(suite: &mut Suite, case: &Case, outcome: &Outcome) {
    let result = match case.ends {
        Ends::With(lines) => outcome.verdict().and_then(|()| {
            for line in lines {
                let count = outcome.transcript.text.iter().filter(|printed| printed == line).count();
                ensure!(count == usize::from(case.cores), "`{line}` was printed {count} times by {} ranks", case.cores);
            }
            Ok(())
        }),
        Ends::Failing(report) => outcome.verdict_of_fatal(report),
    };
    suite.check(case.name, result);
    suite.explain(outcome);
}

/// Compares what two runs have printed.
fn same_bits(simulated: &Outcome, other: &Outcome) -> Result<()> {
    /// Functions that are hashed, at the least.
    const HASHES: usize = 40;
    simulated.verdict()?;
    other.verdict()?;
    let hashes = |outcome: &Outcome| -> Vec<_> {
        outcome.transcript.text.iter().filter(|line| is_hash(line)).cloned().collect()
    };
    let [simulated, other] = [simulated, other].map(hashes);
    ensure!(simulated.len() >= HASHES, "there are only {} hashes", simulated.len());
    for (one, other) in simulated.iter().zip(&other) {
        ensure!(one == other, "`{one}` in the simulator is `{other}` here");
    }
    ensure!(
        simulated.len() == other.len(),
        "there are {} hashes in the simulator, and {} here",
        simulated.len(),
        other.len()
    );
    Ok(())
}

/// Whether a line is `NAME HASH`.
fn is_hash(line: &str) -> bool {
    let hash = line.split_once(' ').map(|(_, hash)| hash);
    hash.is_some_and(|hash| hash.len() == 8 && hash.bytes().all(|digit| digit.is_ascii_hexdigit()))
}
