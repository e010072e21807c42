//! Exchanges by two-sided messages: what the one-sided ones are compared with. RCCE_comm's and MPICH's plain
//! algorithms: the root sends to or receives from one rank after the other, blocks go around a ring, and pairs meet
//! as in a tournament.

use alloc::vec::Vec;
use core::ops::Range;

use hal::{Messenger, Mpb, MpbCopy, Wait};

use crate::{Comm, Error, mpb::tagged::Source};

use super::{
    alltoall::Buffers,
    pieces::Spans,
    transfer::{account_copy, others, partner, rounds},
};

/// The root receives all blocks but its own.
pub(super) fn collect<C: Mpb + MpbCopy + Wait>(comm: &Comm<'_, C>, all: &mut [u8], spans: &Spans) -> Result<(), Error> {
    others(comm).try_for_each(|rank| comm.receive_within(&mut all[spans.of(rank)], rank))
}

/// The root sends all blocks but its own.
pub(super) fn distribute<C: Mpb + MpbCopy + Wait>(comm: &Comm<'_, C>, all: &[u8], spans: &Spans) -> Result<(), Error> {
    others(comm).try_for_each(|rank| comm.send_within(Source::Memory, &all[spans.of(rank)], rank))
}

/// In each of P − 1 rounds every rank sends to the right what it has received from the left, which L1 may still hold.
/// `part_of` says which bytes are a rank's.
///
/// Where the number of ranks is odd, the first and the last both send first, and the last is received from when the one
/// above the first has sent.
pub(crate) fn ring<C: Mpb + MpbCopy + Wait>(
    comm: &Comm<'_, C>,
    all: &mut [u8],
    part_of: impl Fn(usize) -> Range<usize>,
) -> Result<(), Error> {
    let (me, size) = (comm.rank(), comm.size());
    let (right, left) = ((me + 1) % size, (me + size - 1) % size);
    // Bytes that were touched since the block that goes next was: none of the own one.
    let mut touched_bytes = usize::MAX;
    for round in 0..size - 1 {
        let (to, from) = (part_of((me + size - round) % size), part_of((left + size - round) % size));
        let received = from.len();
        // A send waits for its receiver, so that some have to receive first.
        if me % 2 == 0 {
            comm.send_within(Source::after(touched_bytes), &all[to], right)?;
            comm.receive_within(&mut all[from], left)?;
            touched_bytes = received;
        } else {
            comm.receive_within(&mut all[from], left)?;
            let sent = to.len();
            comm.send_within(Source::after(touched_bytes.saturating_add(received)), &all[to], right)?;
            touched_bytes = received + sent;
        }
    }
    Ok(())
}

/// Every rank exchanges its blocks with one rank after the other.
pub(super) fn meet<C: Messenger>(comm: &Comm<'_, C>, buffers: &mut Buffers<'_>) -> Result<(), Error> {
    let (me, size) = (comm.rank(), comm.size());
    for rank in (0..rounds(size)).filter_map(|round| partner(me, size, round)) {
        if me < rank {
            comm.send_within(Source::Memory, buffers.to(rank), rank)?;
            comm.receive_within(buffers.from(rank), rank)?;
        } else if buffers.send.is_some() {
            comm.receive_within(buffers.from(rank), rank)?;
            comm.send_within(Source::Memory, buffers.to(rank), rank)?;
        } else {
            let block: Vec<u8> = buffers.to(rank).to_vec();
            account_copy(comm.hal(), block.len());
            comm.receive_within(buffers.from(rank), rank)?;
            comm.send_within(Source::Memory, &block, rank)?;
        }
    }
    Ok(())
}
