//! The neighbours of a rank in a topology, in the order of their blocks.

use alloc::{rc::Rc, vec::Vec};

use super::super::{
    class::{Class, Fault},
    communicators::Communicator,
    topologies::Topology,
};

/// The neighbours of a rank.
pub(crate) struct Neighbours {
    /// Those that send to it, and those that it sends to; nobody beyond an edge.
    sources: Vec<Option<usize>>,
    destinations: Vec<Option<usize>>,
    /// The order in which messages go.
    order: Vec<usize>,
}

impl Neighbours {
    /// Of this rank of a communicator.
    pub(crate) fn of(comm: &Communicator) -> Result<Self, Fault> {
        let topology: Rc<Topology> = comm.topology.borrow().clone().ok_or(Class::TOPOLOGY)?;
        let (sources, destinations, order) = match &*topology {
            Topology::Grid(grid) => {
                let shift = |at: usize| grid.neighbour(comm.rank, at / 2, if at.is_multiple_of(2) { -1 } else { 1 });
                let all: Vec<_> = (0..2 * grid.dimensions()).map(shift).collect();
                // What goes one way comes from the other one: where both are the same rank, it expects what comes from below
                // first, which goes up.
                (all.clone(), all, (0..2 * grid.dimensions()).map(|at| at ^ 1).collect())
            }
            Topology::Graph(graph) => {
                let all: Vec<_> = graph.neighbours(comm.rank).map(Some).collect();
                let order = (0..all.len()).collect();
                (all.clone(), all, order)
            }
            Topology::Distributed(graph) => {
                let [sources, destinations] = [&graph.sources, &graph.destinations];
                let order = (0..destinations.len()).collect();
                let some = |ranks: &[usize]| ranks.iter().map(|rank| Some(*rank)).collect();
                (some(sources), some(destinations), order)
            }
        };
        Ok(Self { sources, destinations, order })
    }

    /// How many there are that send, and that receive.
    pub(crate) fn counts(&self) -> (usize, usize) {
        (self.sources.len(), self.destinations.len())
    }

    /// Blocks and ranks that they go to, in the order in which they go.
    pub(crate) fn sends(&self) -> impl Iterator<Item = (usize, usize)> {
        self.order.iter().filter_map(|at| Some((*at, self.destinations[*at]?)))
    }

    /// Blocks and ranks that they come from.
    pub(crate) fn receives(&self) -> impl Iterator<Item = (usize, usize)> {
        self.sources.iter().enumerate().filter_map(|(at, from)| Some((at, (*from)?)))
    }
}
