//! What the loader has handed over, and what the start has made of it.

pub(crate) mod facts;
pub(crate) mod multiboot;
