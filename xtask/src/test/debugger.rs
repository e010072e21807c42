//! Sessions of gdb with programs in QEMU and on the emulated board: ones that run to their end under the debugger's eyes, and
//! ones that have failed.

use super::{c_programs, jobs::Job, kit::Kit};
use crate::{
    c,
    debugger::{HOLD, Stop, Stub},
    emulator::{self, Flashed},
    flash::{self, Flash, Setup},
    guest::{self, Outcome},
    image,
    kernel_line::KernelLine,
    monitor::Monitor,
    process::{self, Account},
    program::Program,
    progress::Progress,
    qemu::Machine,
    run, setup,
    wanted::Given,
    workspace,
};
use anyhow::{Context, Result, ensure};
use descriptions::boards::Board;
use std::{
    any::Any,
    fs,
    path::{Path, PathBuf},
    process::Command,
    sync::{
        atomic::{AtomicBool, Ordering::Relaxed},
        mpsc,
    },
    thread,
};

/// A test: its name, whose stub it needs, and what it does.
type Test = (&'static str, Stub, fn(&Kit<'_>) -> Result<()>);

const TESTS: [Test; 5] = [
    ("debugger-follows-a-put", Stub::Qemu, |kit| follows_a_put(kit, Stub::Qemu)),
    ("debugger-sees-a-failure", Stub::Qemu, |kit| sees_a_failure(kit, Stub::Qemu)),
    ("board-debugger-follows-a-put", Stub::Board, |kit| follows_a_put(kit, Stub::Board)),
    ("board-debugger-sees-a-failure", Stub::Board, |kit| sees_a_failure(kit, Stub::Board)),
    ("board-debugger-in-c", Stub::Board, stops_in_c),
];

/// Stands in a script for a second gdb that does what the first one has done.
const ANOTHER: &str = "another gdb\n";

/// Its neighbours put to each other.
const PROGRAM: &str = "wave";
const SMALL: &str = "size=13x11x9";

const CORES: u16 = 5;

/// Where windows of these ranks have their marks: the first spare line of an MPB.
const MARKS: u32 = 33;

/// A job for what is wanted of those with a stub.
pub(super) fn job<'t>(kit: &'t Kit<'t>, stub: Stub) -> Option<Job<'t>> {
    let wanted = move || TESTS.into_iter().filter(move |test| test.1 == stub && kit.arguments.wants(test.0));
    (wanted().count() > 0).then(|| {
        Job::new("debugger", 90, move |suite| {
            for (name, _, test) in wanted() {
                suite.check(name, test(kit));
            }
            Ok(())
        })
    })
}

/// Fails unless gdb has said something.
fn says(session: &str, what: &str) -> Result<()> {
    ensure!(session.contains(what), "gdb does not say `{what}`:\n{session}");
    Ok(())
}

/// Rank 3 puts, in an epoch that is shown; some rank raises a mark of rank 2's; the program ends well. In QEMU rank 3 also drains
/// what it alone has seen, and has a dirty page to write back, and rank 0 waits; on the board rank 3 steps, and its lookup table
/// and caches are shown.
fn follows_a_put(kit: &Kit<'_>, stub: Stub) -> Result<()> {
    let operations = "collectives/src/one_sided/window/operations.rs";
    let put = line_after(operations, "pub fn put(")?;
    let at_put = format!("atoll break 3 {operations}:{put}\ncontinue\nprint target\nprint *self\n");
    let shown = "atoll ranks\natoll epochs\natoll layout\natoll lines\n";
    let watch = format!("delete\natoll watch 2 {MARKS}\ncontinue\natoll mpb 2 {MARKS} 1\ndelete\n");
    let script = match stub {
        Stub::Qemu => {
            let (lines, stuck) = ("hal/src/emulated/core_hardware/combined.rs", "hal/src/qemu/emulator/stuck.rs");
            let copies = "hal/src/emulated/copies/upkeep.rs";
            format!(
                "atoll ranks\n\
                 atoll break 3 {lines}:{}\ncontinue\natoll lines\ndelete\n\
                 {at_put}{shown}{watch}\
                 atoll break 0 {stuck}:{}\ncontinue\natoll ranks\natoll rank 4\ndelete\n\
                 atoll break 3 {copies}:{}\ncontinue\natoll lines\ndelete\ncontinue\n",
                line_after(lines, "fn drain(&self) {")?,
                line_after(stuck, "note.state.store(writes_before, SeqCst);")?,
                line_after(copies, "fn write_back_line<P")?,
            )
        }
        Stub::Board => format!(
            "atoll ranks\n\
             {at_put}{shown}\
             print $pc\nset scheduler-locking on\nstepi\nset scheduler-locking off\nprint $pc\nnext\n\
             atoll lut\natoll caches $esp\natoll caches 0xC0000000\ninfo threads\n\
             {watch}info registers eip\natoll rank 4\ncontinue\n"
        ),
    };
    let program = Program::resolve(PROGRAM)?;
    let (session, outcome) = session(kit, stub, &program, Stop::BeforeProgram, SMALL, &script)?;
    outcome.verdict().with_context(|| session.clone())?;
    let right =
        outcome.transcript.text.iter().any(|line| line.starts_with("result equals that of one core bit for bit"));
    ensure!(right, "the result is not right:\n{session}");
    // Each rank before it has begun, and where it is when rank 3 puts.
    for rank in 0..CORES {
        says(&session, &format!("rank {rank} (thread {}) ", rank + 1))?;
    }
    says(&session, "atoll_core_main at kernel/src/launch/")?;
    says(&session, "rank 3 (thread 4) runs, in collectives::one_sided::window::operations::")?;
    // Neighbours are next to each other.
    ensure!(["$1 = 2\n", "$1 = 4\n"].iter().any(|target| session.contains(target)), "no target:\n{session}");
    says(&session, ", epoch: 1,")?;
    says(&session, "rank 3: access epoch on window 0 with ranks ")?;
    says(&session, ": exposure epoch on window 0 with ranks ")?;
    says(&session, &format!("lines {MARKS}: marks of a window"))?;
    says(&session, "lines 1: signals")?;
    says(&session, "L1: MPB of rank ")?;
    says(&session, &format!(" has stored to line {MARKS} of the MPB of rank 2: "))?;
    says(&session, &format!("line {MARKS}, marks of a window: "))?;
    match stub {
        Stub::Qemu => {
            says(&session, "write-combine buffer: MPB of rank ")?;
            let has_dirty_page = |line: &str| line.starts_with("own page ") && !line.ends_with("dirty: none");
            ensure!(session.lines().any(has_dirty_page), "no dirty page:\n{session}");
            says(&session, "rank 0 (thread 1) waits for ")
        }
        Stub::Board => {
            says(&session, "Thread 1.4 (rank 3)")?;
            says(&session, "slot 0xc0 (0xc0000000): ")?;
            says(&session, "MPB of rank 0, line 0\n")?;
            says(&session, " of the core, WriteBack: memory ")?;
            says(&session, "0xc0000000 is 0xc0000000 of the core, Mpbt: MPB of rank 0, line 0\n")?;
            says(&session, "lines of private memory")?;
            let places: Vec<_> = session.lines().filter(|line| line.contains("(*mut fn ()) 0x")).collect();
            ensure!(places.len() == 2 && places[0][5..] != places[1][5..], "no step: {places:?}\n{session}");
            Ok(())
        }
    }
}

/// A program that ends with an error is held for the debugger.
fn sees_a_failure(kit: &Kit<'_>, stub: Stub) -> Result<()> {
    let script = format!("atoll ranks\n{ANOTHER}atoll mpb 0 0 1\nkill\n");
    let (session, outcome) = session(kit, stub, &Program::resolve(PROGRAM)?, Stop::OnFailure, "size=0x0x0", &script)?;
    let failed = outcome.verdict().err().context("the program has not failed")?.to_string();
    let why = outcome.transcript.text.join("\n") + &outcome.tail();
    ensure!(failed.contains("size=") || why.contains("size="), "it has failed by something else: {failed}\n{why}");
    says(&session, "another gdb is at this machine: `quit` there first\nit has ended with 1\n")?;
    ensure!(session.contains("rank 0 (thread 1) ") && session.contains("line 0"), "{failed}\n{session}");
    Ok(())
}

/// A program in C stops before its `main`, and where rank 3 is about to complete what it has put.
fn stops_in_c(kit: &Kit<'_>) -> Result<()> {
    let file = format!("{}/mpi/windows.c", c_programs::DIRECTORY);
    let path = workspace::root().join(&file).display().to_string();
    let program = Program::of_words(&[path], &c::CompilerOptions::default())?;
    kit.c_tools()?;
    let complete = line_after(&file, "MPI_Win_complete(window), MPI_Win_wait(window);")? - 1;
    let script = format!("atoll break 3 windows.c:{complete}\ncontinue\nprint $_rank()\natoll epochs\nkill\n");
    let (session, _) = session(kit, Stub::Board, &program, Stop::BeforeProgram, "", &script)?;
    says(&session, "main (")?;
    says(&session, "$1 = 3\n")?;
    says(&session, "rank 3: access epoch on window ")?;
    says(&session, "rank 3: exposure epoch on window ")
}

/// The line behind the first that contains `text`, from 1.
fn line_after(file: &str, text: &str) -> Result<usize> {
    let source = fs::read_to_string(workspace::root().join(file)).with_context(|| format!("cannot read {file}"))?;
    let at = source.lines().position(|line| line.contains(text)).with_context(|| format!("no `{text}` in {file}"))?;
    Ok(at + 2)
}

/// A machine that can be started.
struct Staged {
    command: Command,
    monitor: Monitor,
    /// What is removed when this is dropped.
    _files: Box<dyn Any>,
}

fn in_qemu(kit: &Kit<'_>, program: &Program, words: KernelLine) -> Result<Staged> {
    let machine = Machine {
        image: &image::for_debugger(program, kit.tools()?)?,
        qemu: &kit.tools()?.qemu,
        inputs: &[],
        cores: CORES,
        plan: &run::plan(program, CORES, &[], &[])?,
        words,
        thread_multi: false,
    };
    let mut staged = machine.stage()?;
    let command = std::mem::replace(&mut staged.command, Command::new("true"));
    Ok(Staged { command, monitor: staged.monitor.clone(), _files: Box::new(staged) })
}

fn on_board(kit: &Kit<'_>, program: &Program, words: &KernelLine) -> Result<Staged> {
    let setup = Setup { cores: Some(CORES.into()), ..Setup::default() };
    let flash = Flash::new(Board::find("scc")?, &setup, program, words, &[])?;
    let executable =
        image::board(program, kit.tools()?, image::Besides { is_observed: true, ..image::Besides::default() })?
            .executable;
    let image = fs::read(&executable).with_context(|| format!("cannot read {}", workspace::display(&executable)))?;
    let scratch = workspace::scratch()?;
    let directory = scratch.path().join("flashed");
    flash.write(&image, &directory)?;
    let flashed = Flashed::read(&directory)?;
    let command = emulator::command(&kit.emulator()?.executable, &directory, &flashed, false, None);
    Ok(Staged { command, monitor: Monitor { directory, image: executable }, _files: Box::new(scratch) })
}

/// Runs the program for a gdb that does what a script says; returns what gdb said, and what came of the program.
fn session(
    kit: &Kit<'_>,
    stub: Stub,
    program: &Program,
    stop: Stop,
    size: &str,
    script: &str,
) -> Result<(String, Outcome)> {
    let free: Vec<String> = [size].into_iter().filter(|size| !size.is_empty()).map(str::to_owned).collect();
    let label = format!("{} for a debugger", program.name);
    let _progress = Progress::new(&label);
    let mut staged = match stub {
        Stub::Qemu => {
            let words = KernelLine::default().value("program", program.chosen());
            in_qemu(kit, program, words.switch(HOLD, stop == Stop::OnFailure).free(&free)?)?
        }
        Stub::Board => on_board(kit, program, &flash::words(program, &Given::of_words(&free))?)?,
    };
    let debugger = stop.prepare(stub, &staged.monitor, program, &setup::ensure(kit.arguments.yes)?)?;
    staged.command.args(debugger.machine_arguments());
    let socket = debugger.socket().to_owned();
    let (is_over, (ready, waits)) = (AtomicBool::new(false), mpsc::channel());
    let commands = staged.monitor.directory.join("session.gdb");
    let words: Vec<_> = debugger.command().iter().map(|word| word.display().to_string()).collect();
    let another = format!("shell {} -batch </dev/null; echo it has ended with $?\n", words.join(" "));
    fs::write(&commands, script.replace(ANOTHER, &another)).context("cannot write a script for gdb")?;
    let account = Account::of_this_thread();
    thread::scope(|scope| {
        let gdb = scope.spawn(|| {
            let waits: mpsc::Receiver<()> = waits;
            if stop == Stop::OnFailure {
                waits.recv().context("the program has not failed")?;
            }
            while !(socket.exists() || is_over.load(Relaxed)) {
                thread::sleep(guest::GLANCE);
            }
            account.keep_for(|| attach(debugger.command(), &commands))
        });
        let look = |line: &str| {
            if debugger.is_held(line) {
                debugger.hold();
                let _ = ready.send(());
            }
        };
        let (command, monitor) = (&mut staged.command, Some(&staged.monitor));
        let outcome = guest::run_by_lines(&label, command, monitor, kit.limit(), |_| None, |line, _| look(line));
        is_over.store(true, Relaxed);
        drop(ready);
        let session = gdb.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
        Ok((session, outcome?))
    })
}

/// Runs gdb with its own script and these commands; it ends with them.
fn attach(words: &[PathBuf], commands: &Path) -> Result<String> {
    let (gdb, arguments) = words.split_first().context("no command")?;
    let mut command = Command::new(gdb);
    command.arg("-batch").args(arguments).arg("-x").arg(commands).stdin(std::process::Stdio::null());
    let finished = process::finish(&mut command, |_| {})?;
    Ok(finished.output + &finished.messages)
}
