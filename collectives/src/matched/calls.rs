//! Calls: messages that their receiver answers in whatever it waits for.
//!
//! A call is a message like others, with an order and credits like theirs, but for that it has a context of its own and that its
//! receive is there when it comes. So memory that nobody but its owner reaches can be put to and got from: the owner does it.

use alloc::{rc::Rc, vec::Vec};
use core::{
    cell::{Cell, RefCell},
    mem,
};

use hal::Core;

use super::{
    matching::Arrived,
    post::{Outgoing, Post, SHORT_BYTES, lines_of},
    request::{State, look, wait_for},
};
use crate::{Comm, Error};

/// The contexts of calls, and of what goes before the end of one, which no communicator has. A call goes in packets, however long it
/// is: an announced message would wait for its receive, and go through shared memory.
pub(super) const CONTEXT: u32 = u32::MAX;
pub(super) const BEFORE: u32 = u32::MAX - 1;

/// A call as its sender sees it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RemoteCall {
    /// The rank that it is for.
    pub to: usize,
    /// A number for what answers it.
    pub tag: u32,
    /// What it says.
    pub bytes: Vec<u8>,
}

/// What answers calls: it gets sender, tag and bytes of each, one after the other, those of one rank in their order, and returns the
/// calls that it makes in turn. It waits for nothing, and makes no calls itself.
pub type Answer = Rc<dyn Fn(usize, u32, Vec<u8>) -> Vec<RemoteCall>>;

/// Calls of this rank's post.
#[derive(Default)]
pub(super) struct Calls {
    answer: RefCell<Option<Answer>>,
    answered: Cell<u32>,
    /// What has come of calls that have not ended, by sender.
    begun: RefCell<Vec<Vec<u8>>>,
}

impl Calls {
    pub(super) fn are_over(&self) -> bool {
        self.begun.borrow().iter().all(Vec::is_empty)
    }
}

impl Post {
    /// A call has come, or a piece of one.
    pub(super) fn take_call<C: Core>(&self, world: &Comm<'_, C>, arrived: Arrived) {
        let label = arrived.label;
        let state = Rc::new(State::new(label.len, false));
        self.deliver(world, arrived, state.clone());
        let call = {
            let mut begun = self.calls().begun.borrow_mut();
            begun.resize_with(world.size(), Vec::new);
            let begun = &mut begun[label.from];
            state.with_copy(|copy| begun.extend_from_slice(copy));
            if label.context == BEFORE {
                return;
            }
            mem::take(begun)
        };
        let answer = self.calls().answer.borrow().clone();
        let answer =
            answer.unwrap_or_else(|| panic!("rank {} calls rank {}, which answers none", label.from, world.rank()));
        let (read, _) = lines_of(call.len());
        world.hal().account_memory(read, 0);
        self.calls().answered.set(self.calls().answered.get().wrapping_add(1));
        answer(label.from, label.tag, call).into_iter().for_each(|call| self.call(world, call));
    }

    fn call<C: Core>(&self, world: &Comm<'_, C>, RemoteCall { to, tag, bytes }: RemoteCall) {
        let (read, written) = lines_of(bytes.len());
        world.hal().account_memory(read, written);
        let mut rest = &bytes[..];
        loop {
            let (piece, after) = rest.split_at(rest.len().min(SHORT_BYTES));
            let context = if after.is_empty() { CONTEXT } else { BEFORE };
            let (len, bytes, state) = (piece.len(), Some(piece.to_vec()), Rc::new(State::new(0, true)));
            self.send(world, Outgoing { to, context, tag, bytes, len, synchronous: false, state, written: 0 });
            rest = after;
            if rest.is_empty() {
                return;
            }
        }
    }
}

impl<C: Core> Comm<'_, C> {
    /// Says what answers the calls of others from now on, on the communicator of all ranks. To be said before any rank calls.
    ///
    /// # Errors
    /// [`Error::MessagesClosed`].
    pub fn answer_calls(&self, answer: Option<Answer>) -> Result<(), Error> {
        self.post()?.calls().answer.replace(answer);
        Ok(())
    }

    /// Calls a rank of all ranks, which may be this one, behind what it was called before. Returns at once; the call is answered when
    /// its receiver waits for something.
    ///
    /// # Errors
    /// [`Error::MessagesClosed`]; [`Error::NoSuchRank`].
    pub fn call(&self, call: RemoteCall) -> Result<(), Error> {
        self.world_of().check_rank(call.to)?;
        self.post()?.call(self.world_of(), call);
        Ok(())
    }

    /// How many calls this rank has answered, modulo 2³².
    ///
    /// # Errors
    /// [`Error::MessagesClosed`].
    pub fn answered_calls(&self) -> Result<u32, Error> {
        Ok(self.post()?.calls().answered.get())
    }

    /// Answers the calls that have come, and drives all else that is under way, without waiting.
    pub fn look_for_calls(&self) {
        look(self);
    }

    /// Waits, answering calls and driving all else that is under way, until `check` finds something.
    ///
    /// # Errors
    /// [`Error::TimedOut`] on a dying machine.
    pub fn wait_for_calls<R>(&self, check: impl FnMut() -> Option<R>) -> Result<R, Error> {
        wait_for(self, check)
    }
}
