//! Long messages: put once, by the root, and read once by everybody.
//!
//! No rank can have a message before it has read each line from some MPB and written it to its memory. Here no rank
//! does anything else: the root puts the message, piece by piece, into the MPBs of a few [hosts] in the middle of the
//! mesh, and counts the pieces in its own [cell](crate::mpb::sequence); the others poll that count, and get the pieces from
//! the hosts straight to their memory. Nobody forwards or stages anything, and hosts do not even know that they are.
//! The root reads memory and writes MPBs, which takes it little more than half as long as the others' MPB reads and
//! memory writes, so it is ahead of them and most polls find what they look for.
//!
//! Pieces take their turns at the hosts and their slots there, a [rotation]. When a reader is through with half of it,
//! it signals the root, which waits for that before it overwrites the half. At the end nobody waits: the
//! [sequence](crate::mpb::sequence) keeps later operations off the slots. So a rank that is late holds up nobody until the
//! rotation is full.
//!
//! With more ranks than one MPB can serve, those that have [children](super::tree) do for them what the root does: they
//! put each piece, which L1 holds as they have just got it, into the MPBs of hosts among their children.
//!
//! Per rank, with one level: the root writes each line and, for each piece, its count; every other rank reads each
//! line, and writes a signal for each half of the rotation that is used again. The bound is `C_r^mpb + C_w^mem` a line;
//! what is above it is a poll and the call of a get for each piece.
//!
//! [hosts]: super::hosts
//! [rotation]: super::rotation

use core::cell::Cell;

use hal::{Deadline, Messenger, Mpb, MpbLine, Place, Reason, Wait};

use crate::{
    Comm,
    mpb::{
        sequence::{Turn, Writers},
        tagged::{Source, put_cached, put_tagged, tagged_data},
    },
};

use super::{
    rotation::{Rotation, Slots},
    tree::Tree,
};

/// Broadcasts down `tree`.
pub(super) fn broadcast<C: Messenger>(comm: &Comm<'_, C>, tree: &Tree, message: &mut [u8]) {
    if message.is_empty() {
        return;
    }
    let (hal, layout) = (comm.hal(), comm.hal().layout());
    // Half of the lines that there are, so that the next broadcast can have the others.
    let slots = Slots::new(layout, tree, message.len(), comm.shared_staging_lines() / 2);
    let turn = &comm.turn(slots.total_lines(), Writers::Anyone);
    let rotation = |readers| Rotation::new(layout, tree, readers, &slots);
    let has_children = !tree.children().is_empty();
    let out = has_children.then(|| Outlet { comm, turn, tree, rotation: rotation(tree.children()) });
    let pieces = slots.pieces.clone().enumerate();
    let Some(parent) = tree.parent() else {
        for (index, piece) in pieces {
            out.iter().for_each(|out| out.put(index, |to| hal.put(&message[piece.clone()], to)));
        }
        return;
    };
    let inlet = Inlet { comm, turn, parent, rotation: rotation(tree.siblings()), there: Cell::new(0) };
    for (index, piece) in pieces {
        let piece = &mut message[piece];
        let Some(from) = inlet.await_piece(index) else { return };
        hal.get(from, piece);
        inlet.has_read(index);
        out.iter().for_each(|out| out.put(index, |to| put_cached(hal, piece, to)));
    }
}

/// The line at which piece `index` of a rotation begins.
fn line_of<C: Mpb + Wait>(comm: &Comm<'_, C>, turn: &Turn, rotation: &Rotation, index: usize) -> MpbLine {
    let (host, line) = rotation.place(index);
    comm.mpb_line(host, turn.staging.start + line)
}

/// What a rank that has children does.
struct Outlet<'o, 'c, C> {
    comm: &'o Comm<'c, C>,
    turn: &'o Turn,
    tree: &'o Tree,
    rotation: Rotation,
}

impl<C: Messenger> Outlet<'_, '_, C> {
    /// Has piece `index` put when there is room for it, and tells the children.
    fn put(&self, index: usize, put: impl FnOnce(MpbLine)) {
        let comm = self.comm;
        if let Some(half) = self.rotation.before(index) {
            let reason = Reason::new("a broadcast's readers being done with piece").number(half.end as u32 - 1);
            comm.take_signals(self.tree.ascending(self.tree.children()), reason);
        }
        put(line_of(comm, self.turn, &self.rotation, index));
        // A whole line, which pushes out the last line of the piece before it, and goes at once.
        let count = (index as u32 + 1).to_le_bytes();
        let cell = comm.mpb_line(comm.rank(), self.turn.cells[0]);
        put_tagged(comm.hal(), &count, Source::Cache, self.turn.tag, cell);
    }
}

/// What a rank that has a parent does.
struct Inlet<'i, 'c, C> {
    comm: &'i Comm<'c, C>,
    turn: &'i Turn,
    parent: usize,
    rotation: Rotation,
    /// Pieces that were there at the last look.
    there: Cell<usize>,
}

impl<C: Mpb + Wait> Inlet<'_, '_, C> {
    /// Waits for piece `index`, and says where it is. Nothing comes back from a machine that is dying.
    ///
    /// If an earlier look has seen it there, this takes no other. L1 cannot hold what its lines had before, as they
    /// had that when this rank had yet to signal that it has read them, and the look came later.
    fn await_piece(&self, index: usize) -> Option<MpbLine> {
        let (comm, parent) = (self.comm, self.parent);
        if self.there.get() <= index {
            let place = [Place::Line(comm.mpb_line(parent, self.turn.cells[0]))];
            let reason = Reason::new("a broadcast's piece").number(index as u32).from(comm.core_of(parent));
            let there = comm.wait_until(&place, Deadline::Never, reason, |poll| {
                let count = tagged_data(&poll.line(0), self.turn.tag)?.first_chunk().copied()?;
                Some(u32::from_le_bytes(count) as usize).filter(|there| *there > index)
            });
            self.there.set(there.ok()?);
        }
        Some(line_of(comm, self.turn, &self.rotation, index))
    }

    /// Piece `index` has been read.
    fn has_read(&self, index: usize) {
        if self.rotation.is_reported(index) {
            self.comm.signal(self.parent);
        }
    }
}
