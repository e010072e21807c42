//! What a view does with memory, and what that leaves to be done.

/// What a view is about to do with memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ViewAccess {
    /// Load.
    Load,
    /// Store.
    Store,
    /// Give out a slice, which may look at the memory until the next coherence point.
    Slice,
    /// Give out a mutable slice.
    SliceMut,
}

impl ViewAccess {
    /// Whether the access may change memory.
    pub fn writes(self) -> bool {
        matches!(self, Self::Store | Self::SliceMut)
    }

    /// Whether the access lasts until the core's next coherence point.
    pub fn lasts(self) -> bool {
        matches!(self, Self::Slice | Self::SliceMut)
    }
}

/// What has to be done after an access.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Touch {
    /// The access was a store, and the cache did not hold all of what was stored to.
    pub is_absent: bool,
    /// The core is within an operation until the access has [ended](super::ViewWindow::end_access).
    pub is_held: bool,
}
