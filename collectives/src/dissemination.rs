//! The dissemination barrier.
//!
//! In round r every rank signals the rank 2^r above it and waits for the signal of the rank 2^r below, modulo the
//! number of ranks. After ⌈log₂ P⌉ rounds each rank has heard, directly or not, from all. Works for any P and needs
//! no re-initialisation: a rank may be one barrier ahead of its peer, and signals are counted.
//!
//! Per rank and barrier: ⌈log₂ P⌉ remote line writes, no remote reads; all polling is in the own MPB.

use hal::{Mpb, Reason, Wait};

use crate::Comm;

impl<C: Mpb + Wait> Comm<'_, C> {
    /// Returns when every rank has called it.
    pub fn barrier(&self) {
        self.meet();
        self.sequence().all_complete();
    }

    /// A barrier within a collective operation: all operations before it are complete then, and it is not itself.
    pub(crate) fn barrier_within(&self) {
        self.meet();
        self.sequence().earlier_complete();
    }

    /// A barrier that tells the [sequence](crate::sequence) nothing.
    pub(crate) fn meet(&self) {
        let (me, size) = (self.rank(), self.size());
        let mut round = 0;
        while 1 << round < size {
            let distance = 1 << round;
            self.signal((me + distance) % size);
            let below = (me + size - distance) % size;
            self.take_signal(below, Reason::new("dissemination barrier, round").number(round));
            round += 1;
        }
    }
}
