//! The origin's side of PSCW: START and COMPLETE.

use hal::{Core, Pod, Ranks, Span};

use crate::{Error, Group};

use super::{
    Assertions, Operations, Window,
    class::Patience,
    operations::{Reach, carries_out_operations},
};

/// What it is called.
const KIND: &str = "access";

impl<'c, C: Core, T: Pod> Window<'c, C, T> {
    /// START: opens an access epoch to the ranks of `targets`. In all classes but `Immediate` it takes note of them
    /// and touches no memory.
    ///
    /// # Errors
    /// [`Error::AccessEpochOpen`] if one is open on this window, [`Error::Locked`] if this rank has locked a part of
    /// it, [`Error::NoSuchRank`] for a target that does not exist.
    pub fn start<'b>(&self, targets: &Group) -> Result<AccessEpoch<'b, '_, 'c, C, T>, Error> {
        self.start_asserting(targets, Assertions::empty())
    }

    /// START, with a promise; only [`Assertions::NO_CHECK`] means something here.
    ///
    /// # Errors
    /// As [`start`](Self::start).
    pub fn start_asserting<'b>(
        &self,
        targets: &Group,
        assertions: Assertions,
    ) -> Result<AccessEpoch<'b, '_, 'c, C, T>, Error> {
        targets.check(self.comm().size())?;
        self.check_unlocked()?;
        if self.access_open.replace(true) {
            return Err(Error::AccessEpochOpen { window: self.number() });
        }
        self.access_epochs.set(self.access_epochs.get() + 1);
        self.tell_open(KIND, Ranks::These(targets.words()));
        let _span = self.comm().hal().span(Span::new("start").for_each_of(targets.len()));
        let (patience, no_check) = (self.class.patience(), assertions.contains(Assertions::NO_CHECK));
        if patience == Patience::Start && !no_check {
            self.synchronisation.await_posts(&self.peers, &self.posts_seen, targets);
        }
        let reach = Reach::Group { targets: targets.clone(), patience, no_check };
        Ok(AccessEpoch { operations: Operations::new(self, reach, self.access_epochs.get()) })
    }

    pub(super) fn has_posted(&self, targets: &Group, target: usize) -> bool {
        self.synchronisation.has_posted(&self.peers, &self.posts_seen, targets, target)
    }

    pub(super) fn await_post(&self, target: usize) {
        if !self.posts_seen.contains(target) {
            let target = Group::of([target]).expect("a target that was checked");
            self.synchronisation.await_posts(&self.peers, &self.posts_seen, &target);
        }
    }
}

/// An open access epoch: proof that START was called, and the only way to put and get.
///
/// The view of an exposed part is gone until the wait:
///
/// ```compile_fail,E0382
/// # use collectives::{Group, Window};
/// # use hal::{Caches, Core, LocalView};
/// fn touched_while_exposed<'c, C: Core>(window: &Window<'c, C, u32>, mut view: LocalView<'c, u32>, caches: &mut Caches) {
///     let exposure = window.post(view, caches, &Group::empty()).unwrap();
///     view.store(0, 1);
///     exposure.wait(caches);
/// }
/// ```
///
/// and an access epoch cannot be used when it is complete:
///
/// ```compile_fail,E0382
/// # use collectives::{Group, Window};
/// # use hal::Core;
/// fn put_too_late<C: Core>(window: &Window<'_, C, u32>) {
///     let access = window.start(&Group::empty()).unwrap();
///     access.complete();
///     let _ = access.put_value(0, 0, 1);
/// }
/// ```
///
/// It proves nothing about the targets: operations wait for the posts of theirs, or are queued until they are there, as
/// the window's [`Class`](super::Class) says. Dropping it completes it, as [`complete`](Self::complete) does.
#[must_use = "dropping the epoch completes it"]
pub struct AccessEpoch<'b, 'w, 'c, C: Core, T: Pod> {
    operations: Operations<'b, 'w, 'c, C, T>,
}

carries_out_operations!(AccessEpoch);

impl<C: Core, T: Pod> AccessEpoch<'_, '_, '_, C, T> {
    /// COMPLETE: returns when every operation is carried out, every put is in the targets' memory, and the targets have
    /// been told. Waits for the posts of targets that were never accessed, too.
    pub fn complete(self) {
        // Where it is: an epoch that is moved to be dropped is copied.
    }
}

impl<C: Core, T: Pod> Drop for AccessEpoch<'_, '_, '_, C, T> {
    fn drop(&mut self) {
        let window = self.operations.window;
        if window.comm().hal().is_dying() {
            // No post was awaited, and nothing that is read means anything any more.
            return;
        }
        let Reach::Group { targets, .. } = &self.operations.reach else { return };
        let _span = window.comm().hal().span(Span::new("complete").for_each_of(targets.len()));
        self.operations.finish();
        window.await_copies();
        window.synchronisation.complete(&window.peers, &window.posts_seen, targets);
        self.operations.hand_out();
        self.operations.are_over(false);
        window.access_open.set(false);
        window.tell_over(KIND, Ranks::These(targets.words()));
    }
}
