//! The emulator of boards like the SCC: a program of the tree that executes what `flash` writes.
//!
//! It is built like the simulator, for the host, but with a feature of its own, which compiles a library in C: whoever
//! neither tests nor emulates boards does without.

use crate::{
    build::{self, Built, build},
    process,
    progress::Progress,
    setup::EmulatorTools,
    workspace,
};
use anyhow::{Result, bail};
use std::{path::Path, process::Command, time::Duration};

/// The package, and the binary in it.
const PACKAGE: &str = "emulator";

/// The feature that brings its processors, for a build of the whole workspace.
pub(crate) const FEATURE: &str = "emulator/cpu";

/// How long clippy may take, which compiles the library first.
const LINT_LIMIT: Duration = Duration::from_secs(1200);

/// Builds it.
///
/// # Errors
///
/// When it does not build.
pub(crate) fn built(_tools: &EmulatorTools) -> Result<Built> {
    let mut command = cargo("build");
    command.args(build::MESSAGES).args(["--bin", PACKAGE]);
    build("the emulator of boards", &mut command)
}

/// Lints it with its processors, which clippy on the workspace leaves out.
///
/// # Errors
///
/// When clippy finds something or is not there.
pub(crate) fn lint(_tools: &EmulatorTools) -> Result<()> {
    let _progress = Progress::new("clippy on the emulator");
    let mut command = cargo("clippy");
    command.args(["--all-targets", "--", "-Dwarnings"]).env("CARGO_TERM_COLOR", "never");
    let finished = process::finish(&mut command, LINT_LIMIT, |_| {})?;
    if !finished.status.success() {
        eprintln!("{}", finished.messages.trim_end());
        let first = finished.messages.lines().find(|line| line.starts_with("error"));
        bail!("clippy: {}", first.unwrap_or("ended without a reason"));
    }
    Ok(())
}

/// A command for the package. Every one is for the same profile, so that the library is compiled once.
fn cargo(subcommand: &str) -> Command {
    let mut command = workspace::command(workspace::host_cargo());
    command
        .args([subcommand, "--release", "--package", PACKAGE, "--features", "cpu"])
        .env("CARGO_TARGET_DIR", workspace::target())
        .current_dir(workspace::root());
    command
}

/// The emulator's command line for a directory that was flashed, in which these cores are started.
pub(crate) fn command(binary: &Path, directory: &Path, cores: &str, limit: Duration) -> Command {
    let mut command = workspace::command(binary);
    command.arg("--dir").arg(directory).args(["--cores", cores, "--limit-s", &limit.as_secs().to_string()]);
    command
}
