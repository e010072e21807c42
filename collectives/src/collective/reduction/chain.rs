//! Long scan: a pipeline from rank to rank.
//!
//! Rank r gets chunk after chunk of what ranks 0 to r − 1 have combined from its lower neighbour's MPB, combines its
//! own operands with it, and puts the result into its own MPB for its upper neighbour. Each line is read once and
//! written once on its way past a rank, between neighbours on the chip. Staging is a ring of chunks: a signal says
//! that one is there, another one that it was taken.
//!
//! The brackets are from the left. The first result is at rank P − 1 after P − 1 chunks, so chunks are as long as
//! makes the whole shortest: with n lines, c signals' worth of lines for each chunk, √(n c / P).
//!
//! Per rank and chunk: its lines put once and read once, and two signals.

use alloc::vec;

use bytemuck::Pod;
use hal::{LINE_BYTES, Messenger, Reason};

use super::{
    Combine, Kind,
    blocks::Staging,
    buffers::{Buffers, combine_before},
};
use crate::{Comm, Error, mpb::tagged::put_cached};

/// What a chunk costs beside its lines, in lines: two signals, two polls and two calls, against a line that is got
/// from one MPB, combined and put to another.
const CHUNK_LINES: usize = 3;

/// Lines of a chunk for a vector of `lines` lines: see above.
pub(super) fn chunk_lines(lines: usize, ranks: usize) -> usize {
    (lines * CHUNK_LINES / ranks).isqrt().max(1)
}

/// Scans along the chain.
pub(super) fn scan<C: Messenger, T: Pod>(
    comm: &Comm<'_, C>,
    mut buffers: Buffers<'_, T>,
    operation: &impl Combine<T>,
    kind: Kind,
) -> Result<(), Error> {
    Staging::check::<T>(comm)?;
    let (hal, rank, len) = (comm.hal(), comm.rank(), buffers.len());
    let lines = (len * size_of::<T>()).div_ceil(LINE_BYTES);
    let layout = comm.mpb_layout();
    let all = 2 * layout.buffer_lines();
    let chunk_lines = chunk_lines(lines, comm.size()).max(size_of::<T>().div_ceil(LINE_BYTES)).min(all);
    let (chunk, slots) = (chunk_lines * LINE_BYTES / size_of::<T>(), (all / chunk_lines).min(MOST_SLOTS));
    comm.own_staging_turn(slots.min(len.div_ceil(chunk)) * chunk_lines);
    let slot_of = |index: usize| layout.buffer(0) + index % slots * chunk_lines;
    let (below, above) = (rank.checked_sub(1), Some(rank + 1).filter(|&above| above < comm.size()));
    for (index, start) in (0..len).step_by(chunk).enumerate() {
        let elements = start..len.min(start + chunk);
        let mut with_own = buffers.read(hal, elements.clone());
        let mut before = vec![T::zeroed(); if below.is_some() { elements.len() } else { 0 }];
        if let Some(below) = below {
            comm.take_signal(below, Reason::new("a scan, chunk").number(index as u32));
            let bytes: &mut [u8] = bytemuck::cast_slice_mut(&mut before);
            hal.get_used(comm.mpb_line(below, slot_of(index)), bytes.len(), |line, found| {
                bytes[line * LINE_BYTES..][..found.len()].copy_from_slice(found);
            });
            if above.is_some() || kind == Kind::Inclusive {
                combine_before(hal, operation, &before, &mut with_own);
            }
        }
        if let Some(above) = above {
            if index >= slots {
                comm.take_signal(above, Reason::new("a scan, done with chunk").number((index - slots) as u32));
            }
            put_cached(hal, bytemuck::cast_slice(&with_own), comm.mpb_line(rank, slot_of(index)));
            comm.signal(above);
        }
        if let Some(below) = below {
            comm.signal(below);
        }
        match kind {
            Kind::Inclusive => buffers.write(hal, start, &with_own),
            Kind::Exclusive if below.is_some() => buffers.write(hal, start, &before),
            Kind::Exclusive => {}
        }
    }
    if let Some(above) = above {
        let left = len.div_ceil(chunk).min(slots) as u8;
        comm.take_signals_from(above, left, Reason::new("a scan, done with the last chunks"));
    }
    Ok(())
}

/// Chunks that a rank may be ahead, well below what signals can tell apart.
const MOST_SLOTS: usize = 16;
