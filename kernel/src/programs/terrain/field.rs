//! A block of heights, with a ring of neighbouring cells around it.

use alloc::{vec, vec::Vec};
use core::ops::Range;

use hal::{Clock, p54c};

use super::{
    GROUND,
    broadcast::Map,
    grid::{Block, Side},
};

/// How much of the differences to its neighbours a cell takes over in a step. Below 0.25, so that peaks do not
/// overshoot.
const RATE: f64 = 0.2;

/// Cycles for a cell: five loads, seven operations, a store, and the loop around them.
pub(super) const CELL_CYCLES: u64 =
    5 * p54c::FLOAD + 5 * p54c::FADD + 2 * p54c::FMUL + p54c::FSTORE + 4 * p54c::INTEGER;

/// The height of a cell after a step. The one expression that decides the result; its order is part of it.
#[inline]
pub(super) fn diffused(here: f64, north: f64, south: f64, west: f64, east: f64) -> f64 {
    here + RATE * (north + south + west + east - 4.0 * here)
}

/// The height that a sample stands for.
#[inline]
pub(super) fn height_of(sample: u16) -> f64 {
    f64::from(sample) + GROUND
}

/// The heights of a block now, and room for those after the next step.
pub(super) struct Field {
    width: usize,
    height: usize,
    /// Both with a ring of one cell around the block.
    now: Vec<f64>,
    next: Vec<f64>,
}

impl Field {
    /// The heights of `block` on a map. [`add_buffer`](Self::add_buffer) has to follow: the map takes the room until
    /// then.
    pub(super) fn new(map: &Map, block: Block) -> Self {
        let (width, height) = (block.width(), block.height());
        let mut field = Self { width, height, now: vec![GROUND; (width + 2) * (height + 2)], next: Vec::new() };
        for (row, y) in block.y.enumerate() {
            let start = field.at(row, 0);
            let samples = map.row(y).skip(block.x.start);
            for (cell, sample) in field.now[start..start + width].iter_mut().zip(samples) {
                *cell = height_of(sample);
            }
        }
        field
    }

    /// Makes room for the heights after a step.
    pub(super) fn add_buffer(&mut self) {
        self.next = self.now.clone();
    }

    pub(super) fn width(&self) -> usize {
        self.width
    }

    pub(super) fn height(&self) -> usize {
        self.height
    }

    /// Index of a cell.
    fn at(&self, row: usize, column: usize) -> usize {
        (row + 1) * (self.width + 2) + column + 1
    }

    /// The heights in a row.
    pub(super) fn row(&self, row: usize) -> &[f64] {
        let start = self.at(row, 0);
        &self.now[start..start + self.width]
    }

    /// Where the cells along a side are: the first, the way from one to the next, and their number. Those of the ring
    /// outside, or the outermost of the block.
    fn along(&self, side: Side, outside: bool) -> (usize, usize, usize) {
        let stride = self.width + 2;
        let inside = match side {
            Side::North => (self.at(0, 0), 1, self.width),
            Side::South => (self.at(self.height - 1, 0), 1, self.width),
            Side::West => (self.at(0, 0), stride, self.height),
            Side::East => (self.at(0, self.width - 1), stride, self.height),
        };
        let (first, step, count) = inside;
        match (outside, side) {
            (false, _) => inside,
            (true, Side::North) => (first - stride, step, count),
            (true, Side::South) => (first + stride, step, count),
            (true, Side::West) => (first - 1, step, count),
            (true, Side::East) => (first + 1, step, count),
        }
    }

    /// Cells along a side.
    pub(super) fn len_of(&self, side: Side) -> usize {
        self.along(side, false).2
    }

    /// The outermost cells of the block along a side.
    pub(super) fn edge(&self, side: Side) -> impl Iterator<Item = f64> + '_ {
        let (first, step, count) = self.along(side, false);
        (0..count).map(move |index| self.now[first + index * step])
    }

    /// Sets the cells outside of a side, to what the neighbour has there.
    pub(super) fn set_outside(&mut self, side: Side, cells: &[f64]) {
        let (first, step, _) = self.along(side, true);
        cells.iter().enumerate().for_each(|(index, cell)| self.now[first + index * step] = *cell);
    }

    /// Sets the cells outside of a side to those inside of it: at the end of the map nothing flows.
    pub(super) fn mirror(&mut self, side: Side) {
        let ((inside, step, count), (outside, ..)) = (self.along(side, false), self.along(side, true));
        (0..count).for_each(|index| self.now[outside + index * step] = self.now[inside + index * step]);
    }

    /// Computes the cells that depend on nothing outside of the block.
    pub(super) fn compute_interior(&mut self, clock: &impl Clock) {
        self.compute(1..self.height.saturating_sub(1), 1..self.width.saturating_sub(1), clock);
    }

    /// Computes the outermost cells of the block.
    pub(super) fn compute_rim(&mut self, clock: &impl Clock) {
        let (width, height) = (self.width, self.height);
        self.compute(0..1, 0..width, clock);
        if height > 1 {
            self.compute(height - 1..height, 0..width, clock);
        }
        let between = 1..height.saturating_sub(1);
        self.compute(between.clone(), 0..1, clock);
        if width > 1 {
            self.compute(between, width - 1..width, clock);
        }
    }

    fn compute(&mut self, rows: Range<usize>, columns: Range<usize>, clock: &impl Clock) {
        let (stride, count) = (self.width + 2, columns.len());
        clock.compute((rows.len() * count) as u64 * CELL_CYCLES);
        for row in rows {
            let here = self.at(row, columns.start);
            // Slices of equal length spare a check for each cell.
            let next = &mut self.next[here..here + count];
            let north = &self.now[here - stride..][..count];
            let south = &self.now[here + stride..][..count];
            let (west, east) = (&self.now[here - 1..][..count], &self.now[here + 1..][..count]);
            let now = &self.now[here..][..count];
            for index in 0..count {
                next[index] = diffused(now[index], north[index], south[index], west[index], east[index]);
            }
        }
    }

    /// Ends a step: what was computed is now.
    pub(super) fn advance(&mut self) {
        core::mem::swap(&mut self.now, &mut self.next);
    }
}
