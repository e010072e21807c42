//! Shared memory: allocated by one core or by all together, used by all.

pub mod allocator;
mod shared;
pub(crate) mod uncached;
