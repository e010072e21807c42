//! Packets in MPBs: a section of lines for each sender.
//!
//! A sender puts a packet into its section of the receiver's MPB and rings: it raises its byte among the receiver's
//! doorbells, which pushes the packet out of the write-combine buffer first. The receiver takes the packet and
//! acknowledges it likewise, in the *sender's* MPB, so that everybody polls in its own. A section holds one packet, and
//! is free when as many were acknowledged as were sent. All bytes have one writer and only rise.

use alloc::{boxed::Box, vec, vec::Vec};
use core::cell::Cell;

use hal::{Core, LINE_BYTES, Line, MpbLine, Place, Poll};

use crate::{Comm, MpbLayout};

use super::packet::{GRANULE_BYTES, HEADER_BYTES, Header};

/// Bytes of the fixed header of MPICH's packets on a 32-bit machine: type and flags, two window handles, address,
/// count, datatype, its description's length, request, rank. We need fewer; a packet weighs as much as those that
/// SCOSCo was compared with.
const CH3_HEADER_BYTES: usize = 40;

/// What this rank knows of its sections at a peer and the peer's here.
#[derive(Clone, Default)]
struct Pair {
    sent: Cell<u8>,
    acknowledged: Cell<u8>,
    taken: Cell<u8>,
}

/// The sections of all ranks, as one of them sees them.
pub(super) struct Sections {
    layout: MpbLayout,
    pairs: Box<[Pair]>,
    /// The doorbells at the last look.
    doorbells: Box<[Cell<Line>]>,
}

impl Sections {
    /// Clears this rank's doorbells and acknowledgements. A barrier has to follow.
    pub(super) fn new<C: Core>(comm: &Comm<'_, C>, layout: MpbLayout) -> Self {
        let (hal, doorbells) = (comm.hal(), layout.doorbell_lines());
        for line in doorbells.start..layout.section_of(0) {
            hal.store(MpbLine::new(hal.core(), line), 0, &[0; LINE_BYTES]);
        }
        hal.drain();
        Self {
            layout,
            pairs: vec![Pair::default(); comm.size()].into_boxed_slice(),
            doorbells: vec![Cell::default(); doorbells.len()].into_boxed_slice(),
        }
    }

    /// Bytes of payload that a packet can have.
    pub(super) fn capacity(&self) -> usize {
        (self.layout.section_lines() * LINE_BYTES - HEADER_BYTES) / GRANULE_BYTES * GRANULE_BYTES
    }

    /// Bytes that every packet has.
    fn least_bytes(&self) -> usize {
        CH3_HEADER_BYTES.min(self.layout.section_lines() * LINE_BYTES)
    }

    /// Whether the section at `to` is free, as far as this rank has seen.
    pub(super) fn is_ready(&self, to: usize) -> bool {
        self.pairs[to].acknowledged == self.pairs[to].sent
    }

    /// Looks for the acknowledgement of `to`.
    pub(super) fn refresh<C: Core>(&self, comm: &Comm<'_, C>, to: usize) {
        let (line, _) = self.layout.acknowledgement_of(to);
        comm.hal().invalidate_mpb();
        self.note_acknowledgements(line, comm.hal().load_line(comm.mpb_line(comm.rank(), line)));
    }

    /// Puts a packet into the section at `to`, which is ready.
    pub(super) fn send<C: Core>(&self, comm: &Comm<'_, C>, to: usize, header: Header, payload: &[u8]) {
        let (hal, me) = (comm.hal(), comm.rank());
        let mut packet = header.followed_by(payload);
        packet.resize(packet.len().max(self.least_bytes()), 0);
        hal.put(&packet, comm.mpb_line(to, self.layout.section_of(me)));
        let sent = &self.pairs[to].sent;
        sent.set(sent.get().wrapping_add(1));
        let (line, byte) = self.layout.doorbell_of(me);
        hal.store(comm.mpb_line(to, line), byte, &[sent.get()]);
        hal.drain();
    }

    /// Takes the next of the packets that were there at the last look, with its sender.
    pub(super) fn take<C: Core>(&self, comm: &Comm<'_, C>) -> Option<(usize, Header, Vec<u8>)> {
        let (hal, me) = (comm.hal(), comm.rank());
        let from = self.next_arrival()?;
        let section = comm.mpb_line(me, self.layout.section_of(from));
        // A header is copied out before anybody looks at it, and says what else there is.
        let mut envelope = [0; CH3_HEADER_BYTES];
        let envelope = &mut envelope[..self.least_bytes()];
        hal.get(section, envelope);
        let header = Header::from_bytes(envelope);
        let len = usize::from(header.len);
        let mut payload = vec![0; len];
        let (beside, beyond) = payload.split_at_mut(len.min(envelope.len() - HEADER_BYTES));
        beside.copy_from_slice(&envelope[HEADER_BYTES..][..beside.len()]);
        if !beyond.is_empty() {
            let end = HEADER_BYTES + len;
            let read_lines = envelope.len() / LINE_BYTES;
            let mut rest = vec![0; end - read_lines * LINE_BYTES];
            hal.get(section.plus(read_lines), &mut rest);
            let skipped = rest.len() - beyond.len();
            beyond.copy_from_slice(&rest[skipped..]);
        }
        let taken = &self.pairs[from].taken;
        taken.set(taken.get().wrapping_add(1));
        let (line, byte) = self.layout.acknowledgement_of(me);
        hal.store(comm.mpb_line(from, line), byte, &[taken.get()]);
        hal.drain();
        Some((from, header, payload))
    }

    /// Adds the places where packets and acknowledgements from `blocked`, which ascend, show.
    pub(super) fn add_places<C: Core>(
        &self,
        comm: &Comm<'_, C>,
        blocked: impl Iterator<Item = usize>,
        places: &mut Vec<Place>,
    ) {
        let lines = self.layout.doorbell_lines().chain(self.acknowledgement_lines(blocked));
        places.extend(lines.map(|line| Place::Line(comm.mpb_line(comm.rank(), line))));
    }

    /// Looks at these places, of which the first has number `first` in the poll. Returns whether there is a packet or
    /// a section got free.
    pub(super) fn has_news(
        &self,
        poll: &Poll<'_>,
        first: usize,
        mut blocked: impl Iterator<Item = usize> + Clone,
    ) -> bool {
        for (index, line) in self.doorbells.iter().enumerate() {
            line.set(poll.line(first + index));
        }
        let first = first + self.doorbells.len();
        for (index, line) in self.acknowledgement_lines(blocked.clone()).enumerate() {
            self.note_acknowledgements(line, poll.line(first + index));
        }
        self.next_arrival().is_some() || blocked.any(|peer| self.is_ready(peer))
    }

    /// Looks at the same places without a wait.
    pub(super) fn look<C: Core>(&self, comm: &Comm<'_, C>, blocked: impl Iterator<Item = usize>) {
        let hal = comm.hal();
        hal.invalidate_mpb();
        for (line, seen) in self.layout.doorbell_lines().zip(&self.doorbells) {
            seen.set(hal.load_line(comm.mpb_line(comm.rank(), line)));
        }
        for line in self.acknowledgement_lines(blocked) {
            self.note_acknowledgements(line, hal.load_line(comm.mpb_line(comm.rank(), line)));
        }
    }

    /// The first rank with a packet that was there at the last look.
    fn next_arrival(&self) -> Option<usize> {
        let rung = |rank: usize| self.doorbells[rank / LINE_BYTES].get().0[rank % LINE_BYTES];
        self.pairs.iter().enumerate().find(|(rank, pair)| rung(*rank) != pair.taken.get()).map(|(rank, _)| rank)
    }

    /// The lines with acknowledgements of ranks that ascend, each once.
    fn acknowledgement_lines(&self, ranks: impl Iterator<Item = usize>) -> impl Iterator<Item = usize> {
        let mut before = None;
        let lines = ranks.map(|rank| self.layout.acknowledgement_of(rank).0);
        lines.filter(move |line| before.replace(*line) != Some(*line))
    }

    fn note_acknowledgements(&self, line: usize, bytes: Line) {
        let first = (line - self.layout.doorbell_lines().end) * LINE_BYTES;
        for (pair, byte) in self.pairs[first..].iter().zip(bytes.0) {
            pair.acknowledged.set(byte);
        }
    }
}
