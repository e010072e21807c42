//! Board files: TOML that describes a board.
//!
//! The files next to this crate are the boards that have names, and the one place where what is known of them is
//! written down, each with its source as its comment. A file of one's own has the same form, or says what it is based
//! on and gives only what differs:
//!
//! ```toml
//! base = "scc"
//!
//! [cores]
//! # chosen: a board that was set up by Tile800_Mesh1600_DDR1066
//! clock_mhz = 800
//! ```
//!
//! Layout, clock, caches and prices can come from a machine of the simulator (`machine = "scc"`), whose files say them, too.
//! What there is to say is in [`KEYS`]. A file with the section `pc` describes a PC, others a mesh of tiles.

mod board;
mod check;
mod error;
mod keys;
mod memory;
mod mesh;
mod read;
mod text;

pub use self::{
    board::{Board, Kind, PcBoard},
    error::Error,
    keys::KEYS,
    memory::{Memory, Place},
    mesh::{Controller, MeshBoard},
    read::{EXTENSION, names},
};
