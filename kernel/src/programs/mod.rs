//! The programs of the tree.

mod bench;
mod hello;
mod terrain;

pub use self::{bench::Pscw, hello::Hello, terrain::Terrain};
