//! The backend for the Intel SCC and boards like it: cores without coherence, as they are.
//!
//! - [`boot`]: from the reset to `atoll_core_main` on every core, which runs its own copy of the image;
//! - [`map`] and [`memory`]: what is where, [`paging`]: how it is mapped;
//! - [`registers`] of tiles, and the [`board`]'s;
//! - [`start_core`]: the core, which implements the traits of the HAL;
//! - [`status`]: how cores know of each other whether they are there and have ended; [`finish`] and [`mod@exit`];
//! - [`console`].
//!
//! What needs no such chip is compiled for tests on the host, too. What is done on the hardware, and why, refers to
//! facts about the chip from public software and documents: [`hardware`](crate::hardware).

mod backoff;
pub mod board;
#[cfg(target_os = "none")]
pub mod boot;
#[cfg(target_os = "none")]
mod caches;
#[cfg(target_os = "none")]
pub mod console;
#[cfg(target_os = "none")]
mod entry;
#[cfg(target_os = "none")]
pub mod exit;
mod exposed;
#[cfg(target_os = "none")]
mod finish;
#[cfg(target_os = "none")]
mod lapic;
mod lines;
#[cfg(target_os = "none")]
mod lut;
pub mod map;
#[cfg(target_os = "none")]
pub mod memory;
#[cfg(target_os = "none")]
mod others;
#[cfg(target_os = "none")]
pub mod paging;
#[cfg(target_os = "none")]
mod prepare;
mod purge;
pub mod registers;
#[cfg(target_os = "none")]
pub mod reset;
#[cfg(target_os = "none")]
mod sc_core;
mod slots;
#[cfg(target_os = "none")]
pub mod status;
#[cfg(target_os = "none")]
mod this;
#[cfg(target_os = "none")]
mod trap;

#[cfg(test)]
mod testing;

#[cfg(target_os = "none")]
pub use self::{
    finish::finish,
    sc_core::{ScCore, start_core},
    this::{this_core, this_core_id, without_interrupts},
};
#[cfg(target_os = "none")]
pub use crate::bare::trap::Spot;
