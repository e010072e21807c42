//! A mutex: a lock, and cached memory that is coherent under it.

use core::ops::{Deref, DerefMut};

use hal::{Caches, Core, LocalView, Pod, Region, kind};

use super::Lock;
use crate::{Comm, Error};

/// Elements in cached shared memory that one rank at a time reaches, by a guard. Each rank makes one of its own, with its
/// lock, of the same region.
///
/// Locking invalidates the region *after* the lock was got, so that nothing is older than what the last holder wrote; the
/// guard's drop writes it back *before* the lock is given back. As nobody reaches the elements without a guard, nothing
/// is cached in between. The mutex holds this core's only view of the region, so that the type says so for this rank;
/// that others use the region by their mutexes only is the program's matter.
///
/// Per lock: two flushes of the region, beside what the [lock](super) costs.
pub struct Mutex<'c, T: Pod, C, L> {
    hal: &'c C,
    view: LocalView<'c, T>,
    lock: L,
}

impl<'c, T: Pod, C: Core, L: Lock> Mutex<'c, T, C, L> {
    /// Makes this rank's side of the mutex of `len` elements in `region`, which are what memory contains. Whoever has
    /// stored there before has written it back before anybody locks: what is still dirty then wipes out what others have
    /// stored under the lock. Not collective.
    ///
    /// # Errors
    /// [`Error::Claim`] if this core views some of the region already, or the elements do not fit. The lock is dropped
    /// then, which is collective for a [`QueueLock`](super::QueueLock): where other ranks may succeed, lend it, as
    /// `&mut lock`.
    pub fn new(comm: &Comm<'c, C>, lock: L, region: Region<kind::Cached>, len: usize) -> Result<Self, Error> {
        let hal = comm.hal();
        Ok(Self { hal, view: hal.claim(region, len)?, lock })
    }

    /// Waits for the lock. The elements are reached through the guard, and other cached memory through its
    /// [`parts`](MutexGuard::parts).
    pub fn lock<'m>(&'m mut self, caches: &'m mut Caches) -> MutexGuard<'m, 'c, T, C, L> {
        let guard = self.lock.lock();
        self.hal.write_back_invalidate(caches, self.view.region());
        MutexGuard { hal: self.hal, view: &mut self.view, caches, _lock: guard }
    }

    /// Gives the lock back that it was made with; the view ends.
    pub fn into_lock(self) -> L {
        self.lock
    }
}

/// This rank has the lock of a [`Mutex`]; dropping it writes the elements back and gives the lock back.
#[must_use = "the mutex is unlocked at once"]
pub struct MutexGuard<'m, 'c, T: Pod, C: Core, L: Lock + 'm> {
    hal: &'c C,
    view: &'m mut LocalView<'c, T>,
    caches: &'m mut Caches,
    /// Dropped after the elements have been written back.
    _lock: L::Guard<'m>,
}

impl<'c, T: Pod, C: Core, L: Lock> MutexGuard<'_, 'c, T, C, L> {
    /// The view of the elements and the caches of this core, for slices of them and of other memory.
    pub fn parts(&mut self) -> (&mut LocalView<'c, T>, &Caches) {
        (self.view, self.caches)
    }
}

impl<'m, 'c, T: Pod, C: Core, L: Lock + 'm> Deref for MutexGuard<'m, 'c, T, C, L> {
    type Target = LocalView<'c, T>;

    fn deref(&self) -> &LocalView<'c, T> {
        self.view
    }
}

impl<'m, 'c, T: Pod, C: Core, L: Lock + 'm> DerefMut for MutexGuard<'m, 'c, T, C, L> {
    fn deref_mut(&mut self) -> &mut LocalView<'c, T> {
        self.view
    }
}

impl<'m, T: Pod, C: Core, L: Lock + 'm> Drop for MutexGuard<'m, '_, T, C, L> {
    fn drop(&mut self) {
        if !self.hal.is_dying() {
            self.hal.write_back_invalidate(self.caches, self.view.region());
        }
    }
}
