//! A stand-in for a board with an Intel SCC, or one like it: a model of everything that a program can see, which keeps
//! time if that is wanted.
//!
//! It takes the very files that a board's own tools take ([`loader`]) and is strict ([`Violation`]): what is undefined
//! on the chip, or known to be broken there, ends the run with the core, the address and the reason. It is the judge of
//! the backend for such boards and of the tool that writes the files, and shares nothing with them but the description
//! of the board (`descriptions::boards::Geometry`) and what a P54C is (`p54c`): entries of lookup tables, for example, it
//! decodes by itself.
//!
//! What it models, and how it behaves where the documents are silent:
//!
//! * Every access goes through the core's **lookup table**. Entries that nobody wrote, lead nowhere, or go around the
//!   router (which is broken) are violations when they are used.
//! * **L1** (16 KB, 4 ways) and **L2** (256 KB, 4 ways, tree pseudo-LRU) are private to a core and know physical
//!   addresses of that core, before its lookup table. Both write back and allocate on loads only. L2 need not contain
//!   what L1 does. `wbinvd` empties L1 only.
//! * **MPBT lines** are in L1 only. CL1INVMB forgets them, modified or not. Stores to them collect in a buffer of one
//!   line, which drains, by bytes, when it is full or when a store goes to another MPBT line; loads neither drain nor
//!   see it.
//! * **Nothing is zero** that nobody made so: memory, MPBs, tables and locks begin with patterns.
//! * A line that is accessed in two ways at the same time (cached and uncached, say) is a violation where the chip
//!   would return or lose the wrong one; so is an entry of a lookup table that changes while a cache holds something of
//!   its slot.
//! * **Registers** are words, but for locks. Those that several cores read, modify and write (`GLCFG`, `L2CFG`,
//!   `GCBCFG`) notice a write over somebody else's change, and of bits whose meaning is not sure.
//! * **Time** is kept if that is wanted: instructions, caches, the mesh, memory and what meets there have the prices of the
//!   board's file, by the crate `prices`, which the simulator uses, too; nothing else is shared with it, and nothing of
//!   what is done depends on it but times and the order. Otherwise an instruction is a cycle, cores take turns, and the
//!   board's timestamp shows the clock that is furthest.

pub mod board;
pub mod chip;
pub mod consoles;
#[cfg(feature = "cpu")]
mod cpu;
#[cfg(feature = "cpu")]
pub mod debugger;
#[cfg(feature = "cpu")]
pub mod ended;
#[cfg(feature = "cpu")]
pub mod flame;
pub mod loader;
#[cfg(feature = "cpu")]
pub mod machine;
#[cfg(feature = "cpu")]
mod timed;
pub mod violation;

pub use self::{
    board::Board,
    chip::{Chip, Counts, PageKind, Pins, Settings, System},
    violation::Violation,
};
