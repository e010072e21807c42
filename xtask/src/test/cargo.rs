//! Builds what tests on the host are made of.

use super::arguments::Stage;
use crate::{
    build::{self, Built},
    emulator,
    program::Program,
    workspace,
};
use anyhow::Result;
use std::process::Command;

/// The package whose tests run in the simulator.
pub(super) const SIMULATED: &str = "tests";

/// Packages that tests optimise no further than `tests`: protocols and programs, which take minutes to optimise, in each of their
/// binaries, and seconds to run. The machine below them is optimised in full.
const AT_LEVEL_1: [&str; 5] = ["c-programs", "collectives", "kernel", "measurements", "threads"];

/// A cargo command for the host. It is always for the whole workspace but the emulator, which is the board's: with fewer
/// packages crates would have other features, and be built once more.
pub(super) fn of_workspace(subcommand: &str) -> Command {
    let mut command = workspace::cargo(subcommand);
    command.args(["--release", "--workspace", "--exclude", emulator::PACKAGE]);
    command.args(AT_LEVEL_1.map(|package| format!("--config=profile.release.package.{package}.opt-level=1")));
    command
}

/// A command that builds the tests of these stages. It leaves out what only the other compiles, but no package whose features
/// that would change for what is left.
pub(super) fn tests_of(stages: &[Stage]) -> Command {
    let mut command = of_workspace("test");
    match [Stage::Host, Stage::Sim].map(|stage| stages.contains(&stage)) {
        [true, false] => _ = command.args(["--exclude", SIMULATED]),
        // Unit tests are all of the host's stage.
        [false, true] => _ = command.args(["--test", "*"]),
        _ => {}
    }
    command.arg("--no-run").args(build::MESSAGES);
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
