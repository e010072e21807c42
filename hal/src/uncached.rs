//! Uncached shared DRAM: slow, always current, atomic by the word and by nothing larger.

use crate::{
    Topology,
    address::{Region, kind},
};

/// Words of shared DRAM that bypass all caches (NCM).
///
/// What another core exposes of its private memory has to be [mapped](crate::Expose::map) before.
///
/// A word is loaded and stored atomically. Nothing read-modify-write is: two cores that update one word, or two
/// parts of one word, need a lock ([`TestAndSet`](crate::TestAndSet)).
pub trait Uncached: Topology {
    /// Loads word `index` of the region.
    ///
    /// # Panics
    /// If the region ends before.
    fn load_word(&self, region: Region<kind::Uncached>, index: usize) -> u32;

    /// Stores word `index` of the region; it is in memory when this returns.
    ///
    /// # Panics
    /// If the region ends before.
    fn store_word(&self, region: Region<kind::Uncached>, index: usize, value: u32);
}
