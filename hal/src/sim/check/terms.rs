//! How accesses are named.

/// An access: its core, and its number among the core's events.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct Id {
    pub(super) core: u16,
    pub(super) number: u64,
}

/// How a core reaches memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Mapping {
    /// Through L1 and the write-combine buffer: MPBs and combined memory.
    Lines,
    Word,
    Cached,
    /// Private memory, before it was exposed.
    Private,
}
