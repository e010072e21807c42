//! What runs side by side: one job more at a time than the host has processors, since jobs wait for files, locks and timers, too.

use super::summary::{Suite, Summary};
use crate::interrupt;
use anyhow::Result;
use std::{
    sync::{Mutex, PoisonError},
    thread,
};

/// Something that runs by itself: a guest, the tests of a crate.
pub(super) struct Job<'t> {
    suite: String,
    cost_s: usize,
    run: Box<Work<'t>>,
}

type Work<'t> = dyn FnOnce(&mut Suite) -> Result<()> + Send + 't;

impl<'t> Job<'t> {
    /// A job whose results are part of this suite. What takes many seconds, roughly, begins early: what begins last should
    /// not be what all others wait for.
    pub(super) fn new(
        suite: impl Into<String>,
        cost_s: usize,
        run: impl FnOnce(&mut Suite) -> Result<()> + Send + 't,
    ) -> Self {
        Self { suite: suite.into(), cost_s, run: Box::new(run) }
    }
}

/// Runs all of them. Suites are in the order of jobs, whoever ends first.
pub(super) fn run(jobs: Vec<Job<'_>>) -> Result<Summary> {
    let workers = (thread::available_parallelism().map_or(1, usize::from) + 1).min(jobs.len());
    let ended: Vec<_> = jobs.iter().map(|_| Mutex::new(None)).collect();
    let mut waiting: Vec<_> = jobs.into_iter().enumerate().collect();
    waiting.sort_by_key(|(place, job)| (job.cost_s, usize::MAX - place));
    let waiting = Mutex::new(waiting);
    let next = || waiting.lock().unwrap_or_else(PoisonError::into_inner).pop().filter(|_| !interrupt::requested());
    let work = || {
        while let Some((place, job)) = next() {
            let suite = Suite::of(&job.suite, job.run);
            *ended[place].lock().unwrap_or_else(PoisonError::into_inner) = Some(suite);
        }
    };
    thread::scope(|scope| (0..workers).for_each(|_| _ = scope.spawn(work)));
    interrupt::check()?;
    Ok(ended.into_iter().filter_map(|suite| suite.into_inner().unwrap_or_else(PoisonError::into_inner)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[test]
    fn all_run_and_stay_in_order() {
        let begun = AtomicUsize::new(0);
        let job = |name: &str, cost_s| {
            let begun = &begun;
            let name = name.to_owned();
            Job::new(name.clone(), cost_s, move |suite: &mut Suite| {
                suite.pass(&format!("{name} {}", begun.fetch_add(1, Ordering::SeqCst)));
                anyhow::ensure!(cost_s != 3, "too dear");
                Ok(())
            })
        };
        let summary = run(vec![job("a", 1), job("b", 3), job("a", 2), job("c", 0)]).unwrap();
        let text = format!("{summary:?}");
        assert_eq!((summary.total(), summary.failed(), begun.into_inner()), (5, 1, 4));
        let places = ["\"a\"", "\"b\"", "\"c\""].map(|name| text.find(&format!("name: {name}")).unwrap());
        assert!(places.is_sorted() && text.matches("name: \"a\"").count() == 1, "{text}");
    }
}
