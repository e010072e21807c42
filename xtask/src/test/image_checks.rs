//! What holds of images and binaries before anything runs.

use super::{jobs::Job, kit::Kit, miri, summary::Suite};
use crate::{emulator, image, program::Program, sim};
use anyhow::{Result, anyhow};

/// Names of the tests in here that look at what was built, for `--filter`.
const NAMES: [&str; 3] = ["p54c-instructions", "no-warnings", "no-writable-statics"];

/// Names of the tests that lint the image, and the emulator of boards.
const LINT: &str = "bare-metal-clippy";
const EMULATOR_LINT: &str = "emulator-clippy";

/// Jobs that look at the image with the tests, and lint it.
pub(super) fn jobs<'t>(kit: &'t Kit<'t>) -> impl Iterator<Item = Job<'t>> {
    let wants = |name: &str| kit.arguments.wants(name);
    let checks = NAMES.iter().any(|name| wants(name)).then(|| Job::new("image", 60, |suite| checks(suite, kit)));
    let lint = wants(LINT).then(|| {
        Job::new("image", 50, |suite| {
            checked(suite, LINT, "cargo-clippy", image::lint(kit.tools()?));
            Ok(())
        })
    });
    checks.into_iter().chain(lint)
}

/// A job that runs tests of `hal` under Miri.
pub(super) fn under_miri<'t>(kit: &'t Kit<'t>) -> Option<Job<'t>> {
    kit.arguments.wants(miri::NAME).then(|| {
        Job::new("host", 30, |suite| {
            checked(suite, miri::NAME, "cargo-miri", miri::run());
            Ok(())
        })
    })
}

/// A job that lints the emulator.
pub(super) fn of_emulator<'t>(kit: &'t Kit<'t>) -> Option<Job<'t>> {
    kit.arguments.wants(EMULATOR_LINT).then(|| {
        Job::new("emulator", 20, |suite| {
            checked(suite, EMULATOR_LINT, "cargo-clippy", emulator::lint(kit.emulator_tools()?));
            Ok(())
        })
    })
}

fn checks(suite: &mut Suite, kit: &Kit<'_>) -> Result<()> {
    let program = Program::integration();
    let image = kit.image(&program)?;
    let simulators = Program::of_each_image().map(|program| kit.simulator(&program));
    suite.begin();
    let statics =
        || simulators.into_iter().try_for_each(|simulator| sim::check_statics(&simulator?.executable, &program));
    let results = [
        // Without them there would have been no image.
        Ok(()),
        image.warnings.first().map_or(Ok(()), |first| Err(anyhow!("{}", first.trim()))),
        statics(),
    ];
    for (name, result) in NAMES.into_iter().zip(results) {
        if kit.arguments.wants(name) {
            suite.check(name, result);
        }
    }
    Ok(())
}

/// Counts what a tool has found; not every toolchain has it.
fn checked(suite: &mut Suite, name: &str, tool: &str, result: Result<bool>) {
    match result {
        Ok(false) => suite.skip(name, &format!("there is no {tool}")),
        result => suite.check(name, result.map(drop)),
    }
}
