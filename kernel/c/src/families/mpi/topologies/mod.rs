//! Topologies: grids, and graphs.

pub(super) mod graphs;
pub(super) mod grids;
pub(crate) mod making;

use core::slice;

use self::{
    graphs::{DistributedGraph, Graph},
    grids::Grid,
};
use super::class::{Class, Fault};

/// How the ranks of a communicator lie.
pub(crate) enum Topology {
    Grid(Grid),
    Graph(Graph),
    Distributed(DistributedGraph),
}

/// # Safety
/// There are so many numbers.
pub(super) unsafe fn numbers<'n>(count: usize, numbers: *const i32) -> &'n [i32] {
    // SAFETY: the caller says so.
    if count == 0 { &[] } else { unsafe { slice::from_raw_parts(numbers, count) } }
}

/// A count that is not below zero.
pub(super) fn counted(count: i32) -> Result<usize, Fault> {
    usize::try_from(count).map_err(|_| Class::ARG.into())
}

/// # Safety
/// There is room for so many numbers.
pub(super) unsafe fn write_all(all: &[i32], most: usize, target: *mut i32) {
    for (at, number) in all.iter().take(most).enumerate() {
        // SAFETY: the caller says so.
        unsafe { target.add(at).write(*number) };
    }
}
