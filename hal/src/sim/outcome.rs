//! What comes of a run.

use crate::Counters;

use super::{
    Deviation, Failure, Finding, Recording,
    check::{AskedFor, Checker},
    choice::Answer,
    engine::Work,
    free::Made,
    heat::HeatMap,
};

/// A run that came to its end on all cores.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Outcome<R> {
    /// What each core did.
    pub cores: Vec<CoreOutcome<R>>,
    /// When the last core finished, in virtual time.
    pub time_ps: u64,
    /// The choices, if they were recorded.
    pub recording: Option<Recording>,
    /// What the simulator had to do.
    pub work: Work,
    /// Where the traffic was, if it was counted.
    pub heat_map: Option<HeatMap>,
}

/// What one core did.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CoreOutcome<R> {
    /// What the core's program returned.
    pub result: R,
    /// The counters of the core's operations.
    pub counters: Counters,
    /// When it finished, in virtual time.
    pub time_ps: u64,
}

impl<R> Outcome<R> {
    /// What the programs returned, by core.
    pub fn results(self) -> Vec<R> {
        self.cores.into_iter().map(|core| core.result).collect()
    }
}

impl Outcome<()> {
    /// This outcome with what each core's program has returned.
    pub(super) fn with<R>(self, results: impl Iterator<Item = R>) -> Outcome<R> {
        let Self { cores, time_ps, recording, work, heat_map } = self;
        let with = |(core, result): (CoreOutcome<()>, R)| {
            let CoreOutcome { result: (), counters, time_ps } = core;
            CoreOutcome { result, counters, time_ps }
        };
        Outcome { cores: cores.into_iter().zip(results).map(with).collect(), time_ps, recording, work, heat_map }
    }
}

/// How a run ended, and the answers that it was given, if they were kept.
pub(super) struct Run<R> {
    /// Nothing if it was broken off, because all that could follow has been explored.
    pub(super) result: Option<Result<Outcome<R>, Failure>>,
    pub(super) answers: Option<Vec<Answer>>,
    pub(super) checker: Option<Checker>,
    pub(super) order: Order,
}

/// Who went first in a run.
#[derive(Default)]
pub(super) struct Order {
    /// What is different from the plain run.
    pub(super) made: Vec<Deviation>,
    /// Accesses of all cores, a wait with all its polls as one, in a run that deviates.
    pub(super) accesses: u64,
    /// Accesses of each core.
    pub(super) numbers: Vec<u32>,
    /// All operations, in a schedule without time.
    pub(super) operations: Vec<Made>,
    /// Whether it was broken off since it took too long.
    pub(super) is_cut: bool,
}

/// A run that was checked.
#[derive(Debug)]
pub struct Checked<R> {
    /// How it ended.
    pub result: Result<Outcome<R>, Failure>,
    /// Mistakes of the program, each once.
    pub findings: Vec<Finding>,
    /// Drains, invalidations and flushes of the program, by their places, with [`Options::lint`](super::Options::lint).
    pub asked_for: Vec<AskedFor>,
    /// How often something was left out, with [`Options::left_out`](super::Options::left_out).
    pub times_left_out: u64,
}
