//! What cores without coherence do by themselves: single lines, and the purge of whole caches.

#[cfg(target_os = "none")]
pub(crate) mod cache_operations;
pub(crate) mod lines;
pub(crate) mod purge;
