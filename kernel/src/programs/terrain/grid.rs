//! How a map is split into blocks, one for each rank that gets one.

use core::{fmt, ops::Range};

/// What an exchanged element costs in cells: a quarter of a line written to the neighbour's memory and read from
/// one's own, against some 30 cycles of arithmetic.
const EXCHANGE_WEIGHT: usize = 4;

/// A grid of blocks over a map. Blocks are numbered row by row; block r belongs to rank r. Ranks that are left over
/// have none.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Grid {
    width: usize,
    height: usize,
    columns: usize,
    rows: usize,
}

/// A part of a map.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Block {
    pub(super) x: Range<usize>,
    pub(super) y: Range<usize>,
}

impl Block {
    pub(super) fn width(&self) -> usize {
        self.x.len()
    }

    pub(super) fn height(&self) -> usize {
        self.y.len()
    }

    pub(super) fn cells(&self) -> usize {
        self.width() * self.height()
    }
}

/// A side of a block. Rows count from north to south.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Side {
    North,
    South,
    West,
    East,
}

impl Side {
    pub(super) const ALL: [Self; 4] = [Self::North, Self::South, Self::West, Self::East];

    pub(super) fn opposite(self) -> Self {
        match self {
            Self::North => Self::South,
            Self::South => Self::North,
            Self::West => Self::East,
            Self::East => Self::West,
        }
    }
}

impl Grid {
    /// The grid of at most `ranks` blocks on which a step takes the least: cells of the largest block, and
    /// elements that it exchanges.
    pub(super) fn new(ranks: usize, width: usize, height: usize) -> Self {
        let candidates = (1..=ranks.min(width)).map(|columns| {
            let rows = (ranks / columns).min(height);
            Self { width, height, columns, rows }
        });
        candidates.min_by_key(Self::cost).expect("a map has a column and a machine has a rank")
    }

    fn cost(&self) -> usize {
        let (width, height) = (self.width.div_ceil(self.columns), self.height.div_ceil(self.rows));
        let exchanged = usize::from(self.rows > 1) * 2 * width + usize::from(self.columns > 1) * 2 * height;
        width * height + EXCHANGE_WEIGHT * exchanged
    }

    pub(super) fn width(&self) -> usize {
        self.width
    }

    pub(super) fn height(&self) -> usize {
        self.height
    }

    /// Number of blocks.
    pub(super) fn blocks(&self) -> usize {
        self.columns * self.rows
    }

    /// The block of `rank`, if it has one.
    pub(super) fn block(&self, rank: usize) -> Option<Block> {
        let part = |len: usize, parts: usize, index: usize| len * index / parts..len * (index + 1) / parts;
        (rank < self.blocks()).then(|| Block {
            x: part(self.width, self.columns, rank % self.columns),
            y: part(self.height, self.rows, rank / self.columns),
        })
    }

    /// The rank whose block lies next to that of `rank`, which has one.
    pub(super) fn neighbour(&self, rank: usize, side: Side) -> Option<usize> {
        let (column, row) = (rank % self.columns, rank / self.columns);
        match side {
            Side::North => (row > 0).then(|| rank - self.columns),
            Side::South => (row + 1 < self.rows).then_some(rank + self.columns),
            Side::West => (column > 0).then(|| rank - 1),
            Side::East => (column + 1 < self.columns).then_some(rank + 1),
        }
    }
}

impl fmt::Display for Grid {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{} x {} blocks", self.columns, self.rows)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{vec, vec::Vec};

    #[test]
    fn blocks_cover_the_map_once_for_any_number_of_ranks() {
        for (width, height) in [(1, 1), (1, 9), (7, 1), (2, 3), (5, 5), (13, 17), (255, 3), (403, 344)] {
            for ranks in 1..=255 {
                let grid = Grid::new(ranks, width, height);
                assert!(grid.blocks() <= ranks && grid.columns <= width && grid.rows <= height);
                let blocks: Vec<_> = (0..ranks).map_while(|rank| grid.block(rank)).collect();
                assert_eq!(blocks.len(), grid.blocks());
                assert!(grid.block(grid.blocks()).is_none());
                assert!(blocks.iter().all(|block| block.cells() > 0));
                let mut seen = vec![false; width * height];
                for block in &blocks {
                    for y in block.y.clone() {
                        for x in block.x.clone() {
                            assert!(!core::mem::replace(&mut seen[y * width + x], true));
                        }
                    }
                }
                assert!(seen.into_iter().all(|seen| seen), "{width} x {height} on {ranks}");
            }
        }
    }

    #[test]
    fn neighbours_touch_and_know_each_other() {
        for ranks in 1..=255 {
            let grid = Grid::new(ranks, 31, 29);
            for rank in 0..grid.blocks() {
                let own = grid.block(rank).unwrap();
                for side in Side::ALL {
                    let outermost = match side {
                        Side::North => own.y.start == 0,
                        Side::South => own.y.end == 29,
                        Side::West => own.x.start == 0,
                        Side::East => own.x.end == 31,
                    };
                    let neighbour = grid.neighbour(rank, side);
                    assert_eq!(neighbour.is_none(), outermost);
                    if let Some(neighbour) = neighbour {
                        assert_eq!(grid.neighbour(neighbour, side.opposite()), Some(rank));
                        let other = grid.block(neighbour).unwrap();
                        match side {
                            Side::North | Side::South => assert_eq!(own.x, other.x),
                            Side::West | Side::East => assert_eq!(own.y, other.y),
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn the_main_job_gets_compact_blocks() {
        let grid = Grid::new(48, 403, 344);
        assert_eq!((grid.columns, grid.rows), (6, 8));
        assert_eq!(Grid::new(1, 403, 344).blocks(), 1);
        // A prime number of ranks: some are left out rather than exchanging long edges.
        assert!(Grid::new(47, 403, 344).rows > 1);
    }
}
