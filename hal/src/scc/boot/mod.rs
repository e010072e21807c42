//! From the reset to `atoll_core_main`, on every core by itself.
//!
//! 1. The start code in assembly ends in `start`, on the core's stack.
//! 2. What the image is told is read, and the board with it: it says where the core finds its own number (`TILEID`,
//!    `hal::hardware`, Tile registers; identifiers of local APICs are of no use, `hal::hardware`, Interrupts). A core
//!    that takes no part stops here.
//! 3. Memory is laid out, paging switched on with the MPB type (`hal::hardware`, MPB type), then the caches.
//! 4. Descriptors, traps, the local APIC. From here on a fault is reported.
//! 5. Shared memory gets its slots (`lookup_table`), and one is pointed at the memory of core 0, where all tell how far they are
//!    (`status`).
//! 6. If core 0 alone was started, it starts the others.
//! 7. What nobody has loaded holds anything (`hal::hardware`, Reset): each core prepares what is its own, then they
//!    wait for each other.
//!
//! The image's crate defines `atoll_core_main`:
//!
//! ```ignore
//! #[unsafe(no_mangle)]
//! fn atoll_core_main(core: usize) -> ! { … }
//! ```

mod entry;
mod other_cores;
mod own_parts;
pub mod reset;
mod sequence;

pub use super::handed::{command_line, core_count, handed, modules, option};
