//! What passed and what failed.

use crate::interrupt;
use anyhow::Result;
use std::time::{Duration, Instant};

/// One line of the table.
#[derive(Debug, Default)]
pub(crate) struct Suite {
    name: String,
    passed: usize,
    /// Name and message of what failed.
    failures: Vec<(String, String)>,
    elapsed: Duration,
}

impl Suite {
    /// Counts a test that passed.
    pub(crate) fn pass(&mut self, _name: &str) {
        self.passed += 1;
    }

    /// Counts tests that passed.
    pub(crate) fn pass_many(&mut self, count: usize) {
        self.passed += count;
    }

    /// Counts a test that failed.
    pub(crate) fn fail(&mut self, name: &str, message: &str) {
        self.failures.push((name.into(), message.into()));
    }

    /// Counts a test by its result.
    pub(crate) fn check(&mut self, name: &str, result: Result<()>) {
        match result {
            Ok(()) => self.pass(name),
            Err(error) => self.fail(name, &format!("{error:#}")),
        }
    }

    /// Number of failures so far.
    pub(crate) fn failed(&self) -> usize {
        self.failures.len()
    }
}

/// All suites.
#[derive(Default)]
pub(crate) struct Summary(Vec<Suite>);

impl Summary {
    /// Runs a suite; an error that keeps it from running to its end is one more failure of it.
    ///
    /// # Errors
    ///
    /// When the user wants to stop.
    pub(crate) fn suite(&mut self, name: &str, run: impl FnOnce(&mut Suite) -> Result<()>) -> Result<()> {
        let start = Instant::now();
        let mut suite = Suite { name: name.into(), ..Suite::default() };
        let result = run(&mut suite);
        interrupt::check()?;
        if let Err(error) = result {
            suite.fail(name, &format!("{error:#}"));
        }
        suite.elapsed = start.elapsed();
        for (test, message) in &suite.failures {
            eprintln!("failed: {name}: {test}: {message}");
        }
        eprintln!("{}", row(&suite));
        self.0.push(suite);
        Ok(())
    }

    /// Number of failures.
    pub(crate) fn failed(&self) -> usize {
        self.0.iter().map(Suite::failed).sum()
    }

    /// Number of tests that ran.
    pub(crate) fn total(&self) -> usize {
        self.failed() + self.0.iter().map(|suite| suite.passed).sum::<usize>()
    }

    /// Prints the table, the failures, and the line that others read.
    pub(crate) fn print(&self) {
        print!("{}", self.text());
    }

    fn text(&self) -> String {
        let mut lines = vec![format!("{:<30} {:>7} {:>7} {:>9}", "suite", "passed", "failed", "time")];
        lines.extend(self.0.iter().map(row));
        for suite in &self.0 {
            lines.extend(
                suite
                    .failures
                    .iter()
                    .map(|(test, message)| format!("failed: {}: {test}: {}", suite.name, message.replace('\n', " "))),
            );
        }
        lines.push(format!("{} passed, {} failed", self.total() - self.failed(), self.failed()));
        lines.join("\n") + "\n"
    }
}

fn row(suite: &Suite) -> String {
    format!("{:<30} {:>7} {:>7} {:>7.1} s", suite.name, suite.passed, suite.failures.len(), suite.elapsed.as_secs_f64())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_line_counts() {
        let mut summary = Summary::default();
        summary
            .suite("one", |suite| {
                suite.pass_many(3);
                suite.check("wrong", Err(anyhow::anyhow!("2 is\nnot 3")));
                Ok(())
            })
            .unwrap();
        summary.suite("two", |_| anyhow::bail!("does not build")).unwrap();
        let text = summary.text();
        assert_eq!(text.lines().last(), Some("3 passed, 2 failed"));
        assert!(text.contains("failed: one: wrong: 2 is not 3\nfailed: two: two: does not build\n"), "{text}");
        assert_eq!((summary.total(), summary.failed()), (5, 2));
    }
}
