//! What has come: it is matched, and credits go back.

use alloc::{rc::Rc, vec::Vec};
use hal::{Core, Line, Reason, TimedOut};

use super::{CREDITS, Incoming, KEPT, Post, TOGETHER, UNWANTED, WAITING, calls};
use crate::{
    Comm, Error,
    matched::{
        label::{Label, Pattern},
        matching::{Arrived, Body},
        packet::{Kind, Packet, WAITING_BYTES, Words},
        state::State,
    },
};

impl Post {
    /// Waits for a message of one rank, for a receive that is the only thing that this rank waits for, and gets it at once to where it
    /// belongs, if it is the next one of that rank and goes at once, or its sender waits. Returns its label, or nothing: then the message
    /// is to be waited for beside all else that may come.
    ///
    /// # Errors
    /// [`Error::TimedOut`] on a dying machine.
    #[inline]
    pub(in crate::matched) fn receive_from_box<C: Core>(
        &self,
        world: &Comm<'_, C>,
        pattern: &Pattern,
        buffer: &mut [u8],
        reason: Reason,
    ) -> Result<Option<Label>, Error> {
        let Some(from) = pattern.from.filter(|from| self.slots.may_await_box(*from, world.rank())) else {
            return Ok(None);
        };
        let is_alone =
            self.matching.borrow().is_empty() && self.streams.borrow().is_empty() && world.engines().are_one();
        if !is_alone {
            // The other way gives credits only if nothing that has come fits.
            return Ok(None);
        }
        // What waits for credits may go on with those that the message brings, and with it the program's work.
        let has_used_all = match &self.peers.borrow()[from] {
            peer if !peer.waiting.is_empty() => return Ok(None),
            peer => peer.has_used_all(),
        };
        if has_used_all {
            self.widen(world, from);
        }
        if self.queued.get() > 0 {
            // The credits wait for room.
            return Ok(None);
        }
        // No packet goes there before the next one comes.
        self.slots.acknowledge(world);
        let mut line = Line::default();
        let awaited = self.slots.await_box(world, from, reason.from(world.core_of(from)), &mut line);
        if !awaited.map_err(|TimedOut { reason }| Error::TimedOut { reason })? {
            return Ok(None);
        }
        let words = Words::of(&line);
        let is_here = words.kind == Kind::Eager;
        let len = if is_here { words.len } else { words.number as usize };
        let label = Label { context: words.context, from, tag: words.tag, len };
        // One that is announced with a number goes another way.
        let is_direct = is_here || words.kind == Kind::Announce && words.len == WAITING_BYTES;
        if !is_direct || !pattern.fits(&label) || len > buffer.len() {
            // The next look finds it again.
            return Ok(None);
        }
        if is_here {
            self.slots.take_into(world, from, (&line, &words), buffer);
        } else {
            self.slots.end_packet(world, from, &words);
        }
        let owed = {
            let peer = &mut self.peers.borrow_mut()[from];
            peer.credits += if is_here { words.number } else { line.0[0].into() };
            peer.count_arrived(true);
            peer.receive_one()
        };
        self.give_credits(world, from, owed);
        if !is_here {
            world.receive_announced(&mut buffer[..len], from)?;
        }
        Ok(Some(label))
    }

    /// A receive begins.
    pub(in crate::matched) fn begin_receive<C: Core>(&self, world: &Comm<'_, C>, pattern: Pattern, state: &Rc<State>) {
        let arrived = self.matching.borrow_mut().take(&pattern);
        match arrived {
            Some(arrived) => self.deliver(world, arrived, state.clone()),
            None => {
                self.matching.borrow_mut().post(pattern, state.clone());
                self.want(world, &pattern);
            }
        }
    }

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
        if calls::is_call(label.context) {
            return self.take_call(world, Arrived { label, number: 0, body });
        }
        let number = self.peers.borrow_mut()[label.from].count_arrived(label.from != world.rank());
        let arrived = Arrived { label, number, body };
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
            if !peer.has_used_all() {
                return;
            }
            let owed = peer.give_back();
            peer.limit += if owed > 0 { 0 } else { TOGETHER };
            if owed > 0 { owed } else { TOGETHER }
        };
        self.post(world, to, &Packet::new(Kind::Credit, more));
    }

    /// The message of a rank with this number is not to be received, if it waits for a receive; says whether it did.
    pub(super) fn drop_arrived<C: Core>(&self, world: &Comm<'_, C>, from: usize, number: u32) -> bool {
        let arrived = self.matching.borrow_mut().take_back(from, number);
        let is_back = arrived.is_some();
        if let Some(arrived) = arrived {
            arrived.label.declare_received(world);
            // There is no room for it, so that nothing but its end is told.
            self.deliver(world, arrived, Rc::new(State::new(0, false)));
        }
        is_back
    }

    /// A message is received.
    pub(in crate::matched) fn deliver<C: Core>(&self, world: &Comm<'_, C>, arrived: Arrived, state: Rc<State>) {
        let Arrived { label, body, .. } = arrived;
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
        let owed = self.peers.borrow_mut()[to].receive_one();
        self.give_credits(world, to, owed);
    }

    #[inline]
    fn give_credits<C: Core>(&self, world: &Comm<'_, C>, to: usize, credits: u32) {
        if credits > 0 {
            self.post(world, to, &Packet::new(Kind::Credit, credits));
        }
    }
}
