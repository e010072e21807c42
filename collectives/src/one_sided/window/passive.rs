//! Passive targets: epochs in which the target takes no part.
//!
//! A rank whose part is to be accessed at any time *lends* it: its view is given up, and from then on the part belongs
//! to whoever holds its [lock](super::Lock), the owner included. This is MPI's separate memory model, in which a rank
//! locks its own window before it touches it, made a type.

use alloc::boxed::Box;
use core::mem;

use hal::{Caches, Core, LocalView, Pod, Ranks, Span};

use crate::{Error, Returned};

use super::{
    Assertions, Operations, Window,
    lock::{self, Lock},
    operations::{OnDemand, Reach, carries_out_operations},
    peers::Seen,
};

/// What epochs are called in which others may lock a part, in which this rank has locked one, and may lock all.
const LENT: &str = "lent";
const LOCK: &str = "lock";
const LOCK_ALL: &str = "lock all";

impl<'c, C: Core, T: Pod> Window<'c, C, T> {
    /// Lends this rank's part: others may lock it from now on.
    ///
    /// # Errors
    /// [`Error::ExposureEpochOpen`], [`Error::ForeignView`]; the view comes back with the error.
    pub fn lend(
        &self,
        view: LocalView<'c, T>,
        caches: &mut Caches,
    ) -> Result<Lent<'_, 'c, C, T>, Returned<LocalView<'c, T>>> {
        let _span = self.comm().hal().span(Span::new("lend"));
        if let Err(error) = self.give_up(&view, caches, Assertions::empty()) {
            return Err(Returned { error, taken: view });
        }
        lock::release(&self.peers, self.comm().rank(), Lock::Exclusive);
        self.lent.set(true);
        self.tell_open(LENT, Ranks::All);
        Ok(Lent { window: self, view: Some(view) })
    }

    /// Locks the part of `target`, in the order of arrival; waits until the target has lent it and nobody is in the
    /// way.
    ///
    /// Whoever locks several parts at a time should do so in ascending order of rank, or two ranks may wait for each
    /// other for ever.
    ///
    /// # Errors
    /// [`Error::NoSuchRank`]; [`Error::AccessEpochOpen`] within another access epoch or between fences;
    /// [`Error::Locked`] if this rank has locked the part already; [`Error::NotLent`] if it is its own and not lent;
    /// [`Error::RegisterOutOfReach`] where nothing is atomic between this rank and the target.
    pub fn lock<'b>(&self, target: usize, lock: Lock) -> Result<LockEpoch<'b, '_, 'c, C, T>, Error> {
        self.comm().check_rank(target)?;
        let window = self.number();
        if target == self.comm().rank() && !self.lent.get() {
            return Err(Error::NotLent { window });
        }
        if self.access_open.get() {
            return Err(Error::AccessEpochOpen { window });
        }
        if self.locked.contains(target) || self.all_locked.get() {
            return Err(Error::Locked { rank: target, window });
        }
        self.comm().check_register(target)?;
        let _span = self.comm().hal().span(Span::new("lock").with(self.comm().core_of(target)));
        lock::acquire(&self.peers, target, lock);
        self.locked.insert(target);
        self.tell_open(LOCK, Ranks::One(target));
        self.access_epochs.set(self.access_epochs.get() + 1);
        let operations = Operations::new(self, Reach::Locked { target }, self.access_epochs.get());
        Ok(LockEpoch { operations, target, lock })
    }

    /// Opens an epoch in which this rank may access all parts, shared with others that do so. Each part is locked when
    /// it is addressed first, so that parts which are not cost nothing.
    ///
    /// # Errors
    /// [`Error::AccessEpochOpen`] within another access epoch; [`Error::Locked`] if this rank has locked a part, or
    /// all, already; [`Error::NotLent`] if its own part is not lent; [`Error::RegisterOutOfReach`] where nothing is
    /// atomic between the ranks.
    pub fn lock_all<'b>(&self) -> Result<LockAllEpoch<'b, '_, 'c, C, T>, Error> {
        let window = self.number();
        if !self.lent.get() {
            return Err(Error::NotLent { window });
        }
        if self.access_open.get() {
            return Err(Error::AccessEpochOpen { window });
        }
        if let Some(rank) = (0..self.comm().size()).find(|rank| self.locked.contains(*rank)) {
            return Err(Error::Locked { rank, window });
        }
        self.comm().check_registers()?;
        if self.all_locked.replace(true) {
            return Err(Error::Locked { rank: self.comm().rank(), window });
        }
        self.tell_open(LOCK_ALL, Ranks::All);
        self.access_epochs.set(self.access_epochs.get() + 1);
        let seen = || Seen::new(self.comm().size());
        let reach = Reach::LockedOnDemand(Box::new(OnDemand { locked: seen(), joined: seen() }));
        let operations = Operations::new(self, reach, self.access_epochs.get());
        Ok(LockAllEpoch { operations })
    }
}

/// A part that others may lock: proof that its owner's view has been given up and everything in it is in memory.
///
/// Dropping it waits for the lock, as [`take_back`](Self::take_back) does, and drops the view; [`Window::view`] makes
/// a new one.
#[must_use = "dropping it waits for the lock and drops the view"]
pub struct Lent<'w, 'c, C: Core, T: Pod> {
    window: &'w Window<'c, C, T>,
    /// Taken out when the part is taken back.
    view: Option<LocalView<'c, T>>,
}

impl<'c, C: Core, T: Pod> Lent<'_, 'c, C, T> {
    /// Takes the part back, when those that came before have unlocked it; this rank must not hold a lock of it. Others
    /// that come later wait until it is lent again: where they should not have come at all, a barrier on both sides
    /// sees to it. The view shows what they wrote; nobody gets in until it is lent again.
    ///
    /// # Panics
    /// If this rank holds a lock of the part, for which it would wait for ever.
    pub fn take_back(mut self, caches: &mut Caches) -> LocalView<'c, T> {
        let _span = self.window.comm().hal().span(Span::new("take back"));
        self.lock();
        let Some(view) = self.view.take() else { unreachable!("the view is there until the part is taken back") };
        self.window.take_back(&view, caches, true);
        view
    }

    fn lock(&self) {
        let (rank, window) = (self.window.comm().rank(), self.window.number());
        assert!(
            !self.window.locked.contains(rank),
            "rank {rank} takes its part of window {window} back and holds a lock of it"
        );
        lock::acquire(&self.window.peers, self.window.comm().rank(), Lock::Exclusive);
        self.window.lent.set(false);
        self.window.tell_over(LENT, Ranks::All);
    }
}

impl<C: Core, T: Pod> Drop for Lent<'_, '_, C, T> {
    fn drop(&mut self) {
        if self.view.is_some() && !self.window.comm().hal().is_dying() {
            self.lock();
            self.window.exposure_open.set(false);
        }
    }
}

/// A locked part of a window; dropping it unlocks.
#[must_use = "dropping the epoch unlocks the part"]
pub struct LockEpoch<'b, 'w, 'c, C: Core, T: Pod> {
    operations: Operations<'b, 'w, 'c, C, T>,
    target: usize,
    lock: Lock,
}

carries_out_operations!(LockEpoch);

impl<'b, 'w, 'c, C: Core, T: Pod> LockEpoch<'b, 'w, 'c, C, T> {
    /// Returns when all operations so far are in the target's memory. What follows reads fresh data, and buffers of
    /// what came before are free: the epoch that is returned borrows others.
    pub fn flush<'n>(self) -> LockEpoch<'n, 'w, 'c, C, T> {
        let comm = self.operations.window.comm();
        let _span = comm.hal().span(Span::new("window flush").with(comm.core_of(self.target)));
        self.operations.settle();
        self.flush_local()
    }

    /// Returns when the buffers of all operations so far are free. They need not be in the target's memory.
    pub fn flush_local<'n>(self) -> LockEpoch<'n, 'w, 'c, C, T> {
        self.operations.are_over(true);
        let Operations { window, epoch, .. } = self.operations;
        window.await_copies();
        let (target, lock) = (self.target, self.lock);
        mem::forget(self);
        window.comm().hal().invalidate_mpb();
        LockEpoch { operations: Operations::new(window, Reach::Locked { target }, epoch), target, lock }
    }

    /// Unlocks the part: returns when all operations are in the target's memory and others can get in.
    pub fn unlock(self) {
        drop(self);
    }
}

impl<C: Core, T: Pod> Drop for LockEpoch<'_, '_, '_, C, T> {
    fn drop(&mut self) {
        let window = self.operations.window;
        if !window.comm().hal().is_dying() {
            let _span = window.comm().hal().span(Span::new("unlock").with(window.comm().core_of(self.target)));
            self.operations.settle();
            lock::release(&window.peers, self.target, self.lock);
            window.locked.remove(self.target);
            window.tell_over(LOCK, Ranks::One(self.target));
        }
    }
}

/// An epoch in which all parts may be accessed, shared; dropping it unlocks those that were.
#[must_use = "dropping the epoch unlocks all parts"]
pub struct LockAllEpoch<'b, 'w, 'c, C: Core, T: Pod> {
    operations: Operations<'b, 'w, 'c, C, T>,
}

carries_out_operations!(LockAllEpoch);

impl<'b, 'w, 'c, C: Core, T: Pod> LockAllEpoch<'b, 'w, 'c, C, T> {
    /// See [`LockEpoch::flush`].
    pub fn flush_all<'n>(self) -> LockAllEpoch<'n, 'w, 'c, C, T> {
        let _span = self.operations.window.comm().hal().span(Span::new("window flush"));
        self.operations.settle();
        self.flush_local_all()
    }

    /// See [`LockEpoch::flush_local`].
    pub fn flush_local_all<'n>(mut self) -> LockAllEpoch<'n, 'w, 'c, C, T> {
        self.operations.are_over(true);
        let Operations { window, epoch, .. } = self.operations;
        window.await_copies();
        let reach = mem::replace(&mut self.operations.reach, Reach::All);
        mem::forget(self);
        window.comm().hal().invalidate_mpb();
        LockAllEpoch { operations: Operations::new(window, reach, epoch) }
    }

    /// Unlocks all parts: returns when all operations are in the targets' memory and others can get in.
    pub fn unlock_all(self) {
        drop(self);
    }
}

impl<C: Core, T: Pod> Drop for LockAllEpoch<'_, '_, '_, C, T> {
    fn drop(&mut self) {
        let window = self.operations.window;
        if window.comm().hal().is_dying() {
            return;
        }
        let _span = window.comm().hal().span(Span::new("unlock all"));
        if let Reach::LockedOnDemand(parts) = &self.operations.reach {
            let OnDemand { locked, joined } = &**parts;
            self.operations.settle();
            let ranks = 0..window.comm().size();
            for target in ranks.filter(|rank| locked.contains(*rank)) {
                if joined.contains(target) {
                    lock::leave(&window.peers, target);
                } else {
                    lock::release(&window.peers, target, Lock::Shared);
                }
            }
        }
        window.locked.remove(window.comm().rank());
        window.all_locked.set(false);
        window.tell_over(LOCK_ALL, Ranks::All);
    }
}
