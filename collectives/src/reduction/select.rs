//! Which algorithm is the fastest.

use bytemuck::Pod;
use hal::{LINE_BYTES, Mpb, Wait};

use super::{Reduction, Scan};
use crate::Comm;

/// Who gets the result.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Spread {
    One,
    All,
    Blocks,
}

/// The algorithm that is meant.
pub(super) fn reduction<T: Pod>(
    named: Reduction,
    comm: &Comm<'_, impl Mpb + Wait>,
    len: usize,
    _spread: Spread,
) -> Reduction {
    if named != Reduction::Default {
        return named;
    }
    let lines = (len * size_of::<T>()).div_ceil(LINE_BYTES);
    if lines * 4 <= comm.size().max(4) { Reduction::Tree } else { Reduction::Blocks }
}

/// The algorithm that is meant.
pub(super) fn scan<T: Pod>(named: Scan, comm: &Comm<'_, impl Mpb + Wait>, len: usize) -> Scan {
    if named != Scan::Default {
        return named;
    }
    let lines = (len * size_of::<T>()).div_ceil(LINE_BYTES);
    if lines <= comm.size() { Scan::Doubling } else { Scan::Chain }
}
