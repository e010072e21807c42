//! Long messages whose senders wait: by chunks, through the sender's MPB.

use alloc::{rc::Rc, vec::Vec};
use core::cell::Cell;

use hal::Core;

use super::{Post, calls};
use crate::{
    Comm,
    matched::{label::Label, state::State},
};

/// A message of which chunks come from a sender that waits.
pub(super) struct Stream {
    pub(super) label: Label,
    pub(super) state: Rc<State>,
    /// The chunk that comes next, and whether it is there.
    chunk: usize,
    pub(super) is_there: Cell<bool>,
}

impl Post {
    /// A message comes from a rank that waits. A receive that waits gets it itself.
    pub(super) fn begin_stream<C: Core>(&self, world: &Comm<'_, C>, label: Label, state: Rc<State>) {
        if !calls::is_call(label.context) {
            state.begin(label);
        }
        let is_there = Cell::new(world.is_there_when_announced(label.len));
        self.streams.borrow_mut().push(Stream { label, state, chunk: 0, is_there });
        self.go_on_with_streams(world);
    }

    /// Gets the chunks that are there of messages for which no receive waits.
    pub(super) fn go_on_with_streams<C: Core>(&self, world: &Comm<'_, C>) {
        let mut calls = Vec::new();
        self.streams.borrow_mut().retain_mut(|stream| {
            if stream.state.is_direct() || !stream.is_there.take() {
                return true;
            }
            let Stream { label, ref state, chunk, .. } = *stream;
            let bytes = world.announced_bytes(label.len, chunk);
            let receive = |bytes: &mut [u8]| world.receive_announced_chunk((label.len, chunk), bytes, label.from);
            if calls::is_call(label.context) {
                self.land_call(&label, bytes, receive);
            } else {
                state.with_copy(|copy| receive(&mut copy[bytes]));
            }
            stream.chunk += 1;
            let is_over = stream.chunk == world.announced_chunks(label.len).count();
            if is_over && calls::is_call(label.context) {
                calls.push(label);
            } else if is_over {
                state.finish_read();
            }
            !is_over
        });
        calls.into_iter().for_each(|label| self.end_call(world, label));
    }

    /// The rank whose message comes for a receive that waits, once.
    pub(in crate::matched) fn take_stream(&self, state: &Rc<State>) -> Option<usize> {
        let mut streams = self.streams.borrow_mut();
        let at = streams.iter().position(|stream| Rc::ptr_eq(&stream.state, state))?;
        Some(streams.swap_remove(at).label.from)
    }

    /// The senders of messages of which further chunks are to come for receives that do not wait.
    pub(super) fn streaming(&self) -> Vec<usize> {
        let streams = self.streams.borrow();
        streams.iter().filter(|stream| !stream.state.is_direct()).map(|stream| stream.label.from).collect()
    }
}
