//! Locks between ranks, and mutexes whose data is in cached memory.
//!
//! A lock says who may go on; a [`Mutex`] also makes what it protects coherent: whoever locks it forgets what it has
//! cached of that, and whoever unlocks it writes back. There are two locks:
//!
//! * [`RegisterLock`]: a test-and-set register, on which all who wait spin from afar; who gets it next is chance;
//! * [`QueueLock`]: in order of arrival, and everybody spins on a line of its own MPB (the locks that *Highly
//!   Scalable Barriers…* leaves to future work).

#[cfg(test)]
mod exploration;
mod mutex;
mod queue;
mod register;
pub(crate) mod registers;

pub use self::{
    mutex::{Mutex, MutexGuard},
    queue::{QueueGuard, QueueLock},
    register::RegisterLock,
};

/// What lets one rank go on at a time.
///
/// All that was stored under the lock to MPB lines, combined and uncached memory is seen by whoever gets it next.
pub trait Lock {
    /// Proof that this rank has the lock; dropping it gives the lock back.
    type Guard<'l>
    where
        Self: 'l;

    /// Waits for the lock.
    fn lock(&mut self) -> Self::Guard<'_>;
}

/// A lock that is lent: whoever it is lent to does not drop it, which would be collective for some.
impl<L: Lock> Lock for &mut L {
    type Guard<'l>
        = L::Guard<'l>
    where
        Self: 'l;

    fn lock(&mut self) -> Self::Guard<'_> {
        (**self).lock()
    }
}
