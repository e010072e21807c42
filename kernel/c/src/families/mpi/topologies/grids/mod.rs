//! Grids: ranks at places along dimensions.

pub(crate) mod calls;

use alloc::{vec, vec::Vec};

/// A grid of dimensions, each open or closed to a ring. The last one's ranks are one behind the other.
pub(crate) struct Grid {
    lengths: Vec<usize>,
    rings: Vec<bool>,
}

impl Grid {
    pub(crate) fn dimensions(&self) -> usize {
        self.lengths.len()
    }

    fn places(&self, rank: usize) -> Vec<usize> {
        let mut rest = rank;
        let mut places: Vec<_> = self
            .lengths
            .iter()
            .rev()
            .map(|length| {
                let place = rest % length;
                rest /= length;
                place
            })
            .collect();
        places.reverse();
        places
    }

    /// The rank at these places; none beyond an edge.
    fn rank(&self, places: &[i64]) -> Option<usize> {
        let mut rank = 0;
        for ((place, length), is_ring) in places.iter().zip(&self.lengths).zip(&self.rings) {
            let length = *length as i64;
            let place = if *is_ring { place.rem_euclid(length) } else { *place };
            if !(0..length).contains(&place) {
                return None;
            }
            rank = rank * length + place;
        }
        Some(rank as usize)
    }

    /// The rank so many steps away.
    pub(crate) fn neighbour(&self, rank: usize, dimension: usize, steps: i64) -> Option<usize> {
        let mut places: Vec<_> = self.places(rank).into_iter().map(|place| place as i64).collect();
        places[dimension] += steps;
        self.rank(&places)
    }
}

/// Factors of a number, the largest first: those that differ least, and of several such the largest.
fn balanced(number: usize, count: usize) -> Vec<usize> {
    let small =
        (1..).take_while(|divisor| divisor * divisor <= number).filter(|divisor| number.is_multiple_of(*divisor));
    let mut divisors: Vec<_> = small.flat_map(|divisor| [divisor, number / divisor]).collect();
    divisors.sort_unstable();
    divisors.dedup();
    let mut best = vec![1; count];
    best[0] = number;
    choose(&divisors, number, &mut vec![1; count], 0, &mut best);
    best
}

/// Tries all factors of what is left from a place on, none above the one before it, and keeps the best choice.
fn choose(divisors: &[usize], left: usize, chosen: &mut [usize], place: usize, best: &mut [usize]) {
    let (last, places) = (chosen.len() - 1, (chosen.len() - place) as u32);
    let range = |all: &[usize]| (all[0] - all[last], core::cmp::Reverse(all[last]));
    let limit = place.checked_sub(1).map_or(usize::MAX, |before| chosen[before]);
    if place == last {
        chosen[last] = left;
        if left <= limit && range(chosen) < range(best) {
            best.copy_from_slice(chosen);
        }
        return;
    }
    let fits = |first: usize| first <= limit && left.is_multiple_of(first);
    let is_enough = |first: usize| first.checked_pow(places).is_none_or(|most| most >= left);
    for first in divisors.iter().copied().filter(|first| fits(*first) && is_enough(*first)) {
        chosen[place] = first;
        choose(divisors, left / first, chosen, place + 1, best);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grids_have_neighbours() {
        let grid = Grid { lengths: vec![2, 3], rings: vec![false, true] };
        assert_eq!((grid.places(5), grid.rank(&[1, -1]), grid.rank(&[2, 0])), (vec![1, 2], Some(5), None));
        assert_eq!(
            [grid.neighbour(0, 1, -1), grid.neighbour(0, 0, -1), grid.neighbour(2, 0, 1)],
            [Some(2), None, Some(5)]
        );
    }

    #[test]
    fn lengths_are_balanced() {
        let cases: [(usize, usize, &[usize]); 9] = [
            (1, 1, &[1]),
            (5040, 3, &[21, 16, 15]),
            (7488, 3, &[26, 18, 16]),
            (12, 2, &[4, 3]),
            (48, 3, &[4, 4, 3]),
            (7, 2, &[7, 1]),
            (1, 3, &[1, 1, 1]),
            (64, 3, &[4, 4, 4]),
            (30, 3, &[5, 3, 2]),
        ];
        for (number, count, lengths) in cases {
            assert_eq!(balanced(number, count), lengths, "{number}");
        }
    }
}
