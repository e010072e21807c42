//! Graphs: those that all ranks know, and those of which each knows its own edges.

pub(crate) mod calls;

use alloc::vec::Vec;

use super::super::class::{Class, Fault};

/// A graph that all ranks know.
pub(crate) struct Graph {
    /// Where the neighbours of each rank end.
    ends: Vec<i32>,
    edges: Vec<i32>,
}

impl Graph {
    fn of(&self, rank: usize) -> &[i32] {
        let start = if rank == 0 { 0 } else { self.ends[rank - 1] as usize };
        &self.edges[start..self.ends[rank] as usize]
    }

    pub(crate) fn neighbours(&self, rank: usize) -> impl Iterator<Item = usize> {
        self.of(rank).iter().map(|neighbour| *neighbour as usize)
    }
}

/// What a rank knows of a graph: its own edges.
pub(crate) struct DistributedGraph {
    pub(crate) sources: Vec<usize>,
    pub(crate) destinations: Vec<usize>,
    /// Weights of both, if there are any.
    weights: Option<[Vec<i32>; 2]>,
}

/// Ranks of a communicator that C names.
fn ranks(all: &[i32], size: usize) -> Result<Vec<usize>, Fault> {
    let rank = |rank: &i32| usize::try_from(*rank).ok().filter(|rank| *rank < size).ok_or_else(|| Class::ARG.into());
    all.iter().map(rank).collect()
}
