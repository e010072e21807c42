//! The target's side: POST, WAIT, test.

use hal::{Caches, Core, Deadline, LocalView, Place, Pod, Reason, TimedOut};

use crate::{Error, Group, Returned};

use super::{Window, database::SyncData};

impl<'c, C: Core, T: Pod> Window<'c, C, T> {
    /// POST: exposes this rank's part to the ranks of `origins`, which takes its view away until the epoch is waited for.
    /// Never blocks but for registers.
    ///
    /// # Errors
    /// [`Error::ExposureEpochOpen`] if one is open on this window, [`Error::NoSuchRank`] for an origin that does not exist,
    /// [`Error::ForeignView`]; the view comes back with the error.
    pub fn post(
        &self,
        view: LocalView<'c, T>,
        caches: &mut Caches,
        origins: &Group,
    ) -> Result<ExposureEpoch<'_, 'c, C, T>, Returned<LocalView<'c, T>>> {
        if let Err(error) = origins.check(self.comm.size()) {
            return Err(Returned { error, taken: view });
        }
        let region = match self.own_view_region(&view) {
            Ok(region) => region,
            Err(error) => return Err(Returned { error, taken: view }),
        };
        if self.exposure_open.replace(true) {
            return Err(Returned { error: Error::ExposureEpochOpen { window: self.number }, taken: view });
        }
        let hal = self.comm.hal();
        hal.write_back_invalidate(caches, region);
        let own = self.sync_of(self.comm.rank());
        hal.store_word(own.region(), own.completion_counter(), origins.len() as u32);
        let (word, bit) = SyncData::match_bit(self.comm.rank());
        for origin in origins.iter() {
            let match_vector = self.sync_of(origin).region();
            let _guard = hal.lock(self.comm.core_of(origin), "a match vector");
            let posts = hal.load_word(match_vector, word);
            hal.store_word(match_vector, word, posts | bit);
        }
        Ok(ExposureEpoch { window: self, view: Some(view) })
    }

    /// Waits until all origins have completed.
    fn await_completion(&self, deadline: Deadline) -> Result<(), TimedOut> {
        let own = self.sync_of(self.comm.rank());
        let reason = Reason::new("origins to complete on window").number(self.number);
        let counter = [Place::Word(own.region(), own.completion_counter())];
        self.comm.hal().wait_until(&counter, deadline, reason, |poll| (poll.word(0) == 0).then_some(()))?;
        self.exposure_open.set(false);
        Ok(())
    }
}

/// An open exposure epoch: proof that the local view has been given up and everything in it is in memory.
///
/// Dropping it waits for the origins, as [`wait`](Self::wait) does, and drops the view; [`Window::view`] makes a new one.
#[must_use = "dropping the epoch waits for its origins and drops the view"]
pub struct ExposureEpoch<'w, 'c, C: Core, T: Pod> {
    window: &'w Window<'c, C, T>,
    /// Taken out when the epoch ends.
    view: Option<LocalView<'c, T>>,
}

impl<'c, C: Core, T: Pod> ExposureEpoch<'_, 'c, C, T> {
    /// WAIT: returns the view when all origins have completed; it shows what they put.
    pub fn wait(mut self, caches: &mut Caches) -> LocalView<'c, T> {
        // It does not time out, unless the machine is dying.
        let _ = self.window.await_completion(Deadline::Never);
        self.end(caches)
    }

    /// Looks whether all origins have completed: then it is a wait, otherwise the epoch stays open.
    ///
    /// # Errors
    /// The epoch, if origins are missing.
    pub fn test(mut self, caches: &mut Caches) -> Result<LocalView<'c, T>, Self> {
        match self.window.await_completion(Deadline::At(0)) {
            Ok(()) => Ok(self.end(caches)),
            Err(_) => Err(self),
        }
    }

    fn end(&mut self, caches: &mut Caches) -> LocalView<'c, T> {
        let Some(view) = self.view.take() else { unreachable!("the view is there until the epoch ends") };
        // A page or line that a neighbour's access fetched meanwhile may have brought old parts of the region with it.
        self.window.comm.hal().write_back_invalidate(caches, view.region());
        view
    }
}

impl<C: Core, T: Pod> Drop for ExposureEpoch<'_, '_, C, T> {
    fn drop(&mut self) {
        if self.view.is_some() && !self.window.comm.hal().is_dying() {
            let _ = self.window.await_completion(Deadline::Never);
        }
    }
}
