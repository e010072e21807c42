//! The tree in which totals come together at rank 0. Who adds what to what, and in which order, does not depend on
//! how they travel.

use core::ops::Range;

use collectives::Comm;
use hal::Core;

use crate::Failure;

use super::physics::Totals;

/// Children of a rank at most. More make the tree flatter, and the one that waits for them later.
pub(super) const DEGREE: usize = 4;

/// Where the totals of `rank` go, and in which place among those of its parent's children they are; none for rank 0.
pub(super) fn parent(rank: usize) -> Option<(usize, usize)> {
    let before = rank.checked_sub(1)?;
    Some((before / DEGREE, before % DEGREE))
}

/// The ranks, of `ranks`, whose totals come to `rank`, in the order in which it adds them.
pub(super) fn children(rank: usize, ranks: usize) -> Range<usize> {
    let first = (rank * DEGREE + 1).min(ranks);
    first..(first + DEGREE).min(ranks)
}

/// Tells all ranks the totals that have come to rank 0. Collective.
pub(super) fn tell_all<C: Core>(comm: &Comm<'_, C>, totals: Totals) -> Result<Totals, Failure> {
    let mut numbers = totals.to_array();
    comm.broadcast(&mut numbers, 0)?;
    Ok(Totals::from_array(numbers))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn children_know_their_parents() {
        for ranks in 1..60 {
            for (rank, (place, child)) in
                (0..ranks).flat_map(|rank| children(rank, ranks).enumerate().map(move |child| (rank, child)))
            {
                assert_eq!(parent(child), Some((rank, place)));
            }
            let sum: usize = (0..ranks).map(|rank| children(rank, ranks).len()).sum();
            assert_eq!(sum, ranks - 1);
        }
        assert_eq!(parent(0), None);
    }
}
