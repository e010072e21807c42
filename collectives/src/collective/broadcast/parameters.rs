//! What can be said of [OC-Bcast](super::oc_bcast).

/// The parameters of OC-Bcast.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct OcBcast {
    /// Degree of the message propagation tree.
    pub k: usize,
    /// Leaves copy straight to memory.
    pub straight_leaves: bool,
    /// The cores of a tile share one copy in an MPB.
    pub shared_tiles: bool,
    /// One large buffer instead of two.
    pub single_buffer: bool,
    /// Degree of the notification trees.
    pub notification_degree: usize,
}

impl Default for OcBcast {
    /// k = 7, the best trade-off on 48 cores (section 5.2).
    fn default() -> Self {
        Self::with_degree(7)
    }
}

impl OcBcast {
    /// The paper's algorithm with a tree of degree `k`.
    pub const fn with_degree(k: usize) -> Self {
        Self { k, straight_leaves: false, shared_tiles: false, single_buffer: false, notification_degree: 2 }
    }
}
