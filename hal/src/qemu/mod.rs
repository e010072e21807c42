//! The backend for `qemu-system-i386` and PCs: the low-level half.
//!
//! A PC's cores are coherent; this backend makes a machine out of them whose cores have private memory and start
//! together:
//!
//! - [`boot`]: from the multiboot loader to `atoll_core_main` on every core;
//! - [`memory`]: what is where, the heap, the memory that stands for the chip's shared DRAM and MPB;
//! - [`cache_window`]: the page-table side of the private caching region;
//! - [`trap`]: fault reports and the fault handler; [`interrupt`]: interrupts between cores;
//! - [`console`], [`mod@exit`], [`lock`], [`cpu`], [`private`].
//!
//! **Statics are private**: `.data` and `.bss` are mapped to frames of the core's own. What the emulator shares carries
//! `#[unsafe(link_section = ".emulator")]`, or `".bss.emulator"` if it is large and zero at start.
//!
//! Everything must run on a P54C: no instruction newer than the Pentium, in the assembly too.

pub mod boot;
pub mod cache_window;
pub mod console;
pub mod cpu;
mod demand;
mod descriptor;
mod entry;
pub mod exit;
mod finish;
mod frames;
mod fw_cfg;
pub mod interrupt;
mod lapic;
mod layout;
pub mod lock;
pub mod memory;
mod multiboot;
pub mod paging;
mod platform;
pub mod port;
pub mod private;
mod smp;
mod stuck;
pub mod trap;

pub use self::{
    finish::finish,
    platform::{MmuWindow, QemuCore, QemuPlatform, start_core},
};

use core::sync::atomic::{AtomicUsize, Ordering};

/// The number of this core, in private memory: the fastest place to look.
static THIS_CORE: AtomicUsize = AtomicUsize::new(0);

/// The number of the calling core, from 0.
#[inline]
pub fn this_core() -> usize {
    THIS_CORE.load(Ordering::Relaxed)
}

fn set_this_core(core: usize) {
    THIS_CORE.store(core, Ordering::Relaxed);
}
