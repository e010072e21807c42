#![doc = include_str!("../README.md")]
#![cfg_attr(not(feature = "sim"), no_std)]

extern crate alloc;

pub mod act;
pub mod address;
pub mod atomic;
#[cfg(all(any(feature = "qemu", feature = "scc"), target_arch = "x86", target_os = "none"))]
#[allow(dead_code, reason = "each backend uses the part of it that it needs")]
mod bare;
mod board_layout;
pub mod cached;
pub mod clock;
pub mod conformance;
mod core_id;
pub mod counters;
mod elements;
#[cfg(any(feature = "qemu", feature = "sim"))]
pub mod emulated;
pub mod exposed;
#[cfg(any(test, all(feature = "qemu", target_arch = "x86", target_os = "none")))]
mod firmware;
pub mod hardware;
pub mod interrupt;
pub mod kit;
pub mod limits;
pub mod mpb;
pub mod prices;
#[cfg(all(feature = "qemu", target_arch = "x86", target_os = "none"))]
pub mod qemu;
mod returned;
#[cfg(any(all(feature = "scc", target_arch = "x86", target_os = "none"), test))]
pub mod scc;
#[cfg(feature = "sim")]
pub mod sim;
pub mod soundness;
pub mod topology;
pub mod trace;
pub mod tsr;
pub mod uncached;
pub mod wait;

pub use bytemuck::Pod;

pub use act::Act;
pub use address::{Home, LINE_BYTES, Line, LineAddress, MPB_LINES, MpbLine, Region, Regions, SharedAddress, kind};
pub use atomic::AtomicCounters;
pub use cached::{Cached, Caches, ClaimError, LocalView};
pub use clock::{Clock, Software, p54c};
pub use core_id::CoreId;
pub use counters::{Countable, Counted, Counters};
pub use descriptions::Costs;
pub use exposed::{Exposable, Expose, ExposeError, Exposure, Lines, MapError};
pub use interrupt::{Interrupt, Shielded};
pub use limits::{HeapExhausted, StackOverflow};
pub use mpb::{Combined, Mpb, MpbByte, MpbCoherence, MpbCopy, MpbWords};
pub use prices::Prices;
pub use returned::Returned;
pub use topology::{ATOMIC_COUNTERS, Layout, Tile, Topology};
pub use trace::{Entered, Epoch, Ranks, Span, Trace};
pub use tsr::{TestAndSet, TsrGuard};
pub use uncached::Uncached;
pub use wait::{Deadline, Place, Places, Poll, Reason, TimedOut, Wait};

/// What protocols over message passing buffers need of a core: lines, copies to and from memory, the clock, and waits.
pub trait Messenger: Mpb + MpbCopy + Wait {}

impl<C: Mpb + MpbCopy + Wait> Messenger for C {}

/// Everything that a core of a full machine can do; a bound for whole programs. Protocols ask for less.
pub trait Core:
    Messenger + Combined + Cached + Expose + Uncached + TestAndSet + AtomicCounters + Interrupt + Counted
{
}

impl<C: Messenger + Combined + Cached + Expose + Uncached + TestAndSet + AtomicCounters + Interrupt + Counted> Core
    for C
{
}
