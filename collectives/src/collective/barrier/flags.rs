//! Carrying out schedules: flags in MPB lines.
//!
//! A flag is set by storing the number of the barrier, a byte that counts on; so nothing is ever reset. A rank that
//! looks for a flag may find that its peer has come further: it may have entered the next barrier already, but not the
//! one after that, which it cannot enter before everybody has entered the next. So a byte suffices.
//!
//! All that a rank stored before is visible to others when they find its flag: a store to another line pushes it out of
//! the write-combine buffer, and the flag itself is drained before the rank waits for anything.

use alloc::boxed::Box;
use core::{cell::Cell, ops::Range};

use hal::{Core, Deadline, LINE_BYTES, Mpb, MpbLine, Place, Poll, Reason, Wait};

use super::{
    mechanism::Mechanism,
    schedule::{Action, Schedule},
};
use crate::Comm;

/// Barriers that a rank can be ahead of its peer in any schedule that is right; more would be taken for fewer.
const FARTHEST: u8 = 128;

/// A barrier that is a [`Schedule`], on lines of the MPBs of its members.
pub(crate) struct FlagBarrier {
    schedule: Schedule,
    /// The ranks of positions.
    members: Members,
    lines: Range<usize>,
    number: Cell<u8>,
    /// The next action of the barrier that is under way.
    next: Cell<usize>,
}

/// Which rank is at a position.
pub(crate) enum Members {
    /// Ranks are positions.
    All,
    /// The ranks, in order of position.
    These(Box<[u16]>),
}

impl Members {
    pub(crate) fn rank(&self, position: usize) -> usize {
        match self {
            Self::All => position,
            Self::These(ranks) => usize::from(ranks[position]),
        }
    }
}

impl FlagBarrier {
    /// A barrier whose flags are in these lines of every member's MPB, which are all zero.
    pub(crate) fn new(schedule: Schedule, members: Members, lines: Range<usize>) -> Self {
        Self { schedule, members, lines, number: Cell::new(0), next: Cell::new(0) }
    }

    /// Begins the next barrier: does what needs no waiting.
    fn arrive<C: Mpb + Wait>(&self, comm: &Comm<'_, C>) {
        self.number.set(self.number.get().wrapping_add(1));
        self.next.set(0);
        self.set_flags(comm);
    }

    /// Arrives and waits.
    pub(crate) fn run<C: Mpb + Wait>(&self, comm: &Comm<'_, C>) {
        self.arrive(comm);
        self.go_on(comm, Deadline::Never);
    }

    /// Goes on until the deadline, and says whether all have arrived.
    fn go_on<C: Mpb + Wait>(&self, comm: &Comm<'_, C>, deadline: Deadline) -> bool {
        while let Some(&Action::Await { position, line, mask, writers }) = self.schedule.actions().get(self.next.get())
        {
            let at = comm.mpb_line(self.members.rank(position), self.lines.start + line);
            let writers = &self.schedule.writers()[writers..][..mask.count_ones() as usize];
            if !self.wait_for(comm, at, mask, writers, deadline) {
                return false;
            }
            self.next.set(self.next.get() + 1);
            self.set_flags(comm);
        }
        true
    }

    /// Sets flags up to the next one that is awaited.
    fn set_flags<C: Mpb + Wait>(&self, comm: &Comm<'_, C>) {
        let first = self.next.get();
        while let Some(&Action::Set { position, slot }) = self.schedule.actions().get(self.next.get()) {
            let at = comm.mpb_line(self.members.rank(position), self.lines.start + slot / LINE_BYTES);
            comm.hal().store(at, slot % LINE_BYTES, &[self.number.get()]);
            self.next.set(self.next.get() + 1);
        }
        if self.next.get() > first {
            comm.hal().drain();
        }
    }

    /// Waits until those who write them have set the flags of a line that `mask` has bits for.
    fn wait_for<C: Mpb + Wait>(
        &self,
        comm: &Comm<'_, C>,
        at: MpbLine,
        mask: u32,
        writers: &[u16],
        deadline: Deadline,
    ) -> bool {
        let slots = (0..LINE_BYTES).filter(|slot| mask >> slot & 1 == 1);
        let core_of = |writer: &u16| comm.core_of(self.members.rank(usize::from(*writer)));
        let reason = Reason::new("a barrier");
        let reason = if let [writer] = writers { reason.from(core_of(writer)) } else { reason };
        let all_set = |poll: &Poll<'_>| {
            let bytes = poll.line(0).0;
            let is_set = |slot: usize| bytes[slot].wrapping_sub(self.number.get()) < FARTHEST;
            match slots.clone().zip(writers).find(|(slot, _)| !is_set(*slot)) {
                None => Some(()),
                Some((_, writer)) => {
                    poll.missing(core_of(writer));
                    None
                }
            }
        };
        comm.wait_until(&[Place::Line(at)], deadline, reason, all_set).is_ok()
    }
}

impl<C: Core> Mechanism<C> for FlagBarrier {
    fn arrive(&self, comm: &Comm<'_, C>) {
        Self::arrive(self, comm);
    }

    fn go_on(&self, comm: &Comm<'_, C>, deadline: Deadline) -> bool {
        Self::go_on(self, comm, deadline)
    }

    fn end(&self, comm: &Comm<'_, C>) {
        comm.spare_lines().give_back(self.lines.start, self.lines.len());
    }
}
