//! The default: which barrier is the fastest for a machine and a number of ranks.

use hal::{LINE_BYTES, Layout};

use super::{Release, schedule::Schedule, tree};

/// Lines that the barrier of all ranks has in every MPB.
pub(crate) const fn world_lines(ranks: usize) -> usize {
    if ranks <= 2 * LINE_BYTES { 2 } else { 1 }
}

/// What the barrier of all ranks of a machine does on one of them.
pub(crate) fn world(rank: usize, layout: &Layout) -> Schedule {
    let ranks = layout.cores();
    tree::schedule(rank, ranks, fan_in(ranks, world_lines(ranks) * LINE_BYTES - 1), Release::Pull)
}

/// The fewest children with which a tree is as flat as with `most`.
fn fan_in(ranks: usize, most: usize) -> usize {
    let depth = |fan_in: usize| {
        let (mut width, mut reached, mut depth) = (1, 1, 0);
        while reached < ranks {
            (width, depth) = (width * fan_in, depth + 1);
            reached += width;
        }
        depth
    };
    (1..=most).find(|fan_in| depth(*fan_in) == depth(most)).unwrap_or(most)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trees_are_as_flat_as_lines_allow() {
        let world = |ranks| fan_in(ranks, world_lines(ranks) * LINE_BYTES - 1);
        assert_eq!([1, 2, 48, 64, 65, 255, 4096].map(world), [1, 1, 47, 63, 8, 16, 16]);
        assert!((1..=4096).all(|ranks| tree::slots(world(ranks)) <= world_lines(ranks) * LINE_BYTES));
    }
}
