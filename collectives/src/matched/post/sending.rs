//! What goes out: at once, or when there are credits for it.

use alloc::rc::Rc;

use hal::{Act, Core, Reason, TimedOut};

use super::{Outgoing, Post, calls};
use crate::{
    Comm, Error,
    matched::{
        label::Label,
        matching::Body,
        packet::{Kind, Packet, SHORT_BYTES, WAITING_BYTES},
        state::State,
        waits::wait_for_reason,
    },
};

impl Post {
    /// Begins to send a message. The engine does the rest, except for bytes that it does not have.
    pub(in crate::matched) fn send<C: Core>(&self, world: &Comm<'_, C>, outgoing: Outgoing) {
        let to = outgoing.to;
        if to == world.rank() {
            return self.send_to_itself(world, outgoing);
        }
        if calls::is_call(outgoing.context) {
            return self.emit(world, outgoing);
        }
        self.peers.borrow_mut()[to].waiting.push_back(outgoing);
        self.issue(world, to);
    }

    /// Takes a credit for a message that may go to another rank now, as none waits before it; then it is to be sent, with the credits that
    /// this returns.
    #[inline]
    pub(in crate::matched) fn takes_credit<C: Core>(&self, world: &Comm<'_, C>, to: usize) -> Option<u32> {
        let peer = &mut self.peers.borrow_mut()[to];
        (to != world.rank() && peer.takes_credit()).then(|| peer.give_back())
    }

    /// Sends a message to another rank of which the [beginning](Comm::begin_announced) is in this rank's MPB, and waits until it is
    /// received, or refused.
    ///
    /// # Errors
    /// [`Error::TimedOut`] on a dying machine.
    pub(in crate::matched) fn send_waiting<C: Core>(
        &self,
        world: &Comm<'_, C>,
        to: usize,
        [context, tag]: [u32; 2],
        message: &[u8],
    ) -> Result<(), Error> {
        self.is_refused.set(false);
        let len = message.len();
        if calls::is_call(context) || self.peers.borrow_mut()[to].takes_credit() {
            self.announce_waiting(world, to, [context, tag], len);
        } else {
            let state = Rc::new(State::new(0, true));
            let outgoing = Outgoing { to, context, tag, bytes: None, len, synchronous: false, state, written: 0 };
            self.peers.borrow_mut()[to].waiting.push_back(outgoing);
        }
        world.send_announced(message, to, || self.is_refused.get())
    }

    /// Announces the message that this rank waits with.
    fn announce_waiting<C: Core>(&self, world: &Comm<'_, C>, to: usize, [context, tag]: [u32; 2], len: usize) {
        let credits: [u8; WAITING_BYTES] = [self.peers.borrow_mut()[to].give_back() as u8];
        self.post(world, to, &Packet::new(Kind::Announce, len as u32).tagged(context, tag).carrying(&credits));
    }

    /// Waits a little for room for the next packet to another rank, behind those that are queued.
    ///
    /// # Errors
    /// [`Error::TimedOut`] on a dying machine.
    #[inline]
    pub(in crate::matched) fn await_room<C: Core>(&self, world: &Comm<'_, C>, to: usize) -> Result<(), Error> {
        let await_taken = || self.slots.await_acknowledgement(world, to);
        while await_taken().map_err(|TimedOut { reason }| Error::TimedOut { reason })? {
            let before = self.queued.get();
            if before > 0 {
                self.push(world, to);
            }
            // None is left for this rank, or there is no room for the next.
            if self.queued.get() == before {
                break;
            }
        }
        Ok(())
    }

    /// Sends a short message that has taken a credit, with credits for its receiver.
    #[inline]
    pub(in crate::matched) fn send_short<C: Core>(
        &self,
        world: &Comm<'_, C>,
        (to, credits): (usize, u32),
        [context, tag]: [u32; 2],
        message: &[u8],
    ) {
        self.post_at_once(world, to, &Packet::new(Kind::Eager, credits).tagged(context, tag).carrying(message));
    }

    /// Credits have come back.
    #[inline]
    pub(super) fn take_credits<C: Core>(&self, world: &Comm<'_, C>, from: usize, credits: u32) {
        if credits > 0 {
            self.peers.borrow_mut()[from].credits += credits;
            self.issue(world, from);
        }
    }

    pub(super) fn send_to_itself<C: Core>(&self, world: &Comm<'_, C>, outgoing: Outgoing) {
        let Outgoing { to, context, tag, bytes, len, synchronous, state, .. } = outgoing;
        state.go(self.peers.borrow()[to].arrived.wrapping_add(1));
        let bytes = bytes.unwrap_or_default();
        debug_assert_eq!(bytes.len(), len, "a message to this rank itself is here");
        let body = if synchronous {
            Body::Synchronous(bytes, state)
        } else {
            Body::Bytes({
                state.finish_sent();
                bytes
            })
        };
        self.arrive(world, Label { context, from: to, tag, len }, body);
    }

    /// Sends what there are credits for.
    pub(super) fn issue<C: Core>(&self, world: &Comm<'_, C>, to: usize) {
        loop {
            let outgoing = {
                let peer = &mut self.peers.borrow_mut()[to];
                if peer.credits == 0 {
                    return;
                }
                let Some(outgoing) = peer.waiting.pop_front() else { return };
                outgoing.state.go(peer.count_sent());
                outgoing
            };
            self.emit(world, outgoing);
        }
    }

    /// Sends a message, or announces it.
    fn emit<C: Core>(&self, world: &Comm<'_, C>, outgoing: Outgoing) {
        let Outgoing { to, context, tag, len, ref bytes, .. } = outgoing;
        match bytes {
            Some(bytes) if len <= SHORT_BYTES && !outgoing.synchronous => {
                let credits = self.peers.borrow_mut()[to].give_back();
                self.post(world, to, &Packet::new(Kind::Eager, credits).tagged(context, tag).carrying(bytes));
                outgoing.state.finish_sent();
            }
            None => self.announce_waiting(world, to, [context, tag], len),
            Some(_) => {
                let number = self.next.get();
                self.next.set(number.wrapping_add(1));
                self.announced.borrow_mut().insert(number, outgoing);
                let credits = self.peers.borrow_mut()[to].give_back();
                let [a, b, c, d] = number.to_le_bytes();
                let packet = Packet::new(Kind::Announce, len as u32).tagged(context, tag);
                self.post(world, to, &packet.carrying(&[credits as u8, a, b, c, d]));
            }
        }
    }

    /// Takes a message back for which there is no receive yet, if need be from where it has gone, which is waited for. Says whether it
    /// could.
    ///
    /// # Errors
    /// [`Error::TimedOut`] on a dying machine.
    pub(in crate::matched) fn withdraw<C: Core>(
        &self,
        world: &Comm<'_, C>,
        to: usize,
        state: &Rc<State>,
    ) -> Result<bool, Error> {
        match state.number() {
            None => Ok(self.withdraw_waiting(world, to, state)),
            Some(number) if to == world.rank() => Ok(self.drop_arrived(world, to, number)),
            Some(number) => {
                self.post(world, to, &Packet::new(Kind::Withdraw, number));
                let reason = Reason::new("a message being taken back").from(world.core_of(to));
                wait_for_reason(world, reason, || self.withdrawn.take())
            }
        }
    }

    /// Takes a message back that has not gone. Says whether it was there.
    fn withdraw_waiting<C: Core>(&self, world: &Comm<'_, C>, to: usize, state: &Rc<State>) -> bool {
        let waiting = &mut self.peers.borrow_mut()[to].waiting;
        let at = waiting.iter().position(|outgoing| Rc::ptr_eq(&outgoing.state, state));
        let Some((at, withdrawn)) = at.and_then(|at| Some((at, waiting.remove(at)?))) else { return false };
        let (context, tag) = (withdrawn.context, withdrawn.tag);
        // What is behind it waits, too.
        let later = waiting.iter().skip(at).filter(|other| (other.context, other.tag) == (context, tag)).count();
        let channel = [context.into(), tag.into(), 0];
        world.hal().declare(&Act::Revokes { to: world.core_of(to), channel, later });
        true
    }
}
