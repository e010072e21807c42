//! Emulated non-coherence: what a core of a non-coherent chip would do, on top of memory that is coherent.
//!
//! QEMU's vCPUs and the simulator's host both have coherent memory. This module makes a core of it that is not: a
//! tagged L1 for MPB and combined lines with a one-line write-combine buffer ([`LineCache`]), private copies with
//! twins of cached shared memory ([`Copies`], accounted for by a [`CachingRegion`]), and [`EmulatedCore`], which
//! implements every trait of the HAL with them, counts operations, and says to a small [`Platform`] what has to happen.
//! As there is one for both backends, they behave and count alike by construction.

mod caching_region;
mod copies;
mod core_hardware;
#[cfg(feature = "sim")]
mod host_lines;
#[cfg(feature = "sim")]
mod host_memory;
#[cfg(feature = "sim")]
mod host_window;
mod line_cache;
mod page_window;
mod platform;

pub use self::{
    caching_region::{CachingRegion, MAX_FRAMES},
    copies::Copies,
    core_hardware::{Emulated, EmulatedCore, Omit},
    line_cache::LineCache,
    page_window::{EXPOSED_POSITION, FetchUnit, PAGE_BYTES, PageWindow, WINDOW_BYTES},
    platform::{Choice, Platform, WaitInfo, store_masked},
};
#[cfg(feature = "sim")]
pub use self::{
    host_lines::{HOST_LINE_BYTES, HostLines},
    host_memory::HostMemory,
    host_window::HostWindow,
};
