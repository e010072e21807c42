//! What is where ([`map`], and [`areas`] of private memory), how it is mapped ([`paging`]), and by which slots of the
//! lookup table it is reached.

#[cfg(target_os = "none")]
pub mod areas;
pub(crate) mod exposed;
pub(crate) mod free_slots;
#[cfg(target_os = "none")]
pub(crate) mod image;
#[cfg(target_os = "none")]
pub(crate) mod lookup_table;
pub mod map;
#[cfg(target_os = "none")]
pub mod paging;

#[cfg(target_os = "none")]
pub use self::areas::{heap, program_heap_bytes};
