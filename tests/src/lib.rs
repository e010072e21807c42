#![doc = include_str!("../README.md")]
#![cfg_attr(target_os = "none", no_std)]

extern crate alloc;

pub mod allocation;
pub mod barrier;
pub mod broadcast;
pub mod check;
pub mod fatal;
pub mod floating_point;
pub mod hazards;
pub mod litmus;
pub mod memory;
pub mod messages;
pub mod registers;
pub mod suite;
pub mod window;

pub use check::{Context, Failed};
