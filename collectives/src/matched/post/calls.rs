//! Calls: messages that their receiver answers in whatever it waits for.
//!
//! A call is a message with a context of its own, whose receive is there when it comes. So it takes no credit, and goes past the
//! messages that wait for some: these may wait for receives that only begin after the call. Calls of one rank keep their order.
//! So memory that nobody but its owner reaches can be put to and got from: the owner does it.

use alloc::{collections::BTreeMap, rc::Rc, vec::Vec};
use core::{
    cell::{Cell, RefCell},
    mem,
    ops::Range,
};

use hal::Core;

use super::{Outgoing, Post};
use crate::{
    Comm,
    matched::{
        label::Label,
        matching::{Arrived, Body},
        packet::{SHORT_BYTES, lines_of},
        state::State,
    },
};

/// The contexts of calls, and of what goes before the end of one, which no communicator has. A call goes in packets, however long it
/// is, unless its caller [waits](Comm::call_with): another announced message would go through shared memory.
pub(in crate::matched) const CONTEXT: u32 = u32::MAX;
pub(super) const BEFORE: u32 = u32::MAX - 1;

/// Whether what has this context is a call, or a piece of one.
pub(super) fn is_call(context: u32) -> bool {
    context >= BEFORE
}

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

/// What answers calls, one after the other, those of one rank in their order. It waits for nothing, and makes no calls itself.
pub trait Answers {
    /// Answers a call of a rank with this tag, by calls in turn.
    fn answer(&self, from: usize, tag: u32, bytes: Vec<u8>) -> Vec<RemoteCall>;

    /// Says where bytes belong that come [behind what a call says](Comm::call_with), before it is answered: calls `receive` once with
    /// as many bytes as are named of them.
    fn land(&self, from: usize, tag: u32, call: &[u8], bytes: Range<usize>, receive: &mut dyn FnMut(&mut [u8]));
}

/// Calls of this rank's post.
#[derive(Default)]
pub(in crate::matched) struct Calls {
    pub(in crate::matched) answer: RefCell<Option<Rc<dyn Answers>>>,
    pub(in crate::matched) answered: Cell<u32>,
    /// What has come of calls that have not ended, by sender.
    begun: RefCell<Vec<Vec<u8>>>,
    /// Calls behind which bytes are coming, by sender, who waits, and may answer others meanwhile.
    heads: RefCell<BTreeMap<usize, Vec<u8>>>,
}

impl Calls {
    fn answerer(&self, from: usize) -> Rc<dyn Answers> {
        self.answer.borrow().clone().unwrap_or_else(|| panic!("rank {from} calls, and nobody answers calls here"))
    }

    pub(super) fn are_over(&self) -> bool {
        self.begun.borrow().iter().all(Vec::is_empty) && self.heads.borrow().is_empty()
    }
}

impl Post {
    /// A call has come, or a piece of one, or one behind which bytes are coming.
    pub(super) fn take_call<C: Core>(&self, world: &Comm<'_, C>, arrived: Arrived) {
        let Arrived { label, ref body, .. } = arrived;
        let is_head = matches!(body, Body::Waiting);
        if is_head {
            let head = self.take_begun(world, label.from, Vec::new());
            self.calls().heads.borrow_mut().insert(label.from, head);
        }
        let state = Rc::new(State::new(label.len, false));
        self.deliver(world, arrived, state.clone());
        if !is_head {
            let mut call = Vec::new();
            state.with_copy(|copy| call = mem::take(copy));
            let call = self.take_begun(world, label.from, call);
            if label.context == BEFORE {
                self.calls().begun.borrow_mut()[label.from] = call;
            } else {
                self.answer_call(world, label, call);
            }
        }
    }

    /// What has come of a rank's call, and these last bytes.
    fn take_begun<C: Core>(&self, world: &Comm<'_, C>, from: usize, mut last: Vec<u8>) -> Vec<u8> {
        let mut begun = self.calls().begun.borrow_mut();
        begun.resize_with(world.size(), Vec::new);
        let mut call = mem::take(&mut begun[from]);
        if call.is_empty() {
            return last;
        }
        call.append(&mut last);
        call
    }

    /// The bytes behind a call are all there.
    pub(super) fn end_call<C: Core>(&self, world: &Comm<'_, C>, label: Label) {
        let head = self.calls().heads.borrow_mut().remove(&label.from);
        self.answer_call(world, label, head.unwrap_or_default());
    }

    fn answer_call<C: Core>(&self, world: &Comm<'_, C>, label: Label, call: Vec<u8>) {
        let (read, _) = lines_of(call.len());
        world.hal().account_memory(read, 0);
        self.calls().answered.set(self.calls().answered.get().wrapping_add(1));
        let calls = self.calls().answerer(label.from).answer(label.from, label.tag, call);
        calls.into_iter().for_each(|call| self.call(world, call));
    }

    /// Bytes behind a call are there.
    pub(super) fn land_call(&self, label: &Label, bytes: Range<usize>, mut receive: impl FnMut(&mut [u8])) {
        let heads = self.calls().heads.borrow();
        let head = heads.get(&label.from).map_or(&[][..], Vec::as_slice);
        self.calls().answerer(label.from).land(label.from, label.tag, head, bytes, &mut receive);
    }

    pub(in crate::matched) fn call<C: Core>(&self, world: &Comm<'_, C>, RemoteCall { to, tag, bytes }: RemoteCall) {
        let (read, written) = lines_of(bytes.len());
        world.hal().account_memory(read, written);
        let end = bytes.len().saturating_sub(1) / SHORT_BYTES * SHORT_BYTES;
        self.call_pieces(world, (to, tag), &bytes[..end]);
        let last = bytes[end..].to_vec();
        self.send(world, outgoing(to, (CONTEXT, tag), last));
    }

    /// What goes before the end of a call.
    pub(in crate::matched) fn call_pieces<C: Core>(&self, world: &Comm<'_, C>, (to, tag): (usize, u32), bytes: &[u8]) {
        for piece in bytes.chunks(SHORT_BYTES) {
            self.send(world, outgoing(to, (BEFORE, tag), piece.to_vec()));
        }
    }
}

/// A call, or a piece of one, that goes out.
fn outgoing(to: usize, (context, tag): (u32, u32), bytes: Vec<u8>) -> Outgoing {
    let (len, bytes) = (bytes.len(), Some(bytes));
    Outgoing { to, context, tag, bytes, len, synchronous: false, state: Rc::new(State::new(0, true)), written: 0 }
}
