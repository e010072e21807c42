//! Boards like the Intel SCC: what differs between them, and how an image learns on which one it runs.
//!
//! The image for such boards is one and the same. What it has to know of its board, a [`Geometry`], comes with the
//! memory that it is loaded into ([`handed`]), at an address of [`map`]. Tools take it from a board file.

#![cfg_attr(not(feature = "files"), no_std)]

#[cfg(all(test, not(feature = "files")))]
extern crate std;

#[cfg(feature = "files")]
mod files;
pub mod geometry;
pub mod handed;
pub mod lut;
pub mod map;

#[cfg(feature = "files")]
pub use self::files::{Board, Controller, EXTENSION, Error, KEYS, Kind, Memory, MeshBoard, PcBoard, Place, names};
pub use self::{
    geometry::{Costs, Geometry, MOST_CONTROLLERS},
    handed::{Handed, Module, Wrong},
    lut::{LutEntry, SubDestination},
};
