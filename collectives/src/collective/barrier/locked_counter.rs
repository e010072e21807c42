//! The locked counter with sense-reversing release: how shared memory with atomic operations has its barriers (section IV
//! of *Highly Scalable Barriers…*), and here the test-and-set register of the first member stands for these. A baseline.
//!
//! Whoever comes counts itself, under the register; the last one resets the counter and reverses the sense, a word that
//! all others poll. The counter is ready again before anybody is released, so barriers can follow at once.
//!
//! Per barrier and member: the register, a word read and a word written; the last one writes one more. All wait for one
//! register, and all polls go to memory.

use core::cell::Cell;

use hal::{Core, CoreId, Deadline, Place, Reason};

use super::mechanism::Mechanism;
use crate::{Comm, Error, Group, memory::uncached::SharedWords};

/// Word: members that have arrived.
const COUNT: usize = 0;
/// Word: the sense of the last barrier that was complete.
const SENSE: usize = 1;

/// A barrier with a locked counter, on one rank.
pub(super) struct LockedCounter {
    /// Nothing on a rank that is no member.
    words: Option<SharedWords>,
    len: usize,
    register: CoreId,
    /// The sense of the barrier that is under way, or of the last one.
    sense: Cell<u32>,
    /// This rank has released the others.
    came_last: Cell<bool>,
}

impl LockedCounter {
    /// Collective over the communicator.
    pub(super) fn new<C: Core>(comm: &Comm<'_, C>, group: &Group) -> Result<Self, Error> {
        let first = group.rank_at(0).filter(|_| group.contains(comm.rank()));
        comm.agree_on_registers(first.map(|first| comm.core_of(first)))?;
        let register = comm.core_of(group.rank_at(0).unwrap_or(0));
        Ok(Self::with_words(comm.share_words(first, 2)?, group, register))
    }

    /// The barrier with words that are all zero, under this register.
    pub(super) fn with_words(words: Option<SharedWords>, group: &Group, register: CoreId) -> Self {
        Self { words, len: group.len(), register, sense: Cell::new(0), came_last: Cell::new(false) }
    }
}

impl<C: Core> Mechanism<C> for LockedCounter {
    fn arrive(&self, comm: &Comm<'_, C>) {
        let Some(SharedWords { region, .. }) = self.words else { return };
        let hal = comm.hal();
        self.sense.set(1 - self.sense.get());
        // Neither words nor registers push out what is in the write-combine buffer.
        hal.drain();
        let arrived = {
            let _guard = comm.lock_register(self.register, "the counter of a barrier");
            let arrived = hal.load_word(region, COUNT) as usize + 1;
            hal.store_word(region, COUNT, if arrived == self.len { 0 } else { arrived as u32 });
            arrived
        };
        self.came_last.set(arrived == self.len);
        if arrived == self.len {
            hal.store_word(region, SENSE, self.sense.get());
            // There is no poll that does.
            hal.invalidate_mpb();
        }
    }

    fn go_on(&self, comm: &Comm<'_, C>, deadline: Deadline) -> bool {
        let Some(SharedWords { region, .. }) = self.words else { return true };
        let reason = Reason::new("a barrier");
        let released = || {
            comm.wait_until(&[Place::Word(region, SENSE)], deadline, reason, |poll| {
                (poll.word(0) == self.sense.get()).then_some(())
            })
        };
        self.came_last.get() || released().is_ok()
    }

    fn end(&self, comm: &Comm<'_, C>) {
        self.words.iter().for_each(|words| words.free(comm));
    }
}
