//! How packets get from one rank to another: put where the receiver looks, or where the sender keeps them, and got from there.
//!
//! Where there are not too many ranks, each has a line in the MPB of each other one that it alone writes to, its box there. The first
//! line of a packet goes into it, in one store, and is all that there is of a short one. It says itself that it is new: whoever waits
//! for one rank looks into the box of that one, and has the packet by the same look. Others are told by a byte, the sender's among the
//! *receiver's* doorbells; where there is but one other rank, nobody has to be told, and there are no doorbells.
//!
//! Further lines of a packet wait in free lines of the sender's own MPB, its slots, from where the receiver gets them; where there are
//! no boxes, all of them do, and the doorbell says in which slot. So nobody polls lines of others, all bytes have one writer, and a
//! rank needs slots for what it has under way and not for each sender. There is one packet from one rank to another at a time: the
//! receiver acknowledges it, by a byte among the *sender's* acknowledgements that counts its packets.
//!
//! Who answers packets with packets acknowledges with these: a packet has room for it. So where something was sent to a
//! rank since its last packet, an acknowledgement waits for the next one, or for the rank to wait in vain. The byte
//! itself is written again before a count can be the same as one that stands there.

use alloc::{boxed::Box, vec, vec::Vec};
use core::cell::Cell;

use bytemuck::cast;
use hal::{Core, Deadline, LINE_BYTES, Line, MpbByte, MpbLine, MpbWords, Place, Poll, Reason, TimedOut};

use crate::{
    Comm,
    comm::looks::{self, LOOKS},
    mpb::bytes::{IN_WORD, Words as LineOfWords},
};

use super::{
    packet::{MOST_LINES, Packet, SHORT_BYTES, Words, lines_of_head},
    seen::Seen,
};

/// Slots of a rank.
const SLOTS: usize = 16;

/// Bits of what a packet is known by that say in which slot the lines begin that wait there. The others are the lowest ones of its
/// number.
const SLOT_BITS: u32 = 4;
const _: () = assert!(SLOTS == 1 << SLOT_BITS, "each slot has a number");
const _: () =
    assert!(SLOTS == u16::BITS as usize && MOST_LINES < SLOTS, "each slot has a bit, and those of a packet leave one");

/// Ranks up to which there are boxes.
const MOST_BOXES: usize = 64;

/// Packets after which another line is looked at first: fewer than there are numbers in a doorbell.
const ROUND: usize = 15;
const _: () = assert!(ROUND < 1 << (u8::BITS - SLOT_BITS), "a doorbell is looked at before its number comes again");

/// Acknowledgements that go with packets one after the other at most, fewer than a byte counts.
const MOST_UNWRITTEN: u8 = 200;

/// The words of a line.
type LineWords = MpbWords<{ LINE_BYTES / IN_WORD }>;

/// What this rank knows of a peer.
struct Pair {
    /// The box of the peer here, and this rank's there, if there are boxes.
    boxes: Option<(LineWords, MpbLine)>,
    /// This rank's byte among the peer's doorbells, if there are doorbells, and among its acknowledgements.
    doorbell: Option<MpbByte>,
    acknowledgement: MpbByte,
    /// Packets that went there, and which of them the peer has acknowledged last.
    sent: Cell<u8>,
    acknowledged: Cell<u8>,
    /// The slots that the last one takes, a bit for each.
    slots: Cell<u16>,
    /// Packets that were taken from the peer.
    received: Cell<u8>,
    /// Whether something was sent to the peer since its last packet, and how many acknowledgements have gone with packets since the
    /// last one that was written.
    answers: Cell<bool>,
    unwritten: Cell<u8>,
}

/// The slots, doorbells and acknowledgements of all ranks, as one of them sees them.
pub(super) struct Slots {
    first: usize,
    /// How many lines there are, and whether boxes are among them.
    count: usize,
    has_boxes: bool,
    /// Whose box the poll that is under way looks into, and what a look has found in whose box. A look forgets what an earlier one has found, so
    /// that a packet is not taken again that was taken from its box meanwhile.
    watched: Cell<Option<usize>>,
    found: Cell<Option<(usize, Line)>>,
    pairs: Box<[Pair]>,
    /// The doorbells at the last look, and those of the packets that were taken.
    doorbells: Box<[Seen]>,
    answered: Box<[Seen]>,
    /// The acknowledgements at the last look.
    seen: Box<[Seen]>,
    /// The slots in which lines wait for an acknowledgement, a bit for each.
    taken: Cell<u16>,
    /// A rank whose last packet was taken and not acknowledged.
    owed: Cell<Option<usize>>,
    /// Packets that were taken.
    received: Cell<usize>,
    /// Memory for the payload of the next packet.
    spare: Cell<Vec<u8>>,
}

/// Lines of doorbells.
fn doorbells(ranks: usize, has_boxes: bool) -> usize {
    // The box of the only other rank is looked into anyway.
    if has_boxes && ranks <= 2 { 0 } else { ranks.div_ceil(LINE_BYTES) }
}

impl Slots {
    /// Lines of every MPB for `ranks` ranks, with boxes or without; nothing if there cannot be boxes for so many.
    pub(super) fn lines(ranks: usize, has_boxes: bool) -> Option<usize> {
        let least = SLOTS + doorbells(ranks, has_boxes) + ranks.div_ceil(LINE_BYTES);
        match has_boxes {
            true => (ranks <= MOST_BOXES).then_some(least + ranks),
            false => Some(least),
        }
    }

    /// Takes the lines from `first` on, and clears this rank's. A barrier has to follow.
    pub(super) fn new<C: Core>(comm: &Comm<'_, C>, first: usize, count: usize, has_boxes: bool) -> Self {
        let own = comm.mpb_line(comm.rank(), first);
        comm.hal().put_made(count * LINE_BYTES, own, |_, bytes| bytes.fill(0));
        let (me, doorbells) = (comm.rank(), doorbells(comm.size(), has_boxes));
        let lines = |count| vec![Seen::default(); count].into_boxed_slice();
        let acknowledgements = first + SLOTS + doorbells;
        let boxes = acknowledgements + comm.size().div_ceil(LINE_BYTES);
        let byte_of = |peer, first| comm.hal().find_byte(comm.mpb_line(peer, first + me / LINE_BYTES), me % LINE_BYTES);
        let pair = |peer| Pair {
            boxes: has_boxes
                .then(|| (comm.hal().find_words(comm.mpb_line(me, boxes + peer), 0), comm.mpb_line(peer, boxes + me))),
            doorbell: (doorbells > 0).then(|| byte_of(peer, first + SLOTS)),
            acknowledgement: byte_of(peer, acknowledgements),
            sent: Cell::new(0),
            acknowledged: Cell::new(0),
            slots: Cell::new(0),
            received: Cell::new(0),
            answers: Cell::new(false),
            unwritten: Cell::new(0),
        };
        Self {
            first,
            count,
            has_boxes,
            watched: Cell::new(None),
            found: Cell::new(None),
            pairs: (0..comm.size()).map(pair).collect(),
            doorbells: lines(doorbells),
            answered: lines(doorbells),
            seen: lines(comm.size().div_ceil(LINE_BYTES)),
            taken: Cell::new(0),
            owed: Cell::new(None),
            received: Cell::new(0),
            spare: Cell::default(),
        }
    }

    /// The first of the lines, and how many there are.
    pub(super) fn taken_lines(&self) -> (usize, usize) {
        (self.first, self.count)
    }

    /// How many packets were taken.
    #[cfg(test)]
    pub(super) fn taken_packets(&self) -> usize {
        self.received.get()
    }

    /// The line of this rank's acknowledgements that a peer's is in.
    fn acknowledgements<C>(&self, comm: &Comm<'_, C>, from: usize) -> MpbLine {
        comm.mpb_line(comm.rank(), self.first + SLOTS + self.doorbells.len() + from / LINE_BYTES)
    }

    /// The box of a rank here, where there are boxes.
    fn box_of(&self, from: usize) -> Option<LineWords> {
        self.pairs[from].boxes.map(|(here, _)| here)
    }

    /// The first of `lines` free slots in a row, of which there is one at least.
    fn room_for(&self, lines: usize) -> Option<usize> {
        // A bit that is left begins that many free slots in a row.
        let free = (1..lines).fold(!self.taken.get(), |free, _| free & free >> 1);
        (free != 0).then(|| free.trailing_zeros() as usize)
    }

    /// Whether the last packet to `to` is taken, for all that this rank knows now.
    #[inline(never)]
    fn look_whether_taken<C: Core>(&self, comm: &Comm<'_, C>, to: usize) -> bool {
        comm.hal().invalidate_mpb();
        self.note_acknowledgements(to / LINE_BYTES, &comm.hal().load_line(self.acknowledgements(comm, to)));
        self.is_taken(to)
    }

    #[inline]
    fn is_taken(&self, to: usize) -> bool {
        let Pair { sent, acknowledged, .. } = &self.pairs[to];
        acknowledged == sent
    }

    /// Takes `lines` slots in a row for a packet to `to`, if there are, and returns the first one.
    #[inline(never)]
    fn take_slots<C: Core>(&self, comm: &Comm<'_, C>, to: usize, lines: usize) -> Option<usize> {
        let room = self.room_for(lines).or_else(|| {
            self.look(comm);
            self.room_for(lines)
        })?;
        let slots = ((1 << lines) - 1) << room;
        self.taken.set(self.taken.get() | slots);
        self.pairs[to].slots.set(slots);
        Some(room)
    }

    /// Puts a packet into slots from one on, its first line only where there are no boxes. What tells of these lines comes behind them, and
    /// pushes the last one out of the write-combine buffer.
    #[inline(never)]
    fn put_into_slots<C: Core>(&self, comm: &Comm<'_, C>, slot: usize, head: &LineOfWords, packet: &Packet<&[u8]>) {
        let mut line = comm.mpb_line(comm.rank(), self.first + slot);
        if !self.has_boxes {
            comm.hal().store_words(line, 0, head.iter().copied());
            line = line.plus(1);
        }
        if let Some(further) = packet.further() {
            comm.hal().put(further, line);
        }
    }

    /// Sends a packet to `to`, if it can; whether it could.
    #[inline]
    pub(super) fn send<C: Core>(&self, comm: &Comm<'_, C>, to: usize, packet: &Packet<&[u8]>) -> bool {
        let (hal, pair) = (comm.hal(), &self.pairs[to]);
        // The last packet may have been taken since the last look.
        if !self.is_taken(to) && !self.look_whether_taken(comm, to) {
            return false;
        }
        let in_slots = packet.lines() - usize::from(self.has_boxes);
        let mut slot = 0;
        if in_slots > 0 {
            let Some(room) = self.take_slots(comm, to, in_slots) else { return false };
            slot = room;
        }
        let answered = (self.owed.get() == Some(to)).then(|| pair.received.get());
        if answered.is_some() {
            self.owed.set(None);
            pair.unwritten.set(pair.unwritten.get() + 1);
        }
        pair.answers.set(true);
        let sent = pair.sent.get().wrapping_add(1);
        pair.sent.set(sent);
        let stamp = sent << SLOT_BITS | slot as u8;
        let head = packet.head(stamp, answered);
        if in_slots > 0 {
            self.put_into_slots(comm, slot, &head, packet);
        }
        if let Some((_, there)) = pair.boxes {
            hal.store_words(there, 0, head.iter().copied());
        }
        if let Some(doorbell) = pair.doorbell {
            hal.set(doorbell, stamp);
        }
        comm.alert(pair.acknowledgement.line().core);
        true
    }

    /// Waits a little for the last packet to a rank to be taken, and says whether it is: a rank that receives one after the other soon has.
    #[inline]
    pub(super) fn await_acknowledgement<C: Core>(&self, comm: &Comm<'_, C>, to: usize) -> Result<bool, TimedOut> {
        if self.is_taken(to) {
            return Ok(true);
        }
        let taken =
            comm.look_at(self.acknowledgements(comm, to), LOOKS, Reason::new("a packet being taken"), |poll| {
                self.note_acknowledgements(to / LINE_BYTES, &poll.line(0));
                self.is_taken(to).then_some(())
            })?;
        Ok(taken.is_some())
    }

    /// Takes the next of the packets that were there at the last look, with its sender.
    pub(super) fn take<C: Core>(&self, comm: &Comm<'_, C>) -> Option<(usize, Packet)> {
        let (from, line) = self.found.take().or_else(|| self.next_arrival(comm))?;
        let (mut packet, words) = Packet::from_line(&line, self.spare.take());
        let missing = words.len - packet.payload.len();
        if missing > 0 {
            // The look has forgotten what L1 had of the slots, and nobody has read them since.
            let take = |_, line: &[u8]| packet.payload.extend_from_slice(line);
            comm.hal().get_used(self.further_lines(comm, from, &words), missing, take);
        }
        self.end_packet(comm, from, &words);
        Some((from, packet))
    }

    /// Takes the packet whose first line was found in the box of a rank, and gets its payload to the front of this memory, where there is
    /// room for it.
    #[inline]
    pub(super) fn take_into<C: Core>(
        &self,
        comm: &Comm<'_, C>,
        from: usize,
        (line, words): (&Line, &Words),
        payload: &mut [u8],
    ) {
        let (here, further) = payload[..words.len].split_at_mut(words.with_head(line).len());
        if !here.is_empty() {
            // What is got behind it pays for the line of memory that both are in.
            comm.hal().account_memory(0, lines_of_head(words.len));
            comm.hal().bring_in(here);
            Words::copy_with_head(line, here);
        }
        if !further.is_empty() {
            comm.hal().get(self.further_lines(comm, from, words), further);
        }
        self.end_packet(comm, from, words);
    }

    /// A packet has been got from its lines.
    #[inline]
    pub(super) fn end_packet<C: Core>(&self, comm: &Comm<'_, C>, from: usize, words: &Words) {
        let pair = &self.pairs[from];
        if let Some(count) = words.answered {
            self.note_acknowledgement(from, count);
        }
        self.acknowledge(comm);
        // What was seen of its doorbell may be older than the number of its packet, if that was taken from the box.
        if let (Some(answered), Some(doorbells)) =
            (self.answered.get(from / LINE_BYTES), self.doorbells.get(from / LINE_BYTES))
        {
            answered.byte(from % LINE_BYTES).set(words.stamp);
            doorbells.byte(from % LINE_BYTES).set(words.stamp);
        }
        pair.received.set(pair.received.get().wrapping_add(1));
        self.received.set(self.received.get().wrapping_add(1));
        self.owed.set(Some(from));
        if !pair.answers.take() || pair.unwritten.get() == MOST_UNWRITTEN {
            self.acknowledge(comm);
        }
    }

    /// Where those lines of a packet begin that are not with its head.
    fn further_lines<C>(&self, comm: &Comm<'_, C>, from: usize, words: &Words) -> MpbLine {
        self.slot_of(comm, from, words.stamp).plus(usize::from(!self.has_boxes))
    }

    /// Where the lines of a packet begin that wait.
    fn slot_of<C>(&self, comm: &Comm<'_, C>, from: usize, stamp: u8) -> MpbLine {
        comm.mpb_line(from, self.first + usize::from(stamp) % SLOTS)
    }

    /// Whether what has this stamp is the next packet of a rank.
    fn is_next(&self, from: usize, stamp: u8) -> bool {
        stamp >> SLOT_BITS == self.pairs[from].received.get().wrapping_add(1) << SLOT_BITS >> SLOT_BITS
    }

    /// The payload of a packet is no longer wanted.
    pub(super) fn give_back(&self, payload: Vec<u8>) {
        if payload.capacity() <= SHORT_BYTES {
            self.spare.set(payload);
        }
    }

    /// Whether an acknowledgement waits.
    pub(super) fn owes(&self) -> bool {
        self.owed.get().is_some()
    }

    /// Writes the acknowledgement that waits.
    #[inline]
    pub(super) fn acknowledge<C: Core>(&self, comm: &Comm<'_, C>) {
        if let Some(from) = self.owed.get() {
            self.write_acknowledgement(comm, from);
        }
    }

    #[inline(never)]
    fn write_acknowledgement<C: Core>(&self, comm: &Comm<'_, C>, from: usize) {
        self.owed.set(None);
        let pair = &self.pairs[from];
        pair.unwritten.set(0);
        comm.hal().set(pair.acknowledgement, pair.received.get());
        comm.alert(pair.acknowledgement.line().core);
    }

    /// The first rank whose doorbell in a line has rung at the last look. A packet may be taken from its box before its doorbell is seen:
    /// that of the one before it is nothing new.
    fn arrival_in(&self, index: usize) -> Option<usize> {
        let mut rung = self.doorbells[index].differing_from(&self.answered[index]);
        let (byte, _) = rung.find(|(byte, stamp)| self.is_next(index * LINE_BYTES + byte, *stamp))?;
        Some(index * LINE_BYTES + byte)
    }

    /// The next rank whose doorbell has rung, and the first line of its packet.
    fn next_arrival<C: Core>(&self, comm: &Comm<'_, C>) -> Option<(usize, Line)> {
        let hal = comm.hal();
        let from = (0..self.doorbells.len()).find_map(|index| self.arrival_in(index))?;
        if let Some(own_box) = self.box_of(from) {
            // The look may have been into the box before the packet came.
            hal.invalidate_mpb();
            return Some((from, hal.load_line(own_box.line())));
        }
        let stamp = self.doorbells[from / LINE_BYTES].byte(from % LINE_BYTES).get();
        // As of its other lines.
        Some((from, hal.load_line(self.slot_of(comm, from, stamp))))
    }

    /// The lines to look at: doorbells, and acknowledgements if something waits for these.
    fn lines_to_look_at(&self, are_blocked: bool) -> impl Iterator<Item = usize> + use<> {
        let first = self.first + SLOTS;
        first..first + self.doorbells.len() + if are_blocked { self.seen.len() } else { 0 }
    }

    /// Adds the places where packets show, that of the rank that is waited for first, if it is one, and acknowledgements if some are
    /// blocked.
    pub(super) fn add_places<C: Core>(
        &self,
        comm: &Comm<'_, C>,
        are_blocked: bool,
        awaited: Option<usize>,
        mut add: impl FnMut(Place),
    ) {
        let me = comm.rank();
        // Without doorbells there is one other rank.
        let awaited = if self.doorbells.is_empty() { (self.pairs.len() == 2).then(|| 1 - me) } else { awaited };
        let watched = awaited.filter(|from| *from != me).and_then(|from| Some((from, self.box_of(from)?.line())));
        self.watched.set(watched.map(|(from, _)| from));
        watched.into_iter().for_each(|(_, own_box)| add(Place::Line(own_box)));
        self.lines_to_look_at(are_blocked).for_each(|line| add(Place::Line(comm.mpb_line(me, line))));
    }

    /// Waits for a packet in the box of a rank, and says whether it is there, and `line` its first one; it is not if something else shows
    /// before, or a handler of interrupts has taken a packet. Nothing is blocked, no acknowledgement waits, and the box [may be
    /// awaited](Self::may_await_box).
    #[inline]
    pub(super) fn await_box<C: Core>(
        &self,
        comm: &Comm<'_, C>,
        from: usize,
        reason: Reason,
        line: &mut Line,
    ) -> Result<bool, TimedOut> {
        let Some(own_box) = self.box_of(from) else { return Ok(false) };
        let mut look = |poll: &Poll<'_>| {
            *line = Line(cast(poll.words(own_box)));
            self.is_next(from, Packet::stamp(line)).then_some(())
        };
        // A packet that is there, or comes soon, is found without all else that may come, and without a wait that goes on.
        let found = comm.look_at(&own_box, LOOKS, reason, &mut look)?;
        if found.is_some() { Ok(true) } else { self.await_box_or_others(comm, own_box, reason, look) }
    }

    /// Waits until `look` finds a packet in this box, and says whether it has; if not, something else has shown.
    #[inline(never)]
    fn await_box_or_others<C: Core>(
        &self,
        comm: &Comm<'_, C>,
        own_box: LineWords,
        reason: Reason,
        mut look: impl FnMut(&Poll<'_>) -> Option<()>,
    ) -> Result<bool, TimedOut> {
        const PLACES: usize = 1 + MOST_BOXES / LINE_BYTES;
        let (mut places, mut count) = ([Place::Line(own_box.line()); PLACES], 1);
        for line in self.lines_to_look_at(false) {
            places[count] = Place::Line(comm.mpb_line(comm.rank(), line));
            count += 1;
        }
        comm.hal().wait_until(&places[..count], Deadline::Never, reason, |poll| {
            if looks::several(poll, LOOKS, &mut look).is_some() {
                return Some(true);
            }
            // The doorbells of others are looked at now and then. One that has rung may be that of the packet that is waited for, which has
            // come since the last look.
            if self.has_rung(poll, 1) {
                poll.anew();
                return Some(look(poll).is_some());
            }
            self.owes().then_some(false)
        })
    }

    /// Whether a rank's packets may come to be found in a box by [`await_box`](Self::await_box) now: others are to be looked at, too.
    #[inline]
    pub(super) fn may_await_box(&self, from: usize, me: usize) -> bool {
        self.has_boxes && from != me && (self.doorbells.is_empty() || !self.received.get().is_multiple_of(ROUND))
    }

    /// Looks at these places, of which the first has number `first` in the poll, until there is a packet. Returns whether there is one, or an
    /// acknowledgement that was not known.
    pub(super) fn has_news(&self, poll: &Poll<'_>, mut first: usize, are_blocked: bool) -> bool {
        self.found.set(None);
        if let Some(from) = self.watched.get() {
            let line = poll.line(first);
            first += 1;
            if self.is_next(from, Packet::stamp(&line)) {
                self.found.set(Some((from, line)));
                // It does not keep others from being looked at now and then.
                if !self.received.get().is_multiple_of(ROUND) {
                    return true;
                }
            }
        }
        if self.has_rung(poll, first) {
            return true;
        }
        let lines = if are_blocked { 0..self.seen.len() } else { 0..0 };
        let found = self.found.get().is_some();
        lines.fold(found, |is_new, index| {
            is_new | self.note_acknowledgements(index, &poll.line(first + self.doorbells.len() + index))
        })
    }

    /// Looks at the doorbells, of which the first has number `first` in the poll, until one has rung.
    fn has_rung(&self, poll: &Poll<'_>, first: usize) -> bool {
        let count = self.doorbells.len();
        // Which line is the first one changes now and then, so that no line keeps others from being looked at.
        (0..count).map(|index| (index + self.received.get() / ROUND) % count).any(|index| {
            self.doorbells[index].set(&poll.line(first + index));
            self.arrival_in(index).is_some()
        })
    }

    /// Looks at all of them without a wait.
    pub(super) fn look<C: Core>(&self, comm: &Comm<'_, C>) {
        comm.hal().invalidate_mpb();
        let mut lines = self.lines_to_look_at(true).map(|line| comm.hal().load_line(comm.mpb_line(comm.rank(), line)));
        self.doorbells.iter().zip(lines.by_ref()).for_each(|(seen, line)| seen.set(&line));
        for (index, line) in lines.enumerate() {
            self.note_acknowledgements(index, &line);
        }
    }

    /// Notes what a line of acknowledgements says, and whether that was not known.
    fn note_acknowledgements(&self, index: usize, line: &Line) -> bool {
        let (seen, now, mut is_new) = (&self.seen[index], Seen::default(), false);
        now.set(line);
        for (byte, count) in now.differing_from(seen) {
            is_new = true;
            self.note_acknowledgement(index * LINE_BYTES + byte, count);
        }
        seen.set(line);
        is_new
    }

    /// A packet to a rank was taken, if it is the last one: what stands there may be older than what has come with packets.
    fn note_acknowledgement(&self, to: usize, count: u8) {
        let pair = &self.pairs[to];
        if count == pair.sent.get() {
            pair.acknowledged.set(count);
            self.taken.set(self.taken.get() & !pair.slots.take());
        }
    }
}
