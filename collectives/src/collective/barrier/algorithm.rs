//! The algorithms that are schedules, with all their parameters.

use super::{
    butterfly, dissemination::Dissemination, hierarchical::Hierarchical, linear, party::Party, schedule::Schedule,
    tournament, tree::Tree,
};

/// An algorithm with all its parameters.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Algorithm {
    Linear,
    Butterfly,
    Tournament,
    Dissemination(Dissemination),
    Tree(Tree),
    Hierarchical(Hierarchical),
}

impl Algorithm {
    /// The names of the prices of what is executed to arrive, and of what is executed from then on. Algorithms whose loops are alike
    /// have the same two.
    pub(super) const fn prices(self) -> [&'static str; 2] {
        match self {
            Self::Linear => ["arrive at the root", "end at the root"],
            Self::Butterfly | Self::Tournament | Self::Dissemination(_) => ["arrive in rounds", "end of rounds"],
            Self::Tree(_) | Self::Hierarchical(_) => ["arrive in a tree", "end in a tree"],
        }
    }

    /// Flags that it has in the MPB of each member.
    pub(super) fn slots(self, party: &Party) -> usize {
        match (self, party.len()) {
            (_, 0 | 1) => 0,
            (Self::Linear, _) => linear::SLOTS,
            (Self::Butterfly, len) => butterfly::slots(len),
            (Self::Tournament, len) => tournament::slots(len),
            (Self::Dissemination(dissemination), len) => dissemination.slots(len),
            (Self::Tree(tree), _) => tree.slots(),
            (Self::Hierarchical(hierarchical), _) => hierarchical.slots(),
        }
    }

    /// What the member at `position` does.
    pub(super) fn schedule(self, position: usize, party: &Party) -> Schedule {
        match (self, party.len()) {
            (_, 0 | 1) => Schedule::default(),
            (Self::Linear, len) => linear::schedule(position, len),
            (Self::Butterfly, len) => butterfly::schedule(position, len),
            (Self::Tournament, len) => tournament::schedule(position, len),
            (Self::Dissemination(dissemination), len) => dissemination.schedule(position, len),
            (Self::Tree(tree), len) => tree.schedule(position, len),
            (Self::Hierarchical(hierarchical), _) => hierarchical.schedule(position, party),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{collective::barrier::Release, testing::has_price};

    /// A price that the simulator does not know is none, and nothing says so.
    #[test]
    fn all_prices_are_in_the_table() {
        let tree = Tree { fan_in: 8, gather: Release::Push, release: Release::Pull };
        for algorithm in [Algorithm::Linear, Algorithm::Butterfly, Algorithm::Tree(tree)] {
            assert!(algorithm.prices().into_iter().all(has_price), "{algorithm:?}: {:?}", algorithm.prices());
        }
    }
}
