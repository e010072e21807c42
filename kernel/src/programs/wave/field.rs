//! A block of displacements, with the neighbouring cells around it.

use alloc::vec::Vec;
use core::ops::Range;

use hal::Clock;

use crate::Failure;

use super::{
    grid::{Block, Grid, Side, lens},
    physics::{self, CELL_CYCLES, COPY_CYCLES, GROUND, REACH, Totals},
};

/// The displacements of a block now and a step before.
pub(super) struct Field {
    lens: [usize; 3],
    /// The cells that depend on no neighbour's.
    interior: Block,
    /// Both with as many cells around the block as a cell can see. Those that no neighbour has stay ground.
    now: Vec<f64>,
    before: Vec<f64>,
    /// Of the cells that the step has computed by now.
    totals: Totals,
}

impl Field {
    /// The first displacements of the block of `rank`, if it has one.
    pub(super) fn new(grid: &Grid, rank: usize) -> Result<Option<Self>, Failure> {
        let Some(block) = grid.block(rank) else { return Ok(None) };
        let lens = lens(&block);
        let inner = |axis: usize| {
            let margin = |up| if grid.neighbour(rank, Side { axis, up }).is_some() { REACH } else { 0 };
            margin(false)..(lens[axis] - margin(true)).max(margin(false))
        };
        let interior = [inner(0), inner(1), inner(2)];
        let len = lens.iter().map(|len| len + 2 * REACH).product();
        let (now, before) = (ground(len)?, Vec::new());
        let mut field = Self { lens, interior, now, before, totals: Totals::NONE };
        for (z, y) in block[2].clone().flat_map(|z| block[1].clone().map(move |y| (z, y))) {
            let start = field.at(0, y - block[1].start, z - block[2].start);
            for (x, cell) in block[0].clone().zip(&mut field.now[start..]) {
                *cell = physics::first([x, y, z], grid.size().0);
            }
        }
        field.before = ground(len)?;
        field.before.copy_from_slice(&field.now);
        Ok(Some(field))
    }

    /// Index of a cell.
    fn at(&self, x: usize, y: usize, z: usize) -> usize {
        let [row, layer] = self.strides();
        (z + REACH) * layer + (y + REACH) * row + x + REACH
    }

    /// Cells from one to the next along y, and along z.
    fn strides(&self) -> [usize; 2] {
        let row = self.lens[0] + 2 * REACH;
        [row, row * (self.lens[1] + 2 * REACH)]
    }

    /// All displacements, row by row.
    pub(super) fn rows(&self) -> impl Iterator<Item = &[f64]> {
        let [width, height, depth] = self.lens;
        let rows = (0..depth).flat_map(move |z| (0..height).map(move |y| self.at(0, y, z)));
        rows.map(move |start| &self.now[start..start + width])
    }

    /// Where the cells along a side are, row by row: those outside, or the outermost of the block. Both sides of a
    /// border have them in the same order.
    fn face(&self, side: Side, outside: bool) -> impl Iterator<Item = Range<usize>> + use<> {
        let len = self.lens[side.axis];
        // Counted from the outermost cells that lie around the block.
        let first = match (side.up, outside) {
            (false, true) => 0,
            (false, false) => REACH,
            (true, false) => len,
            (true, true) => REACH + len,
        };
        let mut ranges = self.lens.map(|len| REACH..REACH + len);
        ranges[side.axis] = first..first + REACH;
        let ([x, y, z], [row, layer]) = (ranges, self.strides());
        let rows = z.flat_map(move |z| y.clone().map(move |y| z * layer + y * row));
        rows.map(move |start| start + x.start..start + x.end)
    }

    /// Copies the outermost cells of the block along a side.
    pub(super) fn pack(&self, side: Side, into: &mut Vec<f64>, clock: &impl Clock) {
        into.clear();
        self.face(side, false).for_each(|row| into.extend_from_slice(&self.now[row]));
        clock.compute(into.len() as u64 * COPY_CYCLES);
    }

    /// Sets the cells outside of a side, to what the neighbour has there.
    pub(super) fn unpack(&mut self, side: Side, cells: &[f64], clock: &impl Clock) {
        let mut cells_left = cells;
        for row in self.face(side, true) {
            let (these, others) = cells_left.split_at(row.len());
            self.now[row].copy_from_slice(these);
            cells_left = others;
        }
        clock.compute(cells.len() as u64 * COPY_CYCLES);
    }

    /// Computes the cells that depend on no neighbour's.
    pub(super) fn compute_interior(&mut self, clock: &impl Clock) {
        self.compute(self.interior.clone(), clock);
    }

    /// Computes the others, and ends the step. Returns the totals of all cells, which are summed in this order, always.
    pub(super) fn compute_rim(&mut self, clock: &impl Clock) -> Totals {
        let [width, height, depth] = self.lens;
        let [x, y, z] = self.interior.clone();
        for layers in [0..z.start, z.end..depth] {
            self.compute([0..width, 0..height, layers], clock);
        }
        for rows in [0..y.start, y.end..height] {
            self.compute([0..width, rows, z.clone()], clock);
        }
        for columns in [0..x.start, x.end..width] {
            self.compute([columns, y.clone(), z.clone()], clock);
        }
        core::mem::swap(&mut self.now, &mut self.before);
        core::mem::replace(&mut self.totals, Totals::NONE)
    }

    /// Computes the cells of a box. What comes takes the place of what was, which no other cell looks at.
    fn compute(&mut self, [x, y, z]: Block, clock: &impl Clock) {
        let ([row, layer], count) = (self.strides(), x.len());
        clock.compute((count * y.len() * z.len()) as u64 * CELL_CYCLES);
        let mut totals = self.totals;
        for (z, y) in z.flat_map(|z| y.clone().map(move |y| (z, y))) {
            let here = self.at(x.start, y, z);
            // Slices of equal length spare a check for each cell.
            let line = |start: usize| &self.now[start..][..count];
            let pairs = |step: usize| [line(here - step), line(here + step)];
            let ([near_x, near_y, near_z], [far_x, far_y, far_z]) =
                ([1, row, layer].map(pairs), [1, row, layer].map(|step| pairs(REACH * step)));
            let (now, changed) = (line(here), &mut self.before[here..][..count]);
            for cell in 0..count {
                let six = |x: [&[f64]; 2], y: [&[f64]; 2], z: [&[f64]; 2]| {
                    [x[0][cell], x[1][cell], y[0][cell], y[1][cell], z[0][cell], z[1][cell]]
                };
                let (near, far) = (six(near_x, near_y, near_z), six(far_x, far_y, far_z));
                let (next, energy) = physics::step(changed[cell], now[cell], near, far);
                changed[cell] = next;
                totals.add(next, energy);
            }
        }
        self.totals = totals;
    }
}

/// Cells that are all ground.
fn ground(len: usize) -> Result<Vec<f64>, Failure> {
    let mut cells = Vec::new();
    let full = |_| Failure::new(format_args!("{len} cells twice do not fit into the heap of this core"));
    cells.try_reserve_exact(len).map_err(full)?;
    cells.resize(len, GROUND);
    Ok(cells)
}
