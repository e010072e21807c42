//! The baselines: reductions over two-sided messages, as RCCE_comm and MPI libraries build them.
//!
//! * **Binomial trees** for short vectors: partial results go up a tree whose subtrees are ranges of ranks, and the
//!   result down again.
//! * **Pairwise exchange** for long ones: in round t rank r exchanges with rank t − r modulo P, so that each pair meets
//!   once; what a rank gets is its part of the other's operands, in cyclic order of ranks. A ring of P − 1 steps, of
//!   which neighbours send and receive in turn, spreads the result (allgather), or all parts are sent to the root.
//! * **Doubling distances** for scans.
//!
//! Messages are received into memory, at the price of a get. What was received or computed a moment ago
//! is in L1 if it fits with what was touched since; then it is combined or sent on without reading memory.

use alloc::{vec, vec::Vec};
use core::ops::Range;

use bytemuck::Pod;
use hal::{LINE_BYTES, Messenger, Mpb, Wait};

use super::{
    Combine, Kind,
    buffers::{Buffers, Wrapped, combine, combine_before},
    short::Wanted,
    tree::Node,
};
use crate::{
    Comm, Error,
    collective::exchange::{Spans, two_sided::ring},
    mpb::tagged::Source,
};

/// Ranks times lines from which pairwise exchange beats trees: a tree passes all lines ⌈log₂ P⌉ times, an exchange
/// has P rounds.
fn is_long(len_bytes: usize, ranks: usize) -> bool {
    ranks > 2 && len_bytes.div_ceil(LINE_BYTES) >= ranks
}

/// Reduces to one rank or to all.
pub(super) fn reduce<C: Messenger, T: Pod>(
    comm: &Comm<'_, C>,
    mut buffers: Buffers<'_, T>,
    operation: &impl Combine<T>,
    root: Option<usize>,
) -> Result<(), Error> {
    let (len, size) = (buffers.len(), comm.size());
    if is_long(len * size_of::<T>(), size) {
        let part = len.div_ceil(size);
        let part_of = |rank: usize| len.min(rank * part)..len.min((rank + 1) * part);
        let own = exchange(comm, &buffers, operation, &part_of)?;
        return match root {
            None => {
                buffers.write(comm.hal(), part_of(comm.rank()).start, &own);
                ring(comm, buffers.result_bytes(0..len), |rank| bytes_of::<T>(part_of(rank)))
            }
            Some(root) => gather(comm, &mut buffers, &own, root, &part_of),
        };
    }
    let wanted = root.map_or(Wanted::ByAll, Wanted::By);
    let Some(values) = up(comm, &buffers, operation)? else { return down(comm, &mut buffers, None, &wanted) };
    down(comm, &mut buffers, Some(&values), &wanted)
}

/// Reduces and scatters.
pub(super) fn reduce_scatter<C: Messenger, T: Pod>(
    comm: &Comm<'_, C>,
    mut buffers: Buffers<'_, T>,
    operation: &impl Combine<T>,
    blocks: &Spans,
) -> Result<(), Error> {
    let own = exchange(comm, &buffers, operation, &|rank| blocks.of(rank))?;
    buffers.write(comm.hal(), blocks.of(comm.rank()).start, &own);
    Ok(())
}

/// Scans with doubling distances.
pub(super) fn scan<C: Messenger, T: Pod>(
    comm: &Comm<'_, C>,
    mut buffers: Buffers<'_, T>,
    operation: &impl Combine<T>,
    kind: Kind,
) -> Result<(), Error> {
    let (hal, rank, size, len) = (comm.hal(), comm.rank(), comm.size(), buffers.len());
    let mut with_own = buffers.read(hal, 0..len);
    let mut below: Option<Vec<T>> = None;
    let mut distance = 1;
    while distance < size {
        let from = rank.checked_sub(distance);
        let to = Some(rank + distance).filter(|&to| to < size);
        let mut operands = vec![T::zeroed(); if from.is_some() { len } else { 0 }];
        // Of every two that are `distance` apart one sends first.
        let sends_first = rank / distance % 2 == 0;
        for sends in [sends_first, !sends_first] {
            match (to, from) {
                (Some(to), _) if sends => comm.send_within(after(3, &with_own), bytemuck::cast_slice(&with_own), to)?,
                (_, Some(from)) if !sends => comm.receive_within(bytemuck::cast_slice_mut(&mut operands), from)?,
                _ => {}
            }
        }
        if from.is_some() {
            combine_before(hal, operation, &operands, &mut with_own);
            match &mut below {
                _ if kind == Kind::Inclusive => {}
                None => below = Some(operands),
                Some(below) => combine_before(hal, operation, &operands, below),
            }
        }
        distance *= 2;
    }
    match (kind, below) {
        (Kind::Inclusive, _) => buffers.write(hal, 0, &with_own),
        (Kind::Exclusive, Some(below)) => buffers.write(hal, 0, &below),
        (Kind::Exclusive, None) => {}
    }
    Ok(())
}

/// This rank's place in the binomial tree.
fn node<'t>(comm: &'t Comm<'_, impl Mpb + Wait>) -> &'t Node {
    &comm.tree(1).1
}

/// Combines up the tree; rank 0 has the result.
fn up<C: Messenger, T: Pod>(
    comm: &Comm<'_, C>,
    buffers: &Buffers<'_, T>,
    operation: &impl Combine<T>,
) -> Result<Option<Vec<T>>, Error> {
    let node = node(comm);
    if let (Some((parent, _)), true) = (node.parent, node.children.is_empty()) {
        comm.send_within(Source::Memory, buffers.bytes(0..buffers.len()), parent)?;
        return Ok(None);
    }
    let mut values = buffers.read(comm.hal(), 0..buffers.len());
    let mut operands = vec![T::zeroed(); values.len()];
    for &child in &node.children {
        comm.receive_within(bytemuck::cast_slice_mut(&mut operands), child)?;
        combine(comm.hal(), operation, &mut values, &operands);
    }
    let Some((parent, _)) = node.parent else { return Ok(Some(values)) };
    comm.send_within(after(2, &values), bytemuck::cast_slice(&values), parent)?;
    Ok(None)
}

/// Brings the result from rank 0, which has it, to where it is wanted.
fn down<C: Messenger, T: Pod>(
    comm: &Comm<'_, C>,
    buffers: &mut Buffers<'_, T>,
    values: Option<&[T]>,
    wanted: &Wanted,
) -> Result<(), Error> {
    let len = buffers.len();
    match (wanted, values) {
        (Wanted::By(0), Some(values)) => buffers.write(comm.hal(), 0, values),
        (Wanted::By(root), Some(values)) => comm.send_within(after(2, values), bytemuck::cast_slice(values), *root)?,
        (Wanted::By(root), None) if *root == comm.rank() => comm.receive_within(buffers.result_bytes(0..len), 0)?,
        (Wanted::By(_), None) => {}
        _ => {
            if let Some(values) = values {
                buffers.write(comm.hal(), 0, values);
            }
            let node = node(comm);
            if let Some((parent, _)) = node.parent {
                comm.receive_within(buffers.result_bytes(0..len), parent)?;
            }
            for &child in node.children.iter().rev() {
                let result = buffers.result_bytes(0..len);
                comm.send_within(after(1, result), result, child)?;
            }
        }
    }
    Ok(())
}

/// Exchanges parts with all others and combines the own one.
fn exchange<C: Messenger, T: Pod>(
    comm: &Comm<'_, C>,
    buffers: &Buffers<'_, T>,
    operation: &impl Combine<T>,
    part_of: &impl Fn(usize) -> Range<usize>,
) -> Result<Vec<T>, Error> {
    let (hal, rank, size) = (comm.hal(), comm.rank(), comm.size());
    let mine = part_of(rank);
    let mut wrapped: Option<Wrapped<T>> = None;
    for round in 0..size {
        let peer = (round + size - rank) % size;
        let operands = if peer == rank {
            buffers.read(hal, mine.clone())
        } else {
            let mut operands = vec![T::zeroed(); mine.len()];
            for sends in [rank < peer, rank > peer] {
                if sends {
                    comm.send_within(Source::Memory, buffers.bytes(part_of(peer)), peer)?;
                } else {
                    comm.receive_within(bytemuck::cast_slice_mut(&mut operands), peer)?;
                }
            }
            operands
        };
        match &mut wrapped {
            None => wrapped = Some(Wrapped::new(operands)),
            Some(wrapped) => wrapped.add(hal, operation, peer, &operands),
        }
    }
    Ok(wrapped.map_or_else(Vec::new, |wrapped| wrapped.finish(hal, operation)))
}

/// Sends all parts to the root.
fn gather<C: Messenger, T: Pod>(
    comm: &Comm<'_, C>,
    buffers: &mut Buffers<'_, T>,
    own: &[T],
    root: usize,
    part_of: &impl Fn(usize) -> Range<usize>,
) -> Result<(), Error> {
    if comm.rank() != root {
        return comm.send_within(after(3, own), bytemuck::cast_slice(own), root);
    }
    for rank in 0..comm.size() {
        if rank == root {
            buffers.write(comm.hal(), part_of(rank).start, own);
        } else {
            comm.receive_within(buffers.result_bytes(part_of(rank)), rank)?;
        }
    }
    Ok(())
}

/// Where `values` are if no more than `times` as many bytes, with their own, were touched since they were.
fn after<T>(times: usize, values: &[T]) -> Source {
    Source::after(times * size_of_val(values))
}

fn bytes_of<T>(elements: Range<usize>) -> Range<usize> {
    elements.start * size_of::<T>()..elements.end * size_of::<T>()
}
