//! The origin's side: START, put, get, COMPLETE.

use core::mem;

use hal::{Core, Deadline, Place, Pod, Poll, Reason, kind};

use crate::{Error, Group};

use super::{Window, database::SyncData};

impl<'c, C: Core, T: Pod> Window<'c, C, T> {
    /// START: opens an access epoch to the ranks of `targets`. Takes note of them and touches no remote memory.
    ///
    /// # Errors
    /// [`Error::AccessEpochOpen`] if one is open on this window, [`Error::NoSuchRank`] for a target that does not exist.
    pub fn start(&self, targets: &Group) -> Result<AccessEpoch<'_, 'c, C, T>, Error> {
        targets.check(self.comm.size())?;
        if self.access_open.replace(true) {
            return Err(Error::AccessEpochOpen { window: self.number });
        }
        self.access_epochs.set(self.access_epochs.get() + 1);
        Ok(AccessEpoch { window: self, targets: targets.clone(), number: self.access_epochs.get() })
    }

    /// Waits until `target` has posted to this rank, unless this epoch knows it already.
    ///
    /// Only the target's own bit enters the copy, although the word shows those of 31 others. So each epoch looks once for each target:
    /// how often does not depend on who posted first, and as a look invalidates, what is got afterwards is never older than the post.
    fn await_post(&self, target: usize) {
        let (word, bit) = SyncData::match_bit(target);
        let seen = &self.seen_posts[word];
        if seen.get() & bit == 0 {
            let own = self.sync_of(self.comm.rank()).region();
            let reason = Reason::new("the post of window").number(self.number).from(self.comm.core_of(target));
            let posted = |poll: &Poll<'_>| (poll.word(0) & bit != 0).then_some(());
            if self.comm.hal().wait_until(&[Place::Word(own, word)], Deadline::Never, reason, posted).is_ok() {
                seen.set(seen.get() | bit);
            }
        }
    }

    /// Forgets the post of `target`, in the match vector and in its copy.
    fn reset_post(&self, target: usize) {
        let (hal, rank) = (self.comm.hal(), self.comm.rank());
        let (word, bit) = SyncData::match_bit(target);
        let own = self.sync_of(rank).region();
        // Under the register: another target may be posting in the same word (where Algorithm 2 has no lock).
        let _guard = hal.lock(hal.core(), "the own match vector");
        let posts = hal.load_word(own, word);
        hal.store_word(own, word, posts & !bit);
        self.seen_posts[word].set(self.seen_posts[word].get() & !bit);
    }

    /// Counts the completion counter of `target` down.
    fn notify_completion(&self, target: usize) {
        let hal = self.comm.hal();
        let sync = self.sync_of(target);
        let _guard = hal.lock(self.comm.core_of(target), "a completion counter");
        let open = hal.load_word(sync.region(), sync.completion_counter());
        hal.store_word(sync.region(), sync.completion_counter(), open - 1);
    }

    fn complete(&self, targets: &Group) {
        if self.comm.hal().is_dying() {
            // Part of a destructor: no post was awaited, and the counters mean nothing any more.
            return;
        }
        for target in targets.iter() {
            self.await_post(target);
            self.reset_post(target);
        }
        // The last line of the last put may still be in the write-combine buffer, and registers do not push it out.
        self.comm.hal().drain();
        for target in targets.iter() {
            self.notify_completion(target);
        }
        self.access_open.set(false);
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
///     let _ = access.put(0, 0, &[1]);
/// }
/// ```
///
/// It proves nothing about the targets: each operation waits for the post of its own. Dropping it completes it, as
/// [`complete`](Self::complete) does.
#[must_use = "dropping the epoch completes it"]
pub struct AccessEpoch<'w, 'c, C: Core, T: Pod> {
    window: &'w Window<'c, C, T>,
    targets: Group,
    number: u32,
}

impl<C: Core, T: Pod> AccessEpoch<'_, '_, C, T> {
    /// Puts `source` over the elements of `target`'s part from `first` on. Waits for the target's post if it is
    /// not there yet; the source may be reused at once.
    ///
    /// What several origins, or several puts, write to the same elements in one exposure epoch is undefined.
    ///
    /// # Errors
    /// [`Error::NotInGroup`], [`Error::OutOfRange`]; then nothing was written.
    pub fn put(&self, target: usize, first: usize, source: &[T]) -> Result<(), Error> {
        let offset = self.check(target, first, source.len())?;
        self.window.await_post(target);
        let part = self.window.part_region(target).mapped::<kind::Combined>();
        self.window.comm.hal().write(part, offset, bytemuck::cast_slice(source));
        Ok(())
    }

    /// Gets the elements of `into`'s length from `target`'s part, from `first` on. Waits for the target's post if it is
    /// not there yet.
    ///
    /// # Errors
    /// [`Error::NotInGroup`], [`Error::OutOfRange`]; then nothing was read.
    pub fn get(&self, target: usize, first: usize, into: &mut [T]) -> Result<(), Error> {
        let offset = self.check(target, first, into.len())?;
        self.window.await_post(target);
        let part = self.window.part_region(target).mapped::<kind::Combined>();
        self.window.comm.hal().read(part, offset, bytemuck::cast_slice_mut(into));
        Ok(())
    }

    /// COMPLETE: returns when every put is in the targets' memory and the targets have been told. Waits for the posts of
    /// targets that were never accessed, too: only then their completion counters are valid.
    pub fn complete(self) {
        self.window.complete(&self.targets);
        mem::forget(self);
    }

    /// Offset of the access in the target's part, in bytes.
    fn check(&self, target: usize, first: usize, count: usize) -> Result<usize, Error> {
        let window = self.window.number;
        if !self.targets.contains(target) {
            return Err(Error::NotInGroup { rank: target, window, epoch: self.number });
        }
        let len = self.window.parts[target].len as usize;
        let end = first.saturating_add(count);
        if end > len {
            return Err(Error::OutOfRange { rank: target, window, epoch: self.number, end, len });
        }
        Ok(first * size_of::<T>())
    }
}

impl<C: Core, T: Pod> Drop for AccessEpoch<'_, '_, C, T> {
    fn drop(&mut self) {
        self.window.complete(&self.targets);
    }
}
