//! What makes a chip's cores of a PC's processors: the platform under the emulated core, its memory and its waits.

pub(crate) mod domain;
mod domain_copies;
mod exposed_memory;
pub(crate) mod mmu_window;
pub(crate) mod note;
pub(crate) mod platform;
pub(crate) mod stuck;
mod test_and_set;
mod window_pages;
