//! Sends and receives that were begun.

use alloc::{rc::Rc, vec::Vec};
use core::mem;

use hal::{Core, Reason, TimedOut};

use super::{label::Envelope, post::Post, state::State};
use crate::{Comm, Error};

/// What is waited for.
pub(super) const MESSAGE: Reason = Reason::new("a message with a tag");

/// What a request is about.
enum What<'r> {
    Send {
        to: usize,
        envelope: Envelope,
    },
    /// A receive that has no buffer keeps the message until it is asked for.
    Receive {
        buffer: Option<&'r mut [u8]>,
    },
}

/// A send or a receive that was begun.
///
/// A receive borrows its buffer until this is dropped; of a send there is a copy. Dropped before it is complete, it is
/// [cancelled](Self::cancel) or, if that is too late, waited for.
#[must_use = "a message is there when `wait` or `test` says so"]
pub struct Transfer<'r, 'c, C: Core> {
    comm: &'r Comm<'c, C>,
    post: Rc<Post>,
    /// Nothing when it was completed.
    pending: Option<(Rc<State>, What<'r>)>,
    /// What was received without a buffer.
    message: Vec<u8>,
}

impl<'r, 'c, C: Core> Transfer<'r, 'c, C> {
    pub(super) fn send(comm: &'r Comm<'c, C>, post: Rc<Post>, state: Rc<State>, to: usize, envelope: Envelope) -> Self {
        Self { comm, post, pending: Some((state, What::Send { to, envelope })), message: Vec::new() }
    }

    pub(super) fn receive(
        comm: &'r Comm<'c, C>,
        post: Rc<Post>,
        state: Rc<State>,
        buffer: Option<&'r mut [u8]>,
    ) -> Self {
        Self { comm, post, pending: Some((state, What::Receive { buffer })), message: Vec::new() }
    }

    /// Waits until a message was received; or until it was sent, so far that this rank has nothing more to do with it.
    ///
    /// # Errors
    /// [`Error::Truncated`] if a message has come that is longer than the buffer, which stays as it was;
    /// [`Error::Completed`] if this was completed before; [`Error::TimedOut`] on a dying machine.
    pub fn wait(&mut self) -> Result<Envelope, Error> {
        let Some((state, _)) = &self.pending else { return Err(Error::Completed) };
        wait_for(self.comm, || state.is_done().then_some(()))?;
        self.take()
    }

    /// What [`wait`](Self::wait) returns, without waiting: nothing if there is still something to wait for.
    ///
    /// # Errors
    /// As [`wait`](Self::wait).
    pub fn test(&mut self) -> Result<Option<Envelope>, Error> {
        if self.is_over() {
            return Err(Error::Completed);
        }
        self.comm.look();
        if self.is_done() { self.take().map(Some) } else { Ok(None) }
    }

    /// Takes it back, if nothing has come for it, or nothing was sent of it; and says whether that was so. Otherwise it
    /// has to be waited for as before.
    pub fn cancel(&mut self) -> bool {
        let Some((state, what)) = &self.pending else { return false };
        let withdrawn = !state.is_done()
            && match what {
                What::Send { to, .. } => self.post.withdraw(self.comm.world_of(), *to, state),
                What::Receive { .. } => self.post.matching().borrow_mut().withdraw(state),
            };
        if withdrawn {
            self.pending = None;
        }
        withdrawn
    }

    /// Leaves a send to itself: it goes on, and nobody waits for it.
    pub(super) fn let_go(mut self) {
        debug_assert!(matches!(self.pending, Some((_, What::Send { .. }))));
        self.pending = None;
    }

    /// Whether it was completed or cancelled: there is nothing to wait for any more.
    pub fn is_over(&self) -> bool {
        self.pending.is_none()
    }

    /// The message, once, if this was a receive [without a buffer](Comm::start_receive_tagged_unplaced) and is complete; else nothing.
    pub fn take_message(&mut self) -> Vec<u8> {
        mem::take(&mut self.message)
    }

    fn is_done(&self) -> bool {
        self.pending.as_ref().is_some_and(|(state, _)| state.is_done())
    }

    fn take(&mut self) -> Result<Envelope, Error> {
        match self.pending.take() {
            Some((_, What::Send { envelope, .. })) => Ok(envelope),
            Some((state, What::Receive { buffer: Some(buffer) })) => state.take(self.comm, buffer),
            Some((state, What::Receive { buffer: None })) => {
                let (envelope, message) = state.take_message(self.comm)?;
                self.message = message;
                Ok(envelope)
            }
            None => Err(Error::Completed),
        }
    }

    /// Waits until one of these is complete, and says which. Those that are over do not count; nothing if all are.
    ///
    /// # Errors
    /// [`Error::TimedOut`] on a dying machine. What went wrong with the one is beside its number.
    #[expect(clippy::type_complexity, reason = "a number, and what became of it")]
    pub fn wait_any(all: &mut [Self]) -> Result<Option<(usize, Result<Envelope, Error>)>, Error> {
        let Some(comm) = all.iter().find(|transfer| !transfer.is_over()).map(|transfer| transfer.comm) else {
            return Ok(None);
        };
        let index = wait_for(comm, || all.iter().position(Self::is_done))?;
        Ok(Some((index, all[index].take())))
    }

    /// What [`wait_any`](Self::wait_any) returns, without waiting: nothing if none is complete.
    pub fn test_any(all: &mut [Self]) -> Option<(usize, Result<Envelope, Error>)> {
        all.first().iter().for_each(|transfer| transfer.comm.look());
        let index = all.iter().position(Self::is_done)?;
        Some((index, all[index].take()))
    }

    /// Waits until at least one of these is complete, and says which ones are. Those that are over do not count.
    ///
    /// # Errors
    /// As [`wait_any`](Self::wait_any).
    #[expect(clippy::type_complexity, reason = "numbers, and what became of them")]
    pub fn wait_some(all: &mut [Self]) -> Result<Vec<(usize, Result<Envelope, Error>)>, Error> {
        let first = Self::wait_any(all)?;
        Ok(first.into_iter().chain(Self::test_some(all)).collect())
    }

    /// Waits as [`wait_some`](Self::wait_some) does, or until `else_done` says so; then none may be complete.
    ///
    /// # Errors
    /// As [`wait_any`](Self::wait_any).
    #[expect(clippy::type_complexity, reason = "numbers, and what became of them")]
    pub fn wait_some_or(
        comm: &Comm<'c, C>,
        all: &mut [Self],
        mut else_done: impl FnMut() -> bool,
    ) -> Result<Vec<(usize, Result<Envelope, Error>)>, Error> {
        wait_for(comm, || (all.iter().any(Self::is_done) || else_done()).then_some(()))?;
        Ok(Self::test_some(all))
    }

    /// Takes the results of all transfers that are complete, each with its index; does not wait.
    pub fn test_some(all: &mut [Self]) -> Vec<(usize, Result<Envelope, Error>)> {
        all.first().iter().for_each(|transfer| transfer.comm.look());
        let done = all.iter_mut().enumerate().filter(|(_, transfer)| transfer.is_done());
        done.map(|(index, transfer)| (index, transfer.take())).collect()
    }

    /// Waits until all of these are complete. What became of each is in their order; of those that were over before,
    /// [`Error::Completed`].
    pub fn wait_all(all: &mut [Self]) -> Vec<Result<Envelope, Error>> {
        all.iter_mut().map(Self::wait).collect()
    }

    /// Whether all of these are complete, which then can be [waited for](Self::wait_all) without waiting.
    pub fn test_all(all: &mut [Self]) -> bool {
        all.first().iter().for_each(|transfer| transfer.comm.look());
        all.iter().all(|transfer| transfer.is_over() || transfer.is_done())
    }
}

impl<C: Core> Drop for Transfer<'_, '_, C> {
    fn drop(&mut self) {
        if !self.is_over() && !self.comm.hal().is_dying() && !self.cancel() {
            // It fails on a dying machine only, or tells of a message that nobody asks for any more.
            let _ = self.wait();
        }
    }
}

/// Waits, driving all that is under way, until `check` finds something.
pub(super) fn wait_for<C: Core, R>(comm: &Comm<'_, C>, mut check: impl FnMut() -> Option<R>) -> Result<R, Error> {
    if let Some(found) = check() {
        return Ok(found);
    }
    comm.wait_for_engines(MESSAGE, check).map_err(|TimedOut { reason }| Error::TimedOut { reason })
}
