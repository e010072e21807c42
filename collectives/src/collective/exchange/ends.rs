//! Whether the two ends of each block name the same length, where only they know it.

use alloc::{vec, vec::Vec};

use bytemuck::{cast_slice, cast_slice_mut};
use hal::Messenger;

use super::{
    alltoall::Buffers,
    pieces::Spans,
    transfer::others,
    two_sided::{collect, meet},
};
use crate::{Comm, Error, mpb::tagged::Source};

/// A length as it is told.
const TOLD: Spans = Spans::Equal(size_of::<u32>());

/// Which way blocks go.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::collective) enum Way {
    ToRoot,
    FromRoot,
}

/// Refuses, on all ranks alike, blocks between the root and others of which the two ends name different lengths. Each
/// rank says how many bytes its own block has, and the root what it thinks of the others'.
pub(in crate::collective) fn check_with_root<C: Messenger>(
    comm: &Comm<'_, C>,
    way: Way,
    root: usize,
    own: usize,
    thought: impl Fn(usize) -> usize,
) -> Result<(), Error> {
    if !comm.compares_calls().get() {
        return Ok(());
    }
    let mut told = vec![0_u32; comm.size()];
    let mut differing = None;
    if comm.rank() == root {
        collect(comm, cast_slice_mut(&mut told), &TOLD)?;
        differing = others(comm).find(|rank| told[*rank] != thought(*rank) as u32);
    } else {
        comm.send_within(Source::Cache, &(own as u32).to_le_bytes(), root)?;
    }
    comm.check_ends(differing.map(|rank| {
        let (theirs, here) = ((rank, told[rank] as usize), (root, thought(rank)));
        if way == Way::ToRoot { [theirs, here] } else { [here, theirs] }
    }))
}

/// Refuses, on all ranks alike, blocks between all of which the two ends name different lengths: what this rank sends
/// to each, and wants from each.
pub(in crate::collective) fn check_between_all<C: Messenger>(
    comm: &Comm<'_, C>,
    sent: impl Fn(usize) -> usize,
    wanted: impl Fn(usize) -> usize,
) -> Result<(), Error> {
    if !comm.compares_calls().get() {
        return Ok(());
    }
    let telling: Vec<u32> = (0..comm.size()).map(|rank| sent(rank) as u32).collect();
    let mut told = vec![0_u32; comm.size()];
    let (send, receive) = (Some((cast_slice(&telling), &TOLD)), cast_slice_mut(&mut told));
    meet(comm, &mut Buffers { send, receive, received: &TOLD })?;
    let differing = others(comm).find(|rank| told[*rank] != wanted(*rank) as u32);
    comm.check_ends(differing.map(|rank| [(rank, told[rank] as usize), (comm.rank(), wanted(rank))]))
}
