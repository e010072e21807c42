//! RCCE_comm's scatter-allgather over two-sided messages (OC-Bcast paper, section 5.3.2), the baseline for long
//! messages.
//!
//! * **Scatter**: the message is divided into P slices, and goes down the [binary recursive tree](super::halving),
//!   each message with the slices of the receiver's half only: P − 1 slices leave the root one after the other. All
//!   are read from memory.
//! * **Allgather** (the paper calls it Bruck's): P − 1 rounds around a ring. In each, the rank at position i sends to
//!   i − 1 the slice that it received in the round before, its own one in the first, and receives the next from i +
//!   1.
//!
//! In the baseline a rank sends and receives one after the other. A send returns when the message has been received,
//! so a ring of ranks that all send first would wait for ever. Even positions send first and odd ones receive first,
//! as in RCCE_comm: with an even P all pairs of even senders exchange first, then all odd ones, two messages per
//! round on the critical path. With an odd P two even positions are neighbours (P − 1 and 0); the one waits until the
//! other has sent, and the other sends to an odd one, which receives: nobody waits in a circle, and that place costs
//! a third message per round.
//!
//! The **overlapped** variant is stronger than what was published: each rank puts a chunk of its slice into its own
//! MPB, signals, and gets its neighbour's, so that all P puts, and then all P gets, happen at once. Two buffers let a
//! rank put the next chunk while the last is read.
//!
//! A slice that this rank has received lately is still in L1 and costs nothing to read; each place says what was
//! touched since. Both variants use RCCE's 251 lines while its [profile](crate::mpb::rcce_profile) is in force: the
//! baseline as one buffer, the overlapped as two of 125.

use core::ops::Range;

use hal::{LINE_BYTES, Messenger, Reason};

use super::{
    Ring,
    halving::{Slices, halvings},
};
use crate::{
    Comm, Error,
    mpb::tagged::{Source, put_from},
};

/// How the rounds of the allgather go.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Rounds {
    /// A send and a receive, one after the other: as published.
    InTurn,
    /// All put, then all get.
    Overlapped,
}

pub(super) fn broadcast<C: Messenger>(
    comm: &Comm<'_, C>,
    message: &mut [u8],
    root: usize,
    rounds: Rounds,
) -> Result<(), Error> {
    if rounds == Rounds::Overlapped && !comm.profile_in_force() {
        comm.own_staging_turn(2 * comm.mpb_layout().buffer_lines());
    }
    let ring = Ring::new(comm, root);
    let slices = Slices::new(0..message.len(), comm.size());
    let touched_bytes = scatter(comm, &ring, &slices, message)?;
    match rounds {
        Rounds::InTurn => allgather_in_turn(comm, &ring, &slices, message, touched_bytes),
        Rounds::Overlapped => {
            allgather_overlapped(comm, &ring, &slices, message, touched_bytes);
            Ok(())
        }
    }
}

/// Leaves each position with its slice. Returns how much memory this rank may have touched since it read or wrote its
/// own one.
fn scatter<C: Messenger>(comm: &Comm<'_, C>, ring: &Ring, slices: &Slices, message: &mut [u8]) -> Result<usize, Error> {
    // The root has not read its own one.
    let mut touched_bytes = usize::MAX;
    for halving in halvings(ring.position, comm.size()) {
        let part = slices.bytes(halving.middle..halving.end);
        if ring.position == halving.first {
            comm.send_within(Source::Memory, &message[part], ring.rank_at(halving.middle))?;
        } else if ring.position == halving.middle {
            touched_bytes = part.len();
            comm.receive_within(&mut message[part], ring.rank_at(halving.first))?;
        }
    }
    Ok(touched_bytes)
}

fn allgather_in_turn<C: Messenger>(
    comm: &Comm<'_, C>,
    ring: &Ring,
    slices: &Slices,
    message: &mut [u8],
    mut touched_bytes: usize,
) -> Result<(), Error> {
    let sends_first = ring.position.is_multiple_of(2);
    for round in 1..comm.size() {
        let own = slices.slice(ring.position + round - 1);
        let next = slices.slice(ring.position + round);
        if sends_first {
            comm.send_within(Source::after(touched_bytes), &message[own], ring.left())?;
            comm.receive_within(&mut message[next.clone()], ring.right())?;
            touched_bytes = next.len();
        } else {
            comm.receive_within(&mut message[next.clone()], ring.right())?;
            comm.send_within(
                Source::after(touched_bytes.saturating_add(next.len())),
                &message[own.clone()],
                ring.left(),
            )?;
            touched_bytes = next.len() + own.len();
        }
    }
    Ok(())
}

fn allgather_overlapped<C: Messenger>(
    comm: &Comm<'_, C>,
    ring: &Ring,
    slices: &Slices,
    message: &mut [u8],
    mut touched_bytes: usize,
) {
    let hal = comm.hal();
    let layout = comm.mpb_layout();
    let (area, lines) = if comm.profile_in_force() {
        (layout.rcce_payload().start, layout.rcce_payload().len() / 2)
    } else {
        (layout.buffer(0), layout.buffer_lines())
    };
    let chunks = slices.longest_lines().div_ceil(lines);
    // Whether the last chunk that this rank has put has not been asked for whether it was got.
    let mut unconfirmed = false;
    let confirm = || comm.take_signal(ring.left(), Reason::new("a chunk of scatter-allgather being got"));
    for index in 0..(comm.size() - 1) * chunks {
        let (round, chunk) = (index / chunks, index % chunks);
        let buffer = area + index % 2 * lines;
        let piece = |slice: Range<usize>| {
            let start = (slice.start + chunk * lines * LINE_BYTES).min(slice.end);
            start..slice.end.min(start + lines * LINE_BYTES)
        };
        let own = slices.slice(ring.position + round);
        let (out, next) = (piece(own.clone()), piece(slices.slice(ring.position + round + 1)));
        if chunk == 0 && round > 0 {
            // Its chunks came, and go, between those of the slices before and after it.
            touched_bytes = own.len() + slices.longest_lines() * LINE_BYTES;
        }
        let puts = !out.is_empty();
        if puts {
            // What was in this buffer was got before the last confirmation.
            let source = Source::after(touched_bytes);
            put_from(hal, &message[out], source, comm.mpb_line(comm.rank(), buffer));
            comm.signal(ring.left());
        }
        if core::mem::replace(&mut unconfirmed, puts) {
            // Only now, so that there was something to put meanwhile; and before the next signal from there is taken
            // for this one, where the left neighbour is the right one, too.
            confirm();
        }
        if !next.is_empty() {
            comm.take_signal(ring.right(), Reason::new("a chunk of scatter-allgather, round").number(round as u32));
            hal.get(comm.mpb_line(ring.right(), buffer), &mut message[next]);
            comm.signal(ring.right());
        }
    }
    if unconfirmed {
        confirm();
    }
}
