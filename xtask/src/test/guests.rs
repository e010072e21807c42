//! In-kernel tests: many of them share one boot.

use super::{Arguments, summary::Suite};
use crate::{guest, memory::Plan, qemu::Machine, setup::Tools, words::Words};
use anyhow::Result;
use std::path::Path;

/// Boots the image with the tests and counts them.
///
/// # Errors
///
/// When the machine cannot be started.
pub(crate) fn run(suite: &mut Suite, arguments: &Arguments, tools: &Tools, image: &Path, cores: u16) -> Result<()> {
    let words = Words::default().value("filter", arguments.filter.as_ref()).value("preempt", arguments.preempt);
    let plan = Plan::new(cores, 0, None, None)?;
    let machine = Machine {
        qemu: &tools.qemu,
        image,
        inputs: &[],
        cores,
        plan: &plan,
        words,
        thread_multi: arguments.thread_multi,
    };
    let mut staged = machine.stage()?;
    let label = format!("in-kernel tests on {}", crate::cores::cores(cores.into()));
    let outcome = guest::run(&label, &mut staged.command, arguments.limit(), |_| {})?;
    let failed = count(suite, &outcome, arguments.filter.is_some());
    if failed {
        outcome.show_tail();
    }
    Ok(())
}

/// Counts a guest's tests, and as one more failure what is wrong with the guest itself. Tells whether anything failed.
pub(crate) fn count(suite: &mut Suite, outcome: &guest::Outcome, filtered: bool) -> bool {
    let before = suite.failed();
    let tests = &outcome.transcript.tests;
    for test in tests {
        match &test.failure {
            Some(message) => suite.fail(&test.name, message),
            None => suite.pass(&test.name),
        }
    }
    let failed = suite.failed() - before;
    let last = tests.last().map_or("before its first test".into(), |test| format!("after {}", test.name));
    match outcome.transcript.counts {
        // A machine that fell silent has no count of its own, or one that is not true.
        None => suite.fail("early end", &format!("{last}: {}", reason(outcome))),
        Some(counts) if counts != (tests.len() - failed, failed) => {
            suite.fail(
                "count",
                &format!(
                    "the guest counts {} passed, {} failed; {} and {failed} were seen",
                    counts.0,
                    counts.1,
                    tests.len() - failed
                ),
            );
        }
        Some((0, 0)) if filtered => {}
        Some((0, 0)) => suite.fail("count", "the guest has no test"),
        // Failed tests have been counted; that the guest calls itself failed is no news then.
        Some(_) if failed > 0 => {}
        Some(_) => {
            if let Err(error) = outcome.verdict() {
                suite.fail("end", &format!("{error:#}"));
            }
        }
    }
    suite.failed() > before
}

fn reason(outcome: &guest::Outcome) -> String {
    outcome.verdict().err().map_or_else(|| "no count of tests".into(), |error| format!("{error:#}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{process::Command, time::Duration};

    /// Number of failures and their text for a guest that is a shell script.
    fn failures(script: &str, filtered: bool) -> (usize, String) {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        let outcome = guest::run("stand-in", &mut command, Duration::from_millis(800), |_| {}).unwrap();
        let mut suite = Suite::default();
        assert_eq!(count(&mut suite, &outcome, filtered), suite.failed() > 0);
        (suite.failed(), format!("{suite:?}"))
    }

    #[test]
    fn tests_are_counted() {
        let (failed, text) =
            failures("echo '@test a ok'; echo '@test b ok'; echo '@tests 2 0'; echo '@done ok'; exit 33", false);
        assert!(failed == 0 && text.contains("passed: 2"), "{text}");
        let script =
            "echo '@test a ok'; echo '@test b failed no'; echo '@tests 1 1'; echo '@done failed 1 test'; exit 35";
        assert_eq!(failures(script, false).0, 1);
    }

    #[test]
    fn a_guest_that_ends_early_fails_by_name() {
        let (failed, text) = failures("echo '@test a ok'; exit 0", false);
        assert!(
            failed == 1 && text.contains("early end") && text.contains("after a") && text.contains("triple fault"),
            "{text}"
        );
        let (failed, text) = failures("echo '@test a ok'; exec sleep 60", false);
        assert!(failed == 1 && text.contains("hangs"), "{text}");
        assert_eq!(failures("exit 33", false).0, 1);
    }

    #[test]
    fn a_guest_cannot_lose_tests() {
        assert_eq!(failures("echo '@test a ok'; echo '@tests 2 0'; echo '@done ok'; exit 33", false).0, 1);
        assert_eq!(failures("echo '@test a ok'; echo '@tests 1 0'; exit 35", false).0, 1);
        assert_eq!(failures("echo '@tests 0 0'; echo '@done ok'; exit 33", false).0, 1);
        assert_eq!(failures("echo '@tests 0 0'; echo '@done ok'; exit 33", true).0, 0);
    }
}
