//! The registers of [tiles](tile), and the [`board`]'s.

pub mod board;
pub mod tile;
