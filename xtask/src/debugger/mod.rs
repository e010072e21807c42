//! A debugger for programs in QEMU, whose own stub shows each core as a thread.
//!
//! The machine waits, before its first instruction or where it has failed, and the user attaches gdb by one command. What gdb is
//! told besides is in `atoll.py`: which rank a thread is, and what cores wait for.

use crate::{monitor::Monitor, progress::Progress, setup::DebuggerTools, workspace};
use anyhow::{Context, Result};
use clap::Args;
use std::{fs, path::PathBuf};

/// The socket's name in the directory that QEMU runs in.
const SOCKET: &str = "gdb.sock";

/// The file's name beside it.
const SCRIPT: &str = "attach.gdb";

/// The word with which the kernel holds a machine that has failed.
pub(crate) const HOLD: &str = "hold";

/// What a program that is debugged begins with, on every core.
const ENTRY: &str = "atoll_core_main";

#[derive(Args)]
pub(crate) struct DebuggerOptions {
    /// Stop before the program begins, and say how to attach gdb
    #[arg(long, conflicts_with_all = ["lines", "no_build", "coherent", "gdb_on_failure"])]
    gdb: bool,

    /// Hold the machine where it has failed, and say how to attach gdb
    #[arg(long, conflicts_with_all = ["lines", "no_build", "coherent"])]
    gdb_on_failure: bool,
}

/// When the machine waits for a debugger.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    BeforeProgram,
    OnFailure,
}

impl DebuggerOptions {
    /// When the machine waits, if it does.
    pub(crate) fn stop(&self) -> Option<Stop> {
        self.gdb.then_some(Stop::BeforeProgram).or(self.gdb_on_failure.then_some(Stop::OnFailure))
    }
}

impl Stop {
    /// QEMU's arguments for it.
    pub(crate) fn arguments(self) -> Vec<String> {
        let stub = ["-gdb".into(), format!("unix:{SOCKET},server=on,wait=off")];
        let stopped = (self == Self::BeforeProgram).then(|| "-S".to_owned());
        stub.into_iter().chain(stopped).collect()
    }

    /// Writes what gdb is to do into the machine's directory.
    ///
    /// # Errors
    ///
    /// When a file cannot be written.
    pub(crate) fn prepare(self, monitor: &Monitor, tools: &DebuggerTools) -> Result<Debugger> {
        let directory = workspace::target().join("debugger");
        fs::create_dir_all(&directory).with_context(|| format!("cannot make {}", workspace::display(&directory)))?;
        let python = directory.join("atoll.py");
        let script = monitor.directory.join(SCRIPT);
        fs::write(&python, include_str!("atoll.py")).context("cannot write the debugger's commands")?;
        let begin = match self {
            Self::BeforeProgram => format!("tbreak {ENTRY}\ncontinue\n"),
            Self::OnFailure => "atoll ranks\n".into(),
        };
        let text = format!(
            "set confirm off\nset pagination off\nset print thread-events off\nfile {}\ntarget remote {}\nsource {}\n{begin}",
            monitor.image.display(),
            monitor.directory.join(SOCKET).display(),
            python.display(),
        );
        fs::write(&script, text).with_context(|| format!("cannot write {}", workspace::display(&script)))?;
        Ok(Debugger { stop: self, gdb: tools.gdb.clone(), script })
    }
}

/// A machine that can be debugged.
pub(crate) struct Debugger {
    stop: Stop,
    gdb: PathBuf,
    script: PathBuf,
}

impl Debugger {
    /// Says how to attach, if the machine waits from its begin.
    pub(crate) fn greet(&self, progress: &Progress) {
        if self.stop == Stop::BeforeProgram {
            self.invite(progress, "the machine waits for a debugger");
        }
    }

    /// Looks at a line of the guest: one that has failed is held.
    pub(crate) fn look(&self, line: &str, progress: &Progress) {
        if self.stop == Stop::OnFailure && line.starts_with("@done failed") {
            self.invite(progress, "the machine has failed, and waits for a debugger");
        }
    }

    fn invite(&self, progress: &Progress, what: &str) {
        progress.print(&format!("{what}; `kill` there, or Ctrl-C here, ends it:\n\n    {}\n", self.command()));
    }

    /// The command that attaches.
    fn command(&self) -> String {
        format!("{} -q -x {}", self.gdb.display(), self.script.display())
    }
}
