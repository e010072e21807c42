//! The post of a rank: what it has to send, what has come, and what makes both go on.
//!
//! **Short** messages go at once, in a packet. **Long** ones are announced. If their sender waits for them, they are
//! [those without tags](crate::two_sided::announced) from then on, and the first bytes are there before they are announced. A send
//! that was begun goes on whatever the rank does: when the receive is there, the sender writes the message to a
//! buffer of its own in shared memory, one half after the other, and the receiver reads one half while the other is written. One
//! message of a rank is on its way like this at a time.
//!
//! **Flow control.** A rank has [`CREDITS`] messages at most at another one for which there is no receive yet, short or announced;
//! further ones wait here, in their order. A receive gives the sender a credit back: at once, when it clears an announced message,
//! and for several short ones together. So what a rank keeps for others is bounded, whatever they send; unless it wants something
//! that could be among what waits there: then it gives more credits, and keeps the next ones to itself.

use alloc::{
    boxed::Box,
    collections::{BTreeMap, VecDeque},
    rc::Rc,
    vec::Vec,
};
use core::{
    cell::{Cell, RefCell},
    mem,
};

use hal::{Core, LINE_BYTES, Place, Poll, Region, kind};

use super::{
    calls::{self, Calls},
    matching::{Arrived, Body, Label, Matching, Pattern},
    packet::{Kind, PAYLOAD_BYTES, Packet},
    request::State,
    slots::Slots,
};
use crate::{Comm, Error, comm::engines::Engine};

/// Messages of a rank that another one keeps at most before they are received.
pub(super) const CREDITS: u32 = 16;

/// Credits that are given back together.
const TOGETHER: u32 = CREDITS / 2;

/// Bytes of a message that goes at once.
pub(super) const SHORT_BYTES: usize = PAYLOAD_BYTES;

/// What the tag of a [`Clear`](Kind::Clear) says: the message is longer than its receive has room for; its credit does not come
/// back.
const UNWANTED: u32 = 1;
const KEPT: u32 = 2;
/// It is the one whose sender waits.
const WAITING: u32 = 4;

/// Bytes of half of a rank's buffer in shared memory.
pub(super) const HALF_BYTES: usize = 4096;

/// A message on its way out.
pub(super) struct Outgoing {
    pub(super) to: usize,
    pub(super) context: u32,
    pub(super) tag: u32,
    /// None if its sender waits for it.
    pub(super) bytes: Option<Vec<u8>>,
    pub(super) len: usize,
    /// Whether it has to be announced, however short it is.
    pub(super) synchronous: bool,
    pub(super) state: Rc<State>,
    /// Bytes that were written to the buffer.
    pub(super) written: usize,
}

/// A long message on its way in.
struct Incoming {
    label: Label,
    state: Rc<State>,
    read: usize,
}

/// A message of which chunks come from a sender that waits.
struct Stream {
    label: Label,
    state: Rc<State>,
    /// The chunk that comes next, and whether it is there.
    chunk: usize,
    is_there: Cell<bool>,
}

/// What this rank knows of a peer.
#[derive(Default)]
struct Peer {
    /// Messages that may still be sent without a receive.
    credits: u32,
    /// Credits that the peer gets back with the next ones.
    owed: u32,
    /// Credits of the peer that it has used and not got back, and how many it has.
    held: u32,
    limit: u32,
    /// Messages that wait for credits.
    waiting: VecDeque<Outgoing>,
    /// Long ones that were cleared, in the order in which they will come.
    incoming: VecDeque<Incoming>,
    /// Packets that wait for room.
    queue: VecDeque<Packet>,
}

/// The post of a rank.
pub(super) struct Post {
    slots: Slots,
    /// The buffers of all ranks.
    buffers: Box<[Region<kind::Combined>]>,
    matching: RefCell<Matching>,
    peers: RefCell<Vec<Peer>>,
    /// Packets that wait for room at any peer.
    queued: Cell<usize>,
    /// Announced messages, by their numbers, and the next number.
    announced: RefCell<BTreeMap<u32, Outgoing>>,
    next: Cell<u32>,
    /// Those that are wanted, in the order in which they go.
    cleared: RefCell<VecDeque<Outgoing>>,
    /// Halves of the own buffer that nobody reads, and which is written next.
    free: [Cell<bool>; 2],
    half: Cell<usize>,
    /// A half of another rank's buffer that a waiting receive reads itself: of which rank, where, and how many bytes.
    ready: Cell<Option<(usize, u32, usize)>>,
    calls: Calls,
    /// What this rank waits for to be received, unless it is refused.
    waiting: RefCell<Option<Rc<State>>>,
    /// What comes from ranks that wait.
    streams: RefCell<Vec<Stream>>,
    /// Messages that were taken by [`Arrival`](super::Arrival)s, and neither received nor dropped.
    found: Cell<usize>,
}

impl Post {
    pub(super) fn new(slots: Slots, buffers: Box<[Region<kind::Combined>]>) -> Self {
        let peer = || Peer { credits: CREDITS, limit: CREDITS, ..Peer::default() };
        let peers = buffers.iter().map(|_| peer()).collect();
        Self {
            slots,
            buffers,
            matching: RefCell::default(),
            peers: RefCell::new(peers),
            queued: Cell::new(0),
            announced: RefCell::default(),
            next: Cell::new(0),
            cleared: RefCell::default(),
            free: [Cell::new(true), Cell::new(true)],
            half: Cell::new(0),
            ready: Cell::new(None),
            calls: Calls::default(),
            waiting: RefCell::default(),
            streams: RefCell::default(),
            found: Cell::new(0),
        }
    }

    pub(super) fn slots(&self) -> &Slots {
        &self.slots
    }

    pub(super) fn buffers(&self) -> &[Region<kind::Combined>] {
        &self.buffers
    }

    pub(super) fn calls(&self) -> &Calls {
        &self.calls
    }

    pub(super) fn matching(&self) -> &RefCell<Matching> {
        &self.matching
    }

    /// Whether nothing is under way, and nothing has come that was not received.
    pub(super) fn is_quiet(&self) -> bool {
        let peers = self.peers.borrow();
        self.has_sent_all()
            && self.matching.borrow().is_empty()
            && self.found.get() == 0
            && self.calls.are_over()
            && self.streams.borrow().is_empty()
            && peers.iter().all(|peer| peer.incoming.is_empty())
    }

    /// A message is only for whoever has found it.
    pub(super) fn take_found(&self, pattern: &Pattern) -> Option<Arrived> {
        let arrived = self.matching.borrow_mut().take(pattern)?;
        self.found.set(self.found.get() + 1);
        Some(arrived)
    }

    /// The same message is received.
    pub(super) fn deliver_found<C: Core>(&self, world: &Comm<'_, C>, arrived: Arrived, state: Rc<State>) {
        self.found.set(self.found.get() - 1);
        self.deliver(world, arrived, state);
    }

    /// Whether nothing is on its way out.
    pub(super) fn has_sent_all(&self) -> bool {
        self.queued.get() == 0
            && self.announced.borrow().is_empty()
            && self.cleared.borrow().is_empty()
            && self.free.iter().all(Cell::get)
            && self.peers.borrow().iter().all(|peer| peer.waiting.is_empty())
    }

    /// Begins to send a message. The engine does the rest, except for bytes that it does not have.
    pub(super) fn send<C: Core>(&self, world: &Comm<'_, C>, outgoing: Outgoing) {
        let to = outgoing.to;
        if to == world.rank() {
            return self.send_to_itself(world, outgoing);
        }
        self.peers.borrow_mut()[to].waiting.push_back(outgoing);
        self.issue(world, to);
    }

    fn send_to_itself<C: Core>(&self, world: &Comm<'_, C>, outgoing: Outgoing) {
        let Outgoing { to, context, tag, bytes, len, synchronous, state, .. } = outgoing;
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
    fn issue<C: Core>(&self, world: &Comm<'_, C>, to: usize) {
        loop {
            let outgoing = {
                let peer = &mut self.peers.borrow_mut()[to];
                if peer.credits == 0 {
                    return;
                }
                let Some(outgoing) = peer.waiting.pop_front() else { return };
                peer.credits -= 1;
                outgoing
            };
            let Outgoing { context, tag, len, ref bytes, .. } = outgoing;
            match bytes {
                Some(bytes) if len <= SHORT_BYTES && !outgoing.synchronous => {
                    let packet = Packet::new(Kind::Eager, 0).tagged(context, tag);
                    self.post(world, to, packet.carrying(bytes.clone()));
                    outgoing.state.finish_sent();
                }
                None => {
                    *self.waiting.borrow_mut() = Some(outgoing.state);
                    self.post(world, to, Packet::new(Kind::Announce, len as u32).tagged(context, tag));
                }
                Some(_) => {
                    let number = self.next.get();
                    self.next.set(number.wrapping_add(1));
                    self.announced.borrow_mut().insert(number, outgoing);
                    let packet = Packet::new(Kind::Announce, len as u32).tagged(context, tag);
                    self.post(world, to, packet.carrying(number.to_le_bytes().to_vec()));
                }
            }
        }
    }

    /// Takes a message back that has not been sent. Says whether it was there.
    pub(super) fn withdraw(&self, to: usize, state: &Rc<State>) -> bool {
        let waiting = &mut self.peers.borrow_mut()[to].waiting;
        let before = waiting.len();
        waiting.retain(|outgoing| !Rc::ptr_eq(&outgoing.state, state));
        waiting.len() < before
    }

    /// Sends a packet after all that went to `to` before.
    fn post<C: Core>(&self, world: &Comm<'_, C>, to: usize, packet: Packet) {
        self.peers.borrow_mut()[to].queue.push_back(packet);
        self.queued.set(self.queued.get() + 1);
        self.push(world, to);
    }

    /// Sends as many packets to `to` as there is room for.
    fn push<C: Core>(&self, world: &Comm<'_, C>, to: usize) {
        let queue = &mut self.peers.borrow_mut()[to].queue;
        while queue.front().is_some_and(|packet| self.slots.send(world, to, packet)) {
            queue.pop_front();
            self.queued.set(self.queued.get() - 1);
        }
    }

    /// Does what a packet says.
    fn dispatch<C: Core>(&self, world: &Comm<'_, C>, from: usize, packet: Packet) {
        let Packet { kind, context, number, tag, payload } = packet;
        match kind {
            Kind::Eager => {
                self.arrive(world, Label { context, from, tag, len: payload.len() }, Body::Bytes(payload));
            }
            Kind::Announce => {
                let label = Label { context, from, tag, len: number as usize };
                let number = payload.first_chunk().map(|bytes| u32::from_le_bytes(*bytes));
                self.arrive(world, label, number.map_or(Body::Waiting, Body::Announced));
            }
            Kind::Clear if tag & WAITING != 0 => {
                self.waiting.borrow_mut().take().into_iter().for_each(|state| state.finish_sent());
            }
            Kind::Clear => {
                self.peers.borrow_mut()[from].credits += u32::from(tag & KEPT == 0);
                let outgoing = self.announced.borrow_mut().remove(&number);
                if let Some(outgoing) = outgoing {
                    if tag & UNWANTED != 0 || outgoing.len == 0 {
                        outgoing.state.finish_sent();
                    } else {
                        self.cleared.borrow_mut().push_back(outgoing);
                    }
                }
                self.issue(world, from);
                self.stream(world);
            }
            Kind::Data => {
                self.ready.set(Some((from, tag, number as usize)));
                let waits =
                    self.peers.borrow()[from].incoming.front().is_some_and(|incoming| incoming.state.is_direct());
                if !waits {
                    self.read(world, from, None);
                }
            }
            Kind::Taken => {
                self.free[tag as usize].set(true);
                self.stream(world);
            }
            Kind::Credit => {
                self.peers.borrow_mut()[from].credits += number;
                self.issue(world, from);
            }
        }
    }

    /// A message has come: to a receive that waits for it, or to wait for one.
    fn arrive<C: Core>(&self, world: &Comm<'_, C>, label: Label, body: Body) {
        let arrived = Arrived { label, body };
        if label.from != world.rank() {
            self.peers.borrow_mut()[label.from].held += 1;
        }
        if label.context >= calls::BEFORE {
            return self.take_call(world, arrived);
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
    pub(super) fn want<C: Core>(&self, world: &Comm<'_, C>, pattern: &Pattern) {
        match pattern.from {
            Some(from) => self.widen(world, from),
            None => (0..world.size()).for_each(|from| self.widen(world, from)),
        }
    }

    /// Gives `to` more credits, if it has used all.
    fn widen<C: Core>(&self, world: &Comm<'_, C>, to: usize) {
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
        self.post(world, to, Packet::new(Kind::Credit, more));
    }

    /// A message is received.
    pub(super) fn deliver<C: Core>(&self, world: &Comm<'_, C>, arrived: Arrived, state: Rc<State>) {
        let Arrived { label, body } = arrived;
        let is_wanted = label.len <= state.room();
        match body {
            Body::Bytes(bytes) => {
                state.finish_received(label, bytes);
                self.give_credit(world, label.from);
            }
            Body::Waiting => {
                self.give_credit(world, label.from);
                if is_wanted {
                    self.begin_stream(world, label, state);
                } else {
                    state.finish_received(label, Vec::new());
                    world.refuse_announced(label.len, label.from);
                    self.post(world, label.from, Packet::new(Kind::Clear, 0).tagged(label.context, WAITING));
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
                self.post(world, label.from, clear);
            }
        }
    }

    fn give_credit<C: Core>(&self, world: &Comm<'_, C>, to: usize) {
        if to == world.rank() {
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
        self.post(world, to, Packet::new(Kind::Credit, TOGETHER));
    }

    /// Writes as much of the messages that are wanted as there is room for.
    fn stream<C: Core>(&self, world: &Comm<'_, C>) {
        loop {
            let half = self.half.get();
            let mut cleared = self.cleared.borrow_mut();
            let Some(outgoing) = cleared.front_mut().filter(|_| self.free[half].get()) else { return };
            let bytes = outgoing.bytes.as_deref().unwrap_or_default();
            let part = &bytes[outgoing.written..outgoing.len.min(outgoing.written + HALF_BYTES)];
            world.hal().write(self.buffers[world.rank()], half * HALF_BYTES, part);
            world.hal().drain();
            let (to, number) = (outgoing.to, part.len() as u32);
            outgoing.written += part.len();
            if outgoing.written == outgoing.len {
                outgoing.state.finish_sent();
                cleared.pop_front();
            }
            drop(cleared);
            self.free[half].set(false);
            self.half.set(1 - half);
            self.post(world, to, Packet::new(Kind::Data, number).tagged(0, half as u32));
        }
    }

    /// This rank waits no longer.
    pub(super) fn end_waiting(&self) {
        *self.waiting.borrow_mut() = None;
    }

    /// A message comes from a rank that waits. A receive that waits gets it itself.
    fn begin_stream<C: Core>(&self, world: &Comm<'_, C>, label: Label, state: Rc<State>) {
        if label.context < calls::BEFORE {
            state.begin(label);
        }
        let is_there = Cell::new(world.is_there_when_announced(label.len));
        self.streams.borrow_mut().push(Stream { label, state, chunk: 0, is_there });
        self.go_on_with_streams(world);
    }

    /// Gets the chunks that are there of messages for which no receive waits.
    fn go_on_with_streams<C: Core>(&self, world: &Comm<'_, C>) {
        let mut calls = Vec::new();
        self.streams.borrow_mut().retain_mut(|stream| {
            if stream.state.is_direct() || !stream.is_there.take() {
                return true;
            }
            let Stream { label, ref state, chunk, .. } = *stream;
            let bytes = world.announced_bytes(label.len, chunk);
            let receive = |bytes: &mut [u8]| world.receive_announced_chunk((label.len, chunk), bytes, label.from);
            if label.context >= calls::BEFORE {
                self.land_call(&label, bytes, receive);
            } else {
                state.with_copy(|copy| receive(&mut copy[bytes]));
            }
            stream.chunk += 1;
            let is_over = stream.chunk == world.announced_chunks(label.len).count();
            if is_over && label.context >= calls::BEFORE {
                calls.push(label);
            } else if is_over {
                state.finish_read();
            }
            !is_over
        });
        calls.into_iter().for_each(|label| self.end_call(world, label));
    }

    /// The rank whose message comes for a receive that waits, once.
    pub(super) fn take_stream(&self, state: &Rc<State>) -> Option<usize> {
        let mut streams = self.streams.borrow_mut();
        let at = streams.iter().position(|stream| Rc::ptr_eq(&stream.state, state))?;
        Some(streams.swap_remove(at).label.from)
    }

    /// The senders of messages of which further chunks are to come for receives that do not wait.
    fn streaming(&self) -> Vec<usize> {
        let streams = self.streams.borrow();
        streams.iter().filter(|stream| !stream.state.is_direct()).map(|stream| stream.label.from).collect()
    }

    /// Whether a receive that waits has something to read.
    pub(super) fn is_ready_for(&self, state: &Rc<State>) -> bool {
        let has_stream = self.streams.borrow().iter().any(|stream| Rc::ptr_eq(&stream.state, state));
        let is_next = |from: usize| {
            self.peers.borrow()[from].incoming.front().is_some_and(|incoming| Rc::ptr_eq(&incoming.state, state))
        };
        has_stream || self.ready.get().is_some_and(|(from, ..)| is_next(from))
    }

    /// Reads what is ready, into the buffer of the receive that waits for it or into a copy.
    pub(super) fn read<C: Core>(&self, world: &Comm<'_, C>, from: usize, direct: Option<&mut [u8]>) {
        let Some((_, place, len)) = self.ready.take() else { return };
        let (hal, half) = (world.hal(), place as usize);
        // L1 may have lines of an earlier message.
        hal.invalidate_mpb();
        let mut peers = self.peers.borrow_mut();
        let Some(incoming) = peers[from].incoming.front_mut() else { return };
        let read = |bytes: &mut [u8]| hal.read(self.buffers[from], half * HALF_BYTES, bytes);
        match direct {
            Some(buffer) => read(&mut buffer[incoming.read..incoming.read + len]),
            None => incoming.state.with_copy(|copy| read(&mut copy[incoming.read..incoming.read + len])),
        }
        incoming.read += len;
        if incoming.read == incoming.label.len {
            incoming.state.finish_read();
            peers[from].incoming.pop_front();
        }
        drop(peers);
        self.post(world, from, Packet::new(Kind::Taken, 0).tagged(0, place));
    }

    /// The rank whose half is ready.
    pub(super) fn ready_from(&self) -> Option<usize> {
        self.ready.get().map(|(from, ..)| from)
    }

    fn go_on<C: Core>(&self, world: &Comm<'_, C>) {
        // A half that a waiting receive reads itself is read before anything else comes that could take its place.
        while self.ready.get().is_none() {
            let Some((from, packet)) = self.slots.take(world) else { break };
            self.dispatch(world, from, packet);
        }
        if self.queued.get() > 0 {
            let peers: Vec<_> = {
                let peers = self.peers.borrow();
                (0..peers.len()).filter(|peer| !peers[*peer].queue.is_empty()).collect()
            };
            peers.into_iter().for_each(|peer| self.push(world, peer));
        }
    }

    /// Refuses to close while something is under way.
    pub(super) fn check_quiet(&self) -> Result<(), Error> {
        if self.is_quiet() { Ok(()) } else { Err(Error::RequestsOutstanding) }
    }
}

impl<C: Core> Engine<C> for Post {
    /// Never: packets may come at any time.
    fn is_idle(&self) -> bool {
        false
    }

    fn add_places(&self, world: &Comm<'_, C>, places: &mut Vec<Place>) {
        // How many the slots have changes with what is queued, so theirs are the last.
        places.extend(self.streaming().into_iter().map(|from| world.announced_place(from)));
        self.slots.add_places(world, self.queued.get() > 0, places);
    }

    fn has_news(&self, world: &Comm<'_, C>, poll: &Poll<'_>, first: usize) -> bool {
        let (streams, mut place, mut has_chunk) = (self.streams.borrow(), first, false);
        for stream in streams.iter().filter(|stream| !stream.state.is_direct()) {
            let is_there = world.is_announced(poll, place, stream.label.from);
            stream.is_there.set(is_there);
            has_chunk |= is_there;
            place += 1;
        }
        let has_packets = self.slots.has_news(poll, place, self.queued.get() > 0);
        has_chunk || self.slots.owes() || has_packets && self.ready.get().is_none()
    }

    fn handle(&self, world: &Comm<'_, C>) {
        self.slots.acknowledge(world);
        self.go_on_with_streams(world);
        self.go_on(world);
    }
}

/// Lines of memory that so many bytes take, and those of a copy of them: what is short stays in registers and L1.
pub(super) fn lines_of(len: usize) -> (usize, usize) {
    let lines = len.div_ceil(LINE_BYTES);
    (lines, if len <= SHORT_BYTES { 0 } else { lines })
}
