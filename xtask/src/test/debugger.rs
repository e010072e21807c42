//! Sessions of gdb with programs in QEMU: one that runs to its end under the debugger's eyes, and one that has failed.

use super::{jobs::Job, kit::Kit};
use crate::{
    debugger::{HOLD, Stop, Stub},
    guest::{self, Outcome},
    image,
    kernel_line::KernelLine,
    process,
    program::Program,
    progress::Progress,
    qemu::Machine,
    run, setup, workspace,
};
use anyhow::{Context, Result, ensure};
use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
    sync::{
        atomic::{AtomicBool, Ordering::Relaxed},
        mpsc,
    },
    thread,
};

/// Names of the tests in here, for `--filter`.
const NAMES: [&str; 2] = ["debugger-follows-a-put", "debugger-sees-a-failure"];

/// Its neighbours put to each other.
const PROGRAM: &str = "wave";
const SMALL: &str = "size=13x11x9";

const CORES: u16 = 5;

/// Where windows of that many ranks have their marks: the first spare line of an MPB.
const MARKS: u32 = 33;

/// A job for what is wanted of them.
pub(super) fn job<'t>(kit: &'t Kit<'t>) -> Option<Job<'t>> {
    let wanted = || NAMES.into_iter().filter(|name| kit.arguments.wants(name));
    (wanted().count() > 0).then(|| {
        Job::new("debugger", 90, move |suite| {
            for name in wanted() {
                suite.check(name, if name == NAMES[0] { follows_a_put(kit) } else { sees_a_failure(kit) });
            }
            Ok(())
        })
    })
}

/// Rank 3 drains what it alone has seen, puts, and has a dirty page to write back; some rank raises a mark of rank 2's; rank 0 waits; the program ends well.
fn follows_a_put(kit: &Kit<'_>) -> Result<()> {
    let operations = "collectives/src/one_sided/window/operations.rs";
    let (lines, stuck) = ("hal/src/emulated/core_hardware/combined.rs", "hal/src/qemu/emulator/stuck.rs");
    let copies = "hal/src/emulated/copies/upkeep.rs";
    let script = format!(
        "atoll ranks\n\
         atoll break 3 {lines}:{}\ncontinue\natoll lines\ndelete\n\
         atoll break 3 {operations}:{}\ncontinue\nprint target\nprint *self\natoll ranks\natoll lines\ndelete\n\
         atoll watch 2 {MARKS}\ncontinue\ndelete\n\
         atoll break 0 {stuck}:{}\ncontinue\natoll ranks\natoll rank 4\ndelete\n\
         atoll break 3 {copies}:{}\ncontinue\natoll lines\ndelete\ncontinue\n",
        line_after(lines, "fn drain(&self) {")?,
        line_after(operations, "pub fn put(")?,
        line_after(stuck, "note.state.store(writes_before, SeqCst);")?,
        line_after(copies, "fn write_back_line<P")?,
    );
    let (session, outcome) = session(kit, Stop::BeforeProgram, SMALL, &script)?;
    outcome.verdict().with_context(|| session.clone())?;
    let says = |what: &str| {
        ensure!(session.contains(what), "gdb does not say `{what}`:\n{session}");
        Ok(())
    };
    // Each rank before it has begun, and where it is when rank 3 puts.
    for rank in 0..CORES {
        says(&format!("rank {rank} (thread {}) runs, in", rank + 1))?;
    }
    says("atoll_core_main at kernel/src/launch/")?;
    says("write-combine buffer: MPB of rank ")?;
    says("rank 3 (thread 4) runs, in collectives::one_sided::window::operations::")?;
    // Neighbours are next to each other.
    ensure!(["$1 = 2\n", "$1 = 4\n"].iter().any(|target| session.contains(target)), "no target:\n{session}");
    says(", epoch: 1,")?;
    says("L1: MPB of rank ")?;
    let has_dirty_page = |line: &str| line.starts_with("own page ") && !line.ends_with("dirty: none");
    ensure!(session.lines().any(has_dirty_page), "no dirty page:\n{session}");
    says(&format!(" has stored to line {MARKS} of the MPB of rank 2: "))?;
    says("rank 0 (thread 1) waits for ")
}

/// A program that ends with an error is held for the debugger.
fn sees_a_failure(kit: &Kit<'_>) -> Result<()> {
    let (session, outcome) = session(kit, Stop::OnFailure, "size=0x0x0", "atoll mpb 0 0 1\nkill\n")?;
    let failed = outcome.verdict().err().context("the program has not failed")?.to_string();
    let why = outcome.transcript.text.join("\n") + &outcome.tail();
    ensure!(failed.contains("size=") || why.contains("size="), "it has failed by something else: {failed}\n{why}");
    ensure!(session.contains("rank 0 (thread 1) ") && session.contains("line 0: 0000"), "{failed}\n{session}");
    Ok(())
}

/// The line behind the first that contains `text`, from 1.
fn line_after(file: &str, text: &str) -> Result<usize> {
    let source = fs::read_to_string(workspace::root().join(file)).with_context(|| format!("cannot read {file}"))?;
    let at = source.lines().position(|line| line.contains(text)).with_context(|| format!("no `{text}` in {file}"))?;
    Ok(at + 2)
}

/// Runs the program for a gdb that does what a script says; returns what gdb said, and what came of the program.
fn session(kit: &Kit<'_>, stop: Stop, size: &str, script: &str) -> Result<(String, Outcome)> {
    let program = Program::resolve(PROGRAM)?;
    let words = KernelLine::default().value("program", Some(PROGRAM)).switch(HOLD, stop == Stop::OnFailure);
    let machine = Machine {
        image: &image::for_debugger(&program, kit.tools()?)?,
        qemu: &kit.tools()?.qemu,
        inputs: &[],
        cores: CORES,
        plan: &run::plan(&program, CORES, &[], &[])?,
        words: words.free(&[size.into()])?,
        thread_multi: false,
    };
    let label = format!("{PROGRAM} for a debugger");
    let _progress = Progress::new(&label);
    let mut staged = machine.stage()?;
    let debugger = stop.prepare(Stub::Qemu, &staged.monitor, &program, &setup::ensure(kit.arguments.yes)?)?;
    staged.command.args(debugger.machine_arguments());
    let socket = debugger.socket().to_owned();
    let (is_over, (ready, waits)) = (AtomicBool::new(false), mpsc::channel());
    let commands = staged.monitor.directory.join("session.gdb");
    fs::write(&commands, script).context("cannot write a script for gdb")?;
    thread::scope(|scope| {
        let gdb = scope.spawn(|| {
            let waits: mpsc::Receiver<()> = waits;
            if stop == Stop::OnFailure {
                waits.recv().context("the program has not failed")?;
            }
            while !(socket.exists() || is_over.load(Relaxed)) {
                thread::sleep(guest::GLANCE);
            }
            attach(debugger.command(), &commands)
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
