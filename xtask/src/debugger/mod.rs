//! A debugger for programs in QEMU and on the emulator of boards, whose stubs show each core as a thread.
//!
//! The machine waits, before its first instruction or where it has failed, and the user attaches gdb by one command. What gdb is
//! told besides is in `atoll.py`: which rank a thread is, what it holds of others' memory, and what it waits for.

use crate::{monitor::Monitor, program::Program, progress::Progress, setup::DebuggerTools, workspace};
use anyhow::{Context, Result};
use clap::Args;
use std::{
    fs, io,
    path::{Path, PathBuf},
};

/// The socket's name in the directory that QEMU runs in.
const SOCKET: &str = "gdb.sock";

/// The file's name beside it.
const SCRIPT: &str = "attach.gdb";

/// The file that the gdb holds which is at the machine.
const TAKEN: &str = "taken";

/// What is beside a copy of it for the last machine, at a place that editors can know: the image.
const IMAGE: &str = "image";

/// What gdb is taught, in the order in which it reads it.
const COMMANDS: [(&str, &str); 2] =
    [("machines.py", include_str!("machines.py")), ("atoll.py", include_str!("atoll.py"))];

/// The word with which the kernel holds a machine that has failed.
pub(crate) const HOLD: &str = "hold";

/// What the emulator of boards says when it holds one that has failed.
const BOARD_HELD: &str = "the board has failed, and is held for a debugger";

/// What a program that is debugged begins with, on every core.
const ENTRY: &str = "atoll_core_main";

/// What one in C begins with.
const C_ENTRY: &str = "main";

#[derive(Args)]
pub(crate) struct DebuggerOptions {
    /// Stop before the program begins, and say how to attach gdb
    #[arg(long, conflicts_with_all = ["lines", "no_build", "timeout", "gdb_on_failure"])]
    gdb: bool,

    /// Hold the machine where it has failed, and say how to attach gdb
    #[arg(long, conflicts_with_all = ["lines", "no_build", "timeout"])]
    gdb_on_failure: bool,
}

/// When the machine waits for a debugger.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    BeforeProgram,
    OnFailure,
}

/// Whose stub it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stub {
    Qemu,
    Board,
}

impl DebuggerOptions {
    /// When the machine waits, if it does.
    pub(crate) fn stop(&self) -> Option<Stop> {
        self.gdb.then_some(Stop::BeforeProgram).or(self.gdb_on_failure.then_some(Stop::OnFailure))
    }
}

impl Stop {
    /// Writes what gdb is to do into the machine's directory.
    pub(crate) fn prepare(
        self,
        stub: Stub,
        monitor: &Monitor,
        program: &Program,
        tools: &DebuggerTools,
    ) -> Result<Debugger> {
        let directory = workspace::target().join("debugger");
        fs::create_dir_all(&directory).with_context(|| format!("cannot make {}", workspace::display(&directory)))?;
        let (script, socket) = (monitor.directory.join(SCRIPT), monitor.directory.join(SOCKET));
        let mut sources = String::new();
        for (name, source) in COMMANDS {
            let file = directory.join(name);
            replace(&file, |to| fs::write(to, source)).context("cannot write the debugger's commands")?;
            sources += &format!("source {}\n", file.display());
        }
        let begin = match self {
            Self::BeforeProgram => format!("tbreak {}\ncontinue\n", if program.c.is_some() { C_ENTRY } else { ENTRY }),
            Self::OnFailure => "atoll ranks\n".into(),
        };
        // What is watched on a board is where the thread sees it that is selected then.
        let (inserted, on_board) = if stub == Stub::Board { ("on", "True") } else { ("off", "False") };
        let text = format!(
            "set confirm off\nset pagination off\nset print thread-events off\nset backtrace limit 100\nset breakpoint always-inserted {inserted}\n\
             file {}\n{}target remote {}\npython ON_BOARD = {on_board}\n{sources}{begin}",
            monitor.image.display(),
            alone(&monitor.directory.join(TAKEN)),
            socket.display(),
        );
        fs::write(&script, &text).with_context(|| format!("cannot write {}", workspace::display(&script)))?;
        let for_editors = replace(&directory.join(SCRIPT), |to| fs::write(to, &text))
            .and_then(|()| replace(&directory.join(IMAGE), |to| std::os::unix::fs::symlink(&monitor.image, to)));
        if let Err(error) = for_editors {
            eprintln!("editors find another machine or none in {}: {error}", workspace::display(&directory));
        }
        let command = [tools.gdb.as_path(), Path::new("-q"), Path::new("-x"), &script];
        Ok(Debugger { stop: self, stub, command: command.map(Path::to_owned).into(), socket, monitor: monitor.clone() })
    }
}

/// What ends a script of gdb where another gdb has run it and is not done: the machine would let it wait without a word.
fn alone(file: &Path) -> String {
    format!(
        "python\nimport fcntl\nTAKEN = open({:?}, 'w')\ntry:\n    fcntl.lockf(TAKEN, fcntl.LOCK_EX | fcntl.LOCK_NB)\n\
         except OSError:\n    print('another gdb is at this machine: `quit` there first')\n    gdb.execute('quit 1')\nend\n",
        file.display().to_string(),
    )
}

/// Makes a file that takes the place of another one at once: other sessions may read that, or make theirs.
fn replace(file: &Path, make: impl FnOnce(&Path) -> io::Result<()>) -> io::Result<()> {
    let directory = file.parent().unwrap_or(Path::new("."));
    let scratch = tempfile::tempdir_in(directory)?;
    let made = scratch.path().join("made");
    make(&made)?;
    fs::rename(made, file)
}

/// A machine that can be debugged.
pub(crate) struct Debugger {
    stop: Stop,
    stub: Stub,
    command: Vec<PathBuf>,
    socket: PathBuf,
    monitor: Monitor,
}

impl Debugger {
    /// The machine's arguments for it.
    pub(crate) fn machine_arguments(&self) -> Vec<String> {
        if self.stub == Stub::Board {
            let option = if self.stop == Stop::BeforeProgram { "--gdb" } else { "--gdb-on-failure" };
            return vec![option.into(), self.socket.display().to_string()];
        }
        let stub = ["-gdb".into(), format!("unix:{SOCKET},server=on,wait=off")];
        let stopped = (self.stop == Stop::BeforeProgram).then(|| "-S".to_owned());
        stub.into_iter().chain(stopped).collect()
    }

    /// The program and the arguments that attach gdb.
    pub(crate) fn command(&self) -> &[PathBuf] {
        &self.command
    }

    /// Where the machine listens, once it has begun.
    pub(crate) fn socket(&self) -> &Path {
        &self.socket
    }

    /// Says how to attach, if the machine waits from its begin.
    pub(crate) fn greet(&self, progress: &Progress) {
        if self.stop == Stop::BeforeProgram {
            self.invite(progress, "the machine waits for a debugger");
        }
    }

    /// Whether the machine, which has just said this line, has failed and is held.
    pub(crate) fn is_held(&self, line: &str) -> bool {
        let held = if self.stub == Stub::Board { BOARD_HELD } else { "@done failed" };
        self.stop == Stop::OnFailure && line.starts_with(held)
    }

    /// Looks at a line of the machine: where it is held, stops all of its cores as they are, and says how to attach.
    pub(crate) fn look(&self, line: &str, progress: &Progress) {
        if self.is_held(line) {
            self.hold();
            self.invite(progress, "the machine has failed, and waits for a debugger");
        }
    }

    /// Stops all cores of a machine that has failed: those that have not would go on to their next waits. The emulator of boards
    /// has done so itself.
    pub(crate) fn hold(&self) {
        if self.stub == Stub::Qemu
            && let Err(error) = self.monitor.stop()
        {
            eprintln!("the other cores go on: {error:#}");
        }
    }

    fn invite(&self, progress: &Progress, what: &str) {
        let words: Vec<_> = self.command.iter().map(|word| word.display().to_string()).collect();
        progress.print(&format!("{what}; `kill` there, or Ctrl-C here, ends it:\n\n    {}\n", words.join(" ")));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    #[test]
    fn the_guide_has_a_launch_file_for_what_is_written() {
        let page = include_str!("../../../kernel/src/guide/reading_a_failure.md");
        let (_, rest) = page.split_once("```json\n").unwrap();
        let file: Value = serde_json::from_str(rest.split_once("```").unwrap().0).unwrap();
        let configuration = &file["configurations"][0];
        let place = |name: &str| format!("${{workspaceFolder}}/target/debugger/{name}");
        assert_eq!(configuration["program"], json!(place(IMAGE)));
        assert_eq!(configuration["customLaunchSetupCommands"], json!([{"text": format!("source {}", place(SCRIPT))}]));
        assert_eq!((&configuration["type"], &configuration["MIMode"]), (&json!("cppdbg"), &json!("gdb")));
    }
}
