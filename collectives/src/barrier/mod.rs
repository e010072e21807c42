//! Barriers.
//!
//! [`Comm::barrier`] is that of all ranks, by the default algorithm. Others are objects: a [`GroupBarrier`] is that of
//! some ranks, by the algorithm that [`Barrier`] names, and can be used any number of times. [`GroupBarrier::wait`] is a
//! barrier; [`GroupBarrier::arrive`] begins one, and what it returns ends it, with something else to do in between.
//!
//! What a rank has stored to MPB lines, combined and uncached memory before it arrives, all others see when they are
//! released. Cached memory has to be flushed: see the coherent barriers.

mod fastest;
mod flags;
mod group;
mod mechanism;
mod schedule;
mod tree;

use hal::{LINE_BYTES, Mpb, Wait};

pub use self::group::{Arrived, GroupBarrier};

pub(crate) use self::{
    fastest::{world, world_lines},
    flags::{FlagBarrier, Members},
};

use self::schedule::Schedule;
use crate::Comm;

/// Which way a release comes to those who wait for it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Release {
    /// Stored to each of them.
    Push,
    /// Polled by each of them where it is stored once.
    Pull,
}

/// An algorithm for barriers.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Barrier {
    /// The fastest for the machine and the number of ranks.
    #[default]
    Default,
    /// A tree of that many children.
    Tree {
        /// Children of a rank at most.
        fan_in: usize,
        /// How the release comes down.
        release: Release,
    },
}

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
        self.world_barrier().run(self);
    }
}

impl Barrier {
    /// Flags in the MPB of each rank, in a communicator of so many.
    fn slots(self, ranks: usize) -> usize {
        match self {
            Self::Default => world_lines(ranks) * LINE_BYTES,
            Self::Tree { fan_in, .. } => tree::slots(fan_in),
        }
    }

    /// What the member at `position` of `len` does.
    fn schedule(self, position: usize, len: usize, _ranks: usize) -> Schedule {
        match self {
            Self::Default => tree::schedule(position, len, LINE_BYTES - 1, Release::Pull),
            Self::Tree { fan_in, release } => tree::schedule(position, len, fan_in, release),
        }
    }
}
