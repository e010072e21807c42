//! How packets get from one rank to another: put into a slot of the sender's own MPB, and got from there.
//!
//! A sender puts a packet into free lines of its own, its slots, and rings: its byte among the receiver's doorbells says where the
//! packet begins, and a number. The receiver gets it and acknowledges it, by the same byte among the *sender's* acknowledgements.
//! So everybody polls lines of its own, all bytes have one writer, and a rank needs slots for what it has under way and not
//! for each sender: 16 lines, and 2 for each 32 ranks. There is one packet from one rank to another at a time.
//!
//! A packet of one line goes another way where there are not too many ranks for that: into a line of the *receiver's* MPB that this
//! sender alone writes to, its box there, and then it rings. Whoever waits for one rank looks into the box of that one, and has the
//! packet by the same look; others are told by the doorbell.
//!
//! Who answers packets with packets acknowledges with these: a packet has room for it. So where something was sent to a
//! rank since its last packet, an acknowledgement waits for the next one, or for the rank to wait in vain. The byte
//! itself is written again before a doorbell can be the same as one that it acknowledged.

use alloc::{boxed::Box, vec, vec::Vec};
use core::{array, cell::Cell};

use hal::{Core, LINE_BYTES, Line, MpbLine, Place, Poll};

use crate::Comm;

use super::packet::{Packet, SHORT_BYTES};

/// Slots of a rank.
const SLOTS: usize = 16;

/// Bits of a doorbell that say in which slot a packet begins.
const SLOT_BITS: u32 = 4;
const _: () = assert!(SLOTS == 1 << SLOT_BITS, "each slot has a number");

/// The bit of a doorbell that says that the packet is in the box instead. The others are a number.
const BOXED: u8 = 1 << SLOT_BITS;

/// From one number to the next.
const NEXT_NUMBER: u8 = BOXED << 1;

/// Ranks up to which there are boxes.
const MOST_BOXES: usize = 64;

/// Packets after which another line of doorbells is looked at first.
const ROUND: usize = 16;

/// Acknowledgements that go with packets one after the other at most, fewer than a doorbell has numbers.
const MOST_UNWRITTEN: u8 = 4;
const _: () =
    assert!(MOST_UNWRITTEN < u8::MAX / NEXT_NUMBER, "an acknowledgement is written before a number comes again");

/// What this rank knows of a peer.
#[derive(Clone, Default)]
struct Pair {
    /// This rank's doorbell there, and the last acknowledgement of it.
    rung: Cell<u8>,
    acknowledged: Cell<u8>,
    /// Whether something was sent to the peer since its last packet, and how many acknowledgements have gone with packets since the
    /// last one that was written.
    answers: Cell<bool>,
    unwritten: Cell<u8>,
    /// The doorbell of the last packet of the peer's that was taken from its box here.
    boxed: Cell<u8>,
}

/// The slots, doorbells and acknowledgements of all ranks, as one of them sees them.
pub(super) struct Slots {
    first: usize,
    /// How many lines there are, and whether boxes are among them.
    count: usize,
    has_boxes: bool,
    /// Whose box the poll that is under way looks into, and what a look has found in whose box.
    watched: Cell<Option<usize>>,
    found: Cell<Option<(usize, Line)>>,
    pairs: Box<[Pair]>,
    /// The doorbells at the last look, and the last ones that were taken.
    doorbells: Box<[Cell<Line>]>,
    answered: Box<[Cell<Line>]>,
    /// The acknowledgements at the last look.
    seen: Box<[Cell<Line>]>,
    /// Of each slot in which a packet begins that was not acknowledged, how many it takes.
    taken: [Cell<usize>; SLOTS],
    /// A rank whose last packet was taken and not acknowledged.
    owed: Cell<Option<usize>>,
    /// Packets that were taken.
    received: Cell<usize>,
    /// Memory for the payload of the next packet.
    spare: Cell<Vec<u8>>,
}

impl Slots {
    /// Lines of every MPB for `ranks` ranks: with boxes, if there can be some, and without.
    pub(super) fn lines(ranks: usize) -> [usize; 2] {
        let least = SLOTS + 2 * ranks.div_ceil(LINE_BYTES);
        [least + if ranks <= MOST_BOXES { ranks } else { 0 }, least]
    }

    /// Takes `count` lines from `first` on, and clears this rank's. A barrier has to follow.
    pub(super) fn new<C: Core>(comm: &Comm<'_, C>, first: usize, count: usize) -> Self {
        let own = comm.mpb_line(comm.rank(), first);
        comm.hal().put_made(count * LINE_BYTES, own, |_, bytes| bytes.fill(0));
        let lines = || vec![Cell::default(); comm.size().div_ceil(LINE_BYTES)].into_boxed_slice();
        Self {
            first,
            count,
            has_boxes: count > Self::lines(comm.size())[1],
            watched: Cell::new(None),
            found: Cell::new(None),
            pairs: vec![Pair::default(); comm.size()].into_boxed_slice(),
            doorbells: lines(),
            answered: lines(),
            seen: lines(),
            taken: array::from_fn(|_| Cell::new(0)),
            owed: Cell::new(None),
            received: Cell::new(0),
            spare: Cell::default(),
        }
    }

    /// The first of the lines, and how many there are.
    pub(super) fn taken_lines(&self) -> (usize, usize) {
        (self.first, self.count)
    }

    fn doorbells<C>(&self, comm: &Comm<'_, C>, of: usize, from: usize) -> (MpbLine, usize) {
        (comm.mpb_line(of, self.first + SLOTS + from / LINE_BYTES), from % LINE_BYTES)
    }

    fn acknowledgements<C>(&self, comm: &Comm<'_, C>, of: usize, from: usize) -> (MpbLine, usize) {
        let line = self.first + SLOTS + self.doorbells.len() + from / LINE_BYTES;
        (comm.mpb_line(of, line), from % LINE_BYTES)
    }

    /// The box of a rank at another one.
    fn box_at<C>(&self, comm: &Comm<'_, C>, of: usize, from: usize) -> MpbLine {
        comm.mpb_line(of, self.first + SLOTS + 2 * self.doorbells.len() + from)
    }

    /// The first of `lines` free slots in a row.
    fn room_for(&self, lines: usize) -> Option<usize> {
        let (mut slot, mut first) = (0, 0);
        while slot < SLOTS {
            match self.taken[slot].get() {
                0 if slot + 1 - first == lines => return Some(first),
                0 => slot += 1,
                taken => {
                    slot += taken;
                    first = slot;
                }
            }
        }
        None
    }

    /// Sends a packet to `to`, if it can; whether it could.
    pub(super) fn send<C: Core>(&self, comm: &Comm<'_, C>, to: usize, packet: &Packet<&[u8]>) -> bool {
        let (hal, me, pair) = (comm.hal(), comm.rank(), &self.pairs[to]);
        if pair.acknowledged != pair.rung {
            // That packet may have been taken since the last look.
            let (line, _) = self.acknowledgements(comm, me, to);
            hal.invalidate_mpb();
            self.note_acknowledgements(to / LINE_BYTES, hal.load_line(line));
            if pair.acknowledged != pair.rung {
                return false;
            }
        }
        let (at, place) = if self.has_boxes && packet.lines() == 1 {
            (self.box_at(comm, to, me), BOXED)
        } else {
            if self.room_for(packet.lines()).is_none() {
                self.look(comm);
            }
            let Some(slot) = self.room_for(packet.lines()) else { return false };
            self.taken[slot].set(packet.lines());
            (comm.mpb_line(me, self.first + slot), slot as u8)
        };
        let answered = (self.owed.get() == Some(to)).then(|| self.answered(to));
        if answered.is_some() {
            self.owed.set(None);
        }
        pair.unwritten.set(pair.unwritten.get() + u8::from(answered.is_some()));
        pair.answers.set(true);
        let rung = number(pair.rung.get()).wrapping_add(NEXT_NUMBER) | place;
        pair.rung.set(rung);
        // Whole lines leave the write-combine buffer at once; the flag comes behind them.
        hal.put_made(packet.lines() * LINE_BYTES, at, |index, line| {
            line.copy_from_slice(&packet.line(index, rung, answered))
        });
        let (line, byte) = self.doorbells(comm, to, me);
        hal.set_flag(line, byte, rung);
        comm.alert(line.core);
        true
    }

    /// Takes the next of the packets that were there at the last look, with its sender.
    pub(super) fn take<C: Core>(&self, comm: &Comm<'_, C>) -> Option<(usize, Packet)> {
        let hal = comm.hal();
        let (from, first, line) = if let Some((from, line)) = self.found.take() {
            (from, None, line)
        } else {
            let from = self.next_arrival()?;
            let rung = self.rung_by(from);
            if rung & BOXED == 0 {
                // The look has forgotten what L1 had of the slot, and nobody has read it since.
                let first = comm.mpb_line(from, self.first + usize::from(rung) % SLOTS);
                (from, Some(first), hal.load_line(first))
            } else {
                // The look may have been into the box before the packet came.
                hal.invalidate_mpb();
                (from, None, hal.load_line(self.box_at(comm, comm.rank(), from)))
            }
        };
        let (mut packet, rung, acknowledged, missing) = Packet::from_line(&line.0, self.spare.take());
        let pair = &self.pairs[from];
        if let Some(doorbell) = acknowledged {
            self.note_acknowledgement(from, doorbell);
        }
        match first {
            Some(first) if missing > 0 => {
                hal.get_used(first.plus(1), missing, |_, line| packet.payload.extend_from_slice(line));
            }
            Some(_) => {}
            None => pair.boxed.set(rung),
        }
        self.acknowledge(comm);
        // What was seen of its doorbell may be as many packets old as there are numbers, if all were taken from the box.
        for lines in [&self.answered, &self.doorbells] {
            let seen = &lines[from / LINE_BYTES];
            let mut line = seen.get();
            line.0[from % LINE_BYTES] = rung;
            seen.set(line);
        }
        self.received.set(self.received.get().wrapping_add(1));
        self.owed.set(Some(from));
        if !pair.answers.take() || pair.unwritten.get() == MOST_UNWRITTEN {
            self.acknowledge(comm);
        }
        Some((from, packet))
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
    pub(super) fn acknowledge<C: Core>(&self, comm: &Comm<'_, C>) {
        let Some(from) = self.owed.take() else { return };
        let (pair, (line, byte)) = (&self.pairs[from], self.acknowledgements(comm, from, comm.rank()));
        pair.unwritten.set(0);
        comm.hal().set_flag(line, byte, self.answered(from));
        comm.alert(line.core);
    }

    fn rung_by(&self, from: usize) -> u8 {
        self.doorbells[from / LINE_BYTES].get().0[from % LINE_BYTES]
    }

    /// The last doorbell of a rank that was taken.
    fn answered(&self, from: usize) -> u8 {
        self.answered[from / LINE_BYTES].get().0[from % LINE_BYTES]
    }

    /// The first rank whose doorbell in a line has rung at the last look.
    fn arrival_in(&self, index: usize) -> Option<usize> {
        let (doorbells, answered) = (self.doorbells[index].get(), self.answered[index].get());
        // A packet may be taken from its box before its doorbell is seen: that of the one before it is nothing new.
        let mut new = differing(&doorbells, &answered).filter(|byte| follows(doorbells.0[*byte], answered.0[*byte]));
        new.next().map(|byte| index * LINE_BYTES + byte)
    }

    fn next_arrival(&self) -> Option<usize> {
        (0..self.doorbells.len()).find_map(|index| self.arrival_in(index))
    }

    /// The lines to look at: doorbells, and acknowledgements if something waits for these.
    fn lines_to_look_at(&self, are_blocked: bool) -> impl Iterator<Item = usize> + use<> {
        let count = self.doorbells.len();
        let first = self.first + SLOTS;
        first..first + if are_blocked { 2 * count } else { count }
    }

    /// Adds the places where packets show, that of the rank that is waited for first, if it is one, and acknowledgements if some are
    /// blocked.
    pub(super) fn add_places<C: Core>(
        &self,
        comm: &Comm<'_, C>,
        are_blocked: bool,
        awaited: Option<usize>,
        places: &mut Vec<Place>,
    ) {
        let me = comm.rank();
        let watched = awaited.filter(|from| self.has_boxes && *from != me);
        self.watched.set(watched);
        places.extend(watched.map(|from| Place::Line(self.box_at(comm, me, from))));
        places.extend(self.lines_to_look_at(are_blocked).map(|line| Place::Line(comm.mpb_line(me, line))));
    }

    /// Looks at these places, of which the first has number `first` in the poll, until there is a packet. Returns whether there is
    /// one, or an acknowledgement that was not known.
    pub(super) fn has_news(&self, poll: &Poll<'_>, mut first: usize, are_blocked: bool) -> bool {
        self.found.set(None);
        if let Some(from) = self.watched.get() {
            let line = poll.line(first);
            let rung = Packet::rung(&line.0);
            first += 1;
            if rung != self.pairs[from].boxed.get() && rung & BOXED != 0 && follows(rung, self.answered(from)) {
                self.found.set(Some((from, line)));
                // It does not keep others from being looked at now and then.
                if !self.received.get().is_multiple_of(ROUND) {
                    return true;
                }
            }
        }
        let count = self.doorbells.len();
        // Which line is the first one changes now and then, so that no line keeps others from being looked at.
        for index in (0..count).map(|index| (index + self.received.get() / ROUND) % count) {
            self.doorbells[index].set(poll.line(first + index));
            if self.arrival_in(index).is_some() {
                return true;
            }
        }
        let lines = if are_blocked { 0..count } else { 0..0 };
        let found = self.found.get().is_some();
        lines.fold(found, |is_new, index| is_new | self.note_acknowledgements(index, poll.line(first + count + index)))
    }

    /// Looks at all of them without a wait.
    pub(super) fn look<C: Core>(&self, comm: &Comm<'_, C>) {
        comm.hal().invalidate_mpb();
        let mut lines = self.lines_to_look_at(true).map(|line| comm.hal().load_line(comm.mpb_line(comm.rank(), line)));
        self.doorbells.iter().zip(lines.by_ref()).for_each(|(seen, line)| seen.set(line));
        for (index, line) in lines.enumerate() {
            self.note_acknowledgements(index, line);
        }
    }

    /// Notes what a line of acknowledgements says, and whether that was not known.
    fn note_acknowledgements(&self, index: usize, line: Line) -> bool {
        let mut is_new = false;
        for byte in differing(&line, &self.seen[index].replace(line)) {
            is_new = true;
            self.note_acknowledgement(index * LINE_BYTES + byte, line.0[byte]);
        }
        is_new
    }

    /// A packet to a rank was taken.
    fn note_acknowledgement(&self, to: usize, doorbell: u8) {
        self.pairs[to].acknowledged.set(doorbell);
        if doorbell & BOXED == 0 {
            self.taken[usize::from(doorbell) % SLOTS].set(0);
        }
    }
}

/// The number of a doorbell, where it stands.
fn number(doorbell: u8) -> u8 {
    doorbell & !(NEXT_NUMBER - 1)
}

/// Whether a doorbell is the next one behind another.
fn follows(doorbell: u8, before: u8) -> bool {
    number(doorbell) == number(before).wrapping_add(NEXT_NUMBER)
}

/// The bytes of two lines that differ: most words do not.
fn differing(one: &Line, other: &Line) -> impl Iterator<Item = usize> + use<> {
    const IN_WORD: usize = 4;
    let (one, other) = (*one, *other);
    let words = (0..LINE_BYTES / IN_WORD).filter(move |word| one.word(*word) != other.word(*word));
    words.flat_map(|word| word * IN_WORD..(word + 1) * IN_WORD).filter(move |byte| one.0[*byte] != other.0[*byte])
}
