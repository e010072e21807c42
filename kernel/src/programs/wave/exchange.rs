//! What both versions of the communication do.

use hal::Clock;

use crate::Failure;

use super::{field::Field, physics::Totals};

/// A rank's means to exchange faces with its neighbours and totals with all.
pub(super) trait Exchange {
    /// Makes one step on this rank's block, and returns what its cells have together.
    fn step(&mut self, field: &mut Field, computing: &mut Computing, is_last: bool) -> Result<Totals, Failure>;

    /// Combines the totals of all ranks, and returns them on all. Collective.
    fn reduce(&mut self, own: Totals, is_last: bool) -> Result<Totals, Failure>;
}

/// The part of a step that is no communication.
#[derive(Default)]
pub(super) struct Computing {
    pub(super) ticks: u64,
}

impl Computing {
    /// Computes something, and takes the time.
    pub(super) fn time<C: Clock, R>(&mut self, clock: &C, work: impl FnOnce() -> R) -> R {
        let begin = clock.now();
        let result = work();
        self.ticks += clock.now() - begin;
        result
    }
}
