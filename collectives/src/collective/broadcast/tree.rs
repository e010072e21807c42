//! Where a rank is in OC-Bcast's message propagation tree.
//!
//! The nodes of the tree are ranks, or tiles that share a copy; then each tile has a leader, which is the root on the
//! root's tile and the first rank on others, and the other ranks are children of their leader, behind those in the
//! tree.

use alloc::{rc::Rc, vec::Vec};
use core::cell::RefCell;

use hal::{Clock, Layout, Mpb, Wait};

use super::{
    OcBcast,
    nodes::{Family, Nodes},
    topology_aware,
};
use crate::Comm;

/// A rank's place in a tree.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Place {
    /// None at the root.
    pub(super) parent: Option<usize>,
    /// All children of the parent.
    pub(super) siblings: Vec<usize>,
    /// Which of them this rank is, from 1.
    pub(super) member: usize,
    pub(super) children: Vec<usize>,
    /// The children in ascending order of their ranks.
    pub(super) children_by_rank: Vec<usize>,
    /// Whether chunks go through this rank's MPB.
    pub(super) stages: bool,
}

impl Place {
    /// The place of `rank`, and the steps of computation that it took to find it, as far as there are many.
    fn find(layout: &Layout, size: usize, rank: usize, root: usize, parameters: &OcBcast) -> (Self, u64) {
        let ranks_per_node = if parameters.shared_tiles { layout.cores_per_tile() } else { 1 };
        let nodes = Nodes { size, root, ranks_per_node };
        let leader = nodes.leader_of(rank);
        let (Family { parent, mut siblings, mut children }, steps) = if parameters.topology_aware {
            topology_aware::family(layout, &nodes, leader, parameters.k)
        } else {
            (nodes.by_position(leader, parameters.k), 0)
        };
        siblings.extend(parent.into_iter().flat_map(|parent| nodes.mates(parent)));
        children.extend(nodes.mates(leader));
        let (parent, siblings, children) =
            if rank == leader { (parent, siblings, children) } else { (Some(leader), children, Vec::new()) };
        let mut children_by_rank = children.clone();
        children_by_rank.sort_unstable();
        let place = Self {
            parent,
            member: siblings.iter().take_while(|sibling| **sibling != rank).count() + 1,
            siblings,
            stages: rank == leader && !(parameters.straight_leaves && children.is_empty()),
            children,
            children_by_rank,
        };
        (place, steps)
    }
}

/// The place of a rank in the tree that it used last: programs broadcast again and again from one root.
#[derive(Default)]
struct Places(RefCell<Option<(usize, OcBcast, Rc<Place>)>>);

impl<C: Mpb + Clock + Wait> Comm<'_, C> {
    /// This rank's place. What it takes to build a topology-aware tree is charged, once as long as root and
    /// parameters stay the same.
    pub(super) fn place(&self, root: usize, parameters: &OcBcast) -> Rc<Place> {
        let mut last = self.state::<Places>().0.borrow_mut();
        match &*last {
            Some((last_root, last_parameters, place)) if (*last_root, last_parameters) == (root, parameters) => {
                place.clone()
            }
            _ => {
                let (place, steps) = Place::find(self.hal().layout(), self.size(), self.rank(), root, parameters);
                self.hal().compute(steps * topology_aware::STEP_CYCLES);
                let place = Rc::new(place);
                *last = Some((root, *parameters, place.clone()));
                place
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn variants() -> impl Iterator<Item = OcBcast> {
        [1, 2, 7, 47, usize::MAX].into_iter().flat_map(|k| {
            (0..8).map(move |bits| OcBcast {
                straight_leaves: bits & 1 > 0,
                shared_tiles: bits & 2 > 0,
                topology_aware: bits & 4 > 0,
                ..OcBcast::with_degree(k)
            })
        })
    }

    fn levels(places: &[Place], rank: usize) -> usize {
        places[rank].parent.map_or(0, |parent| 1 + levels(places, parent))
    }

    #[test]
    fn places_of_all_ranks_make_one_tree() {
        for (size, root) in [(1, 0), (2, 1), (3, 2), (5, 0), (16, 9), (47, 46), (48, 0), (48, 13), (101, 77)] {
            let layout = Layout::scc().with_cores(size);
            for parameters in variants() {
                let place = |rank| Place::find(&layout, size, rank, root, &parameters).0;
                let places: Vec<_> = (0..size).map(place).collect();
                for (rank, place) in places.iter().enumerate() {
                    assert_eq!(place.parent.is_none(), rank == root);
                    if let Some(parent) = place.parent {
                        assert_eq!(places[parent].children, place.siblings, "{size} {root} {parameters:?}");
                        assert_eq!(place.siblings[place.member - 1], rank);
                        assert!(places[parent].stages);
                    }
                    let mates = if parameters.shared_tiles { 1 } else { 0 };
                    assert!(place.children.len() <= parameters.k.saturating_add(mates));
                    assert!(levels(&places, rank) < size);
                }
            }
        }
    }

    #[test]
    fn trees_of_the_scc_are_no_deeper_than_the_papers() {
        let layout = Layout::scc();
        for parameters in variants().filter(|parameters| !parameters.shared_tiles) {
            let place = |rank| Place::find(&layout, 48, rank, 5, &parameters).0;
            let places: Vec<_> = (0..48).map(place).collect();
            let deepest = (0..48).map(|rank| levels(&places, rank)).max();
            let papers = match parameters.k {
                1 => 47,
                2 => 5,
                7 => 2,
                _ => 1,
            };
            assert_eq!(deepest, Some(papers), "{parameters:?}");
        }
    }

    /// The longest copy, and the longest way of all copies from the root to a rank.
    fn ways(root: usize, parameters: &OcBcast) -> (u32, u32) {
        let layout = Layout::scc();
        let parent = |rank| Place::find(&layout, 48, rank, root, parameters).0.parent;
        let copy = |rank, from| layout.distance(hal::CoreId::new(rank), hal::CoreId::new(from));
        let copies = |rank| core::iter::successors(Some(rank), |rank| parent(*rank));
        let way = |rank| copies(rank).zip(copies(rank).skip(1)).map(|(rank, from)| copy(rank, from)).sum();
        let longest = (0..48).filter_map(|rank| Some(copy(rank, parent(rank)?))).max();
        (longest.unwrap_or(0), (0..48).map(way).max().unwrap_or(0))
    }

    #[test]
    fn a_topology_aware_tree_has_shorter_ways() {
        let mut sums = [(0, 0); 2];
        for root in 0..48 {
            for (sum, topology_aware) in sums.iter_mut().zip([false, true]) {
                let (copy, way) = ways(root, &OcBcast { topology_aware, ..OcBcast::default() });
                *sum = (sum.0 + copy, sum.1 + way);
            }
        }
        // On the average over all roots 7.3 and 4.8 routers for the longest copy, 11.7 and 8.5 for the longest way.
        let [papers, ours] = sums;
        assert!(ours.0 * 10 < papers.0 * 7 && ours.1 * 10 < papers.1 * 8, "{papers:?} and {ours:?}");
    }
}
