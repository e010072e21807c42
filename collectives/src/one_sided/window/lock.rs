//! The lock of a part: many readers or one writer, in the order in which they came.
//!
//! Four words in uncached memory at the part's owner. Whoever comes takes the next ticket of `USERS` under the owner's
//! register. A writer waits until `WRITE` shows its ticket, a reader until `READ` does, and then lets the next reader
//! in at once. A writer that leaves lets both on; a reader lets writers on. All waiting is polling of one word.
//!
//! An epoch of several parts that locks them as it comes to them could close a circle with another such epoch, if a
//! writer waited for each of them and both queued behind these. So a reader that holds locks of other parts *joins*
//! readers that are in, past those who wait: it counts itself in `JOINED`, and a writer waits for that to be none, too.
//! In a circle everybody would wait for somebody who got in after it had begun to wait.
//!
//! A part is born locked by its owner, who has the view of it. Others get in only after the owner has lent it.

use hal::{Core, Deadline, Place, Poll, Reason, Region, kind};

use super::peers::Peers;

/// How a part is locked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Lock {
    /// Together with others that lock it shared.
    Shared,
    /// Alone: nobody else has it locked meanwhile.
    Exclusive,
}

/// Word: tickets that were taken.
const USERS: usize = 0;
/// Word: the ticket that may write.
const WRITE: usize = 1;
/// Word: the ticket that may read.
const READ: usize = 2;

/// Word: readers that have joined others without a ticket.
const JOINED: usize = 3;

/// Makes the lock of this rank's part: the owner holds the first ticket.
pub(super) fn clear<C: Core>(at: &Peers<'_, C>) {
    let own = at.sync(at.comm.rank());
    for (word, value) in [(USERS, 1), (WRITE, 0), (READ, 0), (JOINED, 0)] {
        at.comm.hal().store_word(own, word, value);
    }
}

/// Waits for the lock of `rank`'s part. What others wrote under it is read fresh afterwards: the last poll invalidated.
pub(super) fn acquire<C: Core>(at: &Peers<'_, C>, rank: usize, lock: Lock) {
    let (hal, words) = (at.comm.hal(), at.sync(rank));
    let ticket = take_next(at, rank, USERS);
    let turn = match lock {
        Lock::Exclusive => WRITE,
        Lock::Shared => READ,
    };
    let reason = Reason::new("the lock of a part of window").number(at.number).from(at.comm.core_of(rank));
    // Those who join do so while somebody is in: after the turn has come, nobody does who is not counted.
    let nobody_joined = |poll: &Poll<'_>| lock == Lock::Shared || poll.word(1) == 0;
    let is_turn = |poll: &Poll<'_>| (poll.word(0) == ticket && nobody_joined(poll)).then_some(());
    let places = [Place::Word(words, turn), Place::Word(words, JOINED)];
    let places = if lock == Lock::Shared { &places[..1] } else { &places[..] };
    let outcome = at.comm.wait_until(places, Deadline::Never, reason, is_turn);
    if outcome.is_ok() && lock == Lock::Shared {
        // Only the reader whose turn it is writes this word.
        hal.store_word(words, READ, ticket.wrapping_add(1));
    }
}

/// Locks `rank`'s part shared at once, if others have done so. Returns whether they had.
pub(super) fn join<C: Core>(at: &Peers<'_, C>, rank: usize) -> bool {
    let (hal, words) = (at.comm.hal(), at.sync(rank));
    let guard = hal.lock(at.comm.core_of(rank), "the lock of a part");
    let joined = hal.load_word(words, JOINED);
    let readers_are_in = joined > 0 || hal.load_word(words, WRITE) != hal.load_word(words, READ);
    if readers_are_in {
        hal.store_word(words, JOINED, joined + 1);
        drop(guard);
        // There was no poll that did.
        hal.invalidate_mpb();
    }
    readers_are_in
}

/// Gives the lock of `rank`'s part back, that was joined.
pub(super) fn leave<C: Core>(at: &Peers<'_, C>, rank: usize) {
    let (hal, words) = (at.comm.hal(), at.sync(rank));
    let _guard = hal.lock(at.comm.core_of(rank), "the lock of a part");
    let joined = hal.load_word(words, JOINED);
    hal.store_word(words, JOINED, joined - 1);
}

/// Gives the lock of `rank`'s part back. What was written under it is in memory: drained, or flushed.
pub(super) fn release<C: Core>(at: &Peers<'_, C>, rank: usize, lock: Lock) {
    let (hal, words) = (at.comm.hal(), at.sync(rank));
    match lock {
        Lock::Exclusive => {
            // Whoever is let in by the first store cannot leave, and change the words again, before the second.
            let _guard = hal.lock(at.comm.core_of(rank), "the lock of a part");
            let next = hal.load_word(words, WRITE).wrapping_add(1);
            hal.store_word(words, WRITE, next);
            hal.store_word(words, READ, next);
        }
        Lock::Shared => {
            take_next(at, rank, WRITE);
        }
    }
}

/// Raises a word of `rank` by one under its register; returns what it was.
fn take_next<C: Core>(at: &Peers<'_, C>, rank: usize, word: usize) -> u32 {
    let (hal, words): (_, Region<kind::Uncached>) = (at.comm.hal(), at.sync(rank));
    let _guard = hal.lock(at.comm.core_of(rank), "the lock of a part");
    let next = hal.load_word(words, word);
    hal.store_word(words, word, next.wrapping_add(1));
    next
}
