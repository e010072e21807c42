//! Tests on the host: `cargo test`, with doc tests.

use super::summary::Suite;
use crate::{emulator, process, progress::Progress, workspace};
use anyhow::{Result, bail};
use std::time::Duration;

/// How long all of them may take, the build included.
const LIMIT: Duration = Duration::from_secs(1200);

/// What test harnesses have said.
#[derive(Debug, Default, PartialEq, Eq)]
struct Tally {
    passed: usize,
    failed: usize,
    names: Vec<String>,
}

impl Tally {
    fn take(&mut self, line: &str) {
        if let Some(counts) = line.strip_prefix("test result: ") {
            let count = |word: &str| {
                let parts = counts.split([';', '.']).find_map(|part| part.trim().strip_suffix(word));
                parts.and_then(|number| number.trim().parse::<usize>().ok()).unwrap_or(0)
            };
            self.passed += count("passed");
            self.failed += count("failed");
        } else if let Some((name, "FAILED")) = line.strip_prefix("test ").and_then(|line| line.rsplit_once(" ... ")) {
            self.names.push(name.into());
        }
    }
}

/// Runs them and adds their results up.
///
/// # Errors
///
/// When they do not build or not end.
pub(crate) fn run(suite: &mut Suite, filter: Option<&str>) -> Result<()> {
    let progress = Progress::new("tests on the host");
    let mut command = workspace::command(workspace::host_cargo());
    command.args(["test", "--release", "--workspace", "--features", emulator::FEATURE, "--no-fail-fast"]).args(filter);
    command
        .env("CARGO_TARGET_DIR", workspace::target())
        .env("CARGO_TERM_COLOR", "never")
        .current_dir(workspace::root());
    let mut tally = Tally::default();
    let finished = process::finish(&mut command, LIMIT, |line| {
        tally.take(line);
        if line.starts_with("test ") {
            progress.say(format!("tests on the host: {} passed", tally.passed));
        }
    })?;
    drop(progress);
    suite.pass_many(tally.passed);
    if !finished.status.success() {
        let failures = failures(&finished.output);
        // Without a failed test something did not build, and the compiler has said why.
        eprintln!(
            "{}",
            if failures.is_empty() { finished.messages.trim_end().to_owned() } else { failures.join("\n") }
        );
    }
    for place in 0..tally.failed.max(tally.names.len()) {
        suite.fail(tally.names.get(place).map_or("a test", String::as_str), "see the output above");
    }
    if !finished.status.success() && suite.failed() == 0 {
        let reason = finished.messages.lines().find(|line| line.starts_with("error"));
        bail!("cargo test ended with {}: {}", finished.status, reason.unwrap_or("no reason given"));
    }
    Ok(())
}

/// What harnesses print about the tests that failed.
fn failures(output: &str) -> Vec<&str> {
    let mut inside = false;
    let belongs = |line: &&str| {
        inside |= *line == "failures:";
        let belongs = inside;
        inside &= !line.starts_with("test result: ");
        belongs
    };
    output.lines().filter(belongs).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_failures_are_shown() {
        let output = "test a ... ok\ntest b ... FAILED\n\nfailures:\n\n---- b stdout ----\nno\ntest result: FAILED. 1 passed\ntest c ... ok\ntest result: ok.";
        assert_eq!(failures(output), ["failures:", "", "---- b stdout ----", "no", "test result: FAILED. 1 passed"]);
        assert!(failures("test c ... ok\ntest result: ok.").is_empty());
    }

    #[test]
    fn results_add_up() {
        let mut tally = Tally::default();
        for line in [
            "running 3 tests",
            "test console::tests::files ... ok",
            "test hal/src/lib.rs - Views (line 12) - compile fail ... FAILED",
            "test a::b ... FAILED",
            "test result: FAILED. 12 passed; 2 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.00s",
            "test result: ok. 5 passed; 0 failed; 0 ignored; 0 measured; 3 filtered out; finished in 0.10s",
        ] {
            tally.take(line);
        }
        let names = vec!["hal/src/lib.rs - Views (line 12) - compile fail".into(), "a::b".into()];
        assert_eq!(tally, Tally { passed: 17, failed: 2, names });
    }
}
