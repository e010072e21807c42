//! The transposition: every rank fetches its columns of a matrix, which become its rows of the other.
//!
//! Rank by rank, each beginning with the one after itself, so that not all of them read the rows of one at a time, and
//! in patches that L1 holds, so that both matrices are accessed in runs along their rows: SPLASH-2's blocking.

use alloc::vec;
use core::ops::Range;

use collectives::Comm;
use hal::Core;

use crate::Failure;

use super::{complex::MOVE_CYCLES, matrix::Matrix, memory::Memory};

/// Rows and columns of a patch: 4 KB, and runs of 8 lines.
const PATCH: usize = 16;

/// Writes this rank's rows of `to`, the transposed of `from`.
pub(super) fn transpose<C: Core>(
    comm: &Comm<'_, C>,
    memory: Memory,
    from: &Matrix,
    to: &Matrix,
) -> Result<(), Failure> {
    let (hal, me, ranks) = (comm.hal(), comm.rank(), comm.size());
    let own = to.shape().share(me, ranks);
    let mut patch = vec![[0.0; 2]; PATCH * PATCH];
    let mut run = vec![[0.0; 2]; PATCH];
    for owner in (me + 1..ranks).chain(0..=me) {
        for rows in patches(from.shape().share(owner, ranks)) {
            for columns in patches(own.clone()) {
                for (row, values) in rows.clone().zip(patch.chunks_exact_mut(PATCH)) {
                    memory.read(hal, from.row(row), columns.start, &mut values[..columns.len()])?;
                }
                hal.compute(2 * (rows.len() * columns.len()) as u64 * MOVE_CYCLES);
                for (index, column) in columns.enumerate() {
                    let run = &mut run[..rows.len()];
                    run.iter_mut().zip(patch.chunks_exact(PATCH)).for_each(|(value, row)| *value = row[index]);
                    memory.write(hal, to.row(column), rows.start, run)?;
                }
            }
        }
    }
    Ok(())
}

/// Parts of a range that are no longer than a patch.
fn patches(range: Range<usize>) -> impl Iterator<Item = Range<usize>> {
    range.clone().step_by(PATCH).map(move |start| start..range.end.min(start + PATCH))
}
