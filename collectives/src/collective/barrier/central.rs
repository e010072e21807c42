//! The central barrier: the listing in section IV.A of *Highly Scalable Barriers…*, on words of uncached memory.
//!
//! One word for each member and one for the phase, each written by one rank only, so that nothing has to be locked and
//! nothing to be reset. The first member polls the words of the others one after the other and then flips the phase,
//! which all others poll. All polls go to memory, as nothing keeps copies of a word coherent: it pulls.
//!
//! Per barrier: a word written by each member, and one more by the first. Each reads the phase once, which it could
//! remember; the listing does so, and what polls read depends on timing (Fig. 5).

use alloc::boxed::Box;
use core::cell::Cell;

use hal::{Core, Deadline, Place, Reason};

use super::mechanism::Mechanism;
use crate::{Comm, Error, Group, memory::uncached::SharedWords};

/// Word of the phase; the members' follow, in their order.
const PHASE: usize = 0;

/// A central barrier on one rank.
pub(super) struct Central {
    /// Nothing on a rank that is no member.
    words: Option<SharedWords>,
    members: Box<[u16]>,
    position: usize,
    /// The phase that the barrier that is under way ends.
    phase: Cell<u32>,
    /// The next member that the first one waits for.
    next: Cell<usize>,
}

impl Central {
    /// Collective over the communicator.
    pub(super) fn new<C: Core>(comm: &Comm<'_, C>, group: &Group) -> Result<Self, Error> {
        let first = group.rank_at(0).filter(|_| group.contains(comm.rank()));
        Ok(Self::with_words(comm.share_words(first, group.len() + 1)?, comm.rank(), group))
    }

    /// The barrier of rank `rank`, with words that are all zero.
    pub(super) fn with_words(words: Option<SharedWords>, rank: usize, group: &Group) -> Self {
        Self {
            words,
            members: group.iter().map(|rank| rank as u16).collect(),
            position: group.position_of(rank).unwrap_or(0),
            phase: Cell::new(0),
            next: Cell::new(0),
        }
    }

    fn word_of(position: usize) -> usize {
        PHASE + 1 + position
    }

    /// Waits until a word is no longer what it is in the phase that ends.
    fn wait_for<C: Core>(&self, comm: &Comm<'_, C>, word: usize, writer: usize, deadline: Deadline) -> bool {
        let Some(words) = self.words else { return true };
        let reason = Reason::new("a barrier").from(comm.core_of(usize::from(self.members[writer])));
        let flipped = comm.wait_until(&[Place::Word(words.region, word)], deadline, reason, |poll| {
            (poll.word(0) != self.phase.get()).then_some(())
        });
        flipped.is_ok()
    }
}

impl<C: Core> Mechanism<C> for Central {
    fn arrive(&self, comm: &Comm<'_, C>) {
        let Some(words) = self.words else { return };
        self.phase.set(comm.hal().load_word(words.region, PHASE));
        self.next.set(1);
        // Words do not push out what is in the write-combine buffer.
        comm.hal().drain();
        comm.hal().store_word(words.region, Self::word_of(self.position), 1 - self.phase.get());
    }

    fn go_on(&self, comm: &Comm<'_, C>, deadline: Deadline) -> bool {
        let Some(words) = self.words else { return true };
        if self.position > 0 {
            return self.wait_for(comm, PHASE, 0, deadline);
        }
        while self.next.get() < self.members.len() {
            if !self.wait_for(comm, Self::word_of(self.next.get()), self.next.get(), deadline) {
                return false;
            }
            self.next.set(self.next.get() + 1);
        }
        comm.hal().store_word(words.region, PHASE, 1 - self.phase.get());
        true
    }

    fn end(&self, comm: &Comm<'_, C>) {
        self.words.iter().for_each(|words| words.free(comm));
    }
}
