//! The target's side of PSCW: POST, WAIT, test.

use hal::{Caches, Core, Deadline, LocalView, Pod, Span, TimedOut, kind};

use crate::{Error, Group, Returned};

use super::{Assertions, Window, notify, synchronisation::Synchronisation};

impl<'c, C: Core, T: Pod> Window<'c, C, T> {
    /// POST: exposes this rank's part to the ranks of `origins`, which takes its view away until the epoch is waited
    /// for. Never blocks but for registers.
    ///
    /// # Errors
    /// [`Error::ExposureEpochOpen`] if one is open on this window, [`Error::NoSuchRank`] for an origin that does not
    /// exist, [`Error::ForeignView`]; the view comes back with the error.
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
    pub fn post_asserting(
        &self,
        view: LocalView<'c, T>,
        caches: &mut Caches,
        origins: &Group,
        assertions: Assertions,
    ) -> Result<ExposureEpoch<'_, 'c, C, T>, Returned<LocalView<'c, T>>> {
        if let Err(error) = origins.check(self.comm().size()) {
            return Err(Returned { error, taken: view });
        }
        let _span = self.comm().hal().span(Span::new("post"));
        let view = self.give_up(view, caches, assertions)?;
        self.synchronisation.post(&self.peers, origins);
        let invalidates = !assertions.contains(Assertions::NO_PUT);
        let origins = origins.clone();
        Ok(ExposureEpoch { window: self, origins, origins_are_done: false, view: Some(view), invalidates })
    }

    /// Takes the view out of the program's hands, with everything that was stored in memory.
    pub(super) fn give_up(
        &self,
        view: LocalView<'c, T>,
        caches: &mut Caches,
        assertions: Assertions,
    ) -> Result<LocalView<'c, T>, Returned<LocalView<'c, T>>> {
        if let Err(error) = self.check_own(&view) {
            return Err(Returned { error, taken: view });
        }
        if self.exposure_open.replace(true) {
            return Err(Returned { error: Error::ExposureEpochOpen { window: self.number() }, taken: view });
        }
        if !assertions.contains(Assertions::NO_STORE) {
            self.comm().hal().write_back_invalidate(caches, view.region());
        }
        Ok(view)
    }

    /// Gives the view back to the program, so that it shows what others have written.
    pub(super) fn take_back(&self, view: LocalView<'c, T>, caches: &mut Caches, invalidates: bool) -> LocalView<'c, T> {
        if invalidates {
            // A page or line that a neighbour's access fetched meanwhile may have brought old parts of the region
            // with it.
            self.comm().hal().write_back_invalidate(caches, view.region());
        }
        self.exposure_open.set(false);
        view
    }

    /// Waits until the notification counter `counter` of this rank has been raised `count` times since the window was
    /// made. What was put before is there for whoever reads it by [`ExposureEpoch::read`].
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
    fn await_completion(&self, origins: &Group, deadline: Deadline) -> Result<(), TimedOut> {
        self.synchronisation.await_completion(&self.peers, &self.completions_seen, origins, deadline)
    }
}

/// An open exposure epoch: proof that the local view has been given up and everything in it is in memory.
///
/// Dropping it waits for the origins, as [`wait`](Self::wait) does, and drops the view; [`Window::view`] makes a new
/// one.
#[must_use = "dropping the epoch waits for its origins and drops the view"]
pub struct ExposureEpoch<'w, 'c, C: Core, T: Pod> {
    window: &'w Window<'c, C, T>,
    origins: Group,
    /// Whether their completions were taken already.
    origins_are_done: bool,
    /// Taken out when the epoch ends.
    view: Option<LocalView<'c, T>>,
    invalidates: bool,
}

impl<'c, C: Core, T: Pod> ExposureEpoch<'_, 'c, C, T> {
    /// WAIT: returns the view when all origins have completed; it shows what they put.
    pub fn wait(mut self, caches: &mut Caches) -> LocalView<'c, T> {
        let _span = self.window.comm().hal().span(Span::new("wait"));
        // It does not time out, unless the machine is dying.
        let _ = self.settle(Deadline::Never);
        self.end(caches)
    }

    /// Waits until all origins have completed, and keeps the part away: [`read`](Self::read) shows what they have
    /// put. For parts of which little is read, or each element once, that is cheaper than the view, which has to be
    /// invalidated as a whole. What follows is [`post_again`](Self::post_again), or a wait that returns at once.
    pub fn await_origins(&mut self) {
        let _span = self.window.comm().hal().span(Span::new("wait"));
        // It does not time out, unless the machine is dying.
        let _ = self.settle(Deadline::Never);
        // Without origins, or where packets had come already, nothing was polled; L1 may have lines of what the part
        // was before it was posted.
        self.window.comm().hal().invalidate_mpb();
    }

    /// Ends the epoch when all origins have completed, and exposes the part to the same origins again. The rank has no
    /// view in between, so nothing has to be written back or invalidated.
    pub fn post_again(mut self) -> Self {
        // It does not time out, unless the machine is dying.
        let _ = self.settle(Deadline::Never);
        let _span = self.window.comm().hal().span(Span::new("post"));
        self.window.synchronisation.post(&self.window.peers, &self.origins);
        self.origins_are_done = false;
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
    pub fn wait_until(mut self, caches: &mut Caches, deadline: Deadline) -> Result<LocalView<'c, T>, Self> {
        match self.settle(deadline) {
            Ok(()) => Ok(self.end(caches)),
            Err(_) => Err(self),
        }
    }

    /// Reads elements of the exposed part by the combined mapping: for data whose arrival [was
    /// notified](Window::await_notifications), or whose [origins were awaited](Self::await_origins). What is read
    /// without either may be from before.
    ///
    /// # Errors
    /// [`Error::OutOfRange`].
    pub fn read(&self, first: usize, into: &mut [T]) -> Result<(), Error> {
        self.window.read_own(first, into)
    }

    /// Takes the completions of all origins, once.
    fn settle(&mut self, deadline: Deadline) -> Result<(), TimedOut> {
        if !self.origins_are_done {
            self.window.await_completion(&self.origins, deadline)?;
            self.origins_are_done = true;
        }
        Ok(())
    }

    fn end(&mut self, caches: &mut Caches) -> LocalView<'c, T> {
        let Some(view) = self.view.take() else { unreachable!("the view is there until the epoch ends") };
        self.window.take_back(view, caches, self.invalidates)
    }
}

impl<C: Core, T: Pod> Drop for ExposureEpoch<'_, '_, C, T> {
    fn drop(&mut self) {
        if self.view.is_some() && !self.window.comm().hal().is_dying() {
            if !self.origins_are_done {
                let _ = self.window.await_completion(&self.origins, Deadline::Never);
            }
            self.window.exposure_open.set(false);
        }
    }
}

impl<C: Core, T: Pod> Window<'_, C, T> {
    /// Reads elements of this rank's part by the combined mapping, while nobody has the view of it.
    fn read_own(&self, first: usize, into: &mut [T]) -> Result<(), Error> {
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
