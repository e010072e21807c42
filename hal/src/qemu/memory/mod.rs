//! What is where in memory: the [`addresses`] of all parts, and the [`areas`] of this core and of the machine.

pub mod addresses;
pub mod areas;
pub(crate) mod demand;
pub(crate) mod directories;
pub(crate) mod image;

pub use self::areas::{heap, program_heap_bytes};
