//! Epochs: when a rank may access what.

use alloc::{
    collections::{BTreeMap, BTreeSet},
    vec::Vec,
};

use crate::families::mpi::class::Class;

/// What allows an access.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum By {
    /// A fence.
    Fence,
    /// `MPI_Win_start`: the target has to have posted.
    Start,
    /// The lock of the target, which this rank has.
    Lock,
    /// `MPI_Win_lock_all`: the lock may be still to be got.
    LockAll,
}

/// A group of an epoch, and whether its members said that there is nothing to wait for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Members {
    /// Ranks of the world.
    pub(super) ranks: Vec<usize>,
    pub(super) no_check: bool,
}

/// The epochs of a rank on a window.
#[derive(Default)]
pub(super) struct Epochs {
    /// Between fences, and whether anything was accessed since the last one.
    fence: Option<bool>,
    start: Option<Members>,
    /// Targets of the start whose posts were seen.
    posted: BTreeSet<usize>,
    exposure: Option<Members>,
    /// Locked targets, and whether that was asked of them.
    locks: BTreeMap<usize, bool>,
    all: Option<bool>,
}

impl Epochs {
    /// What allows to access a target now.
    ///
    /// # Errors
    /// [`Class::RMA_SYNC`] if nothing does.
    pub(super) fn access(&mut self, target: usize) -> Result<By, Class> {
        if self.locks.contains_key(&target) {
            return Ok(By::Lock);
        }
        if self.all.is_some() {
            return Ok(By::LockAll);
        }
        match (&self.start, &mut self.fence) {
            (Some(members), _) if members.ranks.contains(&target) => Ok(By::Start),
            (None, Some(used)) => {
                *used = true;
                Ok(By::Fence)
            }
            _ => Err(Class::RMA_SYNC),
        }
    }

    /// A passive epoch: whether one is open at a target.
    pub(super) fn is_locked(&self, target: usize) -> bool {
        self.all.is_some() || self.locks.contains_key(&target)
    }

    /// Whether any is open.
    pub(super) fn is_any_locked(&self) -> bool {
        self.all.is_some() || !self.locks.is_empty()
    }

    /// No epoch that is not a fence's, and no fence's that was used: another may begin. One that was not used is over by that.
    fn begin(&mut self) -> Result<(), Class> {
        if self.start.is_some() || self.fence == Some(true) {
            return Err(Class::RMA_SYNC);
        }
        self.fence = None;
        Ok(())
    }

    /// A fence ends an epoch, and begins one unless nothing follows.
    pub(super) fn fence(&mut self, nothing_follows: bool) -> Result<(), Class> {
        if self.start.is_some() || self.exposure.is_some() || self.is_any_locked() {
            return Err(Class::RMA_SYNC);
        }
        self.fence = (!nothing_follows).then_some(false);
        Ok(())
    }

    pub(super) fn start(&mut self, members: Members) -> Result<(), Class> {
        if self.is_any_locked() {
            return Err(Class::RMA_SYNC);
        }
        self.begin()?;
        self.posted.clear();
        self.start = Some(members);
        Ok(())
    }

    /// Whether the post of a target has yet to be seen; it is from now on.
    pub(super) fn needs_post(&mut self, target: usize) -> bool {
        let checks = self.start.as_ref().is_some_and(|members| !members.no_check);
        checks && self.posted.insert(target)
    }

    /// The group of the start, which stays until [`complete`](Self::complete).
    pub(super) fn started(&self) -> Result<Members, Class> {
        self.start.clone().ok_or(Class::RMA_SYNC)
    }

    pub(super) fn complete(&mut self) {
        self.start = None;
    }

    pub(super) fn post(&mut self, members: Members) -> Result<(), Class> {
        if self.exposure.is_some() || self.fence == Some(true) {
            return Err(Class::RMA_SYNC);
        }
        self.fence = None;
        self.exposure = Some(members);
        Ok(())
    }

    /// The group of the post, which stays until [`unexpose`](Self::unexpose).
    pub(super) fn exposed(&self) -> Result<Members, Class> {
        self.exposure.clone().ok_or(Class::RMA_SYNC)
    }

    pub(super) fn unexpose(&mut self) {
        self.exposure = None;
    }

    /// Notes a lock, and whether the target was asked for it.
    pub(super) fn lock(&mut self, target: usize, asked: bool) -> Result<(), Class> {
        if self.is_locked(target) {
            return Err(Class::RMA_SYNC);
        }
        self.begin()?;
        self.locks.insert(target, asked);
        Ok(())
    }

    /// Whether the target was asked for the lock, which is given back.
    pub(super) fn unlock(&mut self, target: usize) -> Result<bool, Class> {
        self.locks.remove(&target).ok_or(Class::RMA_SYNC)
    }

    /// Notes that all are locked; whether they are to be asked when they are accessed.
    pub(super) fn lock_all(&mut self, asks: bool) -> Result<(), Class> {
        if self.is_any_locked() {
            return Err(Class::RMA_SYNC);
        }
        self.begin()?;
        self.all = Some(asks);
        Ok(())
    }

    /// Whether targets are asked when they are accessed.
    pub(super) fn asks_all(&self) -> bool {
        self.all == Some(true)
    }

    pub(super) fn unlock_all(&mut self) -> Result<(), Class> {
        self.all.take().map(|_| ()).ok_or(Class::RMA_SYNC)
    }

    /// Whether a fence has begun an epoch.
    pub(super) fn is_between_fences(&self) -> bool {
        self.fence.is_some()
    }

    /// Targets that are locked one by one.
    pub(super) fn locked(&self) -> impl Iterator<Item = usize> {
        self.locks.keys().copied()
    }

    /// Whether all are locked at once.
    pub(super) fn has_locked_all(&self) -> bool {
        self.all.is_some()
    }

    /// Whether the window may be freed.
    pub(super) fn are_over(&self) -> bool {
        self.start.is_none() && self.exposure.is_none() && !self.is_any_locked()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn members(ranks: &[usize]) -> Members {
        Members { ranks: ranks.into(), no_check: false }
    }

    #[test]
    fn accesses_need_an_epoch() {
        let mut epochs = Epochs::default();
        assert_eq!(epochs.access(0), Err(Class::RMA_SYNC));
        epochs.fence(false).unwrap();
        assert_eq!(epochs.access(0), Ok(By::Fence));
        // A fence that was used has to be ended by one.
        assert_eq!(epochs.lock(1, true), Err(Class::RMA_SYNC));
        assert_eq!(
            (epochs.start(members(&[1])), epochs.post(members(&[1]))),
            (Err(Class::RMA_SYNC), Err(Class::RMA_SYNC))
        );
        epochs.fence(false).unwrap();
        epochs.lock(1, true).unwrap();
        assert_eq!((epochs.access(1), epochs.access(2)), (Ok(By::Lock), Err(Class::RMA_SYNC)));
        epochs.lock(2, false).unwrap();
        assert_eq!((epochs.lock(2, true), epochs.lock_all(true)), (Err(Class::RMA_SYNC), Err(Class::RMA_SYNC)));
        assert_eq!((epochs.fence(false), epochs.start(members(&[]))), (Err(Class::RMA_SYNC), Err(Class::RMA_SYNC)));
        assert!(!epochs.are_over());
        assert_eq!((epochs.unlock(1), epochs.unlock(2), epochs.unlock(2)), (Ok(true), Ok(false), Err(Class::RMA_SYNC)));
        epochs.lock_all(true).unwrap();
        assert_eq!(
            (epochs.access(5), epochs.unlock_all(), epochs.unlock_all()),
            (Ok(By::LockAll), Ok(()), Err(Class::RMA_SYNC))
        );
        assert!(epochs.are_over());
    }

    #[test]
    fn groups_post_and_start() {
        let mut epochs = Epochs::default();
        assert_eq!((epochs.started(), epochs.exposed()), (Err(Class::RMA_SYNC), Err(Class::RMA_SYNC)));
        epochs.post(members(&[3])).unwrap();
        epochs.start(members(&[1, 2])).unwrap();
        assert_eq!(epochs.start(members(&[1])), Err(Class::RMA_SYNC));
        assert_eq!((epochs.access(1), epochs.access(3)), (Ok(By::Start), Err(Class::RMA_SYNC)));
        assert!(epochs.needs_post(1) && !epochs.needs_post(1) && epochs.needs_post(2));
        epochs.complete();
        epochs.start(Members { ranks: [1].into(), no_check: true }).unwrap();
        assert!(!epochs.needs_post(1));
        epochs.complete();
        assert!(!epochs.are_over());
        epochs.unexpose();
        assert!(epochs.are_over());
    }

    #[test]
    fn nothing_follows_the_last_fence() {
        let mut epochs = Epochs::default();
        epochs.fence(true).unwrap();
        assert_eq!(epochs.access(0), Err(Class::RMA_SYNC));
    }
}
