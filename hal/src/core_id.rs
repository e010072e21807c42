//! The numbers of cores.

use core::fmt;

/// The number of a core, counted from 0 as the SCC counts them: `(x + columns * y) * cores_per_tile + z`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct CoreId(u16);

impl CoreId {
    /// The core with this number.
    ///
    /// # Panics
    /// If `index` does not fit 16 bits; no machine here has that many cores.
    pub const fn new(index: usize) -> Self {
        assert!(index <= u16::MAX as usize, "core number does not fit 16 bits");
        Self(index as u16)
    }

    /// The number as an index.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

impl fmt::Display for CoreId {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "core {}", self.0)
    }
}
