//! Which algorithm is the fastest: by what each costs, counted in its calls and lines.
//!
//! The prices are those of Table 1 of the OC-Bcast paper at an average distance, in nanoseconds, with a line's worth
//! of f64 sums for the computation. They decide between algorithms and nothing else; where they are wrong by some
//! percent, so is the size from which the other algorithm is used. All ranks come to the same decision, which depends
//! on sizes and the number of ranks only.

use bytemuck::Pod;
use hal::{LINE_BYTES, Mpb, Wait};

use super::{Reduction, Scan, chain::chunk_lines, pieces::Pieces, short::tree_for};
use crate::{Comm, tagged::tagged_lines};

/// A call of put with data from memory or cache, and of get to memory or cache.
const PUT: u64 = 190;
const GET: u64 = 95;
/// Reading or writing a line of an MPB, and of memory.
const LINE: u64 = 160;
const MEMORY_READ: u64 = 240;
const MEMORY_WRITE: u64 = 490;
/// Combining the elements of a line.
const COMBINE: u64 = 40;
/// A signal, and until the polling receiver has seen it.
const SIGNAL: u64 = 350;
const SEEN: u64 = 200;
/// By how much the last rank is late at a barrier, after work of the same kind at other distances; measured on 48 cores.
const LATE: u64 = 700;

/// Who gets the result.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Spread {
    /// One rank gets all of it.
    One,
    /// All ranks get all of it.
    All,
    /// Each rank gets a block of it.
    Blocks,
}

/// The algorithm that is meant.
pub(super) fn reduction<T: Pod>(
    named: Reduction,
    comm: &Comm<'_, impl Mpb + Wait>,
    len: usize,
    spread: Spread,
) -> Reduction {
    if named != Reduction::Default {
        return named;
    }
    let (ranks, bytes) = (comm.size(), len * size_of::<T>());
    let tree = tree::<T>(ranks, len, comm.shared_staging_lines(), spread);
    let blocks = blocks(ranks, bytes.div_ceil(LINE_BYTES), spread);
    if tree.is_some_and(|tree| tree <= blocks) { Reduction::Tree } else { Reduction::Blocks }
}

/// The algorithm that is meant.
pub(super) fn scan<T: Pod>(named: Scan, comm: &Comm<'_, impl Mpb + Wait>, len: usize) -> Scan {
    if named != Scan::Default {
        return named;
    }
    let (ranks, bytes) = (comm.size(), len * size_of::<T>());
    let doubling = doubling::<T>(ranks, len, comm.shared_staging_lines());
    let chain = chain(ranks, bytes.div_ceil(LINE_BYTES));
    if doubling.is_some_and(|doubling| doubling <= chain) { Scan::Doubling } else { Scan::Chain }
}

fn rounds(ranks: usize) -> usize {
    ranks.next_power_of_two().trailing_zeros() as usize
}

/// A flag up each level of the [tree](crate::barrier) of all ranks, and one down: one level up to 64 ranks, two beyond.
fn barrier(ranks: usize) -> u64 {
    let levels = if ranks <= 64 { 1 } else { 2 };
    2 * levels * (SIGNAL + SEEN) + LATE
}

/// Up the tree, in steps of its delay, and the result to where it is wanted; none if elements are too large.
fn tree<T>(ranks: usize, len: usize, staging_lines: usize, spread: Spread) -> Option<u64> {
    let tree = tree_for(ranks, tagged_lines(len * size_of::<T>()), staging_lines);
    let pieces = Pieces::new::<T>(len, tree.most_children() + 1, staging_lines).ok()?;
    let (pieces, lines) = (pieces.iter().count() as u64, tagged_lines(len * size_of::<T>()) as u64);
    // Lines are taken while later ones are put.
    let to_parent = pieces * (PUT + SEEN) + lines * (LINE + COMBINE);
    let up = lines * MEMORY_READ + tree.steps() as u64 * to_parent / tree.delay() as u64;
    let pulled = pieces * (PUT + GET + SEEN) + lines * LINE;
    let down = match spread {
        Spread::One => lines * MEMORY_WRITE,
        Spread::Blocks => pulled + lines.div_ceil(ranks as u64) * MEMORY_WRITE,
        Spread::All => 2 * pulled + lines * MEMORY_WRITE,
    };
    Some(up + down)
}

/// Everybody's operands put, a part combined of all ranks' operands, and the parts got.
fn blocks(ranks: usize, lines: usize, spread: Spread) -> u64 {
    let (barrier, ranks, lines) = (barrier(ranks), ranks as u64, lines as u64);
    let part = lines.div_ceil(ranks);
    let combined = barrier + (ranks - 1) * (GET + part * (LINE + COMBINE));
    let spread = match spread {
        Spread::Blocks => part * MEMORY_WRITE,
        Spread::One | Spread::All => barrier + lines.min(ranks) * GET + lines * (LINE + MEMORY_WRITE),
    };
    PUT + lines * (MEMORY_READ + LINE) + combined + spread
}

/// Rounds of lines put, polled and combined.
fn doubling<T>(ranks: usize, len: usize, staging_lines: usize) -> Option<u64> {
    let pieces = Pieces::new::<T>(len, rounds(ranks).max(1), staging_lines).ok()?;
    let (pieces, lines) = (pieces.iter().count() as u64, tagged_lines(len * size_of::<T>()) as u64);
    // Own lines are put before others are taken.
    let round = pieces * (PUT + GET + SEEN + LINE) + lines * 2 * LINE;
    Some(rounds(ranks) as u64 * round + lines * (MEMORY_READ + MEMORY_WRITE))
}

/// Until the last rank has its first chunk, and until it has all of them.
fn chain(ranks: usize, lines: usize) -> u64 {
    let (chunk, lines) = (chunk_lines(lines, ranks) as u64, lines as u64);
    let first = SIGNAL + SEEN + GET + PUT + chunk * (2 * LINE + COMBINE);
    let each = first + SIGNAL + chunk * (MEMORY_READ + MEMORY_WRITE);
    (ranks as u64 - 1) * first + lines.div_ceil(chunk) * each
}
