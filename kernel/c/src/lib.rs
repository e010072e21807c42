#![doc = include_str!("../README.md")]
#![cfg_attr(target_os = "none", no_std)]

extern crate alloc;

mod encoded_words;
mod entry;
mod families;
mod files;
mod lines;
#[cfg(target_os = "none")]
#[path = "bare.rs"]
mod machine;
#[cfg(not(target_os = "none"))]
#[path = "host.rs"]
mod machine;
mod program;
mod services;
mod session;
mod spent;
mod watched;

pub use self::program::CProgram;

// The image of whatever program is linked with this.
#[cfg(target_os = "none")]
kernel::image!(CProgram);
