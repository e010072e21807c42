//! How many cells there are each way.

use core::{fmt, str::FromStr};

/// Most cells that a grid can have: more would not fit into anything.
const MOST_CELLS: usize = 1 << 28;

/// Cells along x, y and z.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Extent(pub(super) [usize; 3]);

impl Extent {
    /// A box of at least one cell, unless it is too large.
    pub(super) fn new(len: [usize; 3]) -> Option<Self> {
        let cells = len.iter().try_fold(1usize, |cells, len| cells.checked_mul(*len))?;
        (1..=MOST_CELLS).contains(&cells).then_some(Self(len))
    }

    /// All cells.
    pub(super) fn cells(&self) -> usize {
        self.0.iter().product()
    }
}

impl fmt::Display for Extent {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [x, y, z] = self.0;
        write!(out, "{x}x{y}x{z}")
    }
}

/// A text that is no extent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct NoExtent;

impl fmt::Display for NoExtent {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "a size is NXxNYxNZ, with at least 1 cell and at most {MOST_CELLS}")
    }
}

impl FromStr for Extent {
    type Err = NoExtent;

    fn from_str(text: &str) -> Result<Self, NoExtent> {
        let mut parts = text.split('x').map(str::parse);
        let mut next = || parts.next().and_then(Result::ok).ok_or(NoExtent);
        let len = [next()?, next()?, next()?];
        if parts.next().is_some() { Err(NoExtent) } else { Self::new(len).ok_or(NoExtent) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::ToString;

    #[test]
    fn extents_are_three_numbers() {
        let extent: Extent = "12x1x9".parse().unwrap();
        assert_eq!((extent, extent.cells(), extent.to_string().as_str()), (Extent([12, 1, 9]), 108, "12x1x9"));
        for text in ["", "3", "3x4", "3x4x5x6", "3x4x", "0x4x5", "-1x2x3", "65536x65536x1", "axbxc"] {
            assert_eq!(text.parse::<Extent>(), Err(NoExtent), "{text}");
        }
    }
}
