//! Exhaustive exploration: all runs of a small program.
//!
//! A run is a function of its list of answers, so the tree of all runs is walked depth first by replaying a prefix
//! and answering 0 after it; the next prefix is the last answer that has a successor, increased. Nothing is stored
//! but one list.

use super::super::{
    Failure, Freedom, Machine, Outcome, Recording, Schedule, SimCore, Strategy,
    choice::{Answer, Chooser},
};

/// What hardware may do by itself during an exploration. Each doubles the runs for each operation at which it could
/// happen.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Spontaneous {
    /// Write-combine buffers may drain.
    pub drains: bool,
    /// Dirty lines may be evicted.
    pub evictions: bool,
    /// Stores to lines that are not cached may go to memory at once.
    pub stores_through: bool,
}

/// How an exploration went.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Exploration {
    /// Runs that were carried through to an outcome.
    pub runs: u64,
    /// Runs that were broken off because they could only repeat others.
    pub redundant: u64,
    /// Whether all runs were tried, rather than the limit reached.
    pub complete: bool,
}

/// Runs `program` on `machine` once for each order in which its operations can happen (orders that no program could
/// tell apart count as one), whatever time they take, and passes each result to `visit`. Stops after `limit` runs.
///
/// The machine's own strategy is not used. An outcome's recording replays it.
pub fn explore_exhaustively<R>(
    machine: &Machine,
    spontaneous: Spontaneous,
    limit: u64,
    program: impl Fn(&SimCore) -> R,
    mut visit: impl FnMut(Result<Outcome<R>, Failure>),
) -> Exploration {
    let mut exploration = Exploration { runs: 0, redundant: 0, complete: false };
    exploration.complete = walk(spontaneous, |chooser| {
        let run = machine.run_with(chooser, None, &program, &|_, _| {});
        match run.result {
            Some(result) => {
                exploration.runs += 1;
                visit(result);
            }
            None => exploration.redundant += 1,
        }
        (run.answers.unwrap_or_default(), exploration.runs + exploration.redundant < limit)
    });
    exploration
}

/// Has one run made after the other, each with the answers that it is to be given, until it says that it is enough. A run returns what
/// it was answered, and whether more are wanted. Returns whether there are no others.
pub(in crate::sim) fn walk(spontaneous: Spontaneous, mut run: impl FnMut(Chooser) -> (Vec<Answer>, bool)) -> bool {
    let Spontaneous { drains, evictions, stores_through } = spontaneous;
    let freedom = Freedom { schedule: Schedule::Free, ties: false, delays: false, drains, evictions, stores_through };
    let mut choices = Vec::new();
    loop {
        let strategy = Strategy::Replay(Recording { freedom, choices });
        let (answers, goes_on) = run(Chooser::new(&strategy, true));
        let Some(next) = next_prefix(&answers) else { return true };
        if !goes_on {
            return false;
        }
        choices = next;
    }
}

fn next_prefix(answers: &[Answer]) -> Option<Vec<u32>> {
    let last = answers.iter().rposition(|answer| answer.chosen + 1 < answer.options)?;
    let mut prefix: Vec<u32> = answers[..=last].iter().map(|answer| answer.chosen).collect();
    prefix[last] += 1;
    Some(prefix)
}
