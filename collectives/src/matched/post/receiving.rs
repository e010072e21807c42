//! What has come: it is matched, and credits go back.

use alloc::{rc::Rc, vec::Vec};
use core::mem;

use hal::Core;

use super::{CREDITS, Incoming, KEPT, Post, TOGETHER, UNWANTED, WAITING, calls};
use crate::{
    Comm,
    matched::{
        label::{Label, Pattern},
        matching::{Arrived, Body},
        packet::{Kind, Packet},
        state::State,
    },
};

impl Post {
    /// A message is only for whoever has found it.
    pub(in crate::matched) fn take_found(&self, pattern: &Pattern) -> Option<Arrived> {
        let arrived = self.matching.borrow_mut().take(pattern)?;
        self.found.set(self.found.get() + 1);
        Some(arrived)
    }

    /// The same message is received.
    pub(in crate::matched) fn deliver_found<C: Core>(&self, world: &Comm<'_, C>, arrived: Arrived, state: Rc<State>) {
        self.found.set(self.found.get() - 1);
        self.deliver(world, arrived, state);
    }

    /// A message has come: to a receive that waits for it, or to wait for one.
    pub(super) fn arrive<C: Core>(&self, world: &Comm<'_, C>, label: Label, body: Body) {
        let arrived = Arrived { label, body };
        if calls::is_call(label.context) {
            return self.take_call(world, arrived);
        }
        if label.from != world.rank() {
            self.peers.borrow_mut()[label.from].held += 1;
        }
        let state = self.matching.borrow_mut().receive_for(&label);
        match state {
            Some(state) => self.deliver(world, arrived, state),
            None => self.matching.borrow_mut().keep(arrived),
        }
        // What is still wanted may wait behind what has come, whether that was received or not.
        let wants_more = self.matching.borrow().wants_more_from(label.from);
        if wants_more {
            self.widen(world, label.from);
        }
    }

    /// Something is wanted that has not come. It may wait behind what has.
    pub(in crate::matched) fn want<C: Core>(&self, world: &Comm<'_, C>, pattern: &Pattern) {
        match pattern.from {
            Some(from) => self.widen(world, from),
            None => (0..world.size()).for_each(|from| self.widen(world, from)),
        }
    }

    /// Gives `to` more credits, if it has used all.
    pub(super) fn widen<C: Core>(&self, world: &Comm<'_, C>, to: usize) {
        let more = {
            let peer = &mut self.peers.borrow_mut()[to];
            if peer.held < peer.limit {
                return;
            }
            let owed = mem::take(&mut peer.owed);
            peer.held -= owed;
            peer.limit += if owed > 0 { 0 } else { TOGETHER };
            if owed > 0 { owed } else { TOGETHER }
        };
        self.post(world, to, &Packet::new(Kind::Credit, more));
    }

    /// A message is received.
    pub(in crate::matched) fn deliver<C: Core>(&self, world: &Comm<'_, C>, arrived: Arrived, state: Rc<State>) {
        let Arrived { label, body } = arrived;
        let is_wanted = label.len <= state.room();
        match body {
            Body::Bytes(bytes) => {
                state.finish_received(label, bytes);
                self.give_credit(world, &label);
            }
            Body::Waiting => {
                self.give_credit(world, &label);
                if is_wanted {
                    self.begin_stream(world, label, state);
                } else {
                    state.finish_received(label, Vec::new());
                    world.refuse_announced(label.len, label.from);
                    self.post(world, label.from, &Packet::new(Kind::Clear, 0).tagged(label.context, WAITING));
                }
            }
            Body::Synchronous(bytes, sender) => {
                state.finish_received(label, bytes);
                sender.finish_sent();
            }
            Body::Announced(number) => {
                let is_kept = {
                    let peer = &mut self.peers.borrow_mut()[label.from];
                    peer.held -= 1;
                    let is_kept = peer.limit > CREDITS;
                    peer.limit -= u32::from(is_kept);
                    is_kept
                };
                let flags = if is_wanted { 0 } else { UNWANTED } | if is_kept { KEPT } else { 0 };
                let clear = Packet::new(Kind::Clear, number).tagged(label.context, flags);
                if !is_wanted || label.len == 0 {
                    state.finish_received(label, Vec::new());
                } else {
                    state.begin(label);
                    self.peers.borrow_mut()[label.from].incoming.push_back(Incoming { label, state, read: 0 });
                }
                self.post(world, label.from, &clear);
            }
        }
    }

    /// Gives the sender of a message the credit back that it has used, if it has.
    fn give_credit<C: Core>(&self, world: &Comm<'_, C>, label: &Label) {
        let to = label.from;
        if to == world.rank() || calls::is_call(label.context) {
            return;
        }
        {
            let peer = &mut self.peers.borrow_mut()[to];
            if peer.limit > CREDITS {
                peer.limit -= 1;
                peer.held -= 1;
                return;
            }
            peer.owed += 1;
            if peer.owed < TOGETHER {
                return;
            }
            peer.owed = 0;
            peer.held -= TOGETHER;
        }
        self.post(world, to, &Packet::new(Kind::Credit, TOGETHER));
    }
}
