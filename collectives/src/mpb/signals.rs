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
use core::cell::Cell;

use hal::{Deadline, LINE_BYTES, Mpb, Place, Poll, Reason, Wait};

use crate::Comm;

/// The bits that count the signals of collective operations.
const COUNT: u8 = 0b0011_1111;

/// Turns over with each chunk of a message.
pub(crate) const CHUNK: u8 = 0b0100_0000;

/// Turns over with each answer to a chunk.
pub(crate) const ANSWER: u8 = 0b1000_0000;

/// Signals that a rank can be ahead of its peer in any program that is right; more could be taken for fewer.
const FARTHEST: u8 = 56;

/// The signals between this rank and all others.
pub(crate) struct Signals {
    /// The byte of this rank in each other MPB.
    sent: Box<[Cell<u8>]>,
    /// The byte of each other rank in this rank's MPB, as far as this rank has taken what the byte says.
    taken: Box<[Cell<u8>]>,
}

/// The byte with `signals` more in its count.
fn raised(byte: u8, signals: u8) -> u8 {
    byte & !COUNT | byte.wrapping_add(signals) & COUNT
}

impl Signals {
    pub(crate) fn new(ranks: usize) -> Self {
        Self { sent: vec![Cell::new(0); ranks].into_boxed_slice(), taken: vec![Cell::new(0); ranks].into_boxed_slice() }
    }

    /// Changes the byte of this rank in the MPB of rank `to`. All that was put and stored before
    /// is visible to it when it sees the change.
    fn change(&self, comm: &Comm<'_, impl Mpb + Wait>, to: usize, change: impl FnOnce(u8) -> u8) {
        let value = change(self.sent[to].get());
        self.sent[to].set(value);
        let (line, byte) = comm.mpb_layout().signal_from(comm.rank());
        comm.hal().store(comm.mpb_line(to, line), byte, &[value]);
        comm.hal().drain();
    }

    /// Signals rank `to`.
    pub(crate) fn send(&self, comm: &Comm<'_, impl Mpb + Wait>, to: usize) {
        self.change(comm, to, |byte| raised(byte, 1));
    }

    /// Turns bits of messages over for rank `to`.
    pub(crate) fn turn(&self, comm: &Comm<'_, impl Mpb + Wait>, bits: u8, to: usize) {
        self.change(comm, to, |byte| byte ^ bits);
    }

    /// The bits of messages that rank `from` has turned in `byte` since they were taken.
    pub(crate) fn turned(&self, from: usize, byte: u8) -> u8 {
        (byte ^ self.taken[from].get()) & !COUNT
    }

    /// Takes bits that rank `from` has turned.
    pub(crate) fn take_turned(&self, from: usize, bits: u8) {
        self.taken[from].set(self.taken[from].get() ^ bits);
    }

    /// Takes `count` signals from each of `ranks` (ascending), waiting until they are there. One line is polled at a
    /// time, and all ranks that share it are awaited together.
    pub(crate) fn take<C: Mpb + Wait>(
        &self,
        comm: &Comm<'_, C>,
        ranks: impl Iterator<Item = usize> + Clone,
        count: u8,
        reason: Reason,
    ) {
        let layout = comm.mpb_layout();
        let mut rest = ranks.peekable();
        while let Some(&first) = rest.peek() {
            let (line, _) = layout.signal_from(first);
            let together = rest.clone().take_while(|rank| layout.signal_from(*rank).0 == line);
            let place = [Place::Line(comm.mpb_line(comm.rank(), line))];
            let all_there = |poll: &Poll<'_>| {
                let bytes = poll.line(0).0;
                let late = together.clone().find(|&rank| {
                    let ahead = bytes[rank % LINE_BYTES].wrapping_sub(self.taken[rank].get()) & COUNT;
                    assert!(ahead <= FARTHEST, "rank {rank} is {ahead} signals ahead: a protocol is broken");
                    ahead < count
                });
                late.inspect(|&rank| poll.missing(comm.core_of(rank))).is_none().then_some(())
            };
            if comm.wait_until(&place, Deadline::Never, reason, all_there).is_err() {
                // The machine is dying, and this is part of a destructor.
                return;
            }
            for rank in together {
                self.taken[rank].set(raised(self.taken[rank].get(), count));
            }
            while rest.next_if(|rank| layout.signal_from(*rank).0 == line).is_some() {}
        }
    }
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

    /// Takes the next signal from `rank`.
    pub(crate) fn take_signal(&self, rank: usize, reason: Reason) {
        self.take_signals(core::iter::once(rank), 1, reason);
    }

    /// Takes the next `count` signals from each of `ranks`, which ascend.
    pub(crate) fn take_signals(&self, ranks: impl Iterator<Item = usize> + Clone, count: u8, reason: Reason) {
        self.signals().take(self, ranks, count, reason);
    }
}
