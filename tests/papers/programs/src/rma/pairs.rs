//! Who talks to whom, where two ranks do.

use alloc::vec::Vec;

use collectives::Comm;
use hal::Core;

/// Two ranks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Pair {
    pub(crate) ranks: [usize; 2],
    /// Routers between them, both ends included.
    pub(crate) routers: u64,
}

impl Pair {
    /// The other one of the two, for a rank that is one of them.
    pub(crate) fn peer_of(&self, rank: usize) -> Option<usize> {
        match self.ranks {
            [one, other] if rank == one => Some(other),
            [one, other] if rank == other => Some(one),
            _ => None,
        }
    }
}

/// A near pair, rank 0 and its neighbour; one that is about half as far apart as can be; and a far one, rank 0 and the
/// last of those that are farthest from it. Where distances are equal, only one of them.
pub(crate) fn pairs<C: Core>(comm: &Comm<'_, C>) -> Vec<Pair> {
    let routers = |rank| u64::from(comm.hal().layout().distance(comm.core_of(0), comm.core_of(rank)));
    let pair = |rank| Pair { ranks: [0, rank], routers: routers(rank) };
    let near = pair(1);
    let far = (1..comm.size()).max_by_key(|rank| routers(*rank)).map_or(near, pair);
    let is_half_way = |rank: &usize| 2 * routers(*rank) >= near.routers + far.routers;
    let middle = (1..comm.size()).filter(is_half_way).min_by_key(|rank| routers(*rank)).map_or(far, pair);
    let mut pairs: Vec<_> = [near, middle, far].into();
    pairs.dedup_by_key(|pair| pair.routers);
    pairs
}

/// What a rank is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Side {
    Origin,
    Target,
}

impl Side {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Origin => "origin",
            Self::Target => "target",
        }
    }

    pub(super) fn other(self) -> Self {
        match self {
            Self::Origin => Self::Target,
            Self::Target => Self::Origin,
        }
    }
}
