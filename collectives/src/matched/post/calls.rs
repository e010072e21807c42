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

use super::{Outgoing, Post};
use crate::{
    Comm,
    matched::{
        matching::Arrived,
        packet::{SHORT_BYTES, lines_of},
        state::State,
    },
};

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
pub(in crate::matched) struct Calls {
    pub(in crate::matched) answer: RefCell<Option<Answer>>,
    pub(in crate::matched) answered: Cell<u32>,
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

    pub(in crate::matched) fn call<C: Core>(&self, world: &Comm<'_, C>, RemoteCall { to, tag, bytes }: RemoteCall) {
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
