//! What was begun: sends, receives, and collective operations.

use alloc::{rc::Rc, vec::Vec};
use core::mem;

use hal::{Core, LINE_BYTES, Reason};

use super::{
    label::Envelope,
    post::{Post, tasks::Progress},
    state::State,
    waits::{wait_for, wait_for_reason},
};
use crate::{Comm, Error};

/// What is waited for, if there are several.
const ONE_OF_SEVERAL: Reason = Reason::new("one of several requests");

/// What a request is about.
enum What<'r> {
    Send {
        post: Rc<Post>,
        state: Rc<State>,
        to: usize,
        envelope: Envelope,
    },
    /// A receive that has no buffer keeps the message until it is asked for.
    Receive {
        post: Rc<Post>,
        state: Rc<State>,
        buffer: Option<&'r mut [u8]>,
    },
    /// A collective operation through lines, by its number.
    Lines {
        number: usize,
        name: &'static str,
        buffer: Buffer<'r>,
    },
    /// A collective operation over messages.
    Messages {
        progress: Rc<Progress>,
        buffer: Buffer<'r>,
    },
}

/// Where what comes of a collective operation belongs, and what only this rank has found wrong with it: then it stays as it is.
pub(crate) type Buffer<'r> = (&'r mut [u8], Result<(), Error>);

/// A send, a receive or a collective operation that was begun.
///
/// It borrows the buffer for what comes until this is dropped; of what goes out there is a copy. Dropped before it is complete, a send or a
/// receive is [cancelled](Self::cancel) or, if that is too late, waited for; a collective operation is waited for.
#[must_use = "what was begun is complete when `wait` or `test` says so"]
pub struct Request<'r, 'c, C: Core> {
    comm: &'r Comm<'c, C>,
    /// Nothing when it was completed.
    pending: Option<What<'r>>,
    /// What was received without a buffer.
    message: Vec<u8>,
}

impl<'r, 'c, C: Core> Request<'r, 'c, C> {
    fn new(comm: &'r Comm<'c, C>, what: What<'r>) -> Self {
        Self { comm, pending: Some(what), message: Vec::new() }
    }

    pub(super) fn send(comm: &'r Comm<'c, C>, post: Rc<Post>, state: Rc<State>, to: usize, envelope: Envelope) -> Self {
        Self::new(comm, What::Send { post, state, to, envelope })
    }

    pub(super) fn receive(
        comm: &'r Comm<'c, C>,
        post: Rc<Post>,
        state: Rc<State>,
        buffer: Option<&'r mut [u8]>,
    ) -> Self {
        Self::new(comm, What::Receive { post, state, buffer })
    }

    /// An operation through lines, of which the communicator knows by this number.
    pub(crate) fn through_lines(comm: &'r Comm<'c, C>, number: usize, name: &'static str, buffer: Buffer<'r>) -> Self {
        Self::new(comm, What::Lines { number, name, buffer })
    }

    pub(super) fn over_messages(comm: &'r Comm<'c, C>, progress: Rc<Progress>, buffer: Buffer<'r>) -> Self {
        Self::new(comm, What::Messages { progress, buffer })
    }

    /// Waits until a message was received; or was sent, so far that this rank has nothing more to do with it; or until a
    /// collective operation is complete on this rank. Of that, the envelope has this rank, no tag, and the length of the buffer.
    ///
    /// # Errors
    /// [`Error::Truncated`] if a message has come that is longer than the buffer, which stays as it was;
    /// [`Error::MessageLength`] if ranks have begun a collective operation with lengths that differ, or what else its method says;
    /// [`Error::Completed`] if this was completed before; [`Error::TimedOut`] on a dying machine.
    pub fn wait(&mut self) -> Result<Envelope, Error> {
        let comm = self.comm;
        match &self.pending {
            None => return Err(Error::Completed),
            Some(What::Send { state, .. } | What::Receive { state, .. }) => {
                wait_for(comm, || state.is_done().then_some(()))?;
            }
            Some(What::Lines { number, name, buffer }) => comm.await_operation(*number, name, buffer.0.len())?,
            Some(What::Messages { progress, .. }) => progress.wait(comm)?,
        }
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

    /// Takes it back, if nothing has come for it, or no receive has got it; and says whether that was so. Otherwise, and if it is a
    /// collective operation, it has to be waited for as before. A message that has gone, also one whose send is complete and was not
    /// waited for, is asked back: that waits for the answer, which its receiver gives in whatever it waits for.
    pub fn cancel(&mut self) -> bool {
        let withdrawn = match &self.pending {
            Some(What::Send { post, state, to, .. }) => {
                // It fails on a dying machine only.
                post.withdraw(self.comm.world_of(), *to, state).unwrap_or(false)
            }
            Some(What::Receive { post, state, .. }) => post.matching().borrow_mut().withdraw(state),
            _ => false,
        };
        if withdrawn {
            self.pending = None;
        }
        withdrawn
    }

    /// Leaves a send to itself: it goes on, and nobody waits for it.
    pub(super) fn let_go(mut self) {
        debug_assert!(matches!(self.pending, Some(What::Send { .. })));
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
        match &self.pending {
            Some(What::Send { state, .. } | What::Receive { state, .. }) => state.is_done(),
            Some(What::Lines { number, .. }) => self.comm.outstanding().is_done(*number),
            Some(What::Messages { progress, .. }) => progress.is_over(),
            None => false,
        }
    }

    fn take(&mut self) -> Result<Envelope, Error> {
        let comm = self.comm;
        let of_all = |buffer: &[u8]| Envelope { source: comm.rank(), tag: 0, len_bytes: buffer.len() };
        match self.pending.take() {
            Some(What::Send { envelope, .. }) => Ok(envelope),
            Some(What::Receive { state, buffer: Some(buffer), .. }) => state.take(comm, buffer),
            Some(What::Receive { state, buffer: None, .. }) => {
                let (envelope, message) = state.take_message(comm)?;
                self.message = message;
                Ok(envelope)
            }
            Some(What::Lines { number, buffer: (buffer, checked), .. }) => {
                let data = comm.take_operation(number);
                checked?;
                buffer.copy_from_slice(&data);
                Ok(of_all(buffer))
            }
            Some(What::Messages { progress, buffer: (buffer, checked) }) => {
                let parts = progress.take()?;
                checked?;
                for (start, bytes) in parts {
                    let lines = bytes.len().div_ceil(LINE_BYTES);
                    comm.hal().account_memory(lines, lines);
                    buffer[start..start + bytes.len()].copy_from_slice(&bytes);
                }
                Ok(of_all(buffer))
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
        let Some(comm) = all.iter().find(|request| !request.is_over()).map(|request| request.comm) else {
            return Ok(None);
        };
        let index = wait_for_reason(comm, ONE_OF_SEVERAL, || all.iter().position(Self::is_done))?;
        Ok(Some((index, all[index].take())))
    }

    /// What [`wait_any`](Self::wait_any) returns, without waiting: nothing if none is complete.
    pub fn test_any(all: &mut [Self]) -> Option<(usize, Result<Envelope, Error>)> {
        all.first().iter().for_each(|request| request.comm.look());
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
        let is_enough = || (all.iter().any(Self::is_done) || else_done()).then_some(());
        wait_for_reason(comm, ONE_OF_SEVERAL, is_enough)?;
        Ok(Self::test_some(all))
    }

    /// Takes the results of all requests that are complete, each with its index; does not wait.
    pub fn test_some(all: &mut [Self]) -> Vec<(usize, Result<Envelope, Error>)> {
        all.first().iter().for_each(|request| request.comm.look());
        let done = all.iter_mut().enumerate().filter(|(_, request)| request.is_done());
        done.map(|(index, request)| (index, request.take())).collect()
    }

    /// Waits until all of these are complete. What became of each is in their order; of those that were over before,
    /// [`Error::Completed`].
    pub fn wait_all(all: &mut [Self]) -> Vec<Result<Envelope, Error>> {
        all.iter_mut().map(Self::wait).collect()
    }

    /// Whether all of these are complete, which then can be [waited for](Self::wait_all) without waiting.
    pub fn test_all(all: &mut [Self]) -> bool {
        all.first().iter().for_each(|request| request.comm.look());
        all.iter().all(|request| request.is_over() || request.is_done())
    }
}

impl<C: Core> Drop for Request<'_, '_, C> {
    fn drop(&mut self) {
        if !self.is_over() && !self.comm.hal().is_dying() && (self.is_done() || !self.cancel()) {
            // It fails on a dying machine only, or tells of what nobody asks for any more.
            let _ = self.wait();
        }
    }
}
