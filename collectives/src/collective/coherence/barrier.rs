//! Barriers as coherency points: all that any rank stored to cached memory before it arrives, all see after they are
//! released.
//!
//! Each rank **writes back before it arrives, and invalidates after it is released**. A barrier with one flush on the
//! wrong side is none:
//!
//! * *Only after the release*: a rank that is released first invalidates, and fetches the old data again, while another
//!   one has not yet written back. The flush of everybody has to come before the departure of anybody.
//! * *Only before the arrival*: right as long as nothing is cached again between that and the release, for then the
//!   flush, which is both on this hardware, has left nothing that could be stale. That is not so
//!   * in a split-phase barrier, where the rank computes between arrival and release;
//!   * where cores of one coherence domain share their caches and flush different ranges: a neighbour that still computes
//!     fetches lines again that this core has flushed and others have yet to write;
//!   * where a processor fetches lines by itself.
//!
//! The paper says that every cache must be invalidated "during the period between the arrival of the last thread to the
//! barrier and the exit of the first thread": one flush would do there, but only a second barrier holds that period open,
//! and it does not bear work between arrival and release either. A barrier costs little in comparison with a flush of
//! everything, so programs that know that nothing is cached in between can have one flush for the price of it, by
//! [`Scope::write_back`] and then [`Comm::barrier`]; [`Comm::coherent_barrier`] supposes nothing.
//!
//! Cost beside the barrier: two flushes of the scope, by each rank at the same time.

use hal::{Cached, Caches, Core, Messenger, Span};

use super::Scope;
use crate::{Arrived, Comm, GroupBarrier};

impl<C: Cached + Messenger> Comm<'_, C> {
    /// The barrier of all ranks as a coherency point for `scope`: afterwards every rank sees what any rank stored before.
    pub fn coherent_barrier(&self, caches: &mut Caches, scope: Scope<'_>) {
        let _span = self.hal().span(Span::new("coherent barrier"));
        scope.write_back(self.hal(), caches);
        self.barrier();
        scope.invalidate(self.hal(), caches);
    }
}

/// A coherent barrier that this rank has arrived at.
///
/// Dropping it waits for the others, and leaves the caches as they are: what was cached before may be stale.
#[must_use = "nothing is invalidated when this is dropped"]
pub struct CoherentlyArrived<'a, 'b, 'c, 'r, C: Core> {
    arrived: Arrived<'a, 'b, 'c, C>,
    hal: &'c C,
    scope: Scope<'r>,
}

impl<'b, 'c, C: Core> GroupBarrier<'b, 'c, C> {
    /// [`wait`](Self::wait) as a coherency point for `scope`.
    pub fn coherent_wait(&mut self, caches: &mut Caches, scope: Scope<'_>) {
        self.coherent_arrive(caches, scope).wait(caches);
    }

    /// [`arrive`](Self::arrive) of a coherent barrier: writes `scope` back first. What this rank stores before
    /// [`CoherentlyArrived::wait`] belongs to the time after the barrier, and must be nothing that others may still read.
    pub fn coherent_arrive<'a, 'r>(
        &'a mut self,
        caches: &mut Caches,
        scope: Scope<'r>,
    ) -> CoherentlyArrived<'a, 'b, 'c, 'r, C> {
        let hal = self.comm().hal();
        scope.write_back(hal, caches);
        CoherentlyArrived { arrived: self.arrive(), hal, scope }
    }
}

impl<C: Core> CoherentlyArrived<'_, '_, '_, '_, C> {
    /// Returns when all members have arrived, with what they stored before visible.
    pub fn wait(self, caches: &mut Caches) {
        self.arrived.wait();
        self.scope.invalidate(self.hal, caches);
    }

    /// Whether all members have arrived; nothing is invalidated before [`wait`](Self::wait).
    pub fn test(&mut self) -> bool {
        self.arrived.test()
    }
}
