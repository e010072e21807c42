//! The backend for the Intel SCC and boards like it: cores without coherence, as they are.
//!
//! - [`boot`]: from the reset to `atoll_core_main` on every core, which runs its own copy of the image;
//! - [`memory`]: what is where, and how it is mapped;
//! - [`registers`] of tiles, and the board's;
//! - [`start_core`]: the core, which implements the traits of the HAL;
//! - [`status`]: how cores know of each other whether they are there and have ended; [`finish`] and [`mod@exit`];
//! - [`console`].
//!
//! What needs no such chip is compiled for tests on the host, too. What is done on the hardware, and why, refers to
//! facts about the chip from public software and documents: [`hardware`](crate::hardware).

#[cfg(all(target_os = "none", feature = "announced"))]
mod announce;
#[cfg(target_os = "none")]
pub mod boot;
mod caches;
#[cfg(target_os = "none")]
pub mod console;
#[cfg(target_os = "none")]
mod core_hardware;
#[cfg(target_os = "none")]
pub mod exit;
#[cfg(target_os = "none")]
mod handed;
#[cfg(target_os = "none")]
mod lapic;
pub mod memory;
pub mod registers;
pub mod status;
#[cfg(target_os = "none")]
mod this;
#[cfg(target_os = "none")]
mod trap;

#[cfg(test)]
mod testing;

#[cfg(target_os = "none")]
pub use self::{
    core_hardware::{ScCore, start::start_core},
    exit::finish::finish,
    this::this_core_id,
};
#[cfg(target_os = "none")]
pub use crate::bare::{
    this_core::{this_core, without_interrupts},
    trap::Spot,
};
