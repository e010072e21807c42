//! The programs of the tree.

mod bench;
mod hello;
mod terrain;

pub use self::{
    bench::{Offload, Pscw},
    hello::Hello,
    terrain::Terrain,
};
