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

/// Factors of a number, none above a limit, the largest first and as small as it can be.
fn balanced(number: usize, count: usize, limit: usize) -> Vec<usize> {
    if count == 1 {
        return if number <= limit { vec![number] } else { Vec::new() };
    }
    let fits = |first: usize| first.checked_pow(count as u32).is_none_or(|most| most >= number);
    for first in (1..=number.min(limit)).filter(|first| number.is_multiple_of(*first) && fits(*first)) {
        let mut all = vec![first];
        let rest = balanced(number / first, count - 1, first);
        if !rest.is_empty() {
            all.extend(rest);
            return all;
        }
    }
    Vec::new()
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
        let cases: [(usize, usize, &[usize]); 6] = [
            (12, 2, &[4, 3]),
            (48, 3, &[4, 4, 3]),
            (7, 2, &[7, 1]),
            (1, 3, &[1, 1, 1]),
            (64, 3, &[4, 4, 4]),
            (30, 3, &[5, 3, 2]),
        ];
        for (number, count, lengths) in cases {
            assert_eq!(balanced(number, count, usize::MAX), lengths, "{number}");
        }
    }
}
