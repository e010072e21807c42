//! Builds what tests on the host are made of.

use crate::{
    build::{self, Built},
    emulator,
    program::Program,
    workspace,
};
use anyhow::Result;
use std::process::Command;

/// A cargo command for the host. It is always for the whole workspace but the emulator, which is the board's: with fewer
/// packages crates would have other features, and be built once more.
pub(super) fn of_workspace(subcommand: &str) -> Command {
    let mut command = workspace::cargo(subcommand);
    command.args(["--release", "--workspace", "--exclude", emulator::PACKAGE]);
    command
}

/// Builds a program for the host, from the crates that their tests are made with.
///
/// # Errors
///
/// When they do not build.
pub(super) fn simulator(program: &Program) -> Result<Built> {
    let what = format!("the simulator of {}", program.binary);
    build::build(&what, of_workspace("build").args(build::MESSAGES).args(["--bin", &program.binary]))
}
