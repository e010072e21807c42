//! How the values of a transform become a matrix, and whose its rows are.

use core::ops::Range;

/// Fewest values of a transform: two rows of one line each.
pub const MIN_LEN: usize = 4;

/// Most values: more do not fit into the shared memory of any machine here.
pub const MAX_LEN: usize = 1 << 22;

/// A signal as a matrix of `rows` times `columns` values, row by row: square, or twice as wide as high.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Shape {
    rows: usize,
    columns: usize,
}

impl Shape {
    /// The shape for `len` values, if it is a power of two between [`MIN_LEN`] and [`MAX_LEN`].
    pub fn of(len: usize) -> Option<Self> {
        if !len.is_power_of_two() || !(MIN_LEN..=MAX_LEN).contains(&len) {
            return None;
        }
        let rows = 1 << (len.ilog2() / 2);
        Some(Self { rows, columns: len / rows })
    }

    /// The smallest shape with room for `samples` values, if there is one.
    pub fn for_samples(samples: usize) -> Option<Self> {
        Self::of(samples.max(MIN_LEN).checked_next_power_of_two()?)
    }

    /// Values of the transform.
    pub fn values(self) -> usize {
        self.rows * self.columns
    }

    /// Rows of the matrix.
    pub(super) fn rows(self) -> usize {
        self.rows
    }

    /// Values of a row.
    pub(super) fn columns(self) -> usize {
        self.columns
    }

    /// The shape of the transposed matrix. It is no shape of a signal.
    pub(super) fn transposed(self) -> Self {
        Self { rows: self.columns, columns: self.rows }
    }

    /// The rows of the matrix that `rank` owns: none, where there are more ranks than rows.
    pub(super) fn share(self, rank: usize, ranks: usize) -> Range<usize> {
        self.rows * rank / ranks..self.rows * (rank + 1) / ranks
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_are_nearly_square() {
        let shape = |len| Shape::of(len).map(|shape| (shape.rows, shape.columns));
        assert_eq!([4, 8, 16, 1 << 18].map(shape), [(2, 2), (2, 4), (4, 4), (512, 512)].map(Some));
        assert_eq!([0, 1, 2, 12, 1 << 23].map(shape), [None; 5]);
        assert_eq!(
            [0, 5, 1 << 18, (1 << 18) + 1].map(|samples| Shape::for_samples(samples).unwrap().values()),
            [4, 8, 1 << 18, 1 << 19]
        );
        assert_eq!(Shape::for_samples(usize::MAX), None);
    }

    #[test]
    fn every_row_has_one_owner() {
        for len in [4, 8, 1024] {
            let shape = Shape::of(len).unwrap();
            for ranks in [1, 2, 3, 5, 47, 48, 255] {
                let rows: std::vec::Vec<_> = (0..ranks).flat_map(|rank| shape.share(rank, ranks)).collect();
                assert!(rows.into_iter().eq(0..shape.rows));
            }
        }
    }
}
