//! Tests under Miri, which finds undefined behaviour that ran without a trace: those of what views, slices and exposed memory
//! are made of. Simulated cores switch stacks, which Miri cannot follow.

use crate::{process, progress::Progress, workspace};
use anyhow::{Result, bail};
use std::process::Command;

/// Name of the test.
pub(super) const NAME: &str = "miri";

/// The modules whose tests can be run without a simulated core.
const MODULES: [&str; 5] = ["address::", "cached::", "emulated::", "exposed::", "kit::"];

/// One that has some with names like theirs, whose tests are machines.
const MACHINES: &str = "sim::tests::";

/// Runs them. False if neither the toolchain that runs this tool nor rustup's nightly one has Miri.
pub(super) fn run() -> Result<bool> {
    let commands = [|| workspace::command(workspace::host_cargo()), nightly];
    let Some(cargo) = commands.into_iter().find(|cargo| has_miri(cargo())) else { return Ok(false) };
    let _progress = Progress::new("tests under Miri");
    let mut command = cargo();
    command
        .args(["miri", "test", "--package", "hal", "--features", "sim", "--lib", "--"])
        .args(MODULES)
        .args(["--skip", MACHINES])
        .env("CARGO_TARGET_DIR", workspace::target().join("miri"))
        .current_dir(workspace::root());
    let finished = process::finish(&mut command, |_| {})?;
    if !finished.status.success() {
        eprintln!("{}{}", finished.output.trim_end(), finished.messages.trim_end());
        bail!("a test fails under Miri");
    }
    Ok(true)
}

/// The cargo of rustup's nightly toolchain, if there is one: it is not installed for this.
fn nightly() -> Command {
    let mut command = workspace::command("rustup");
    command.args(["run", "nightly", "cargo"]).env("RUSTUP_AUTO_INSTALL", "0");
    command
}

/// Whether a cargo has Miri, with a library to run tests on: that is built from sources, which not every toolchain has.
fn has_miri(mut cargo: Command) -> bool {
    cargo
        .args(["miri", "setup"])
        .env("CARGO_TARGET_DIR", workspace::target().join("miri"))
        .current_dir(workspace::root());
    process::finish(&mut cargo, |_| {}).is_ok_and(|finished| finished.status.success())
}
