//! Exposing a part for as long as a closure runs.

use core::cell::Cell;

use hal::{Caches, Core, Deadline, LocalView, Pod, Ranks, Span, TimedOut};

use crate::{Error, Group};

use super::{Assertions, Window};

/// What its epoch is called.
const KIND: &str = "exposure";

impl<'c, C: Core, T: Pod> Window<'c, C, T> {
    /// POST, `body`, WAIT: this rank's part is exposed to the ranks of `origins` while `body` runs, and until all of them
    /// have completed. Then the view shows what they put. For programs that go step by step, and keep the view with the
    /// window.
    ///
    /// ```
    /// # use collectives::{Comm, Error, Group, Window};
    /// # use hal::{Caches, Core, LocalView};
    /// # fn step<'c, C: Core>(window: &Window<'c, C, f64>, view: &mut LocalView<'c, f64>, caches: &mut Caches, left: usize)
    /// # -> Result<(), Error> {
    /// let neighbour = Group::of([left])?;
    /// window.while_posted(view, caches, &neighbour, |_| {
    ///     let access = window.start(&neighbour)?;
    ///     access.put(left, 0, &[1.0])?;
    ///     access.complete();
    ///     Ok::<_, Error>(())
    /// })??;
    /// assert_eq!(view.load(0), 1.0);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`Error::ExposureEpochOpen`] if one is open on this window, [`Error::NoSuchRank`] for an origin that does not
    /// exist, [`Error::ForeignView`] for a view of something else; `body` is not called then.
    pub fn while_posted<R>(
        &self,
        view: &mut LocalView<'c, T>,
        caches: &mut Caches,
        origins: &Group,
        body: impl FnOnce(&Exposed<'_, 'c, C, T>) -> R,
    ) -> Result<R, Error> {
        let exposed = self.expose(view, caches, origins, Assertions::empty())?;
        let result = body(&exposed);
        exposed.wait();
        exposed.end(view, caches, true);
        Ok(result)
    }

    /// Exposes the part of this view.
    #[inline(always)]
    pub(super) fn expose(
        &self,
        view: &LocalView<'c, T>,
        caches: &mut Caches,
        origins: &Group,
        assertions: Assertions,
    ) -> Result<Exposed<'_, 'c, C, T>, Error> {
        origins.check(self.comm().size())?;
        let _span = self.comm().hal().span(Span::new("post").for_each_of(origins.len()));
        self.give_up(view, caches, assertions)?;
        self.tell_open(KIND, Ranks::These(origins.words()));
        self.synchronisation.post(&self.peers, origins);
        Ok(Exposed { window: self, origins: origins.clone(), origins_are_done: Cell::new(false) })
    }
}

/// A part while it is exposed, which ends no sooner than this is dropped. That waits for the origins.
pub struct Exposed<'w, 'c, C: Core, T: Pod> {
    window: &'w Window<'c, C, T>,
    origins: Group,
    /// Whether their completions were taken already.
    origins_are_done: Cell<bool>,
}

impl<'c, C: Core, T: Pod> Exposed<'_, 'c, C, T> {
    /// Waits until all origins have completed, and keeps the part away: [`read`](Self::read) shows what they have
    /// put. For parts of which little is read, or each element once, that is cheaper than the view, which has to be
    /// invalidated as a whole. What follows is [`post_again`](super::ExposureEpoch::post_again), or a wait that returns
    /// at once.
    pub fn await_origins(&self) {
        self.wait();
        // Without origins, or where packets had come already, nothing was polled; L1 may have lines of what the part
        // was before it was posted.
        self.window.comm().hal().invalidate_mpb();
    }

    /// Reads elements of the exposed part by the combined mapping: for data whose arrival [was
    /// notified](Window::await_notifications), or whose [origins were awaited](Self::await_origins). What is read
    /// without either may be from before.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] if the part ends before.
    pub fn read(&self, first: usize, into: &mut [T]) -> Result<(), Error> {
        self.window.read_own(first, into)
    }

    #[inline(always)]
    pub(super) fn wait(&self) {
        let _span = self.window.comm().hal().span(Span::new("wait").for_each_of(self.origins.len()));
        // It does not time out, unless the machine is dying.
        let _ = self.settle(Deadline::Never);
    }

    /// Takes the completions of all origins, once.
    #[inline(always)]
    pub(super) fn settle(&self, deadline: Deadline) -> Result<(), TimedOut> {
        if !self.origins_are_done.get() {
            self.window.await_completion(&self.origins, deadline)?;
            self.origins_are_done.set(true);
        }
        Ok(())
    }

    /// Exposes the part to the same origins once more; they have completed.
    pub(super) fn post_again(&self) {
        let _span = self.window.comm().hal().span(Span::new("post").for_each_of(self.origins.len()));
        self.window.synchronisation.post(&self.window.peers, &self.origins);
        self.origins_are_done.set(false);
    }

    /// The view is the program's again; the origins have completed.
    #[inline(always)]
    pub(super) fn end(self, view: &LocalView<'c, T>, caches: &mut Caches, invalidates: bool) {
        self.window.tell_over(KIND, Ranks::These(self.origins.words()));
        self.window.take_back(view, caches, invalidates);
    }
}

impl<C: Core, T: Pod> Exposed<'_, '_, C, T> {
    /// Nobody has waited before it is dropped.
    #[cold]
    #[inline(never)]
    fn settle_at_last(&self) {
        let _ = self.settle(Deadline::Never);
    }
}

impl<C: Core, T: Pod> Drop for Exposed<'_, '_, C, T> {
    #[inline]
    fn drop(&mut self) {
        if !self.window.comm().hal().is_dying() {
            if !self.origins_are_done.get() {
                self.settle_at_last();
            }
            self.window.exposure_open.set(false);
            self.window.tell_over(KIND, Ranks::These(self.origins.words()));
        }
    }
}

#[cfg(test)]
mod tests {
    use hal::{Cached, sim::Machine};

    use super::*;
    use crate::Comm;

    #[test]
    fn a_panic_while_posted_ends_the_machine() {
        let failure = Machine::scc(2).run(|core| {
            let comm = Comm::world(core, regions::of_a_test()).unwrap();
            let mut caches = core.take_caches().unwrap();
            let (window, mut view) = Window::<_, u32>::create(&comm, &mut caches, 1).unwrap();
            let other = Group::of([1 - comm.rank()]).unwrap();
            let body = |_: &Exposed<'_, '_, _, _>| assert!(comm.rank() == 0, "while posted");
            window.while_posted(&mut view, &mut caches, &other, body).unwrap();
        });
        let report = failure.unwrap_err().to_string();
        assert!(report.contains("core 1 panicked") && report.contains("while posted"), "{report}");
    }
}
