//! How packets get from one rank to another: put into a slot of the sender's own MPB, and got from there.
//!
//! A sender puts a packet into free lines of its own, its slots, and rings: its byte among the receiver's doorbells says where the
//! packet begins, and a number. The receiver gets it and acknowledges it, by the same byte among the *sender's* acknowledgements.
//! So everybody polls lines of its own, all bytes have one writer, and a rank needs slots for what it has under way and not
//! for each sender: 16 lines, and 2 for each 32 ranks. There is one packet from one rank to another at a time.

use alloc::{boxed::Box, vec, vec::Vec};
use core::{array, cell::Cell, iter};

use hal::{Core, LINE_BYTES, Line, MpbLine, Place, Poll};

use crate::Comm;

use super::packet::Packet;

/// Slots of a rank.
const SLOTS: usize = 16;

/// Bits of a doorbell that say where a packet begins; the others are a number.
const SLOT_BITS: u32 = 4;
const _: () = assert!(SLOTS == 1 << SLOT_BITS, "each slot has a number");

/// What this rank knows of a peer.
#[derive(Clone, Default)]
struct Pair {
    /// This rank's doorbell there, and the last acknowledgement of it.
    rung: Cell<u8>,
    acknowledged: Cell<u8>,
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
        hal.put_made(packet.lines() * LINE_BYTES, at, |index, line| line.copy_from_slice(&packet.line(index)));
        pair.rung.set(((pair.rung.get() >> SLOT_BITS).wrapping_add(1) << SLOT_BITS) | slot as u8);
        let (line, byte) = self.doorbells(comm, to, me);
        hal.set_flag(line, byte, pair.rung.get());
        true
    }

    /// Takes the next of the packets that were there at the last look, with its sender.
    pub(super) fn take<C: Core>(&self, comm: &Comm<'_, C>) -> Option<(usize, Packet)> {
        let (hal, me) = (comm.hal(), comm.rank());
        let from = self.next_arrival()?;
        let rung = self.rung_by(from);
        let slot = usize::from(rung) % SLOTS;
        // The look has forgotten what L1 had of the slot, and nobody has read it since.
        let first = comm.mpb_line(from, self.first + slot);
        let (mut packet, missing) = Packet::from_line(&hal.load_line(first).0);
        if missing > 0 {
            hal.get_used(first.plus(1), missing, |_, line| packet.payload.extend_from_slice(line));
        }
        self.pairs[from].taken.set(rung);
        let (line, byte) = self.acknowledgements(comm, from, me);
        hal.set_flag(line, byte, rung);
        Some((from, packet))
    }

    fn rung_by(&self, from: usize) -> u8 {
        self.doorbells[from / LINE_BYTES].get().0[from % LINE_BYTES]
    }

    fn next_arrival(&self) -> Option<usize> {
        (0..self.pairs.len()).find(|from| self.rung_by(*from) != self.pairs[*from].taken.get())
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

    /// Looks at these places, of which the first has number `first` in the poll. Returns whether there is a packet, or an
    /// acknowledgement that was not known.
    pub(super) fn has_news(&self, poll: &Poll<'_>, first: usize, are_blocked: bool) -> bool {
        let lines = iter::successors(Some(first), |index| Some(index + 1)).map(|index| poll.line(index));
        self.note(lines.take(self.lines_to_look_at(are_blocked).count()))
    }

    /// Looks at all of them without a wait.
    pub(super) fn look<C: Core>(&self, comm: &Comm<'_, C>) {
        comm.hal().invalidate_mpb();
        self.note(self.lines_to_look_at(true).map(|line| comm.hal().load_line(comm.mpb_line(comm.rank(), line))));
    }

    fn note(&self, mut lines: impl Iterator<Item = Line>) -> bool {
        for (seen, line) in self.doorbells.iter().zip(lines.by_ref()) {
            seen.set(line);
        }
        let mut is_new = false;
        for (index, line) in lines.enumerate() {
            is_new |= self.note_acknowledgements(index, line);
        }
        is_new || self.next_arrival().is_some()
    }

    /// Notes what a line of acknowledgements says, and whether that was not known.
    fn note_acknowledgements(&self, index: usize, line: Line) -> bool {
        let mut is_new = false;
        for (pair, byte) in self.pairs[index * LINE_BYTES..].iter().zip(line.0) {
            if pair.acknowledged.replace(byte) != byte {
                is_new = true;
                self.taken[usize::from(byte) % SLOTS].set(0);
            }
        }
        is_new
    }
}
