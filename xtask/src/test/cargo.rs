//! Builds what tests on the host are made of.

use super::arguments::Stage;
use crate::build;
use std::process::Command;

/// The packages with the in-kernel tests in the simulator and on threads of the host.
pub(super) const SIMULATED: [&str; 2] = ["tests", "side-by-side"];

/// A command that builds the tests of these stages. It leaves out what only the other compiles, but no package whose features
/// that would change for what is left.
pub(super) fn tests_of(stages: &[Stage]) -> Command {
    let mut command = build::of_workspace("test");
    command.arg("--release");
    match [Stage::Host, Stage::Sim].map(|stage| stages.contains(&stage)) {
        [true, false] => _ = command.args(SIMULATED.iter().flat_map(|package| ["--exclude", package])),
        // Unit tests are all of the host's stage.
        [false, true] => _ = command.args(["--test", "*"]),
        _ => {}
    }
    command.arg("--no-run").args(build::MESSAGES);
    command
}
