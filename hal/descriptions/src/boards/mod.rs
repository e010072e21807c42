//! Boards like the Intel SCC, and PCs: what differs between them, and how an image learns on which one it runs.
//!
//! The image for boards like the SCC is one and the same. What it has to know of its board, a [`Geometry`], comes with
//! the memory that it is loaded into ([`handed`]), at an address of [`map`]. Tools take it from a board file.

pub mod announced;
#[cfg(feature = "files")]
mod files;
pub mod geometry;
pub mod handed;
pub mod lut;
pub mod map;

#[cfg(feature = "files")]
pub use self::files::{Board, Controller, KEYS, Kind, Memory, MeshBoard, PcBoard, Place};
pub use self::{
    geometry::Geometry,
    handed::{Handed, Module, Wrong},
    lut::{LutEntry, SubDestination},
};

/// Failed polls of a waiting core between two looks at the clock and at what the other cores say, which is an access to memory, at a place
/// that all look at. Between two looks the core decides by no count of polls, on which the board's emulator relies: words that the core counts
/// polls in decide something at multiples of this number only, or at the next poll.
pub const POLLS_PER_LOOK: u32 = 256;
