//! The programs of the tree.

pub mod fft;
mod hello;
mod quadrature;
mod terrain;
mod time;
mod wave;

pub use self::{fft::Fft, hello::Hello, quadrature::Quadrature, terrain::Terrain, wave::Wave};
