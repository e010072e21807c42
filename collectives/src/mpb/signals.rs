//! Signals: how a rank tells another that something is there, or done.
//!
//! Every MPB has one byte for each peer, and only that peer writes it. Six bits of it count the signals of collective
//! operations. A signal raises the count by one; the receiver knows how many signals it has taken from that peer and
//! waits for the next. Nothing is ever reset, so there is no reset to race with; nobody else writes the byte, so there
//! is no lock; and signals from one rank to another are taken in the order in which they were sent, whatever operation
//! they belong to. Six bits suffice because no operation lets a rank run more than a few signals ahead of its peer: in a
//! message one, in a gather one for each of the operations that may be under way, in a scan its slots, in OC-Bcast two
//! chunks for each parent that is kept waiting by the peer; should it ever be more than 56, that is noticed.
//!
//! The other two bits are those of [messages](crate::two_sided) of the program, of which no rank is ahead.
//!
//! A signal is a byte store followed by a drain. The store hits another line than the data before it, which pushes
//! the data out of the write-combine buffer first: *data, then flag, then drain* (as RCCE and the SCC's Linux drivers
//! do it).

use alloc::{boxed::Box, vec};
use core::{cell::Cell, iter};

use hal::{Deadline, LINE_BYTES, Mpb, MpbLine, Place, Poll, Reason, TimedOut, Wait};

use super::bytes::{IN_WORD, repeated, spread, words, words_of};
use crate::Comm;

/// The bits that count the signals of collective operations.
const COUNT: u8 = 0b0011_1111;

/// Turns over with each chunk of a message.
pub(crate) const CHUNK: u8 = 0b0100_0000;

/// Turns over with each answer to a chunk.
pub(crate) const ANSWER: u8 = 0b1000_0000;

/// Signals that a rank can be ahead of its peer in any program that is right; more could be taken for fewer.
const FARTHEST: u8 = 56;

/// The counts in each byte of a word, and the bit above each of them.
const COUNTS: u32 = repeated(COUNT);
const ABOVE: u32 = repeated(COUNT + 1);

/// The signals between this rank and all others.
pub(crate) struct Signals {
    /// The byte of this rank in each other MPB.
    sent: Box<[Cell<u8>]>,
    /// The bytes of the other ranks in this rank's MPB, as far as this rank has taken what they say: a line of 32 in a value.
    taken: Box<[[Cell<u32>; LINE_BYTES / IN_WORD]]>,
}

/// The byte with one signal more in its count.
fn raised(byte: u8) -> u8 {
    byte & !COUNT | byte.wrapping_add(1) & COUNT
}

impl Signals {
    pub(crate) fn new(ranks: usize) -> Self {
        let lines = iter::repeat_with(Default::default).take(ranks.div_ceil(LINE_BYTES));
        Self { sent: vec![Cell::new(0); ranks].into_boxed_slice(), taken: lines.collect() }
    }

    /// Changes the byte of this rank in the MPB of rank `to`. All that was put and stored before
    /// is visible to it when it sees the change.
    fn change(&self, comm: &Comm<'_, impl Mpb + Wait>, to: usize, change: impl FnOnce(u8) -> u8) {
        let value = change(self.sent[to].get());
        self.sent[to].set(value);
        if let Some(elsewhere) = comm.elsewhere() {
            return elsewhere.set(comm, to, value);
        }
        let (line, byte) = comm.mpb_layout().signal_from(comm.rank());
        comm.hal().set_flag(comm.mpb_line(to, line), byte, value);
    }

    /// Signals rank `to`.
    pub(crate) fn send(&self, comm: &Comm<'_, impl Mpb + Wait>, to: usize) {
        self.change(comm, to, raised);
    }

    /// Turns bits of messages over for rank `to`.
    pub(crate) fn turn(&self, comm: &Comm<'_, impl Mpb + Wait>, bits: u8, to: usize) {
        self.change(comm, to, |byte| byte ^ bits);
    }

    /// What was taken of the byte of a rank: its word, and how far its byte is from the lowest one, in bits.
    fn taken_of(&self, from: usize) -> (&Cell<u32>, usize) {
        (&self.taken[from / LINE_BYTES][from % LINE_BYTES / IN_WORD], from % IN_WORD * 8)
    }

    /// The bits of messages that rank `from` has turned in `byte` since they were taken.
    pub(crate) fn turned(&self, from: usize, byte: u8) -> u8 {
        let (taken, shift) = self.taken_of(from);
        (byte ^ (taken.get() >> shift) as u8) & !COUNT
    }

    /// Takes bits that rank `from` has turned.
    pub(crate) fn take_turned(&self, from: usize, bits: u8) {
        let (taken, shift) = self.taken_of(from);
        taken.set(taken.get() ^ u32::from(bits) << shift);
    }

    /// Takes `count` signals from each of `ranks` (ascending), waiting until they are there. One line is polled at a
    /// time, and all ranks that share it are awaited together.
    fn take<C: Mpb + Wait>(&self, comm: &Comm<'_, C>, ranks: impl Iterator<Item = usize>, count: u8, reason: Reason) {
        let mut rest = ranks.peekable();
        while let Some(first) = rest.next() {
            let (index, mut mask) = (first / LINE_BYTES, 1 << (first % LINE_BYTES));
            while let Some(rank) = rest.next_if(|rank| rank / LINE_BYTES == index) {
                mask |= 1 << (rank % LINE_BYTES);
            }
            if !self.take_of_line(comm, index, mask, count, reason) {
                return;
            }
        }
    }

    /// The same for those of 32 ranks, from 32 `index` on, that `mask` has bits for. False on a machine that is dying, of a
    /// destructor.
    fn take_of_line<C: Mpb + Wait>(
        &self,
        comm: &Comm<'_, C>,
        index: usize,
        mask: u32,
        count: u8,
        reason: Reason,
    ) -> bool {
        if comm.elsewhere().is_some() {
            let ranks = (0..LINE_BYTES).filter(|byte| mask >> byte & 1 == 1).map(|byte| index * LINE_BYTES + byte);
            return ranks.into_iter().all(|rank| self.take_elsewhere(comm, rank, count, reason));
        }
        let taken = &self.taken[index];
        let (line, _) = comm.mpb_layout().signal_from(index * LINE_BYTES);
        let all_there = |poll: &Poll<'_>| {
            let line = words(poll.line(0));
            for (word, four) in words_of(mask) {
                // The bits above keep bytes from borrowing, and say whether they had to.
                let ahead = ((line[word] | ABOVE) - (taken[word].get() & COUNTS)) & COUNTS;
                let late = !((ahead | ABOVE) - repeated(count)) & spread(four) & ABOVE;
                let far = (ahead + repeated(COUNT - FARTHEST)) & spread(four) & ABOVE;
                if far != 0 {
                    broken(index * LINE_BYTES + word * IN_WORD, far, ahead);
                }
                if late != 0 {
                    poll.missing(
                        comm.core_of(index * LINE_BYTES + word * IN_WORD + late.trailing_zeros() as usize / 8),
                    );
                    return None;
                }
            }
            Some(())
        };
        let place = [Place::Line(comm.mpb_line(comm.rank(), line))];
        if comm.wait_until(&place, Deadline::Never, reason, all_there).is_err() {
            return false;
        }
        for (word, four) in words_of(mask) {
            let before = taken[word].get();
            let counts = spread(four) & COUNTS;
            taken[word].set(before & !counts | ((before & COUNTS) + repeated(count)) & counts);
        }
        true
    }

    /// The same for one rank, whose signals do not come through MPBs.
    #[cold]
    fn take_elsewhere<C: Mpb + Wait>(&self, comm: &Comm<'_, C>, from: usize, count: u8, reason: Reason) -> bool {
        let (taken, shift) = self.taken_of(from);
        let before = (taken.get() >> shift) as u8;
        let is_there = |byte: u8| byte.wrapping_sub(before) & COUNT >= count;
        if comm.await_signal(from, None, Deadline::Never, reason, |_, byte| is_there(byte).then_some(())).is_err() {
            return false;
        }
        let after = before & !COUNT | before.wrapping_add(count) & COUNT;
        taken.set(taken.get() & !(0xFF << shift) | u32::from(after) << shift);
        true
    }
}

/// A rank is further ahead than any may be.
#[cold]
fn broken(first: usize, far: u32, ahead: u32) -> ! {
    let byte = far.trailing_zeros() / 8;
    let (rank, ahead) = (first + byte as usize, ahead >> (8 * byte) & u32::from(COUNT));
    panic!("rank {rank} is {ahead} signals ahead: a protocol is broken")
}

impl<C> Comm<'_, C> {
    /// The signals between this rank and all others.
    pub(crate) fn signals(&self) -> &Signals {
        &self.buffers().signals
    }
}

impl<C: Mpb + Wait> Comm<'_, C> {
    /// Signals `rank`, after all that was put and stored before.
    pub(crate) fn signal(&self, rank: usize) {
        self.signals().send(self, rank);
    }

    /// Turns these bits of messages over for `rank`, after all that was put and stored before.
    pub(crate) fn turn_signal(&self, bits: u8, rank: usize) {
        self.signals().turn(self, bits, rank);
    }

    /// Waits until `check` returns a value for the byte of rank `from`, and for a poll whose second place is `also`.
    pub(crate) fn await_signal<R>(
        &self,
        from: usize,
        also: Option<MpbLine>,
        deadline: Deadline,
        reason: Reason,
        check: impl Fn(&Poll<'_>, u8) -> Option<R>,
    ) -> Result<R, TimedOut> {
        let reason = reason.from(self.core_of(from));
        if let Some(elsewhere) = self.elsewhere() {
            let signal = elsewhere.place(self.rank(), from);
            let places = [signal, also.map_or(signal, Place::Line)];
            let places = &places[..1 + usize::from(also.is_some())];
            return self.wait_until(places, deadline, reason, |poll| check(poll, poll.word(0) as u8));
        }
        let (line, byte) = self.mpb_layout().signal_from(from);
        let signal = self.mpb_line(self.rank(), line);
        let places = [signal, also.unwrap_or(signal)].map(Place::Line);
        let places = &places[..1 + usize::from(also.is_some())];
        self.wait_until(places, deadline, reason, |poll| {
            check(poll, (poll.line_word(0, byte / IN_WORD) >> (byte % IN_WORD * 8)) as u8)
        })
    }

    /// Takes the next signal from `rank`.
    pub(crate) fn take_signal(&self, rank: usize, reason: Reason) {
        self.signals().take_of_line(self, rank / LINE_BYTES, 1 << (rank % LINE_BYTES), 1, reason);
    }

    /// Takes the next `count` signals from each of `ranks`, which ascend.
    pub(crate) fn take_signals(&self, ranks: impl Iterator<Item = usize>, count: u8, reason: Reason) {
        self.signals().take(self, ranks, count, reason);
    }
}
