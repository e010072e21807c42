//! How packets get from one rank to another: put into a slot of the sender's own MPB, and got from there.
//!
//! A sender puts a packet into free lines of its own, its slots, and rings: its byte among the receiver's doorbells says where the
//! packet begins, and a number. The receiver gets it and acknowledges it, by the same byte among the *sender's* acknowledgements.
//! So everybody polls lines of its own, all bytes have one writer, and a rank needs slots for what it has under way and not
//! for each sender: 16 lines, and 2 for each 32 ranks. There is one packet from one rank to another at a time.
//!
//! Who answers packets with packets acknowledges with these: a packet has room for it. So where something was sent to a
//! rank since its last packet, an acknowledgement waits for the next one, or for the rank to wait in vain. The byte
//! itself is written again before a doorbell can be the same as one that it acknowledged.

use alloc::{boxed::Box, vec, vec::Vec};
use core::{array, cell::Cell};

use hal::{Core, LINE_BYTES, Line, MpbLine, Place, Poll};

use crate::Comm;

use super::packet::Packet;

/// Slots of a rank.
const SLOTS: usize = 16;

/// Bits of a doorbell that say where a packet begins; the others are a number.
const SLOT_BITS: u32 = 4;
const _: () = assert!(SLOTS == 1 << SLOT_BITS, "each slot has a number");

/// Packets after which another line of doorbells is looked at first.
const ROUND: usize = 16;

/// Acknowledgements that go with packets one after the other at most, fewer than a doorbell has numbers.
const MOST_UNWRITTEN: u8 = 8;

/// What this rank knows of a peer.
#[derive(Clone, Default)]
struct Pair {
    /// This rank's doorbell there, the last acknowledgement of it, and what the byte of these was at the last look.
    rung: Cell<u8>,
    acknowledged: Cell<u8>,
    seen: Cell<u8>,
    /// Whether something was sent to the peer since its last packet, and how many acknowledgements have gone with packets since the
    /// last one that was written.
    answers: Cell<bool>,
    unwritten: Cell<u8>,
    /// The last of the peer's doorbells here that was taken.
    taken: Cell<u8>,
}

/// The slots, doorbells and acknowledgements of all ranks, as one of them sees them.
pub(super) struct Slots {
    first: usize,
    pairs: Box<[Pair]>,
    /// The doorbells at the last look.
    doorbells: Box<[Cell<Line>]>,
    /// Of each slot in which a packet begins that was not acknowledged, how many it takes.
    taken: [Cell<usize>; SLOTS],
    /// A rank whose last packet was taken and not acknowledged.
    owed: Cell<Option<usize>>,
    /// Packets that were taken.
    received: Cell<usize>,
}

impl Slots {
    /// Lines of every MPB for so many ranks.
    pub(super) fn lines(ranks: usize) -> usize {
        SLOTS + 2 * ranks.div_ceil(LINE_BYTES)
    }

    /// Takes the lines from `first` on, and clears this rank's. A barrier has to follow.
    pub(super) fn new<C: Core>(comm: &Comm<'_, C>, first: usize) -> Self {
        let own = comm.mpb_line(comm.rank(), first);
        comm.hal().put_made(Self::lines(comm.size()) * LINE_BYTES, own, |_, bytes| bytes.fill(0));
        Self {
            first,
            pairs: vec![Pair::default(); comm.size()].into_boxed_slice(),
            doorbells: vec![Cell::default(); comm.size().div_ceil(LINE_BYTES)].into_boxed_slice(),
            taken: array::from_fn(|_| Cell::new(0)),
            owed: Cell::new(None),
            received: Cell::new(0),
        }
    }

    /// The first of the lines.
    pub(super) fn first(&self) -> usize {
        self.first
    }

    fn doorbells<C>(&self, comm: &Comm<'_, C>, of: usize, from: usize) -> (MpbLine, usize) {
        (comm.mpb_line(of, self.first + SLOTS + from / LINE_BYTES), from % LINE_BYTES)
    }

    fn acknowledgements<C>(&self, comm: &Comm<'_, C>, of: usize, from: usize) -> (MpbLine, usize) {
        let line = self.first + SLOTS + self.doorbells.len() + from / LINE_BYTES;
        (comm.mpb_line(of, line), from % LINE_BYTES)
    }

    /// The first of so many free slots in a row.
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
    pub(super) fn send<C: Core>(&self, comm: &Comm<'_, C>, to: usize, packet: &Packet) -> bool {
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
        if self.room_for(packet.lines()).is_none() {
            self.look(comm);
        }
        let Some(slot) = self.room_for(packet.lines()) else { return false };
        self.taken[slot].set(packet.lines());
        // Whole lines leave the write-combine buffer at once; the flag comes behind them.
        let at = comm.mpb_line(me, self.first + slot);
        let answered = (self.owed.get() == Some(to)).then(|| pair.taken.get());
        if answered.is_some() {
            self.owed.set(None);
        }
        pair.unwritten.set(pair.unwritten.get() + u8::from(answered.is_some()));
        pair.answers.set(true);
        hal.put_made(packet.lines() * LINE_BYTES, at, |index, line| {
            line.copy_from_slice(&packet.line(index, answered))
        });
        pair.rung.set(((pair.rung.get() >> SLOT_BITS).wrapping_add(1) << SLOT_BITS) | slot as u8);
        let (line, byte) = self.doorbells(comm, to, me);
        hal.set_flag(line, byte, pair.rung.get());
        comm.alert(line.core);
        true
    }

    /// Takes the next of the packets that were there at the last look, with its sender.
    pub(super) fn take<C: Core>(&self, comm: &Comm<'_, C>) -> Option<(usize, Packet)> {
        let hal = comm.hal();
        let from = self.next_arrival()?;
        let rung = self.rung_by(from);
        let slot = usize::from(rung) % SLOTS;
        // The look has forgotten what L1 had of the slot, and nobody has read it since.
        let first = comm.mpb_line(from, self.first + slot);
        let (mut packet, answered, missing) = Packet::from_line(&hal.load_line(first).0);
        let pair = &self.pairs[from];
        if let Some(byte) = answered {
            pair.acknowledged.set(byte);
            self.taken[usize::from(byte) % SLOTS].set(0);
        }
        if missing > 0 {
            hal.get_used(first.plus(1), missing, |_, line| packet.payload.extend_from_slice(line));
        }
        self.acknowledge(comm);
        pair.taken.set(rung);
        self.received.set(self.received.get().wrapping_add(1));
        self.owed.set(Some(from));
        if !pair.answers.take() || pair.unwritten.get() == MOST_UNWRITTEN {
            self.acknowledge(comm);
        }
        Some((from, packet))
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
        comm.hal().set_flag(line, byte, pair.taken.get());
        comm.alert(line.core);
    }

    fn rung_by(&self, from: usize) -> u8 {
        self.doorbells[from / LINE_BYTES].get().0[from % LINE_BYTES]
    }

    /// The ranks whose doorbells in a line have rung at the last look.
    fn arrivals_in(&self, index: usize) -> impl Iterator<Item = usize> {
        let first = index * LINE_BYTES;
        let ranks = first..self.pairs.len().min(first + LINE_BYTES);
        ranks.filter(|from| self.rung_by(*from) != self.pairs[*from].taken.get())
    }

    fn next_arrival(&self) -> Option<usize> {
        (0..self.doorbells.len()).find_map(|index| self.arrivals_in(index).next())
    }

    /// The lines to look at: doorbells, and acknowledgements if something waits for these.
    fn lines_to_look_at(&self, are_blocked: bool) -> impl Iterator<Item = usize> + use<> {
        let count = self.doorbells.len();
        let first = self.first + SLOTS;
        first..first + if are_blocked { 2 * count } else { count }
    }

    /// Adds the places where packets show and, if some are blocked, acknowledgements.
    pub(super) fn add_places<C: Core>(&self, comm: &Comm<'_, C>, are_blocked: bool, places: &mut Vec<Place>) {
        places.extend(self.lines_to_look_at(are_blocked).map(|line| Place::Line(comm.mpb_line(comm.rank(), line))));
    }

    /// Looks at these places, of which the first has number `first` in the poll, until there is a packet. Returns whether there is
    /// one, or an acknowledgement that was not known.
    pub(super) fn has_news(&self, poll: &Poll<'_>, first: usize, are_blocked: bool) -> bool {
        let count = self.doorbells.len();
        // Which line is the first one changes now and then, so that no line keeps others from being looked at.
        for index in (0..count).map(|index| (index + self.received.get() / ROUND) % count) {
            self.doorbells[index].set(poll.line(first + index));
            if self.arrivals_in(index).next().is_some() {
                return true;
            }
        }
        let lines = if are_blocked { 0..count } else { 0..0 };
        lines.fold(false, |is_new, index| is_new | self.note_acknowledgements(index, poll.line(first + count + index)))
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
        for (pair, byte) in self.pairs[index * LINE_BYTES..].iter().zip(line.0) {
            if pair.seen.replace(byte) != byte {
                is_new = true;
                pair.acknowledged.set(byte);
                self.taken[usize::from(byte) % SLOTS].set(0);
            }
        }
        is_new
    }
}
