//! What board files say, and what follows from it.
//!
//! Layout, clock, caches and prices can come from a machine of the simulator (`machine = "scc"`), whose files say them, too.
//! A file with the section `pc` describes a PC, others a mesh of tiles.

mod board;
mod check;
mod keys;
mod memory;
mod mesh;

pub use self::{
    board::{Board, Kind, PcBoard},
    keys::KEYS,
    memory::{Memory, Place},
    mesh::{Controller, MeshBoard},
};
