//! The tree of a short reduction: fastest where a parent takes in its children one after the other.
//!
//! A node reads one child's lines in a step; from when a child begins to put its own until the parent has read them,
//! some `delay` steps pass. A node that has to be done at step t can take in a last child that was done at t − delay,
//! one before that was done at t − delay − 1, and so on: s(t) = s(t − 1) + s(t − delay) ranks are reached by step t.
//! That is the optimal tree of Karp, Sahay, Santos and Schauser (SPAA '93), run backwards; delay 1 is the binomial
//! tree.
//!
//! Each subtree is a range of ranks of which the first is its root, and children are taken in in ascending order. So
//! operands are combined in the order of ranks, and neighbours on the chip mostly are neighbours in the tree.

use alloc::{vec, vec::Vec};
use core::cell::OnceCell;

use hal::{Mpb, Wait};

use crate::Comm;

/// A tree over all ranks, with rank 0 at the root.
pub(super) struct Tree {
    delay: usize,
    /// Ranks that can be reached by each step, up to the first that reaches all.
    reached: Vec<usize>,
}

/// A rank's place in the tree.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Node {
    /// The parent, and which of its children this rank is.
    pub(super) parent: Option<(usize, usize)>,
    /// The children, in ascending order.
    pub(super) children: Vec<usize>,
}

impl Tree {
    /// The tree of `ranks` ranks for a delay of at least one step.
    pub(super) fn new(ranks: usize, delay: usize) -> Self {
        let mut reached = vec![1; delay];
        while reached[reached.len() - 1] < ranks {
            let step = reached.len();
            reached.push(reached[step - 1] + reached[step - delay]);
        }
        Self { delay, reached }
    }

    /// The steps that the tree takes.
    pub(super) fn steps(&self) -> usize {
        self.reached.len() - 1
    }

    /// The steps that the tree takes for `ranks` ranks, in tenths: the last one counts as far as it is needed.
    pub(super) fn tenths_of_steps(&self, ranks: usize) -> usize {
        let Some([.., before, last]) = self.reached.get(self.delay - 1..).filter(|reached| reached.len() > 1) else {
            return 0;
        };
        10 * (self.steps() - 1) + 10 * (ranks - before) / (last - before)
    }

    /// Steps between two children's last ones.
    pub(super) fn delay(&self) -> usize {
        self.delay
    }

    /// The most children that a node has, which are those of the root.
    pub(super) fn most_children(&self) -> usize {
        self.reached.len() - self.delay
    }

    /// The place of `rank` among `ranks`.
    pub(super) fn node(&self, rank: usize, ranks: usize) -> Node {
        let (mut start, mut len, mut step, mut parent) = (0, ranks, self.steps(), None);
        loop {
            let subtrees = self.subtrees(len, step);
            if rank == start {
                return Node { parent, children: subtrees.iter().map(|&(first, ..)| start + first).collect() };
            }
            let place = subtrees.iter().rposition(|&(first, ..)| start + first <= rank);
            let place = place.unwrap_or_else(|| unreachable!("rank {rank} is in one of the subtrees"));
            let (first, subtree_len, subtree_step) = subtrees[place];
            parent = Some((start, place));
            (start, len, step) = (start + first, subtree_len, subtree_step);
        }
    }

    /// Below the first of `len` ranks that is done at `step`: first rank, length and step of each subtree, ascending.
    fn subtrees(&self, mut len: usize, mut step: usize) -> Vec<(usize, usize, usize)> {
        let mut subtrees = Vec::new();
        while len > 1 {
            let before = self.reached[step - 1];
            if len > before {
                subtrees.push((before, len - before, step - self.delay));
                len = before;
            }
            step -= 1;
        }
        subtrees.reverse();
        subtrees
    }
}

/// The trees of a communicator by their delays, which are 3 at most, with this rank's place in each: worked out when they are used first.
#[derive(Default)]
struct Trees([OnceCell<(Tree, Node)>; 3]);

impl<C: Mpb + Wait> Comm<'_, C> {
    /// The tree of all ranks for a delay of up to 3 steps, and this rank's place in it.
    pub(super) fn tree(&self, delay: usize) -> &(Tree, Node) {
        self.state::<Trees>().0[delay - 1].get_or_init(|| {
            let tree = Tree::new(self.size(), delay);
            let node = tree.node(self.rank(), self.size());
            (tree, node)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trees_span_all_ranks_in_order() {
        for ranks in (1..=130).chain([255, 1000, 4096]) {
            for delay in 1..=5 {
                let tree = Tree::new(ranks, delay);
                let nodes: Vec<_> = (0..ranks).map(|rank| tree.node(rank, ranks)).collect();
                assert_eq!(nodes[0].parent, None);
                for (rank, node) in nodes.iter().enumerate() {
                    assert!(node.children.len() <= tree.most_children(), "{rank} of {ranks}, delay {delay}");
                    assert!(node.children.is_sorted() && node.children.iter().all(|&child| child > rank));
                    for (place, &child) in node.children.iter().enumerate() {
                        assert_eq!(nodes[child].parent, Some((rank, place)));
                    }
                }
                // Depth first, children ascending, comes by all ranks in their order.
                let mut order = Vec::new();
                let mut left = vec![0];
                while let Some(rank) = left.pop() {
                    order.push(rank);
                    left.extend(nodes[rank].children.iter().rev());
                }
                assert!(order.into_iter().eq(0..ranks), "{ranks} ranks, delay {delay}");
            }
        }
    }

    #[test]
    fn delay_1_is_the_binomial_tree() {
        let tree = Tree::new(16, 1);
        assert_eq!(tree.node(0, 16).children, [1, 2, 4, 8]);
        assert_eq!(tree.node(12, 16), Node { parent: Some((8, 2)), children: vec![13, 14] });
        assert_eq!(tree.most_children(), 4);
    }

    #[test]
    fn longer_delays_make_flatter_trees() {
        assert!(Tree::new(48, 4).most_children() > Tree::new(48, 1).most_children());
        assert_eq!(Tree::new(48, 1).steps(), 6);
    }
}
