//! In-kernel tests: many of them share one boot.

use super::{jobs::Job, kit::Kit, summary::Suite, traces::ends_with_failure};
use crate::{
    console::Event,
    guest::{self, Outcome},
    kernel_line::KernelLine,
    memory::Plan,
    program::Program,
    progress::Progress,
    qemu::Machine,
    trace,
};
use anyhow::{Result, bail, ensure};
use std::{cell::Cell, fmt, num::NonZero, time::Duration};

/// What a guest says that has no test for a filter.
const NO_MATCH: &str = "no test's name contains";

/// Name of the test that `coherent` makes memory coherent.
pub(super) const COHERENT: &str = "coherent-memory-is-coherent";

/// What tests on the largest machines have to depend on: on the number of cores alone they depend in the simulator, too, where
/// these run on as many, and all that depend on it on half as many.
pub(crate) const LARGEST: &str = "largest";

/// A program of the same crate that computes for ever, and what is said of it when it has used all that it may: where it is.
pub(super) const ENDLESS: (&str, [&str; 2]) = ("loops", [": core 0 runs in loops (", "tests/src/fatal.rs:"]);

/// Processor time for that: several times what a board takes until its program runs, on a host that is busy with others.
pub(super) const ENDLESS_LIMIT: Duration = Duration::from_secs(5);

/// A program of the same crate in which core 1 waits by a name that it has made, and what core 0 says of it, which has something else
/// at that address.
const OWN_NAME: (&str, &str) =
    ("waits_by_a_name_of_its_own", "core 1 waits for something whose name only its own core can read");

/// Cores for programs that have to end the machine.
const FATAL_CORES: u16 = 5;

/// A machine for the in-kernel tests.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Guest {
    pub(crate) cores: u16,
    /// Seed of hand-overs to other cores.
    pub(crate) preempt: Option<u64>,
    /// One host thread per core.
    pub(crate) thread_multi: bool,
    /// Coherence domains of neighbouring cores.
    pub(crate) domains: Option<NonZero<u16>>,
    /// What its tests have to depend on, if not all run; see the list of tests.
    pub(crate) only: Option<&'static str>,
}

impl Guest {
    /// A machine whose cores take turns only where they wait.
    pub(crate) fn of(cores: u16) -> Self {
        Self { cores, preempt: None, thread_multi: false, domains: None, only: None }
    }
}

impl fmt::Display for Guest {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}", crate::cores::cores(self.cores.into()))?;
        if let Some(seed) = self.preempt {
            write!(out, ", preempt {seed}")?;
        }
        if self.thread_multi {
            write!(out, ", threads")?;
        }
        if let Some(domains) = self.domains {
            write!(out, ", coherence domains: {domains}")?;
        }
        Ok(())
    }
}

/// Jobs that boot the image with the tests, one for each of these machines.
pub(super) fn jobs<'t>(kit: &'t Kit<'t>, guests: Vec<Guest>) -> impl Iterator<Item = Job<'t>> {
    guests.into_iter().map(move |guest| {
        Job::new(format!("in-kernel, {guest}"), usize::from(guest.cores) * 2, move |suite| {
            let words = KernelLine::default().value("filter", kit.arguments.filter.as_ref()).value("only", guest.only);
            let outcome = boot(kit, guest, words, "in-kernel tests", kit.limit())?;
            count(suite, &outcome, kit.arguments.filter.is_some());
            Ok(())
        })
    })
}

/// Boots the image once for every program that has to end the machine with a report.
pub(super) fn fatal(suite: &mut Suite, kit: &Kit<'_>) -> Result<()> {
    let words =
        || KernelLine::default().value("program", Some("fatal")).value("failure_trace_kib", Some(trace::UNASKED_KIB));
    let boot = |guest, words, what: &str| boot(kit, guest, words, what, kit.limit());
    let list = boot(Guest::of(1), words(), "the list of fatal programs")?;
    list.verdict()?;
    suite.begin();
    ensure!(!list.transcript.fatal.is_empty(), "the image lists no program that has to end the machine");
    for (name, report) in &list.transcript.fatal {
        let name = format!("fatal::{name}");
        if !kit.arguments.wants(&name) {
            continue;
        }
        let case = words().value("case", name.strip_prefix("fatal::"));
        let outcome = boot(Guest::of(FATAL_CORES), case, &name)?;
        let verdict = outcome.verdict_of_fatal(report).and_then(|()| ends_with_failure(&outcome, FATAL_CORES.into()));
        if verdict.is_err() {
            suite.note(outcome.tail());
        }
        suite.check(&name, verdict);
    }
    endless(suite, kit)?;
    own_name(suite, kit)?;
    coherent(suite, kit)
}

/// Shows that a program is ended that does not end, with the place where it runs and what the others wait for.
fn endless(suite: &mut Suite, kit: &Kit<'_>) -> Result<()> {
    let (case, report) = ENDLESS;
    let name = format!("fatal::{case}");
    if kit.arguments.wants(&name) {
        let words = KernelLine::default().value("program", Some("fatal")).value("case", Some(case));
        let words = words.value("failure_trace_kib", Some(trace::UNASKED_KIB));
        let outcome = boot(kit, Guest::of(FATAL_CORES), words, &name, ENDLESS_LIMIT)?;
        let verdict =
            judge_endless(&outcome, report, FATAL_CORES).and_then(|()| ends_with_failure(&outcome, FATAL_CORES.into()));
        suite.check(&name, verdict);
    }
    Ok(())
}

/// Shows that a core does not read a text that another one has made in its private memory.
fn own_name(suite: &mut Suite, kit: &Kit<'_>) -> Result<()> {
    let (case, report) = OWN_NAME;
    let name = format!("fatal::{case}");
    if kit.arguments.wants(&name) {
        let words = KernelLine::default().value("program", Some("fatal")).value("case", Some(case));
        let outcome = boot(kit, Guest::of(2), words, &name, kit.limit())?;
        suite.check(&name, outcome.verdict_of_fatal(report));
    }
    Ok(())
}

/// Demands that a run on `cores` cores, of which one does not end, was ended with this report.
pub(super) fn judge_endless(outcome: &Outcome, report: [&str; 2], cores: u16) -> Result<()> {
    let Err(said) = outcome.verdict() else { bail!("a loop without end has ended well") };
    let said = format!("{said:#}");
    let expected = format!("has not ended after {} s of its own processor time", ENDLESS_LIMIT.as_secs());
    let is_said = said.contains(&expected) && report.iter().all(|part| said.contains(part));
    ensure!(is_said, "`{said}` instead of `{expected}` and `{}`", report.concat());
    let waits = outcome.transcript.text.iter().filter(|line| line.contains(" waits for ")).count();
    ensure!(waits == usize::from(cores) - 1, "{waits} of the other cores say what they wait for");
    Ok(())
}

/// Shows that `coherent` makes memory coherent: then a test of the opposite has to fail.
fn coherent(suite: &mut Suite, kit: &Kit<'_>) -> Result<()> {
    if kit.arguments.wants(COHERENT) {
        let words =
            KernelLine::default().value("filter", Some("memory::unflushed_store_is_unseen")).switch("coherent", true);
        let outcome = boot(kit, Guest::of(FATAL_CORES), words, COHERENT, kit.limit())?;
        suite.check(COHERENT, outcome.verdict_of_fatal("a store that was not flushed"));
    }
    Ok(())
}

fn boot(kit: &Kit<'_>, guest: Guest, words: KernelLine, what: &str, limit: Duration) -> Result<Outcome> {
    let image = &kit.image(&Program::integration())?.executable;
    let label = format!("{what} on {guest}");
    let plan = Plan::new(guest.cores, 0, None, None)?.with_traces(guest.cores, Some(trace::UNASKED_KIB))?;
    let words = words.value("preempt", guest.preempt).value("domains", guest.domains);
    let machine = Machine {
        qemu: &kit.tools()?.qemu,
        image,
        inputs: &[],
        cores: guest.cores,
        plan: &plan,
        words,
        thread_multi: guest.thread_multi,
    };
    let mut staged = machine.stage()?;
    let counting = Counting::new(&label);
    guest::run(&label, &mut staged.command, Some(&staged.monitor), limit, |event| counting.watch(event))
}

/// Shows how many tests of a guest have ended.
pub(super) struct Counting {
    progress: Progress,
    label: String,
    done: Cell<usize>,
}

impl Counting {
    pub(super) fn new(label: &str) -> Self {
        Self { progress: Progress::new(label), label: label.into(), done: Cell::new(0) }
    }

    pub(super) fn watch(&self, event: &Event<'_>) {
        if matches!(event, Event::Test) {
            self.done.set(self.done.get() + 1);
            self.progress.say(format!("{}: {} tests", self.label, self.done.get()));
        }
    }
}

/// Counts a guest's tests, and as one more failure what is wrong with the guest itself.
pub(super) fn count(suite: &mut Suite, outcome: &Outcome, filtered: bool) {
    let before = suite.failed();
    let tests = &outcome.transcript.tests;
    for (place, test) in tests.iter().enumerate() {
        match &test.failure {
            Some(message) => suite.fail(&test.name, message),
            None => suite.pass_in(&test.name, outcome.times.get(place).copied().unwrap_or_default()),
        }
    }
    let failed = suite.failed() - before;
    let verdict = outcome.verdict();
    match (outcome.transcript.counts, verdict) {
        (Some(counts), _) if counts != (tests.len() - failed, failed) => {
            let seen = tests.len() - failed;
            let message =
                format!("the guest counts {} passed, {} failed; {seen} and {failed} were seen", counts.0, counts.1);
            suite.fail("count", &message);
        }
        // Its tests have been counted; that the guest calls itself failed is no news then.
        (_, Err(_)) if failed > 0 => {}
        (_, Err(error)) if filtered && tests.is_empty() && error.to_string().contains(NO_MATCH) => {}
        (_, Err(error)) => {
            let last = tests.last().map_or("before its first test".into(), |test| format!("after {}", test.name));
            suite.fail("early end", &format!("{last}: {error:#}"));
        }
        (_, Ok(())) if tests.is_empty() && !filtered => suite.fail("count", "the guest has no test"),
        (_, Ok(())) => {}
    }
    if suite.failed() > before {
        suite.note(outcome.tail());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    /// Number of failures and their text for a guest that is a shell script.
    fn failures(script: &str, filtered: bool) -> (usize, String) {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        let outcome = guest::run("stand-in", &mut command, None, Duration::from_millis(800), |_| {}).unwrap();
        let mut suite = Suite::new("guest");
        count(&mut suite, &outcome, filtered);
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
        assert!(failed == 1 && text.contains("has not ended"), "{text}");
        assert_eq!(failures("exit 33", false).0, 1);
        // Before its own count, but after a failure that explains it.
        assert_eq!(failures("echo '@test a failed no'; echo '@done failed a: no'; exit 35", false).0, 1);
    }

    #[test]
    fn a_guest_cannot_lose_tests() {
        assert_eq!(failures("echo '@test a ok'; echo '@tests 2 0'; echo '@done ok'; exit 33", false).0, 1);
        assert_eq!(failures("echo '@test a ok'; echo '@tests 1 0'; exit 35", false).0, 1);
        assert_eq!(failures("echo '@tests 0 0'; echo '@done ok'; exit 33", false).0, 1);
        assert_eq!(failures("echo '@tests 0 0'; echo '@done ok'; exit 33", true).0, 0);
        assert_eq!(
            failures(
                "echo \"rank 0 failed: no test's name contains x\"; echo '@done failed on 1 of 4 ranks'; exit 35",
                true
            )
            .0,
            0
        );
        assert_eq!(failures("echo '@done failed a panic'; exit 35", true).0, 1);
    }
}
