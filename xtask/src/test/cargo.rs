//! Builds what tests on the host are made of.

use super::arguments::Stage;
use crate::build;
use std::process::Command;

/// The package whose tests run in the simulator.
pub(super) const SIMULATED: &str = "tests";

/// A command that builds the tests of these stages. It leaves out what only the other compiles, but no package whose features
/// that would change for what is left.
pub(super) fn tests_of(stages: &[Stage]) -> Command {
    let mut command = build::of_workspace("test");
    command.arg("--release");
    match [Stage::Host, Stage::Sim].map(|stage| stages.contains(&stage)) {
        [true, false] => _ = command.args(["--exclude", SIMULATED]),
        // Unit tests are all of the host's stage.
        [false, true] => _ = command.args(["--test", "*"]),
        _ => {}
    }
    command.arg("--no-run").args(build::MESSAGES);
    command
}
