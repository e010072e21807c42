#![doc = include_str!("../README.md")]
#![cfg_attr(target_os = "none", no_std)]

extern crate alloc;

#[cfg(target_os = "none")]
mod bare;
mod families;
mod files;
#[cfg(not(target_os = "none"))]
mod host;
mod lines;
mod program;
mod services;
mod session;
mod words;

pub use self::{
    program::CProgram,
    session::{Session, with},
};

// The image of whatever program is linked with this.
#[cfg(target_os = "none")]
kernel::image!(CProgram);
