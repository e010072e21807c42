//! The programs of the tree.

mod hello;
mod terrain;

pub use self::{hello::Hello, terrain::Terrain};
