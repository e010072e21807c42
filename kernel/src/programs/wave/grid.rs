//! How the cells are split into blocks, one for each rank that gets one.

use core::{fmt, ops::Range};

use super::{
    extent::Extent,
    physics::{CELL_CYCLES, REACH},
};

/// What an exchanged element costs in cycles: a quarter of a line, read and written on its way there and on the
/// neighbour's way here.
const ELEMENT_CYCLES: usize = 200;

/// What a neighbour costs besides, in cycles: a microsecond or two for its post and its completion.
const NEIGHBOUR_CYCLES: usize = 1000;

/// A grid of blocks. They are numbered along x, then y, then z; block r belongs to rank r. Ranks that are left over
/// have none.
///
/// A block is at least as thick as a cell can see in every direction that it has a neighbour in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Grid {
    size: Extent,
    blocks: [usize; 3],
}

/// A part of the cells.
pub(super) type Block = [Range<usize>; 3];

/// Cells of a block each way.
pub(super) fn lens(block: &Block) -> [usize; 3] {
    [block[0].len(), block[1].len(), block[2].len()]
}

/// A side of a block.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Side {
    /// Along x, y or z.
    pub(super) axis: usize,
    /// Where the coordinate is highest.
    pub(super) up: bool,
}

impl Side {
    pub(super) const COUNT: usize = 6;

    /// In the order in which they are numbered.
    pub(super) fn all() -> impl Iterator<Item = Self> {
        (0..Self::COUNT).map(|number| Self { axis: number / 2, up: number % 2 == 1 })
    }

    pub(super) fn number(self) -> usize {
        self.axis * 2 + usize::from(self.up)
    }

    pub(super) fn opposite(self) -> Self {
        Self { up: !self.up, ..self }
    }
}

impl Grid {
    /// The grid of at most `ranks` blocks on which a step takes the least.
    pub(super) fn new(ranks: usize, size: Extent) -> Self {
        let [most_x, most_y, most_z] = size.0.map(|len| (len / REACH).max(1));
        let candidates = (1..=ranks.min(most_x)).flat_map(|x| {
            (1..=(ranks / x).min(most_y)).map(move |y| Self { size, blocks: [x, y, (ranks / x / y).min(most_z)] })
        });
        candidates.min_by_key(Self::cost).expect("there is a cell and a rank")
    }

    /// The grid of exactly `ranks` blocks of one size that is closest to a cube, unless there are too many cells, or
    /// blocks are too thin.
    ///
    /// A row of blocks would often take less, but it would not show what becomes of larger cubes.
    pub(super) fn of_equal(ranks: usize, block: Extent) -> Option<Self> {
        if ranks > 1 && block.0.iter().any(|len| *len < REACH) {
            return None;
        }
        let divisors = |of: usize| (1..=of).filter(move |divisor| of.is_multiple_of(*divisor));
        let shapes = divisors(ranks).flat_map(|x| divisors(ranks / x).map(move |y| [x, y, ranks / x / y]));
        let grid = |blocks: [usize; 3]| {
            let mut len = block.0;
            for (len, count) in len.iter_mut().zip(blocks) {
                *len = len.checked_mul(count)?;
            }
            Some(Self { size: Extent::new(len)?, blocks })
        };
        shapes.filter_map(grid).min_by_key(|grid| grid.size.0.iter().sum::<usize>())
    }

    /// What a step costs the rank with the most cells, about, in cycles.
    fn cost(&self) -> usize {
        let mut lens = self.size.0;
        lens.iter_mut().zip(self.blocks).for_each(|(len, blocks)| *len = len.div_ceil(blocks));
        let cells: usize = lens.iter().product();
        let sides = |axis: usize| (self.blocks[axis] - 1).min(2);
        let exchange = |axis: usize| sides(axis) * (NEIGHBOUR_CYCLES + cells / lens[axis] * REACH * ELEMENT_CYCLES);
        cells * CELL_CYCLES as usize + (0..3).map(exchange).sum::<usize>()
    }

    /// All cells, each way.
    pub(super) fn size(&self) -> Extent {
        self.size
    }

    /// Number of blocks.
    pub(super) fn blocks(&self) -> usize {
        self.blocks.iter().product()
    }

    /// Where among the blocks that of `rank` is.
    pub(super) fn place(&self, rank: usize) -> [usize; 3] {
        let [x, y, _] = self.blocks;
        [rank % x, rank / x % y, rank / (x * y)]
    }

    /// The block of `rank`, if it has one.
    pub(super) fn block(&self, rank: usize) -> Option<Block> {
        let place = self.place(rank);
        let part = |axis: usize| {
            let (len, blocks, index) = (self.size.0[axis], self.blocks[axis], place[axis]);
            len * index / blocks..len * (index + 1) / blocks
        };
        (rank < self.blocks()).then(|| [part(0), part(1), part(2)])
    }

    /// The rank whose block lies next to that of `rank`, if both have one.
    pub(super) fn neighbour(&self, rank: usize, side: Side) -> Option<usize> {
        let at = self.place(rank)[side.axis];
        let stride: usize = self.blocks[..side.axis].iter().product();
        let is_there = if side.up { at + 1 < self.blocks[side.axis] } else { at > 0 };
        (rank < self.blocks() && is_there).then(|| if side.up { rank + stride } else { rank - stride })
    }

    /// Elements that a rank with a block has on its way to a neighbour in each step.
    pub(super) fn face_len(&self, rank: usize, side: Side) -> usize {
        let Some(block) = self.block(rank) else { return 0 };
        lens(&block).iter().enumerate().map(|(axis, len)| if axis == side.axis { REACH } else { *len }).product()
    }
}

impl fmt::Display for Grid {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [x, y, z] = self.blocks;
        write!(out, "{x}x{y}x{z} blocks")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{vec, vec::Vec};

    const SIZES: [[usize; 3]; 8] =
        [[1, 1, 1], [1, 9, 2], [7, 1, 1], [2, 3, 4], [5, 5, 5], [13, 17, 3], [3, 3, 99], [24, 24, 24]];

    #[test]
    fn blocks_cover_the_cells_once_for_any_number_of_ranks() {
        for size in SIZES {
            for ranks in (1..=64).chain([97, 255]) {
                let grid = Grid::new(ranks, Extent(size));
                let blocks: Vec<_> = (0..ranks).map_while(|rank| grid.block(rank)).collect();
                assert_eq!(blocks.len(), grid.blocks());
                assert!(grid.block(grid.blocks()).is_none());
                let mut seen = vec![0; grid.size().cells()];
                for [x, y, z] in blocks {
                    for (z, y) in z.flat_map(|z| y.clone().map(move |y| (z, y))) {
                        x.clone().for_each(|x| seen[(z * size[1] + y) * size[0] + x] += 1);
                    }
                }
                assert!(seen.into_iter().all(|times| times == 1), "{size:?} on {ranks}");
            }
        }
    }

    #[test]
    fn neighbours_touch_know_each_other_and_see_no_farther_than_one_block() {
        for (size, ranks) in SIZES.into_iter().flat_map(|size| (1..=64).map(move |ranks| (size, ranks))) {
            let grid = Grid::new(ranks, Extent(size));
            for (rank, side) in (0..ranks).flat_map(|rank| Side::all().map(move |side| (rank, side))) {
                let Some(other) = grid.neighbour(rank, side) else { continue };
                assert_eq!(grid.neighbour(other, side.opposite()), Some(rank));
                assert_eq!(grid.face_len(rank, side), grid.face_len(other, side.opposite()));
                let (own, other) = (grid.block(rank).unwrap(), grid.block(other).unwrap());
                assert!(own[side.axis].len() >= REACH);
                for axis in 0..3 {
                    match (axis == side.axis, side.up) {
                        (true, true) => assert_eq!(own[axis].end, other[axis].start),
                        (true, false) => assert_eq!(own[axis].start, other[axis].end),
                        (false, _) => assert_eq!(own[axis], other[axis]),
                    }
                }
            }
        }
    }

    #[test]
    fn sides_without_neighbours_are_those_of_the_grid() {
        let grid = Grid { size: Extent([12, 12, 12]), blocks: [3, 3, 3] };
        for rank in 0..27 {
            let outer = Side::all().filter(|side| grid.neighbour(rank, *side).is_none()).count();
            let expected: usize = grid.place(rank).iter().map(|at| usize::from(*at != 1)).sum();
            assert_eq!(outer, expected);
        }
    }

    #[test]
    fn blocks_are_compact_and_no_smaller_than_is_worth_it() {
        let blocks = |ranks, size| Grid::new(ranks, Extent(size)).blocks;
        assert_eq!(blocks(27, [48, 48, 48]), [3, 3, 3]);
        assert_eq!(blocks(8, [20, 20, 20]), [2, 2, 2]);
        // A few cells are computed sooner than they are exchanged.
        assert_eq!(blocks(4, [4, 1, 1]), [1, 1, 1]);
        // A prime number of ranks: some are left out rather than exchanging large faces.
        assert_eq!(blocks(47, [48, 48, 48]).iter().product::<usize>(), 45);
        for ranks in [2, 4, 8, 16, 32, 48] {
            assert_eq!(Grid::new(ranks, Extent([48, 48, 48])).blocks(), ranks);
        }
    }

    #[test]
    fn equal_blocks_are_as_many_as_ranks() {
        for ranks in [1, 2, 4, 7, 8, 16, 32, 47, 48] {
            let grid = Grid::of_equal(ranks, Extent([4, 5, 6])).unwrap();
            assert_eq!(grid.blocks(), ranks);
            assert!((0..ranks).all(|rank| lens(&grid.block(rank).unwrap()) == [4, 5, 6]));
        }
        let sizes = [8, 48, 7].map(|ranks| Grid::of_equal(ranks, Extent([4; 3])).unwrap().size.0);
        assert_eq!(sizes, [[8, 8, 8], [12, 16, 16], [4, 4, 28]]);
        assert!(Grid::of_equal(2, Extent([1, 9, 9])).is_none());
        assert!(Grid::of_equal(1, Extent([1, 9, 9])).is_some());
        assert!(Grid::of_equal(255, Extent([1024, 1024, 256])).is_none());
    }

    #[test]
    fn sides_have_numbers() {
        assert!(Side::all().enumerate().all(|(number, side)| side.number() == number));
        assert!(Side::all().all(|side| side.opposite().opposite() == side && side.opposite() != side));
    }
}
