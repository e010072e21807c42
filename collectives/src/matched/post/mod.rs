//! The post of a rank: what it has to send, what has come, and what makes both go on.
//!
//! **Short** messages go at once, in a packet. **Long** ones are announced. If their sender waits for them, they are
//! [those without tags](crate::two_sided::announced) from then on, and the first bytes are there before they are announced. A send
//! that was begun goes on whatever the rank does: when the receive is there, the sender writes the message to a
//! buffer of its own in shared memory, one half after the other, and the receiver reads one half while the other is written. One
//! message of a rank is on its way like this at a time.
//!
//! **Flow control.** A rank has [`CREDITS`] messages at most at another one for which there is no receive yet, short or announced;
//! further ones wait here, in their order. A receive gives the sender a credit back: at once, when it clears a message that was begun,
//! and for several others together, or with what is sent there next. So what a rank keeps for others is bounded, whatever they send; unless it wants something
//! that could be among what waits there: then it gives more credits, and keeps the next ones to itself. [Calls](calls) take none.

pub(super) mod calls;
mod halves;
mod receiving;
mod sending;
mod streams;
pub(super) mod tasks;

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

use hal::{Core, Place, Poll, Region, kind};

use super::{
    label::Label,
    matching::{Body, Matching},
    packet::{Kind, Packet},
    slots::Slots,
    state::State,
};
use crate::{Comm, Error, comm::engines::Engine};

use self::{calls::Calls, streams::Stream, tasks::Tasks};

/// Messages of a rank that another one keeps at most before they are received.
pub(super) const CREDITS: u32 = 16;

/// Credits that are given back together.
const TOGETHER: u32 = CREDITS / 2;

/// A bit in the tag of a [`Clear`](Kind::Clear): the message is longer than its receive has room for.
const UNWANTED: u32 = 1;

/// Another one: the credit of the message does not come back to its sender.
const KEPT: u32 = 2;

/// A third one: the message is the one whose sender waits.
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

/// What this rank knows of a peer.
#[derive(Default)]
struct Peer {
    /// Messages that may still be sent without a receive.
    credits: u32,
    /// Messages that have gone there, and that have come from there; both ranks count alike.
    sent: u32,
    arrived: u32,
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

impl Peer {
    /// A message goes there, if there is a credit for it and no message waits before it.
    #[inline]
    fn takes_credit(&mut self) -> bool {
        let takes = self.credits > 0 && self.waiting.is_empty();
        if takes {
            self.count_sent();
        }
        takes
    }

    /// A message goes there, by a credit. Returns its number.
    #[inline]
    fn count_sent(&mut self) -> u32 {
        self.credits -= 1;
        self.sent = self.sent.wrapping_add(1);
        self.sent
    }

    /// A message has come from there, by a credit or from this rank itself. Returns its number.
    #[inline]
    fn count_arrived(&mut self, by_credit: bool) -> u32 {
        self.held += u32::from(by_credit);
        self.arrived = self.arrived.wrapping_add(1);
        self.arrived
    }

    /// Whether the peer has used all of its credits.
    #[inline]
    fn has_used_all(&self) -> bool {
        self.held >= self.limit
    }

    /// A message of the peer is received that it has used a credit for. Returns how many it gets back now.
    #[inline]
    fn receive_one(&mut self) -> u32 {
        if self.limit > CREDITS {
            self.limit -= 1;
            self.held -= 1;
            return 0;
        }
        self.owed += 1;
        if self.owed < TOGETHER { 0 } else { self.give_back() }
    }

    /// The credits that the peer gets back with what is sent next.
    #[inline]
    fn give_back(&mut self) -> u32 {
        let owed = mem::take(&mut self.owed);
        self.held -= owed;
        owed
    }
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
    tasks: Tasks,
    /// Whether the message that this rank waits with is refused.
    is_refused: Cell<bool>,
    /// What comes from ranks that wait.
    streams: RefCell<Vec<Stream>>,
    /// Messages that were taken by [`Arrival`](super::Arrival)s, and neither received nor dropped.
    found: Cell<usize>,
    /// What the last receive that waited had, for the next one.
    spare: Cell<Option<Rc<State>>>,
    /// Whether the message waited that this rank has asked back.
    withdrawn: Cell<Option<bool>>,
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
            tasks: Tasks::default(),
            is_refused: Cell::new(false),
            streams: RefCell::default(),
            found: Cell::new(0),
            spare: Cell::default(),
            withdrawn: Cell::default(),
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

    /// Collective operations that are under way.
    pub(super) fn tasks(&self) -> &Tasks {
        &self.tasks
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
            && !self.tasks.are_under_way(None)
            && self.streams.borrow().is_empty()
            && peers.iter().all(|peer| peer.incoming.is_empty())
    }

    /// Whether nothing is on its way out.
    pub(super) fn has_sent_all(&self) -> bool {
        self.queued.get() == 0
            && self.announced.borrow().is_empty()
            && self.cleared.borrow().is_empty()
            && self.free.iter().all(Cell::get)
            && self.peers.borrow().iter().all(|peer| peer.waiting.is_empty())
    }

    /// What a waiting receive with `room` bytes of room knows.
    pub(super) fn state_of_waiting(&self, room: usize) -> Rc<State> {
        let mut spare = self.spare.take();
        if let Some(state) = spare.as_mut().and_then(Rc::get_mut) {
            self.slots.give_back(state.begin_again(room));
        } else {
            spare = None;
        }
        spare.unwrap_or_else(|| Rc::new(State::new(room, true)))
    }

    /// That receive is over.
    pub(super) fn give_back(&self, state: Rc<State>) {
        self.spare.set(Some(state));
    }

    /// Sends a packet after all that went to `to` before.
    #[inline(never)]
    fn post<C: Core>(&self, world: &Comm<'_, C>, to: usize, packet: &Packet<&[u8]>) {
        self.post_at_once(world, to, packet);
    }

    /// The same, where each instruction counts.
    #[inline]
    fn post_at_once<C: Core>(&self, world: &Comm<'_, C>, to: usize, packet: &Packet<&[u8]>) {
        let is_first = self.queued.get() == 0 || self.peers.borrow()[to].queue.is_empty();
        if !is_first || !self.slots.send(world, to, packet) {
            self.queue(world, to, packet, is_first);
        }
    }

    /// A packet waits for room, or for those before it.
    #[inline(never)]
    fn queue<C: Core>(&self, world: &Comm<'_, C>, to: usize, packet: &Packet<&[u8]>, is_first: bool) {
        self.peers.borrow_mut()[to].queue.push_back(packet.to_owned());
        self.queued.set(self.queued.get() + 1);
        if !is_first {
            self.push(world, to);
        }
    }

    /// Sends as many packets to `to` as there is room for.
    #[inline(never)]
    fn push<C: Core>(&self, world: &Comm<'_, C>, to: usize) {
        let queue = &mut self.peers.borrow_mut()[to].queue;
        while queue.front().is_some_and(|packet| self.slots.send(world, to, &packet.borrowed())) {
            queue.pop_front();
            self.queued.set(self.queued.get() - 1);
        }
    }

    /// Does what a packet says.
    fn dispatch<C: Core>(&self, world: &Comm<'_, C>, from: usize, packet: Packet) {
        let Packet { kind, context, number, tag, payload } = packet;
        if kind == Kind::Eager {
            self.take_credits(world, from, number);
            return self.arrive(world, Label { context, from, tag, len: payload.len() }, Body::Bytes(payload));
        }
        let credits = payload.first().copied().unwrap_or_default();
        let announced = payload.last_chunk().map(|bytes| u32::from_le_bytes(*bytes));
        self.slots.give_back(payload);
        match kind {
            Kind::Eager => {}
            Kind::Announce => {
                self.take_credits(world, from, credits.into());
                let label = Label { context, from, tag, len: number as usize };
                self.arrive(world, label, announced.map_or(Body::Waiting, Body::Announced));
            }
            Kind::Clear if tag & WAITING != 0 => self.is_refused.set(true),
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
            Kind::Credit => self.take_credits(world, from, number),
            Kind::Withdraw => {
                let is_back = self.drop_arrived(world, from, number);
                self.post(world, from, &Packet::new(Kind::Withdrawn, number).tagged(0, is_back.into()));
            }
            Kind::Withdrawn => self.withdrawn.set(Some(tag != 0)),
        }
    }

    /// Whether a receive that waits has something to read.
    pub(super) fn is_ready_for(&self, state: &Rc<State>) -> bool {
        let has_stream = self.streams.borrow().iter().any(|stream| Rc::ptr_eq(&stream.state, state));
        let is_next = |from: usize| {
            self.peers.borrow()[from].incoming.front().is_some_and(|incoming| Rc::ptr_eq(&incoming.state, state))
        };
        has_stream || self.ready.get().is_some_and(|(from, ..)| is_next(from))
    }

    fn go_on<C: Core>(&self, world: &Comm<'_, C>) {
        // As many packets as there are ranks, at most: where answers look for room, they see what has come since. A half that a waiting
        // receive reads itself is read before anything else comes that could take its place.
        for _ in 0..world.size() {
            if self.ready.get().is_some() {
                break;
            }
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
        let awaited = self.matching.borrow().awaited();
        self.slots.add_places(world, self.queued.get() > 0, awaited, |place| places.push(place));
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

    fn handle(&self, world: &Comm<'_, C>) -> bool {
        let answered = self.calls.answered.get();
        self.slots.acknowledge(world);
        self.go_on_with_streams(world);
        self.go_on(world);
        self.tasks.go_on(world, self);
        // Messages end by themselves: they take credits, which receives give back.
        self.calls.answered.get() != answered
    }

    fn settle(&self, world: &Comm<'_, C>) {
        self.slots.acknowledge(world);
    }
}
