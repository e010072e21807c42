//! Tests under Miri, which finds undefined behaviour that ran without a trace: those of what views, slices and exposed memory
//! are made of. Simulated cores switch stacks, which Miri cannot follow.

use crate::{process, progress::Progress, workspace};
use anyhow::{Result, bail};

/// Name of the test.
pub(super) const NAME: &str = "miri";

/// The modules whose tests can be run without a simulated core.
const MODULES: [&str; 6] = ["address::", "cached::", "emulated::", "exposed::", "kit::", "sim::memory::"];

/// Runs them. False if the toolchain has no Miri.
///
/// # Errors
///
/// What Miri or a test found.
pub(super) fn run() -> Result<bool> {
    if !workspace::has_cargo("miri") {
        return Ok(false);
    }
    let _progress = Progress::new("tests under Miri");
    let mut command = workspace::cargo("miri");
    command
        .args(["test", "--package", "hal", "--features", "sim", "--lib", "--"])
        .args(MODULES)
        .env("CARGO_TARGET_DIR", workspace::target().join("miri"));
    let finished = process::finish(&mut command, |_| {})?;
    if !finished.status.success() {
        eprintln!("{}{}", finished.output.trim_end(), finished.messages.trim_end());
        bail!("a test fails under Miri");
    }
    Ok(true)
}
