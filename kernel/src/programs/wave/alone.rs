//! The same computation by one core, in one piece of memory: what the result is compared with.

use alloc::{vec, vec::Vec};

use collectives::{Comm, Group, Window};
use hal::{Caches, Clock, Core};

use crate::Failure;

use super::{
    extent::Extent,
    field::Field,
    grid::{Grid, lens},
    physics::{self, CELL_CYCLES, GROUND, REACH, Totals},
};

/// Displacements of all cells after some steps, along x, then y, then z, and their totals.
pub(super) fn compute(clock: &impl Clock, size: Extent, steps: u32) -> (Vec<f64>, Totals) {
    let [width, height, depth] = size.0;
    let cells = || (0..depth).flat_map(move |z| (0..height).flat_map(move |y| (0..width).map(move |x| [x, y, z])));
    let mut now: Vec<f64> = cells().map(|cell| physics::first(cell, size.0)).collect();
    let mut before = now.clone();
    let mut totals = Totals::NONE;
    for _ in 0..steps {
        clock.compute(now.len() as u64 * CELL_CYCLES);
        totals = Totals::NONE;
        for (index, cell) in cells().enumerate() {
            let around = |distance: usize| {
                let mut six = [GROUND; 6];
                for ((axis, at), stride) in cell.into_iter().enumerate().zip([1, width, width * height]) {
                    if at >= distance {
                        six[2 * axis] = now[index - distance * stride];
                    }
                    if at + distance < size.0[axis] {
                        six[2 * axis + 1] = now[index + distance * stride];
                    }
                }
                six
            };
            let (next, energy) = physics::step(before[index], now[index], around(1), around(REACH));
            before[index] = next;
            totals.add(next, energy);
        }
        core::mem::swap(&mut now, &mut before);
    }
    (now, totals)
}

/// What is compared with the ranks' results.
pub(super) struct Checked {
    /// Over the bits of all displacements.
    pub(super) checksum: u32,
    /// Totals, added in the order in which one core adds them.
    pub(super) totals: Totals,
    /// The first cell that differs, in words.
    pub(super) difference: Result<(), Failure>,
}

/// Compares the field with what rank 0 computes alone, which gets block after block. Collective; something comes back
/// on rank 0.
pub(super) fn check<'c, C: Core>(
    comm: &'c Comm<'c, C>,
    caches: &mut Caches,
    grid: &Grid,
    field: Option<Field>,
    steps: u32,
) -> Result<Option<Checked>, Failure> {
    let len = grid.block(comm.rank()).map_or(0, |block| lens(&block).iter().product());
    let (window, mut view) = Window::<C, f64>::create(comm, caches, len)?;
    if let Some(field) = field {
        let mut first = 0;
        for row in field.rows() {
            view.copy_from(first, row);
            first += row.len();
        }
    }
    let to_root = if len > 0 { Group::of([0])? } else { Group::empty() };
    let exposure = window.post(view, caches, &to_root)?;
    let mut checked = None;
    if comm.rank() == 0 {
        let (expected, totals) = compute(comm.hal(), grid.size(), steps);
        let mut gathered = vec![GROUND; expected.len()];
        for rank in 0..grid.blocks() {
            gather(&window, grid, rank, &mut gathered)?;
        }
        let difference = compare(&gathered, &expected, grid.size());
        checked = Some(Checked { checksum: checksum(&gathered), totals, difference });
    }
    drop(exposure.wait(caches));
    Ok(checked)
}

/// Gets the block of `rank` and puts its cells to their places.
fn gather<C: Core>(window: &Window<'_, C, f64>, grid: &Grid, rank: usize, all: &mut [f64]) -> Result<(), Failure> {
    let Some(block) = grid.block(rank) else { return Ok(()) };
    let (lens, [width, height, _]) = (lens(&block), grid.size().0);
    let mut cells = vec![0.0; lens.iter().product()];
    let access = window.start(&Group::of([rank])?)?;
    access.get(rank, 0, &mut cells)?;
    access.complete();
    let [x, y, z] = block;
    let rows = z.flat_map(|z| y.clone().map(move |y| (z * height + y) * width + x.start));
    for (start, row) in rows.zip(cells.chunks(lens[0])) {
        all[start..start + row.len()].copy_from_slice(row);
    }
    Ok(())
}

fn compare(gathered: &[f64], expected: &[f64], size: Extent) -> Result<(), Failure> {
    let difference = (0..expected.len()).find(|&cell| gathered[cell].to_bits() != expected[cell].to_bits());
    difference.map_or(Ok(()), |cell| {
        let [width, height, _] = size.0;
        Err(Failure::new(format_args!(
            "cell {} {} {} differs from the computation by one core: {:#018x} instead of {:#018x}",
            cell % width,
            cell / width % height,
            cell / (width * height),
            gathered[cell].to_bits(),
            expected[cell].to_bits()
        )))
    })
}

fn checksum(cells: &[f64]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    cells.iter().for_each(|cell| hasher.update(&cell.to_bits().to_le_bytes()));
    hasher.finalize()
}
