//! Topologies: grids, and graphs.

pub(super) mod graphs;
pub(super) mod grids;
pub(crate) mod making;

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

/// A count that is not below zero.
pub(super) fn counted(count: i32) -> Result<usize, Fault> {
    usize::try_from(count).map_err(|_| Class::ARG.into())
}
