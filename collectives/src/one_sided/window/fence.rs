//! Fences: epochs that all ranks open and close together.
//!
//! Opening writes the own part back and meets all others in a barrier, so that nobody reaches a part that is not in
//! memory yet. Closing drains what this rank has put, meets all others, and invalidates. A fence in the middle drains
//! and meets.
//!
//! | call | remote accesses |
//! |---|---|
//! | each fence | those of one barrier; none if [`Assertions::NO_PRECEDE`] says that nothing was done since the last |

use core::mem;

use hal::{Caches, Core, LocalView, Pod, Ranks, Span};

use crate::{
    Error, Returned,
    collective::call::{Call, Collective},
};

use super::{
    Assertions, Operations, Window,
    operations::{Reach, carries_out_operations},
};

/// What its epoch is called.
const KIND: &str = "fence";

impl<'c, C: Core, T: Pod> Window<'c, C, T> {
    /// Opens an epoch in which every rank may access every part. Collective; takes this rank's view away until the
    /// epoch is closed.
    ///
    /// [`Assertions::NO_STORE`] and [`Assertions::NO_PUT`] mean something here; ranks may differ in them.
    ///
    /// # Errors
    /// [`Error::AccessEpochOpen`] or [`Error::ExposureEpochOpen`] if a PSCW epoch is open on this window,
    /// [`Error::Locked`] if this rank has locked a part of it, [`Error::ForeignView`]; the view comes back with the
    /// error, and the others wait until this rank does it right.
    pub fn fence<'b>(
        &self,
        view: LocalView<'c, T>,
        caches: &mut Caches,
        assertions: Assertions,
    ) -> Result<FenceEpoch<'b, '_, 'c, C, T>, Returned<LocalView<'c, T>>> {
        if self.access_open.get() {
            return Err(Returned { error: Error::AccessEpochOpen { window: self.number() }, taken: view });
        }
        if let Err(error) = self.check_unlocked() {
            return Err(Returned { error, taken: view });
        }
        let _span = self.comm().hal().span(Span::new("fence"));
        if let Err(error) = self.give_up(&view, caches, assertions) {
            return Err(Returned { error, taken: view });
        }
        if let Err(error) = self.comm().check_call(|| self.fence_call()) {
            self.exposure_open.set(false);
            return Err(Returned { error, taken: view });
        }
        self.access_open.set(true);
        Ok(self.open_fence(view, !assertions.contains(Assertions::NO_PUT), true))
    }

    fn fence_call(&self) -> Call {
        Call::new(Collective::Fence).on_window(self.number())
    }

    fn open_fence<'b>(&self, view: LocalView<'c, T>, invalidates: bool, meets: bool) -> FenceEpoch<'b, '_, 'c, C, T> {
        if meets {
            self.comm().synchronise();
            // Nothing older than the stores of others, or of this rank's view, is read in the epoch. The polls of a
            // barrier of one rank would not see to it, as there are none.
            self.comm().hal().invalidate_mpb();
        }
        self.tell_open(KIND, Ranks::All);
        self.access_epochs.set(self.access_epochs.get() + 1);
        let operations = Operations::new(self, Reach::All, self.access_epochs.get());
        FenceEpoch { operations, view: Some(view), invalidates }
    }
}

/// An open epoch between two fences: proof that all ranks have given up their views.
///
/// Dropping it meets the other ranks, as [`close`](Self::close) does, and drops the view; [`Window::view`] makes a
/// new one.
#[must_use = "dropping the epoch waits for all ranks and drops the view"]
pub struct FenceEpoch<'b, 'w, 'c, C: Core, T: Pod> {
    operations: Operations<'b, 'w, 'c, C, T>,
    /// Taken out when the epoch ends.
    view: Option<LocalView<'c, T>>,
    invalidates: bool,
}

carries_out_operations!(FenceEpoch);

impl<'w, 'c, C: Core, T: Pod> FenceEpoch<'_, 'w, 'c, C, T> {
    /// Ends this epoch and begins the next one. Collective.
    ///
    /// With [`Assertions::NO_PRECEDE`], which all ranks have to give then, nothing was done in this epoch and nobody
    /// waits. [`Assertions::NO_PUT`] is for the next one.
    #[track_caller]
    pub fn fence<'n>(mut self, assertions: Assertions) -> FenceEpoch<'n, 'w, 'c, C, T> {
        let window = self.operations.window;
        let _span = window.comm().hal().span(Span::new("fence"));
        let meets = self.settle(assertions);
        let Some(view) = self.view.take() else { unreachable!("the view is there until the epoch ends") };
        let invalidates = self.invalidates || !assertions.contains(Assertions::NO_PUT);
        mem::forget(self);
        window.tell_over(KIND, Ranks::All);
        window.open_fence(view, invalidates, meets)
    }

    /// Closes the epoch and returns the view, which shows what others have put. Collective. This is the fence after
    /// which nothing follows (MPI's `MODE_NOSUCCEED`).
    #[track_caller]
    pub fn close(mut self, caches: &mut Caches, assertions: Assertions) -> LocalView<'c, T> {
        let window = self.operations.window;
        let _span = window.comm().hal().span(Span::new("fence"));
        if self.settle(assertions) {
            window.comm().synchronise();
        }
        let Some(view) = self.view.take() else { unreachable!("the view is there until the epoch ends") };
        let invalidates = self.invalidates;
        mem::forget(self);
        window.tell_over(KIND, Ranks::All);
        window.access_open.set(false);
        window.take_back(&view, caches, invalidates);
        view
    }

    /// Completes this rank's operations. Returns whether the ranks have to meet.
    #[track_caller]
    fn settle(&self, assertions: Assertions) -> bool {
        let meets = !assertions.contains(Assertions::NO_PRECEDE);
        if meets {
            let window = self.operations.window;
            window.comm().assert_call(|| window.fence_call());
            self.operations.settle();
        } else {
            // Buffers are free when the epoch is over, whatever was promised.
            self.operations.window.await_copies();
            self.operations.are_over(false);
        }
        meets
    }
}

impl<C: Core, T: Pod> Drop for FenceEpoch<'_, '_, '_, C, T> {
    fn drop(&mut self) {
        let window = self.operations.window;
        if !window.comm().hal().is_dying() {
            self.settle(Assertions::empty());
            window.comm().synchronise();
            window.tell_over(KIND, Ranks::All);
            window.access_open.set(false);
            window.exposure_open.set(false);
        }
    }
}
