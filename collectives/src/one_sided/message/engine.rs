//! The progress engine: sends what there is room for, keeps the rest in order, and deals with what arrives.

use alloc::{
    collections::{BTreeMap, VecDeque},
    vec,
    vec::Vec,
};

use hal::{Core, Deadline, Place, Poll, Reason, Software, TimedOut};

use crate::{Comm, comm::engines::Engine};

use super::{
    Channel,
    packet::{Body, Header, Transfer},
};

/// Transfers that wait for room, by receiver; no queue is empty.
pub(super) type Queues = BTreeMap<usize, VecDeque<Transfer>>;

impl<C: Core> Engine<C> for Channel {
    /// Never: while the channel is open, packets may come at any time.
    fn is_idle(&self) -> bool {
        false
    }

    fn add_places(&self, comm: &Comm<'_, C>, places: &mut Vec<Place>) {
        self.transport.add_places(comm, self.queues.borrow().keys().copied(), places);
    }

    fn has_news(&self, _: &Comm<'_, C>, poll: &Poll<'_>, first: usize) -> bool {
        self.transport.has_news(poll, first, self.queues.borrow().keys().copied())
    }

    fn handle(&self, comm: &Comm<'_, C>) -> bool {
        let mut has_served = false;
        while let Some((from, header, payload)) = self.transport.take(comm) {
            comm.hal().account(Software::Packet);
            self.dispatch(comm, from, header, &payload);
            has_served = true;
        }
        self.push_queues(comm);
        has_served
    }
}

impl Channel {
    /// Looks once for packets and room, handles all packets that are there, and sends what was waiting for room.
    pub fn progress<C: Core>(&self, comm: &Comm<'_, C>) {
        self.transport.look(comm, self.queues.borrow().keys().copied());
        self.handle(comm);
    }

    /// Sends something to `to` after all that went there before. What there is no room for goes later.
    pub(super) fn send<C: Core>(&self, comm: &Comm<'_, C>, to: usize, mut transfer: Transfer) {
        if to == comm.rank() {
            return self.deliver_to_itself(comm, transfer);
        }
        if !self.queues.borrow().contains_key(&to) {
            if !self.transport.is_ready(to) {
                self.transport.refresh(comm, to);
            }
            if self.push(comm, to, &mut transfer) {
                return;
            }
        }
        self.queues.borrow_mut().entry(to).or_default().push_back(transfer);
    }

    /// Waits, handling what arrives, until no rank is missing any more.
    pub(super) fn wait_for<C: Core>(
        &self,
        comm: &Comm<'_, C>,
        deadline: Deadline,
        reason: Reason,
        missing: impl Fn() -> Option<usize>,
    ) -> Result<(), TimedOut> {
        let Some(rank) = missing() else { return Ok(()) };
        // This channel is among what a wait of the communicator drives, and messages with tags are, too: a target may wait for one of these.
        comm.wait_until(&[] as &[Place], deadline, reason.from(comm.core_of(rank)), |poll| match missing() {
            None => Some(()),
            Some(rank) => {
                poll.missing(comm.core_of(rank));
                None
            }
        })
    }

    /// Whether something of `window` for `to` waits for room.
    pub(super) fn is_queued(&self, window: u32, to: usize) -> bool {
        self.queues.borrow().get(&to).is_some_and(|queue| queue.iter().any(|of| of.header.window == window))
    }

    /// Sends as many packets of a transfer as there is room for. Returns whether that was all.
    fn push<C: Core>(&self, comm: &Comm<'_, C>, to: usize, transfer: &mut Transfer) -> bool {
        while self.transport.is_ready(to) {
            let (header, payload) = self.next_packet(comm, transfer);
            if !self.transport.send(comm, to, header, &payload) {
                break;
            }
            comm.hal().account(Software::Packet);
            transfer.sent += payload.len();
            if transfer.sent == transfer.len() {
                return true;
            }
        }
        false
    }

    /// The first packet of a transfer that was not sent yet.
    fn next_packet<C: Core>(&self, comm: &Comm<'_, C>, transfer: &Transfer) -> (Header, Vec<u8>) {
        let header = transfer.next_header(self.transport.capacity());
        let payload = match &transfer.body {
            Body::Bytes(bytes) => bytes[transfer.sent..][..usize::from(header.len)].to_vec(),
            Body::Part(part, _) => {
                let mut bytes = vec![0; usize::from(header.len)];
                self.read_part(comm, *part, header.offset as usize, &mut bytes);
                bytes
            }
        };
        (header, payload)
    }

    /// Sends what there is room for by now.
    fn push_queues<C: Core>(&self, comm: &Comm<'_, C>) {
        let ready = |peer: &usize| self.transport.is_ready(*peer);
        let peers: Vec<usize> = self.queues.borrow().keys().copied().filter(ready).collect();
        for peer in peers {
            let Some(mut queue) = self.queues.borrow_mut().remove(&peer) else { continue };
            while let Some(transfer) = queue.front_mut() {
                if !self.push(comm, peer, transfer) {
                    break;
                }
                queue.pop_front();
            }
            if !queue.is_empty() {
                self.queues.borrow_mut().insert(peer, queue);
            }
        }
    }

    /// What a rank sends to itself takes no way at all, as in MPICH.
    fn deliver_to_itself<C: Core>(&self, comm: &Comm<'_, C>, mut transfer: Transfer) {
        loop {
            let (header, payload) = self.next_packet(comm, &transfer);
            self.dispatch(comm, comm.rank(), header, &payload);
            transfer.sent += payload.len();
            if transfer.sent == transfer.len() {
                return;
            }
        }
    }
}
