//! The same computation by one core, in one piece of memory: what the result is compared with.

use alloc::{vec, vec::Vec};

use hal::Clock;

use crate::Failure;

use super::{
    field::{CELL_CYCLES, diffused, height_of},
    grid::Grid,
    pgm::Header,
};

/// Computes the heights of a map, of which this is the file, after some steps.
///
/// In place, so that memory for one copy suffices: what a row needs of the rows before is kept aside.
pub(super) fn heights(clock: &impl Clock, file: &[u8], steps: u32) -> Result<Vec<f64>, Failure> {
    let header = Header::parse(file)?;
    let (width, height) = (header.width, header.height);
    let mut heights: Vec<f64> = Vec::with_capacity(width * height);
    (0..height).for_each(|y| heights.extend(header.row(file, y).map(height_of)));
    // The rows above and here as they were before the step, with one more cell at each end.
    let (mut above, mut here) = (vec![0.0; width + 2], vec![0.0; width + 2]);
    for _ in 0..steps {
        clock.compute(heights.len() as u64 * CELL_CYCLES);
        widen(&heights[..width], &mut above);
        for y in 0..height {
            let (row, below) = heights[y * width..].split_at_mut(width);
            widen(row, &mut here);
            let south = below.get(..width).unwrap_or(&here[1..=width]);
            let (west, east) = (&here[..width], &here[2..][..width]);
            let (now, north) = (&here[1..][..width], &above[1..][..width]);
            for x in 0..width {
                row[x] = diffused(now[x], north[x], south[x], west[x], east[x]);
            }
            core::mem::swap(&mut above, &mut here);
        }
    }
    Ok(heights)
}

/// Copies a row, with its ends repeated: at the end of the map nothing flows.
fn widen(row: &[f64], wide: &mut [f64]) {
    let width = row.len();
    wide[1..=width].copy_from_slice(row);
    wide[0] = row[0];
    wide[width + 1] = row[width - 1];
}

/// Compares what the ranks computed with what one core computed alone.
pub(super) fn compare(gathered: &[f64], expected: &[f64], grid: &Grid) -> Result<(), Failure> {
    let difference = (0..expected.len()).find(|&cell| gathered[cell].to_bits() != expected[cell].to_bits());
    difference.map_or(Ok(()), |cell| {
        Err(Failure::new(format_args!(
            "column {}, row {} differs from the computation by one core: {:#018x} instead of {:#018x}",
            cell % grid.width(),
            cell / grid.width(),
            gathered[cell].to_bits(),
            expected[cell].to_bits()
        )))
    })
}
