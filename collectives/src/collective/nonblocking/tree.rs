//! The tree of non-blocking operations: every subtree is a range of ranks, of which its root is the first.
//!
//! So what comes up the tree is combined in the order of ranks, whatever the operator, and most children are near.

use alloc::vec::Vec;

/// Children of a node at most. A parent polls them one after the other.
const DEGREE: usize = 6;

/// A rank's place in the tree.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Node {
    pub(super) parent: Option<usize>,
    /// The children of the rank, each with the end of its range.
    pub(super) children: Vec<(usize, usize)>,
    /// Behind the last rank of its subtree.
    pub(super) end: usize,
}

impl Node {
    pub(super) fn of(rank: usize, size: usize) -> Self {
        let (mut parent, mut first, mut end) = (None, 0, size);
        loop {
            let children = children(first, end);
            if rank == first {
                return Self { parent, children, end };
            }
            parent = Some(first);
            (first, end) = children.into_iter().rfind(|(child, _)| *child <= rank).unwrap_or((rank, rank + 1));
        }
    }
}

/// Levels below the root of a tree of `size` ranks.
pub(super) fn height(size: usize) -> usize {
    if size < 2 {
        return 0;
    }
    1 + children(0, size).into_iter().map(|(first, end)| height(end - first)).max().unwrap_or(0)
}

/// The ranges of ranks below the first of a range.
fn children(first: usize, end: usize) -> Vec<(usize, usize)> {
    let below = end - first - 1;
    let count = below.min(DEGREE);
    let at = |child: usize| first + 1 + below * child / count;
    (0..count).map(|child| (at(child), at(child + 1))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_ranks_are_in_the_tree_once() {
        for size in 1..=300 {
            let nodes: Vec<_> = (0..size).map(|rank| Node::of(rank, size)).collect();
            for (rank, node) in nodes.iter().enumerate() {
                let mut next = rank + 1;
                for &(child, end) in &node.children {
                    assert_eq!((child, nodes[child].parent, nodes[child].end), (next, Some(rank), end));
                    next = end;
                }
                assert_eq!((next, node.parent.is_none()), (node.end, rank == 0));
                let highest = node.children.iter().map(|(child, end)| height(end - child) + 1).max();
                assert_eq!(height(node.end - rank), highest.unwrap_or(0));
            }
        }
    }
}
