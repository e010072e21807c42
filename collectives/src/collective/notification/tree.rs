//! Who passes a notification on to whom. Positions count from the root, so that one tree serves all roots.

use alloc::{boxed::Box, vec, vec::Vec};

use crate::Error;

/// The shape of the tree that notifications go down.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum NotificationTree {
    /// Whoever has a notification goes on telling others until all have been told: the tree of least latency if to be
    /// told takes twice as long as to tell (Karp et al., *Optimal Broadcast and Summation in the LogP Model*).
    #[default]
    Fastest,
    /// A tree of this degree, filled level by level.
    Degree(usize),
}

/// From the end of telling a core to when it can begin to tell others, in times that telling takes; in the simulator:
/// delivery and frame of an interrupt, against a doorbell and raising the interrupt.
const TOLD: usize = 2;

/// A tree of some members.
pub(super) struct Tree {
    /// The parent's position of each position; the root is its own parent.
    parents: Box<[u16]>,
    /// Where the children of each position begin in `children`; one more entry for the end.
    begins: Box<[u16]>,
    children: Box<[u16]>,
}

impl Tree {
    /// The tree of `members` positions.
    pub(super) fn new(shape: NotificationTree, members: usize) -> Result<Self, Error> {
        let parents = match shape {
            NotificationTree::Degree(0) => return Err(Error::NoDegree),
            NotificationTree::Degree(degree) => {
                (0..members).map(|position| position.saturating_sub(1) / degree).collect()
            }
            NotificationTree::Fastest => fastest(members),
        };
        let mut begins = vec![0; members + 1];
        let mut children = Vec::with_capacity(members);
        for (position, begin) in begins.iter_mut().enumerate() {
            *begin = children.len() as u16;
            children.extend((1..members).filter(|child| parents[*child] == position).map(|child| child as u16));
        }
        let parents = parents.into_iter().map(|parent| parent as u16).collect();
        Ok(Self { parents, begins: begins.into(), children: children.into() })
    }

    pub(super) fn parent(&self, position: usize) -> usize {
        usize::from(self.parents[position])
    }

    /// Children, in the order in which they are told.
    pub(super) fn children(&self, position: usize) -> impl Iterator<Item = usize> {
        let range = usize::from(self.begins[position])..usize::from(self.begins[position + 1]);
        self.children[range].iter().map(|child| usize::from(*child))
    }
}

/// The parents in the fastest tree: the next position is told by whoever can do so first.
fn fastest(members: usize) -> Vec<usize> {
    let mut parents = vec![0];
    // When each position will have told another one.
    let mut tells = vec![1];
    while parents.len() < members {
        let (parent, time) = tells.iter().copied().enumerate().min_by_key(|(_, time)| *time).unwrap_or((0, 0));
        tells[parent] = time + 1;
        tells.push(time + TOLD + 1);
        parents.push(parent);
    }
    parents
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everybody_has_one_parent_that_knows_it_and_comes_before() {
        let shapes = [NotificationTree::Fastest, NotificationTree::Degree(1), NotificationTree::Degree(7)];
        for (shape, members) in shapes.into_iter().flat_map(|shape| [1, 2, 3, 5, 47, 48, 255].map(|n| (shape, n))) {
            let tree = Tree::new(shape, members).unwrap();
            let mut told = vec![0; members];
            for parent in 0..members {
                for child in tree.children(parent) {
                    assert!(tree.parent(child) == parent && parent < child, "{shape:?} of {members}");
                    told[child] += 1;
                }
            }
            assert!(told[0] == 0 && told[1..].iter().all(|times| *times == 1), "{shape:?} of {members}");
        }
        assert_eq!(Tree::new(NotificationTree::Degree(0), 3).err(), Some(Error::NoDegree));
    }

    #[test]
    fn the_fastest_tree_lets_nobody_idle() {
        // 1 told at 1 and tells from 3 on: 2 and 3 are told by the root, and so on.
        assert_eq!(fastest(9), [0, 0, 0, 0, 0, 1, 0, 1, 2]);
    }
}
