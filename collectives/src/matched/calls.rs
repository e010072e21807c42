//! Calls: messages that their receiver answers in whatever it waits for.
//!
//! A call is a message like others, with an order and credits like theirs, but for that it has a context of its own and that its
//! receive is there when it comes. So memory that nobody but its owner reaches can be put to and got from: the owner does it.

use alloc::{collections::VecDeque, rc::Rc, vec::Vec};
use core::cell::{Cell, RefCell};

use hal::Core;

use super::{
    matching::{Arrived, Label},
    post::{Outgoing, Post, lines_of},
    request::{State, look, wait_for},
};
use crate::{Comm, Error};

/// The context of calls, which no communicator has.
pub(super) const CONTEXT: u32 = u32::MAX;

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

/// Calls of one rank, in their order.
type Coming = VecDeque<(Label, Rc<State>)>;

/// Calls of this rank's post.
#[derive(Default)]
pub(super) struct Calls {
    answer: RefCell<Option<Answer>>,
    answered: Cell<u32>,
    /// Those that are coming, by sender: an announced one takes longer than a short one behind it.
    coming: RefCell<Vec<Coming>>,
}

impl Calls {
    pub(super) fn are_over(&self) -> bool {
        self.coming.borrow().iter().all(VecDeque::is_empty)
    }
}

impl Post {
    /// A call has come, or is announced.
    pub(super) fn take_call<C: Core>(&self, world: &Comm<'_, C>, arrived: Arrived) {
        let label = arrived.label;
        let state = Rc::new(State::new(label.len, false));
        {
            let mut coming = self.calls().coming.borrow_mut();
            coming.resize_with(world.size(), VecDeque::new);
            coming[label.from].push_back((label, state.clone()));
        }
        self.deliver(world, arrived, state);
        self.answer_calls(world, label.from);
    }

    /// Answers the calls of a rank that are here, as far as those before them are.
    pub(super) fn answer_calls<C: Core>(&self, world: &Comm<'_, C>, from: usize) {
        loop {
            let (label, state) = {
                let mut coming = self.calls().coming.borrow_mut();
                let Some(queue) = coming.get_mut(from) else { return };
                if !queue.front().is_some_and(|(_, state)| state.is_done()) {
                    return;
                }
                let Some(next) = queue.pop_front() else { return };
                next
            };
            let answer = self.calls().answer.borrow().clone();
            let answer =
                answer.unwrap_or_else(|| panic!("rank {from} calls rank {}, which answers none", world.rank()));
            let mut bytes = Vec::new();
            state.with_copy(|copy| bytes = copy.to_vec());
            let (read, _) = lines_of(bytes.len());
            world.hal().account_memory(read, 0);
            self.calls().answered.set(self.calls().answered.get().wrapping_add(1));
            answer(label.from, label.tag, bytes).into_iter().for_each(|call| self.call(world, call));
        }
    }

    fn call<C: Core>(&self, world: &Comm<'_, C>, RemoteCall { to, tag, bytes }: RemoteCall) {
        let (read, written) = lines_of(bytes.len());
        world.hal().account_memory(read, written);
        let (len, state) = (bytes.len(), Rc::new(State::new(0, true)));
        let (context, bytes) = (CONTEXT, Some(bytes));
        self.send(world, Outgoing { to, context, tag, bytes, len, synchronous: false, state, written: 0 });
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
