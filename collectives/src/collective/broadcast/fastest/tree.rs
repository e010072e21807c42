//! Trees in which many ranks read what one wrote.

use core::ops::Range;

use hal::{Mpb, Wait};

use super::super::Ring;
use crate::Comm;

/// One rank's place in a tree, whose nodes are filled level by level in the order of [positions](Ring).
#[derive(Clone, Copy, Debug)]
pub(super) struct Tree {
    ring: Ring,
    degree: usize,
}

impl Tree {
    /// The tree of all ranks from `root`, with as few levels as there can be, and with no more children than those
    /// levels need. Reading costs the owner of an MPB nothing, so one level with as many children as there are ranks would
    /// be best, were it not for the port of the MPB.
    pub(super) fn new<C: Mpb + Wait>(comm: &Comm<'_, C>, root: usize) -> Self {
        Self::of(comm.size(), root, comm.rank(), comm.choices().most_readers())
    }

    /// The place of `rank` in the tree of `size` ranks, of which at most `most_children` read one MPB.
    pub(super) fn of(size: usize, root: usize, rank: usize, most_children: usize) -> Self {
        Self { ring: Ring::of(size, root, rank), degree: degree(size, most_children) }
    }

    /// Whether all other ranks are children of the root.
    pub(super) fn is_flat(&self) -> bool {
        self.degree + 1 >= self.ring.size
    }

    /// Children of a rank at most.
    pub(super) fn degree(&self) -> usize {
        self.degree
    }

    /// Levels above the last rank: those on which a parent is in the block of its child, and those on which it is in another
    /// one. A block is `block` positions.
    pub(super) fn levels(&self, block: usize) -> (u64, u64) {
        let (mut position, mut near, mut far) = (self.ring.size - 1, 0, 0);
        while position > 0 {
            let parent = (position - 1) / self.degree;
            *if parent / block == position / block { &mut near } else { &mut far } += 1;
            position = parent;
        }
        (near, far)
    }

    /// Ranks besides the root.
    pub(super) fn others(&self) -> usize {
        self.ring.size - 1
    }

    /// The rank at a position.
    pub(super) fn rank_at(&self, position: usize) -> usize {
        self.ring.rank_at(position)
    }

    /// The rank of the parent; the root has none.
    pub(super) fn parent(&self) -> Option<usize> {
        self.parent_position().map(|position| self.rank_at(position))
    }

    /// Positions of the children.
    pub(super) fn children(&self) -> Range<usize> {
        self.children_of(self.ring.position)
    }

    /// Positions of the parent's children, of which this rank is one.
    pub(super) fn siblings(&self) -> Range<usize> {
        self.parent_position().map_or(0..0, |parent| self.children_of(parent))
    }

    /// Ranks at these positions in ascending order.
    pub(super) fn ascending(&self, positions: Range<usize>) -> impl Iterator<Item = usize> + Clone + use<> {
        let around = (self.ring.size - self.ring.root).clamp(positions.start, positions.end);
        let tree = *self;
        (around..positions.end).chain(positions.start..around).map(move |position| tree.rank_at(position))
    }

    fn parent_position(&self) -> Option<usize> {
        self.ring.position.checked_sub(1).map(|before| before / self.degree)
    }

    fn children_of(&self, position: usize) -> Range<usize> {
        let first = (position * self.degree + 1).min(self.ring.size);
        first..(first + self.degree).min(self.ring.size)
    }
}

/// The least degree with which a tree of `size` ranks has as few levels as with the largest.
fn degree(size: usize, most_children: usize) -> usize {
    let others = size - 1;
    if others <= most_children {
        return others.max(1);
    }
    let room = |degree: usize, levels: u32| (1..=levels).map(|level| degree.pow(level)).sum::<usize>();
    let levels = (2..).find(|levels| room(most_children, *levels) >= others).unwrap_or(2);
    (2..most_children).find(|degree| room(*degree, levels) >= others).unwrap_or(most_children)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn degrees_are_as_small_as_levels_allow() {
        let degrees = [1, 2, 3, 48, 49, 50, 255, 2353, 2354, 4096].map(|size| degree(size, 48));
        assert_eq!(degrees, [1, 1, 2, 47, 48, 7, 16, 48, 13, 16]);
    }

    #[test]
    fn levels_are_near_or_far() {
        let levels = |size, block, most| Tree::of(size, 0, 0, most).levels(block);
        assert_eq!([levels(1, 1, 48), levels(48, 1, 48), levels(48, 48, 48)], [(0, 0), (0, 1), (1, 0)]);
        // From 47 to 11, 2 and 0; from 254 to 42, 6 and 0.
        assert_eq!([levels(48, 16, 6), levels(255, 16, 6)], [(2, 1), (1, 2)]);
    }

    #[test]
    fn every_rank_is_the_child_of_its_parent() {
        for (size, root) in [(1, 0), (2, 1), (48, 0), (48, 47), (50, 17), (255, 128), (4096, 5)] {
            let mut children = 0;
            for rank in 0..size {
                let tree = Tree::of(size, root, rank, 48);
                children += tree.children().len();
                let found: std::vec::Vec<_> = tree.ascending(tree.children()).collect();
                assert!(found.is_sorted() && found.len() == tree.children().len());
                assert!(found.iter().all(|child| Tree::of(size, root, *child, 48).parent() == Some(rank)));
                assert!(found.iter().all(|child| Tree::of(size, root, *child, 48).siblings() == tree.children()));
                assert_eq!(tree.parent().is_none(), rank == root);
            }
            assert_eq!((children, Tree::of(size, root, 0, 48).is_flat()), (size - 1, size <= 49));
        }
    }
}
