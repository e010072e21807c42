//! From the multiboot loader to `atoll_core_main` on every core.
//!
//! The first core copies the loader's information, lays memory out, and enters its own address space; then it starts
//! the others. A core's number is its place in the order of local APICs, so it is the same in every run.
//!
//! The image's crate defines `atoll_core_main`:
//!
//! ```ignore
//! #[unsafe(no_mangle)]
//! fn atoll_core_main(core: usize) -> ! { … }
//! ```

mod address_spaces;
pub(crate) mod arrivals;
mod entry;
mod membership;
mod other_cores;
mod processors;
mod sequence;
mod trampoline;

pub use super::handed::facts::{command_line, core_count, has_word, modules, option};
