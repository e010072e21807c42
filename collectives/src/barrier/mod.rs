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
mod schedule;
mod tree;

use alloc::{boxed::Box, vec};

use hal::{LINE_BYTES, Mpb, MpbCopy, Wait};

pub(crate) use self::{
    fastest::{world, world_lines},
    flags::{FlagBarrier, Members},
};

use self::schedule::Schedule;
use crate::{Comm, Error, Group};

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

/// A barrier of a group of ranks. Dropping it is collective over the communicator: a barrier of all ranks.
#[must_use = "the barrier ends when this is dropped"]
pub struct GroupBarrier<'b, 'c, C: Mpb + MpbCopy + Wait> {
    comm: &'b Comm<'c, C>,
    flags: FlagBarrier,
    first_line: usize,
    lines: usize,
}

/// A barrier that this rank has arrived at. Dropping it waits for the others.
#[must_use = "the barrier is waited for when this is dropped"]
pub struct Arrived<'a, 'b, 'c, C: Mpb + MpbCopy + Wait> {
    barrier: &'a GroupBarrier<'b, 'c, C>,
    done: bool,
}

impl<'c, C: Mpb + MpbCopy + Wait> Comm<'c, C> {
    /// Makes a barrier of `group`. Collective over the communicator: each rank names the group that it is in, or the
    /// empty one; groups of different ranks are equal or have no rank in common.
    ///
    /// # Errors
    /// On every rank alike: [`Error::NoSpareLines`] if the MPBs have no room for its flags,
    /// [`Error::ProfileInForce`]. [`Error::NoSuchRank`] if the group has a rank that does not exist.
    pub fn barrier_of(&self, group: &Group, barrier: Barrier) -> Result<GroupBarrier<'_, 'c, C>, Error> {
        self.check_no_profile()?;
        group.check(self.size())?;
        let lines = barrier.slots(self.size()).div_ceil(LINE_BYTES);
        let first_line = self.spare_lines().take(lines).ok_or(Error::NoSpareLines { wanted: lines })?;
        let members: Box<[u16]> = group.iter().map(|rank| rank as u16).collect();
        let schedule = match group.position_of(self.rank()) {
            Some(position) => barrier.schedule(position, group.len(), self.size()),
            None => Schedule::default(),
        };
        let own = self.mpb_line(self.rank(), first_line);
        self.hal().put(&vec![0; lines * LINE_BYTES], own);
        self.hal().drain();
        self.barrier();
        let flags = FlagBarrier::new(&schedule, Members::These(members), first_line);
        Ok(GroupBarrier { comm: self, flags, first_line, lines })
    }
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

impl<'b, 'c, C: Mpb + MpbCopy + Wait> GroupBarrier<'b, 'c, C> {
    /// Returns when every member has called it; at once on a rank that is not one.
    pub fn wait(&mut self) {
        self.flags.run(self.comm);
    }

    /// Tells the others that this rank has arrived.
    pub fn arrive(&mut self) -> Arrived<'_, 'b, 'c, C> {
        self.flags.arrive(self.comm);
        Arrived { barrier: self, done: false }
    }
}

impl<C: Mpb + MpbCopy + Wait> Arrived<'_, '_, '_, C> {
    /// Returns when all members have arrived.
    pub fn wait(mut self) {
        self.finish();
    }

    /// Whether all members have arrived; goes on as far as it can without waiting.
    pub fn test(&mut self) -> bool {
        self.done = self.done || self.barrier.flags.test(self.barrier.comm);
        self.done
    }

    fn finish(&mut self) {
        if !self.done {
            self.barrier.flags.finish(self.barrier.comm);
            self.done = true;
        }
    }
}

impl<C: Mpb + MpbCopy + Wait> Drop for Arrived<'_, '_, '_, C> {
    fn drop(&mut self) {
        self.finish();
    }
}

impl<C: Mpb + MpbCopy + Wait> Drop for GroupBarrier<'_, '_, C> {
    fn drop(&mut self) {
        if self.comm.hal().is_dying() {
            return;
        }
        // Others may still look at this rank's flags.
        self.comm.barrier();
        self.comm.spare_lines().give_back(self.first_line, self.lines);
    }
}
