//! Notification counters: how a target learns of single puts before the epoch is complete (foMPI-NA's and OpenSHMEM's
//! notified puts).
//!
//! Each rank has [`COUNTERS`] of them for each window, in uncached memory. They are raised under the rank's register,
//! by any origin, and never reset.

use hal::{Core, Deadline, Place, Reason, TimedOut};

use super::peers::Peers;

/// Notification counters that each rank has for each window.
pub const COUNTERS: usize = 8;

/// Word of synchronisation data in which the counters begin: a line after the lock.
const FIRST: usize = 8;

/// Clears the counters of this rank.
pub(super) fn clear<C: Core>(at: &Peers<'_, C>) {
    let own = at.sync(at.comm.rank());
    (FIRST..FIRST + COUNTERS).for_each(|word| at.comm.hal().store_word(own, word, 0));
}

/// Raises a counter of `target` by one, after everything that was written before.
pub(super) fn raise<C: Core>(at: &Peers<'_, C>, target: usize, counter: usize) {
    let (hal, words) = (at.comm.hal(), at.sync(target));
    // Registers do not push the write-combine buffer out.
    hal.drain();
    let _guard = hal.lock(at.comm.core_of(target), "a notification counter");
    let count = hal.load_word(words, FIRST + counter);
    hal.store_word(words, FIRST + counter, count.wrapping_add(1));
}

/// Waits until a counter of this rank has been raised `count` times since the window was made, together with the
/// `others` that came another way.
pub(super) fn wait<C: Core>(
    at: &Peers<'_, C>,
    counter: usize,
    count: u32,
    deadline: Deadline,
    others: impl Fn() -> u32,
) -> Result<(), TimedOut> {
    let place = Place::Word(at.sync(at.comm.rank()), FIRST + counter);
    let reason = Reason::new("a notification on window").number(at.number);
    // Half the numbers are ahead of the count, half behind, so that it may wrap around.
    let raised = |word: u32| word.wrapping_add(others()).wrapping_sub(count) <= u32::MAX / 2;
    at.comm.wait_until(&[place], deadline, reason, |poll| raised(poll.word(0)).then_some(()))
}
