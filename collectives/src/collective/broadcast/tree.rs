//! Where a rank is in OC-Bcast's message propagation tree.
//!
//! The nodes of the tree are ranks, or tiles that share a copy; then each tile has a leader, which is the root on the
//! root's tile and the first rank on others, and the other ranks are children of their leader, behind those in the
//! tree.

use alloc::{boxed::Box, rc::Rc, vec::Vec};
use core::{cell::RefCell, ops::Range};

use hal::{Mpb, Wait};

use super::{notification, parameters::OcBcast};
use crate::{Comm, Group, comm::members::Shape};

/// A rank's place in a tree.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Place {
    /// None at the root.
    pub(super) parent: Option<Parent>,
    pub(super) children: Group,
    /// The children that this rank [notifies](super::notification) itself.
    pub(super) notified: Box<[usize]>,
    /// Whether chunks go through this rank's MPB.
    pub(super) stages: bool,
}

/// A parent, as one of its children knows it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Parent {
    pub(super) rank: usize,
    /// Who notifies this rank: the parent, or another of its children.
    pub(super) notified_by: usize,
    /// Children of the parent that this rank notifies.
    pub(super) notified: Box<[usize]>,
}

/// The part of a tree around one of its nodes. Nodes are known by their leaders.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
struct Family {
    parent: Option<usize>,
    siblings: Vec<usize>,
    children: Vec<usize>,
}

/// The nodes of a tree in the order of their positions, which count from the root.
struct Nodes {
    size: usize,
    root: usize,
    ranks_per_node: usize,
}

impl Nodes {
    fn count(&self) -> usize {
        self.size.div_ceil(self.ranks_per_node)
    }

    /// The leader of the node at `position`.
    fn leader_at(&self, position: usize) -> usize {
        self.leader_of((self.root / self.ranks_per_node + position) % self.count() * self.ranks_per_node)
    }

    /// The leader of the node that `rank` is in.
    fn leader_of(&self, rank: usize) -> usize {
        let node = rank / self.ranks_per_node;
        if node == self.root / self.ranks_per_node { self.root } else { node * self.ranks_per_node }
    }

    fn position_of(&self, rank: usize) -> usize {
        (rank / self.ranks_per_node + self.count() - self.root / self.ranks_per_node) % self.count()
    }

    /// The ranks in a leader's node besides the leader.
    fn mates(&self, leader: usize) -> impl Iterator<Item = usize> + use<> {
        let first = leader / self.ranks_per_node * self.ranks_per_node;
        (first..self.size.min(first + self.ranks_per_node)).filter(move |rank| *rank != leader)
    }

    /// The tree of the paper: the children of position i are k i + 1 to k i + k.
    fn by_position(&self, leader: usize, k: usize) -> Family {
        let children = |position: usize| -> Vec<_> {
            let first = position.saturating_mul(k).saturating_add(1).min(self.count());
            let range: Range<usize> = first..first.saturating_add(k).min(self.count());
            range.map(|position| self.leader_at(position)).collect()
        };
        let position = self.position_of(leader);
        let parent = position.checked_sub(1).map(|below| below / k);
        Family {
            parent: parent.map(|position| self.leader_at(position)),
            siblings: parent.map(children).unwrap_or_default(),
            children: children(position),
        }
    }
}

impl Place {
    fn find(shape: Shape, rank: usize, root: usize, parameters: &OcBcast) -> Self {
        let ranks_per_node = if parameters.shared_tiles { shape.per_tile } else { 1 };
        let nodes = Nodes { size: shape.ranks, root, ranks_per_node };
        let leader = nodes.leader_of(rank);
        let Family { parent, mut siblings, mut children } = nodes.by_position(leader, parameters.k);
        siblings.extend(parent.into_iter().flat_map(|parent| nodes.mates(parent)));
        children.extend(nodes.mates(leader));
        let (parent, siblings, children) =
            if rank == leader { (parent, siblings, children) } else { (Some(leader), children, Vec::new()) };
        let degree = parameters.notification_degree;
        let notified = |member: usize, children: &[usize]| -> Box<[usize]> {
            notification::below(member, degree, children.len()).map(|below| children[below - 1]).collect()
        };
        let parent = parent.map(|parent| {
            let member = siblings.iter().take_while(|sibling| **sibling != rank).count() + 1;
            let notified_by = match notification::above(member, degree) {
                0 => parent,
                sibling => siblings[sibling - 1],
            };
            Parent { rank: parent, notified_by, notified: notified(member, &siblings) }
        });
        Self {
            parent,
            stages: rank == leader && !(parameters.straight_leaves && children.is_empty()),
            notified: notified(0, &children),
            children: Group::of(children).expect("ranks of a communicator"),
        }
    }
}

/// The place of a rank in the tree that it used last: programs broadcast again and again from one root.
#[derive(Default)]
struct Places(RefCell<Option<(usize, OcBcast, Rc<Place>)>>);

impl<C: Mpb + Wait> Comm<'_, C> {
    /// This rank's place, which is kept as long as root and parameters stay the same.
    pub(super) fn place(&self, root: usize, parameters: &OcBcast) -> Rc<Place> {
        let mut last = self.state::<Places>().0.borrow_mut();
        match &*last {
            Some((last_root, last_parameters, place)) if (*last_root, last_parameters) == (root, parameters) => {
                place.clone()
            }
            _ => {
                let place = Rc::new(Place::find(self.members().shape(), self.rank(), root, parameters));
                *last = Some((root, *parameters, place.clone()));
                place
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::comm::members::Members;
    use hal::{CoreId, Layout};

    fn variants() -> impl Iterator<Item = OcBcast> {
        [1, 2, 7, 47, usize::MAX].into_iter().flat_map(|k| {
            (0..4).map(move |bits| OcBcast {
                straight_leaves: bits & 1 > 0,
                shared_tiles: bits & 2 > 0,
                ..OcBcast::with_degree(k)
            })
        })
    }

    fn levels(places: &[Place], rank: usize) -> usize {
        places[rank].parent.as_ref().map_or(0, |parent| 1 + levels(places, parent.rank))
    }

    #[test]
    fn places_of_all_ranks_make_one_tree() {
        for (size, root) in [(1, 0), (2, 1), (3, 2), (5, 0), (16, 9), (47, 46), (48, 0), (48, 13), (101, 77)] {
            let shape = Members::all(CoreId::new(0), &Layout::scc().with_cores(size)).shape();
            for parameters in variants() {
                let place = |rank| Place::find(shape, rank, root, &parameters);
                let places: Vec<_> = (0..size).map(place).collect();
                for (rank, place) in places.iter().enumerate() {
                    assert_eq!(place.parent.is_none(), rank == root);
                    if let Some(Parent { rank: parent, notified_by, .. }) = &place.parent {
                        let above = &places[*parent];
                        assert!(above.children.contains(rank) && above.stages, "{size} {root} {parameters:?}");
                        let notifier = &places[*notified_by];
                        let notified = match &notifier.parent {
                            Some(of) if notified_by != parent => (&of.notified, of.rank),
                            _ => (&notifier.notified, *parent),
                        };
                        assert!(notified.0.contains(&rank) && notified.1 == *parent, "rank {rank} is not told");
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
        let shape = Members::all(CoreId::new(0), &Layout::scc()).shape();
        for parameters in variants().filter(|parameters| !parameters.shared_tiles) {
            let place = |rank| Place::find(shape, rank, 5, &parameters);
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
}
