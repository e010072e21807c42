//! Signals: how a rank tells another that something is there, or done.
//!
//! Every MPB has one byte for each peer, and only that peer writes it. A signal raises the byte by one; the receiver
//! knows how many signals it has taken from that peer and waits for the next. Nothing is ever reset, so there is no
//! reset to race with; nobody else writes the byte, so there is no lock; and signals from one rank to another are taken
//! in the order in which they were sent, whatever protocol they belong to. A byte suffices because no protocol here
//! lets a rank run more than a few signals ahead of its peer: in a barrier one, in a message one, in a broadcast two
//! chunks for each parent that is kept waiting by the peer; should it ever be more than 128, that is noticed.
//!
//! A signal is a byte store followed by a drain. The store hits another line than the data before it, which pushes
//! the data out of the write-combine buffer first: *data, then flag, then drain* (as RCCE and the SCC's Linux drivers
//! do it).

use alloc::{boxed::Box, vec};
use core::cell::Cell;

use hal::{CoreId, Deadline, LINE_BYTES, Mpb, MpbLine, Place, Poll, Reason, Wait};

use crate::{Comm, MpbLayout};

/// Signals that a rank can be ahead of its peer in any program that is right; more would be taken for fewer.
const FARTHEST: u8 = 128;

/// The signals between this rank and all others.
pub(crate) struct Signals {
    sent: Box<[Cell<u8>]>,
    taken: Box<[Cell<u8>]>,
}

impl Signals {
    pub(crate) fn new(ranks: usize) -> Self {
        Self { sent: vec![Cell::new(0); ranks].into_boxed_slice(), taken: vec![Cell::new(0); ranks].into_boxed_slice() }
    }

    /// Signals rank `to` on core `core`. All that was put and stored before is visible to it when it takes the signal.
    pub(crate) fn send(&self, hal: &impl Mpb, layout: &MpbLayout, me: usize, to: usize, core: CoreId) {
        let value = self.sent[to].get().wrapping_add(1);
        self.sent[to].set(value);
        let (line, byte) = layout.signal_from(me);
        hal.store(MpbLine::new(core, line), byte, &[value]);
        hal.drain();
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
                    let ahead = bytes[rank % LINE_BYTES].wrapping_sub(self.taken[rank].get());
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
                self.taken[rank].set(self.taken[rank].get().wrapping_add(count));
            }
            while rest.next_if(|rank| layout.signal_from(*rank).0 == line).is_some() {}
        }
    }
}
