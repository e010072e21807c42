//! The emulator of boards like the SCC: a program of the tree that executes what `flash` writes.
//!
//! It is built like the simulator, for the host, but with a feature of its own, which compiles a library in C: whoever
//! neither tests nor emulates boards does without.

use crate::{
    build::{self, Built},
    progress::Progress,
    setup::EmulatorTools,
    symbols, trace, workspace,
};
use anyhow::{Context, Result, ensure};
use descriptions::boards::{Handed, announced, map};
use std::{fs, path::Path, process::Command};

/// Builds it.
pub(crate) fn build(_tools: &EmulatorTools) -> Result<Built> {
    let mut command = cargo("build");
    command.args(build::MESSAGES).args(["--bin", build::EMULATOR]);
    build::build("the emulator of boards", &mut command)
}

/// Lints it with its processors, which clippy on the workspace leaves out. Returns whether there was anything to lint
/// with.
pub(crate) fn lint(_tools: &EmulatorTools) -> Result<bool> {
    if !workspace::has_cargo("clippy") {
        return Ok(false);
    }
    let _progress = Progress::new("clippy on the emulator");
    build::lint("clippy", cargo("clippy").args(["--all-targets", "--", "-Dwarnings"]))?;
    Ok(true)
}

/// A command for the package. Every one is for the same profile, so that the library is compiled once.
pub(crate) fn cargo(subcommand: &str) -> Command {
    let mut command = workspace::cargo(subcommand);
    command.args(["--release", "--package", build::EMULATOR, "--features", "cpu"]);
    command
}

/// What the emulator notes of what cores do.
pub(crate) struct Notes {
    memory: trace::Memory,
    /// Where the image says what it does, if it does.
    says_at: Option<u64>,
}

impl Notes {
    /// Of a run of an image, if there is memory for it; nobody may know the image.
    pub(crate) fn of(memory: Option<trace::Memory>, image: Option<&Path>) -> Result<Option<Self>> {
        let Some(memory) = memory else { return Ok(None) };
        let says_at = image.map(|image| symbols::address(image, announced::SYMBOL)).transpose()?.flatten();
        Ok(Some(Self { memory, says_at }))
    }
}

/// The emulator's command line for a directory that was flashed, with or without time.
pub(crate) fn command(
    binary: &Path,
    directory: &Path,
    flashed: &Flashed,
    functional: bool,
    notes: Option<Notes>,
) -> Command {
    let mut command = workspace::command(binary);
    command.arg("--dir").arg(directory).args(["--cores", &format!("0..{}", flashed.started - 1)]);
    if functional {
        command.arg("--functional");
    }
    if let Some(Notes { memory, says_at }) = notes {
        command.args(memory.option());
        command.args(says_at.into_iter().flat_map(|address| ["--says-at".into(), address.to_string()]));
    }
    command
}

/// What a directory that was flashed says of itself.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Flashed {
    /// How many of the first cores the board's host has to start. These start the others.
    started: u32,
    /// How many run the program.
    pub(crate) cores: u32,
    /// The words that the program gets.
    pub(crate) command_line: String,
}

impl Flashed {
    /// Reads what the image in the directory will be told.
    pub(crate) fn read(directory: &Path) -> Result<Self> {
        let shown = workspace::display(directory);
        let file = directory.join(format!("memory-{:08x}.bin", map::HANDED));
        let block =
            fs::read(&file).with_context(|| format!("{shown} is no directory that `cargo xtask flash` has written"))?;
        let handed = Handed::read(&block).with_context(|| workspace::display(&file))?;
        let cores = handed.setting.cores;
        let started = if handed.setting.starts_others == 0 { cores } else { 1 };
        ensure!(started > 0, "what was flashed into {shown} runs on no core");
        Ok(Self { started, cores, command_line: handed.command_line.into() })
    }

    /// The name of its program, if it is one of the tree.
    pub(crate) fn program(&self) -> Option<&str> {
        self.command_line.split(' ').find_map(|word| word.strip_prefix("program="))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use descriptions::boards::{
        Board,
        handed::{Setting, block},
    };

    #[test]
    fn a_directory_says_which_cores_are_started() {
        let directory = tempfile::tempdir().unwrap();
        let read = |cores, starts_others, words: &str| {
            let setting = Setting { cores, private_slots: 41, heap_end: 0, image_end: 0, starts_others };
            let geometry = Board::built_in("scc").unwrap().mesh().unwrap().geometry;
            let block = block(setting, geometry, words, &[]).unwrap();
            fs::write(directory.path().join("memory-00010000.bin"), block).unwrap();
            Flashed::read(directory.path()).unwrap()
        };
        let all = read(48, 0, "seed=3 program=terrain");
        assert_eq!((all.started, all.cores, all.program()), (48, 48, Some("terrain")));
        let one = read(48, 1, "");
        assert_eq!((one.started, one.cores, one.program()), (1, 48, None));
    }

    #[test]
    fn other_directories_are_refused() {
        let directory = tempfile::tempdir().unwrap();
        let refusal = || format!("{:#}", Flashed::read(directory.path()).unwrap_err());
        assert!(refusal().contains("is no directory that `cargo xtask flash` has written"));
        fs::write(directory.path().join("memory-00010000.bin"), [0; 4096]).unwrap();
        assert!(refusal().contains("no description of the board"));
    }
}
