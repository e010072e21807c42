//! The nodes of a message propagation tree, and the families that they make.

use alloc::vec::Vec;
use core::ops::Range;

/// The part of a tree around one of its nodes. Nodes are known by their leaders.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub(super) struct Family {
    pub(super) parent: Option<usize>,
    pub(super) siblings: Vec<usize>,
    pub(super) children: Vec<usize>,
}

/// The nodes of a tree in the order of their positions, which count from the root.
pub(super) struct Nodes {
    pub(super) size: usize,
    pub(super) root: usize,
    pub(super) ranks_per_node: usize,
}

impl Nodes {
    pub(super) fn count(&self) -> usize {
        self.size.div_ceil(self.ranks_per_node)
    }

    /// The leader of the node at `position`.
    pub(super) fn leader_at(&self, position: usize) -> usize {
        self.leader_of((self.root / self.ranks_per_node + position) % self.count() * self.ranks_per_node)
    }

    /// The leader of the node that `rank` is in.
    pub(super) fn leader_of(&self, rank: usize) -> usize {
        let node = rank / self.ranks_per_node;
        if node == self.root / self.ranks_per_node { self.root } else { node * self.ranks_per_node }
    }

    fn position_of(&self, rank: usize) -> usize {
        (rank / self.ranks_per_node + self.count() - self.root / self.ranks_per_node) % self.count()
    }

    /// The ranks in a leader's node besides the leader.
    pub(super) fn mates(&self, leader: usize) -> impl Iterator<Item = usize> + use<> {
        let first = leader / self.ranks_per_node * self.ranks_per_node;
        (first..self.size.min(first + self.ranks_per_node)).filter(move |rank| *rank != leader)
    }

    /// The tree of the paper: the children of position i are k i + 1 to k i + k.
    pub(super) fn by_position(&self, leader: usize, k: usize) -> Family {
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
