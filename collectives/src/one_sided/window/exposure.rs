//! The target's side of PSCW: POST, WAIT, test.

use core::ops::Deref;

use hal::{Caches, Core, Deadline, LocalView, Pod, Span, TimedOut, kind};

use crate::{Error, Group, Returned};

use super::{Assertions, Exposed, Window, notify, synchronisation::Synchronisation};

impl<'c, C: Core, T: Pod> Window<'c, C, T> {
    /// POST: exposes this rank's part to the ranks of `origins`, which takes its view away until the epoch is waited
    /// for. Never blocks but for registers.
    ///
    /// # Errors
    /// [`Error::ExposureEpochOpen`] if one is open on this window, [`Error::NoSuchRank`] for an origin that does not
    /// exist, [`Error::ForeignView`]; the view comes back with the error.
    #[inline(always)]
    pub fn post(
        &self,
        view: LocalView<'c, T>,
        caches: &mut Caches,
        origins: &Group,
    ) -> Result<ExposureEpoch<'_, 'c, C, T>, Returned<LocalView<'c, T>>> {
        self.post_asserting(view, caches, origins, Assertions::empty())
    }

    /// POST, with promises: [`Assertions::NO_STORE`] and [`Assertions::NO_PUT`] mean something here.
    ///
    /// # Errors
    /// As [`post`](Self::post).
    #[inline(always)]
    pub fn post_asserting(
        &self,
        view: LocalView<'c, T>,
        caches: &mut Caches,
        origins: &Group,
        assertions: Assertions,
    ) -> Result<ExposureEpoch<'_, 'c, C, T>, Returned<LocalView<'c, T>>> {
        match self.expose(&view, caches, origins, assertions) {
            Ok(exposed) => Ok(ExposureEpoch { exposed, view, invalidates: !assertions.contains(Assertions::NO_PUT) }),
            Err(error) => Err(Returned { error, taken: view }),
        }
    }

    /// Takes the part out of the program's hands, with everything that was stored in memory.
    #[inline(always)]
    pub(super) fn give_up(
        &self,
        view: &LocalView<'c, T>,
        caches: &mut Caches,
        assertions: Assertions,
    ) -> Result<(), Error> {
        self.check_own(view)?;
        if self.exposure_open.replace(true) {
            return Err(Error::ExposureEpochOpen { window: self.number() });
        }
        if !assertions.contains(Assertions::NO_STORE) {
            self.comm().hal().write_back_invalidate(caches, view.region());
        }
        Ok(())
    }

    /// Gives the part back to the program, so that the view shows what others have written.
    #[inline(always)]
    pub(super) fn take_back(&self, view: &LocalView<'c, T>, caches: &mut Caches, invalidates: bool) {
        if invalidates {
            // A page or line that a neighbour's access fetched meanwhile may have brought old parts of the region
            // with it.
            self.comm().hal().write_back_invalidate(caches, view.region());
        }
        self.exposure_open.set(false);
    }

    /// Waits until the notification counter `counter` of this rank has been raised `count` times since the window was
    /// made. What was put before is there for whoever reads it by [`Exposed::read`].
    ///
    /// # Errors
    /// [`Error::NoSuchCounter`]; [`Error::TimedOut`] if the deadline passes first.
    pub fn await_notifications(&self, counter: usize, count: u32, deadline: Deadline) -> Result<(), Error> {
        if counter >= notify::COUNTERS {
            return Err(Error::NoSuchCounter { counter });
        }
        let _span = self.comm().hal().span(Span::new("await notifications"));
        let in_packets = || match &self.synchronisation {
            Synchronisation::Message(channel) => channel.notifications(self.comm(), self.number(), counter as u32),
            _ => 0,
        };
        let outcome = notify::wait(&self.peers, counter, count, deadline, in_packets);
        outcome.map_err(|TimedOut { reason }| Error::TimedOut { reason })
    }

    /// Waits until all origins have completed.
    #[inline(always)]
    pub(super) fn await_completion(&self, origins: &Group, deadline: Deadline) -> Result<(), TimedOut> {
        self.synchronisation.await_completion(&self.peers, &self.completions_seen, origins, deadline)
    }
}

/// An open exposure epoch: proof that the local view has been given up and everything in it is in memory.
///
/// Dropping it waits for the origins, as [`wait`](Self::wait) does, and drops the view; [`Window::view`] makes a new
/// one.
#[must_use = "dropping the epoch waits for its origins and drops the view"]
pub struct ExposureEpoch<'w, 'c, C: Core, T: Pod> {
    // The first to be dropped: the view stays until the origins have completed.
    exposed: Exposed<'w, 'c, C, T>,
    view: LocalView<'c, T>,
    invalidates: bool,
}

/// What can be done while the epoch is open.
impl<'w, 'c, C: Core, T: Pod> Deref for ExposureEpoch<'w, 'c, C, T> {
    type Target = Exposed<'w, 'c, C, T>;

    fn deref(&self) -> &Self::Target {
        &self.exposed
    }
}

impl<'c, C: Core, T: Pod> ExposureEpoch<'_, 'c, C, T> {
    /// WAIT: returns the view when all origins have completed; it shows what they put.
    #[inline(always)]
    pub fn wait(self, caches: &mut Caches) -> LocalView<'c, T> {
        self.exposed.wait();
        self.end(caches)
    }

    /// Ends the epoch when all origins have completed, and exposes the part to the same origins again. The rank has no
    /// view in between, so nothing has to be written back or invalidated.
    pub fn post_again(mut self) -> Self {
        // It does not time out, unless the machine is dying.
        let _ = self.exposed.settle(Deadline::Never);
        self.exposed.post_again();
        // Promises that were made for the epoch before do not hold for this one.
        self.invalidates = true;
        self
    }

    /// Looks whether all origins have completed: then it is a wait, otherwise the epoch stays open.
    ///
    /// # Errors
    /// The epoch, if origins are missing.
    pub fn test(self, caches: &mut Caches) -> Result<LocalView<'c, T>, Self> {
        self.wait_until(caches, Deadline::At(0))
    }

    /// Waits until a deadline.
    ///
    /// # Errors
    /// The epoch, if origins are missing then.
    pub fn wait_until(self, caches: &mut Caches, deadline: Deadline) -> Result<LocalView<'c, T>, Self> {
        match self.exposed.settle(deadline) {
            Ok(()) => Ok(self.end(caches)),
            Err(_) => Err(self),
        }
    }

    #[inline(always)]
    fn end(self, caches: &mut Caches) -> LocalView<'c, T> {
        self.exposed.end(&self.view, caches, self.invalidates);
        self.view
    }
}

impl<C: Core, T: Pod> Window<'_, C, T> {
    /// Reads elements of this rank's part by the combined mapping, while nobody has the view of it.
    pub(super) fn read_own(&self, first: usize, into: &mut [T]) -> Result<(), Error> {
        let rank = self.comm().rank();
        let (end, len) = (first.saturating_add(into.len()), self.len_of(rank)?);
        if end > len {
            return Err(Error::OutOfRange { rank, window: self.number(), epoch: self.access_epochs.get(), end, len });
        }
        let part = self.peers.part(rank).mapped::<kind::Combined>();
        self.comm().hal().read(part, first * size_of::<T>(), bytemuck::cast_slice_mut(into));
        Ok(())
    }
}
