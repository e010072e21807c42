//! The nodes of a cluster from their start to one verdict.

use crate::{
    console::Event,
    guest::{self, Outcome},
    process::{Account, Running},
    qemu::Staged,
};
use anyhow::Result;
use std::{
    sync::{
        Mutex, PoisonError,
        mpsc::{Sender, channel},
    },
    thread,
    time::{Duration, Instant},
};

/// What the others may use to follow a node that has said why it failed.
const FOLLOWING: Duration = Duration::from_secs(5);

/// Something that happens to a node from outside, for tests.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Disturbance {
    /// The node that it happens to.
    pub(crate) node: usize,
    /// The signal that its process gets.
    pub(crate) signal: i32,
    /// How long after node 0 has announced its first phase.
    pub(crate) after: Duration,
}

/// What the threads that watch one node each have in common.
#[derive(Default)]
struct Watch {
    /// What all nodes may still use.
    left: Mutex<Option<Duration>>,
    /// When node 0 announced a phase first.
    began: Mutex<Option<Instant>>,
    is_disturbed: Mutex<bool>,
}

impl Watch {
    fn lock<T>(value: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
        // A thread that panicked has changed nothing by half.
        value.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn end_within(&self, most: Duration) {
        let mut left = Self::lock(&self.left);
        *left = Some(left.map_or(most, |left| left.min(most)));
    }

    fn glance(&self, node: usize, running: &Running, disturbance: Option<Disturbance>) -> Option<Duration> {
        if let (Some(disturbance), Some(began)) = (disturbance, *Self::lock(&self.began)) {
            let mut is_disturbed = Self::lock(&self.is_disturbed);
            if disturbance.node == node && !*is_disturbed && began.elapsed() >= disturbance.after {
                running.signal(disturbance.signal);
                *is_disturbed = true;
            }
        }
        *Self::lock(&self.left)
    }
}

/// Starts all nodes and waits until they have ended, and returns how, as if they were one guest. When one of them fails,
/// the others get the time to notice and to say so: a little more than `deadline`, or less if a reason has been given.
pub(crate) fn run(
    label: &str,
    nodes: &mut [Staged],
    limit: Duration,
    deadline: Duration,
    disturbance: Option<Disturbance>,
    watch: impl Fn(usize, &Event<'_>) + Sync,
) -> Result<Outcome> {
    let common = Watch::default();
    let (ended, results) = channel();
    thread::scope(|scope| {
        for (node, staged) in nodes.iter_mut().enumerate() {
            let (common, watch, ended, account) = (&common, &watch, ended.clone(), Account::of_this_thread());
            scope.spawn(move || {
                account.keep_for(|| one(node, staged, limit, deadline, disturbance, common, watch, &ended));
            });
        }
    });
    drop(ended);
    let mut outcomes = Vec::new();
    let mut failed = Vec::new();
    for (node, result) in results {
        let outcome: Outcome = result?;
        if outcome.verdict().is_err() {
            failed.push(node);
        }
        outcomes.push((node, outcome));
    }
    outcomes.sort_by_key(|(node, _)| *node);
    Ok(guest::merge(label, outcomes.into_iter().map(|(_, outcome)| outcome).collect(), &failed))
}

/// Runs one node to its end, and lets the others end if it failed.
#[allow(clippy::too_many_arguments)]
fn one(
    node: usize,
    staged: &mut Staged,
    limit: Duration,
    deadline: Duration,
    disturbance: Option<Disturbance>,
    common: &Watch,
    watch: &(impl Fn(usize, &Event<'_>) + Sync),
    ended: &Sender<(usize, Result<Outcome>)>,
) {
    let end = |running: &Running| common.glance(node, running, disturbance);
    let show = |event: &Event<'_>| {
        if node == 0 && matches!(event, Event::Phase(_)) {
            Watch::lock(&common.began).get_or_insert_with(Instant::now);
        }
        watch(node, event);
    };
    let label = format!("node {node}");
    let result = guest::run_until(&label, &mut staged.command, Some(&staged.monitor), limit, end, show);
    match &result {
        Err(_) => common.end_within(Duration::ZERO),
        Ok(outcome) if outcome.verdict().is_err() => {
            // One that died without a word leaves it to the others to find out.
            let said_why = outcome.transcript.done.is_some();
            common.end_within(FOLLOWING + if said_why { Duration::ZERO } else { deadline });
        }
        Ok(_) => {}
    }
    // The receiver outlives this thread.
    let _ = ended.send((node, result));
}
