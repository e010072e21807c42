//! A matrix in the shared memory of all controllers.

use alloc::vec::Vec;
use core::ops::Range;

use collectives::{Comm, Error, Placement, names};
use hal::{Core, Region, kind};

use crate::Failure;

use super::{complex::COMPLEX_BYTES, shape::Shape};

/// Where the rows of a matrix are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Distribution {
    /// The rows of a rank lie behind its nearest memory controller.
    Local,
    /// The rows are dealt out over all controllers by this seed, whichever rank they belong to, as in the paper's measurements: a single rank
    /// still works on the memory of all.
    Random(u64),
}

/// What [`Distribution`] is called, without its seed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum DistributionName {
    Local,
    Random,
}

names! { "placement": pub(super) DistributionName { Local => "local", Random => "random" } }

/// The next of a row of numbers that look random, by SplitMix64.
pub(super) fn next_random(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let mixed = (*state ^ (*state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    mixed ^ (mixed >> 31)
}

/// A matrix of complex numbers, of which every rank knows where it is. Rows are whole lines.
pub(super) struct Matrix {
    shape: Shape,
    rows: Vec<Region<kind::Cached>>,
    /// What the rows lie in.
    allocated: Vec<Region<kind::Cached>>,
}

impl Matrix {
    /// Allocates a matrix. Collective; if there is no room, all ranks fail alike, and nothing stays allocated.
    pub(super) fn allocate<C: Core>(
        comm: &Comm<'_, C>,
        shape: Shape,
        distribution: Distribution,
    ) -> Result<Self, Failure> {
        let pools = match distribution {
            Distribution::Local => comm.size(),
            Distribution::Random(_) => comm.hal().layout().controllers(),
        };
        let part = |pool| {
            let (rows, placement) = match distribution {
                Distribution::Local => (shape.share(pool, pools).len(), Placement::Near(comm.core_of(pool))),
                Distribution::Random(_) => (shape.rows().div_ceil(pools), Placement::Striped(pool)),
            };
            (rows * Self::row_bytes(shape), placement)
        };
        let parts: Vec<_> = (0..pools).map(part).collect();
        let allocated = comm.share_all(&parts).map_err(|error| match error {
            Error::OutOfSharedMemory { .. } | Error::PartTooLarge { .. } => {
                let bytes = shape.values() * COMPLEX_BYTES;
                let text = format_args!("there is no room for a matrix of {bytes} bytes in shared memory");
                Failure::new(text).on_all_ranks()
            }
            other => other.into(),
        })?;
        Ok(Self { shape, rows: Self::rows_in(&allocated, shape, distribution), allocated })
    }

    /// Where the rows are in what was allocated for them.
    fn rows_in(pools: &[Region<kind::Cached>], shape: Shape, distribution: Distribution) -> Vec<Region<kind::Cached>> {
        let row_bytes = Self::row_bytes(shape);
        let row = |pool: usize, row: usize| pools[pool].lines_around(row * row_bytes, (row + 1) * row_bytes);
        match distribution {
            Distribution::Local => {
                let of = |owner: usize| (0..shape.share(owner, pools.len()).len()).map(move |row| (owner, row));
                (0..pools.len()).flat_map(of).map(|(owner, of_owner)| row(owner, of_owner)).collect()
            }
            Distribution::Random(seed) => {
                let places = dealt(shape.rows(), seed).into_iter();
                places.map(|place| row(place % pools.len(), place / pools.len())).collect()
            }
        }
    }

    fn row_bytes(shape: Shape) -> usize {
        shape.columns() * COMPLEX_BYTES
    }

    /// Frees it, on rank 0. No cache may hold lines of the matrix.
    pub(super) fn free<C: Core>(self, comm: &Comm<'_, C>) -> Result<(), Failure> {
        let own = if comm.rank() == 0 { self.allocated } else { Vec::new() };
        own.into_iter().try_for_each(|region| Ok(comm.allocator().free(region)?))
    }

    pub(super) fn shape(&self) -> Shape {
        self.shape
    }

    /// Row `row`.
    pub(super) fn row(&self, row: usize) -> Region<kind::Cached> {
        self.rows[row]
    }

    /// All of some rows, in as few regions as possible.
    pub(super) fn regions(&self, rows: Range<usize>) -> Vec<Region<kind::Cached>> {
        let mut regions: Vec<Region<kind::Cached>> = Vec::new();
        for row in rows.map(|row| self.row(row)) {
            match regions.last().and_then(|last| last.joined(&row)) {
                Some(joined) => *regions.last_mut().expect("there is a last one") = joined,
                None => regions.push(row),
            }
        }
        regions
    }

    /// The lines with some columns, in all rows but `without`.
    pub(super) fn columns(&self, columns: Range<usize>, without: Range<usize>) -> Vec<Region<kind::Cached>> {
        let others = (0..self.shape.rows()).filter(|row| !without.contains(row) && !columns.is_empty());
        let (from, to) = (columns.start * COMPLEX_BYTES, columns.end * COMPLEX_BYTES);
        others.map(|row| self.row(row).lines_around(from, to)).collect()
    }
}

/// The numbers below `count` in an order that depends on the seed.
fn dealt(count: usize, seed: u64) -> Vec<usize> {
    let (mut places, mut state): (Vec<_>, _) = ((0..count).collect(), seed);
    for last in (1..count).rev() {
        places.swap(last, (next_random(&mut state) % (last as u64 + 1)) as usize);
    }
    places
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_places_are_dealt_out_once() {
        for seed in 0..5 {
            let mut places = dealt(37, seed);
            assert_ne!(places, dealt(37, seed + 1));
            places.sort_unstable();
            assert!(places.into_iter().eq(0..37));
        }
    }
}
