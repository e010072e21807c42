//! What passed and what failed.

use crate::{
    build,
    guest::Outcome,
    interrupt,
    process::{self, Account},
    progress,
};
use anyhow::Result;
use std::{
    fmt,
    time::{Duration, Instant},
};

/// Something of others that a test needs and that cannot be fetched here: the test is skipped.
#[derive(Debug)]
pub(super) struct NotToBeHad(pub(super) String);

impl fmt::Display for NotToBeHad {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

impl std::error::Error for NotToBeHad {}

/// How many of the slowest tests are named, and of what took most to be built.
const SLOWEST: usize = 10;

/// One line of the table.
#[derive(Debug)]
pub(crate) struct Suite {
    name: String,
    passed: usize,
    skipped: usize,
    /// Name and message of what failed.
    failures: Vec<(String, String)>,
    /// What there is to read about failures.
    notes: Vec<String>,
    /// What took how long: tests, and what is no more than its name.
    times: Vec<(Duration, String)>,
    began: Instant,
    /// When the test before ended.
    last: Instant,
    elapsed: Duration,
    /// Processor time of what it has run, but for what it has built.
    spent: Duration,
}

impl Suite {
    /// Without any test.
    pub(super) fn new(name: &str) -> Self {
        let now = Instant::now();
        Self {
            name: name.into(),
            passed: 0,
            skipped: 0,
            failures: Vec::new(),
            notes: Vec::new(),
            times: Vec::new(),
            began: now,
            last: now,
            elapsed: Duration::ZERO,
            spent: Duration::ZERO,
        }
    }

    /// Runs a suite, and shows how it went; an error that keeps it from running to its end is one more failure of it.
    pub(super) fn of(name: &str, run: impl FnOnce(&mut Self) -> Result<()>) -> Self {
        let mut suite = Self::new(name);
        let account = Account::default();
        if let Err(error) = account.keep_for(|| run(&mut suite)) {
            suite.fail(name, &format!("{error:#}"));
        }
        (suite.elapsed, suite.spent) = (suite.began.elapsed(), account.time());
        let failures = suite.failures.iter().map(|(test, message)| format!("failed: {name}: {test}: {message}"));
        let lines: Vec<_> = failures.chain(suite.notes.iter().cloned()).chain([suite.row()]).collect();
        // Whoever stops the suite need not read that its tests were stopped.
        if !interrupt::requested() {
            progress::say(&lines.join("\n"));
        }
        suite
    }

    /// The next test begins now: what came before was building.
    pub(super) fn begin(&mut self) {
        self.last = Instant::now();
    }

    /// Counts a test that passed, which took the time since the one before.
    pub(crate) fn pass(&mut self, name: &str) {
        self.pass_in(name, self.last.elapsed());
    }

    /// Counts a test that passed, with the time that it took.
    pub(super) fn pass_in(&mut self, name: &str, time: Duration) {
        self.passed += 1;
        self.times.push((time, name.into()));
        self.last = Instant::now();
    }

    /// Counts a test that cannot run here.
    pub(super) fn skip(&mut self, name: &str, reason: &str) {
        self.skipped += 1;
        self.notes.push(format!("skipped: {name}: {reason}"));
    }

    /// Counts a test that failed.
    pub(crate) fn fail(&mut self, name: &str, message: &str) {
        self.failures.push((name.into(), message.into()));
        self.times.push((self.last.elapsed(), name.into()));
        self.last = Instant::now();
    }

    /// Counts a test by its result: one for which something [cannot be had](NotToBeHad) is skipped.
    pub(crate) fn check(&mut self, name: &str, result: Result<()>) {
        match result {
            Ok(()) => self.pass(name),
            Err(error) if error.is::<NotToBeHad>() => self.skip(name, &format!("{error:#}")),
            Err(error) => self.fail(name, &format!("{error:#}")),
        }
    }

    /// Adds something to read about a failure.
    pub(super) fn note(&mut self, text: impl Into<String>) {
        self.notes.push(text.into());
    }

    /// The last lines of a guest, if it has failed.
    pub(super) fn explain(&mut self, outcome: &Outcome) {
        if outcome.verdict().is_err() {
            self.note(outcome.tail());
        }
    }

    /// Number of failures so far.
    pub(crate) fn failed(&self) -> usize {
        self.failures.len()
    }

    fn row(&self) -> String {
        let (name, passed, failed) = (&self.name, self.passed, self.failures.len());
        let [elapsed, spent] = [self.elapsed, self.spent].map(|time| time.as_secs_f64());
        format!("{name:<34} {passed:>7} {failed:>7} {elapsed:>7.1} s {spent:>7.1} s")
    }

    fn add(&mut self, other: Self) {
        self.passed += other.passed;
        self.skipped += other.skipped;
        self.failures.extend(other.failures);
        self.times.extend(other.times);
        self.elapsed += other.elapsed;
        self.spent += other.spent;
    }
}

/// All suites.
#[derive(Debug, Default)]
pub(crate) struct Summary(Vec<Suite>);

impl FromIterator<Suite> for Summary {
    /// Parts of one suite become one line.
    fn from_iter<I: IntoIterator<Item = Suite>>(suites: I) -> Self {
        let mut all: Vec<Suite> = Vec::new();
        for suite in suites {
            match all.iter_mut().find(|other| other.name == suite.name) {
                Some(other) => other.add(suite),
                None => all.push(suite),
            }
        }
        Self(all)
    }
}

impl Summary {
    /// Number of failures.
    pub(crate) fn failed(&self) -> usize {
        self.0.iter().map(Suite::failed).sum()
    }

    /// Number of tests that ran.
    pub(crate) fn total(&self) -> usize {
        self.failed() + self.0.iter().map(|suite| suite.passed).sum::<usize>()
    }

    /// Prints the table, what took most to be built, the slowest tests, the failures, what the run has cost, and the line that others read.
    pub(crate) fn print(&self) {
        print!("{}", self.text(build::spent(), process::processor_time_of_all()));
    }

    /// What is printed. Processor time is what runs on different machines, or beside other work, can be compared by.
    fn text(&self, mut built: Vec<(Duration, String)>, processor_time: Option<Duration>) -> String {
        let mut lines =
            vec![format!("{:<34} {:>7} {:>7} {:>9} {:>9}", "suite", "passed", "failed", "time", "processor")];
        // A filter leaves some without a test.
        let ran = self.0.iter().filter(|suite| suite.passed + suite.failed() + suite.skipped > 0);
        lines.extend(ran.map(Suite::row));
        let building: Duration = built.iter().map(|(time, _)| time).sum();
        lines.push(format!("{:<34} {:>33.1} s", "building", building.as_secs_f64()));
        built.sort_by_key(|(time, _)| std::cmp::Reverse(*time));
        let mut most = built.iter().take(SLOWEST).filter(|(time, _)| *time >= Duration::from_secs(1)).peekable();
        if most.peek().is_some() {
            lines.push("what took most to be built:".into());
        }
        lines.extend(most.map(|(time, what)| format!("{:>7.1} s {what}", time.as_secs_f64())));
        lines.push("the slowest:".into());
        let mut times: Vec<_> =
            self.0.iter().flat_map(|suite| suite.times.iter().map(move |time| (time, &suite.name))).collect();
        times.sort_by_key(|((time, _), _)| std::cmp::Reverse(*time));
        let slowest = times.iter().take(SLOWEST);
        lines.extend(slowest.map(|((time, test), suite)| format!("{:>7.1} s {suite}: {test}", time.as_secs_f64())));
        for suite in &self.0 {
            lines.extend(
                suite
                    .failures
                    .iter()
                    .map(|(test, message)| format!("failed: {}: {test}: {}", suite.name, message.replace('\n', " "))),
            );
        }
        let minutes = |time: Duration| format!("processor time, builds included: {:.1} min", time.as_secs_f64() / 60.0);
        lines.extend(processor_time.map(minutes));
        let mut last = format!("{} passed, {} failed", self.total() - self.failed(), self.failed());
        let skipped: usize = self.0.iter().map(|suite| suite.skipped).sum();
        if skipped > 0 {
            last += &format!(", {skipped} skipped");
        }
        lines.push(last);
        lines.join("\n") + "\n"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_line_counts() {
        let one = Suite::of("one", |suite| {
            (0..11).for_each(|number| suite.pass_in(&format!("test {number}"), Duration::from_secs(20 - number)));
            suite.check("wrong", Err(anyhow::anyhow!("2 is\nnot 3")));
            Ok(())
        });
        let two = Suite::of("two", |_| anyhow::bail!("does not build"));
        let more = Suite::of("one", |suite| {
            suite.pass("another");
            suite.check("lint", Err(anyhow::Error::from(NotToBeHad("no clippy".into())).context("clippy")));
            Ok(())
        });
        let summary: Summary = [one, two, more].into_iter().collect();
        let built =
            vec![(Duration::from_millis(7500), "an image".into()), (Duration::from_millis(20), "a tool".into())];
        let text = summary.text(built, Some(Duration::from_secs(90)));
        let end = "processor time, builds included: 1.5 min\n12 passed, 2 failed, 1 skipped\n";
        assert!(text.ends_with(end), "{text}");
        assert!(text.contains("failed: one: wrong: 2 is not 3\nfailed: two: two: does not build\n"), "{text}");
        let building = format!("{:<34} {:>33} s\nwhat took most to be built:\n", "building", "7.5");
        assert!(text.contains(&format!("{building}    7.5 s an image\nthe slowest:\n")), "{text}");
        assert!(
            text.contains("the slowest:\n   20.0 s one: test 0\n") && text.contains("11.0 s one: test 9\n"),
            "{text}"
        );
        assert!(!text.contains("test 10"), "{text}");
        assert_eq!((summary.total(), summary.failed(), summary.0.len()), (14, 2, 2));
    }
}
