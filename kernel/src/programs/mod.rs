//! The programs of the tree.

pub mod fft;
mod hello;
mod terrain;
mod time;
mod wave;

pub use self::{fft::Fft, hello::Hello, terrain::Terrain, wave::Wave};
