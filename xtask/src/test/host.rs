//! Tests on the host: all that `cargo test` would run, with doc tests. Each test binary is a job, which runs its tests one
//! after another; so it is known which takes how long, and one that hangs is found as a guest is.

use super::{arguments::Stage, cargo, jobs::Job, kit::Kit, summary::Suite};
use crate::{
    build, emulator,
    guest::Meter,
    process::{self, Next, Running},
    workspace,
};
use anyhow::{Result, bail, ensure};
use std::{
    collections::BTreeMap,
    process::Command,
    time::{Duration, Instant},
};

/// The test binary with the in-kernel tests.
const IN_KERNEL: &str = "suite";

/// The test binary with what the simulator shows besides; most of its tests are machines by the dozen.
const BY_THE_DOZEN: &str = "simulated";

/// Test binaries that take a minute or two: machines that wait in vain, machines of threads, and packages that are compiled.
const LONG: [&str; 4] = ["compile_fail", "conformance", "threads", "xtask"];

/// About how many seconds one of these takes.
const LONG_S: usize = 60;

/// Tests that take a second together, on average, elsewhere.
const TESTS_PER_S: usize = 30;

/// A binary with tests.
#[derive(Debug)]
pub(super) struct Binary {
    artifact: build::Artifact,
    stage: Stage,
    /// How many of its tests are wanted.
    wanted: usize,
}

impl Binary {
    /// Whether in-kernel tests are wanted.
    pub(super) fn is_in_kernel(&self) -> bool {
        self.stage == Stage::Sim && self.artifact.name == IN_KERNEL && self.wanted > 0
    }

    /// Whether any of its tests is wanted.
    pub(super) fn is_wanted(&self) -> bool {
        self.wanted > 0
    }

    /// About how many seconds its tests take.
    fn cost_s(&self) -> usize {
        match self.artifact.name.as_str() {
            BY_THE_DOZEN => self.wanted,
            name if LONG.contains(&name) => LONG_S,
            _ => self.wanted / TESTS_PER_S,
        }
    }

    fn command(&self, filter: Option<&str>) -> Command {
        let mut command = workspace::command(&self.artifact.executable);
        // What cargo says to tests.
        command
            .args(filter)
            .env("CARGO", workspace::host_cargo())
            .env("CARGO_MANIFEST_DIR", &self.artifact.directory)
            .env("CARGO_TARGET_DIR", workspace::target())
            .current_dir(&self.artifact.directory);
        command
    }
}

/// Builds the tests of these stages, and asks which of them are wanted.
pub(super) fn build(stages: &[Stage], filter: Option<&str>) -> Result<Vec<Binary>> {
    let artifacts = build::tests("the tests on the host", &mut cargo::tests_of(stages))?;
    binaries(
        artifacts,
        |artifact| if cargo::SIMULATED.contains(&artifact.package.as_str()) { Stage::Sim } else { Stage::Host },
        stages,
        filter,
    )
}

/// The tests of the emulator, which only the board's stage builds.
pub(super) fn of_emulator(kit: &Kit<'_>) -> Result<Vec<Binary>> {
    kit.emulator_tools()?;
    let mut command = emulator::cargo("test");
    command.arg("--no-run").args(build::MESSAGES);
    let artifacts = build::tests("the tests of the emulator", &mut command)?;
    binaries(artifacts, |_| Stage::Board, &[Stage::Board], kit.arguments.filter.as_deref())
}

fn binaries(
    artifacts: Vec<build::Artifact>,
    stage: impl Fn(&build::Artifact) -> Stage,
    stages: &[Stage],
    filter: Option<&str>,
) -> Result<Vec<Binary>> {
    let mut binaries = Vec::new();
    for artifact in artifacts {
        let mut binary = Binary { stage: stage(&artifact), artifact, wanted: 0 };
        if stages.contains(&binary.stage) {
            let listed = process::finish(binary.command(filter).args(["--list", "--format", "terse"]), |_| {})?;
            ensure!(listed.status.success(), "{} does not list its tests", binary.artifact.name);
            binary.wanted = listed.output.lines().filter(|line| line.ends_with(": test")).count();
            binaries.push(binary);
        }
    }
    Ok(binaries)
}

/// A job for each binary.
pub(super) fn jobs<'t>(kit: &'t Kit<'t>, binaries: Vec<Binary>) -> impl Iterator<Item = Job<'t>> {
    binaries.into_iter().filter(Binary::is_wanted).map(move |binary| {
        let suite = match binary.stage {
            Stage::Sim => "in the simulator",
            Stage::Board => "emulator",
            _ => "host",
        };
        Job::new(suite, binary.cost_s(), move |suite| {
            let mut command = binary.command(kit.arguments.filter.as_deref());
            execute(suite, &binary.artifact.name, command.arg("--test-threads=1"), kit.limit(), binary.wanted)
        })
    })
}

/// The examples in documentation.
pub(super) fn doc_tests<'t>(kit: &'t Kit<'t>) -> Job<'t> {
    Job::new("host", 30, |suite| {
        let mut command = build::of_workspace("test");
        command
            .args(["--release", "--doc", "--no-fail-fast"])
            .args(cargo::SIMULATED.iter().flat_map(|package| ["--exclude", package]))
            .args(kit.arguments.filter.as_deref());
        execute(suite, "doc tests", &mut command, kit.limit(), 0)
    })
}

/// What a test harness has said.
#[derive(Debug, Default)]
struct Tally {
    output: String,
    ended: BTreeMap<String, bool>,
}

impl Tally {
    /// Takes a line; returns a test that has ended, and whether well.
    fn take(&mut self, line: &str) -> Option<(String, bool)> {
        self.output.push_str(line);
        self.output.push('\n');
        let (name, result) = line.strip_prefix("test ")?.rsplit_once(" ... ")?;
        let passed = match result.split(',').next()? {
            "ok" => true,
            "FAILED" => false,
            _ => return None,
        };
        // Some pad names to one width.
        let name = name.trim_end();
        self.ended.insert(name.into(), passed);
        Some((name.into(), passed))
    }
}

/// Runs a harness, whose tests may use `limit` of processor time each. Until it says something it is built, which may take as
/// long as it likes.
fn execute(suite: &mut Suite, name: &str, command: &mut Command, limit: Duration, wanted: usize) -> Result<()> {
    let mut running = Running::start(command)?;
    let mut meter = None;
    let mut tally = Tally::default();
    loop {
        match running.next(Some(Instant::now() + Duration::from_millis(100))) {
            Next::Line(line) => {
                let ended = tally.take(&line);
                if meter.is_none() {
                    suite.begin();
                }
                if meter.is_none() || ended.is_some() {
                    meter = Some(Meter::open(limit, &running));
                }
                match ended {
                    Some((test, true)) => suite.pass(&test),
                    Some((test, false)) => suite.fail(&test, &format!("in {name}, see its output")),
                    None => {}
                }
            }
            Next::End => break,
            Next::TimedOut => {}
            Next::Interrupted => bail!("interrupted"),
        }
        if let Some(spent) = meter.as_mut().and_then(|meter| meter.look(&running)) {
            let hung = running.kill().last().cloned().unwrap_or_default();
            bail!("{name}: `{}` {spent}", hung.trim_start_matches("test ").trim_end_matches(" ... "));
        }
    }
    let status = running.wait()?;
    let failures = failures(&tally.output);
    if !status.success() {
        suite.note(if failures.is_empty() { running.messages() } else { failures.join("\n") });
    }
    let failed = tally.ended.values().filter(|passed| !**passed).count();
    ensure!(status.success() || failed > 0, "{name} ended with {status}");
    // A harness that ends in the middle may call itself successful.
    ensure!(tally.ended.len() >= wanted, "{name} has ended after {} of {wanted} tests", tally.ended.len());
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
    fn results_are_read() {
        let mut tally = Tally::default();
        let mut take = |line: &str| tally.take(line);
        assert_eq!(take("running 3 tests"), None);
        assert_eq!(take("test console::tests::files ... ok"), Some(("console::tests::files".into(), true)));
        let name = "hal/src/lib.rs - Views (line 12) - compile fail";
        assert_eq!(take(&format!("test {name} ... FAILED")), Some((name.into(), false)));
        assert_eq!(take("test memory::x on 5 cores     ... ok"), Some(("memory::x on 5 cores".into(), true)));
        assert_eq!(take("test a ... ignored, no reason"), None);
        assert_eq!(take("test result: ok. 5 passed; 0 failed; 0 ignored"), None);
        assert_eq!(tally.ended.len(), 3);
    }

    /// How many tests passed and failed, and the error, of a harness that is a shell script.
    fn harness(script: &str, wanted: usize) -> (String, Option<String>) {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        let mut suite = Suite::new("stand-in");
        let error = execute(&mut suite, "x", &mut command, Duration::from_millis(300), wanted).err();
        (format!("{suite:?}"), error.map(|error| error.to_string()))
    }

    #[test]
    fn harnesses_that_hang_or_end_early_are_found() {
        assert!(harness("echo 'test a ... ok'; echo 'test b ... ok'", 2).1.is_none());
        assert!(harness("echo 'test a ... ok'", 2).1.is_some_and(|error| error.contains("after 1 of 2 tests")));
        assert!(harness("exit 101", 0).1.is_some_and(|error| error.contains("101")));
        let hung = harness("echo running 2 tests; printf 'test a ... ok\\ntest b ... '; exec sleep 6000", 2).1;
        assert!(hung.is_some_and(|error| error.starts_with("x: `b` has not ended and does nothing")));
        let endless = harness("echo running 1 test; printf 'test b ... '; while :; do :; done", 1).1;
        assert!(endless.is_some_and(|error| error.contains("`b` has not ended after 0 s of its own")));
        let (suite, error) = harness("echo 'test a ... FAILED'; printf 'failures:\\n\\nno\\n'; exit 101", 1);
        assert!(error.is_none() && suite.contains("see its output") && suite.contains("no"), "{suite}");
    }
}
