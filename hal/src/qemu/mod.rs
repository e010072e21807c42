//! The backend for `qemu-system-i386` and PCs.
//!
//! A PC's cores are coherent and share everything; this backend makes a machine out of them whose cores have private
//! memory, start together, and see each other's stores as the cores of a non-coherent chip do:
//!
//! - [`boot`]: from the multiboot loader to `atoll_core_main` on every core;
//! - [`start_core`]: the emulated core, which implements the traits of the HAL; [`finish`]: the end of its program;
//! - [`memory`]: what is where, the heap, the memory that stands for the chip's shared DRAM and MPB;
//! - [`console`] and [`mod@exit`].
//!
//! Below them, in private: demand zeroing, the page-table side of the caching region (`cache_window`), of
//! what coherence domains share (`domain`) and of exposed memory (`exposed`), messages by the local APIC,
//! locks, and how a stuck machine is recognised (`stuck`); and what all bare x86 needs, `crate::bare`. Several
//! machines can be one, which share memory: `cluster`, with what their nodes tell each other (`board`) and how they
//! notice that one is gone (`heartbeat`).
//!
//! Which `processors` there are, the firmware's tables say, to QEMU's images, too. A PC differs in what `fw_cfg` stands
//! for: it has a `screen`, a counter whose rate is measured (`pit`), and no way to end it.
//!
//! **Statics are private**: `.data` and `.bss` are mapped to frames of the core's own. What the emulator shares carries
//! `#[unsafe(link_section = ".emulator")]`, or `".bss.emulator"` if it is large and zero at start.
//!
//! Everything must run on a P54C: no instruction newer than the Pentium, in the assembly too.

mod board;
pub mod boot;
mod cache_window;
mod cluster;
pub mod console;
mod demand;
mod domain;
mod entry;
pub mod exit;
mod exposed;
mod finish;
mod fw_cfg;
mod heartbeat;
mod lapic;
mod layout;
mod legacy;
mod lock;
pub mod memory;
mod multiboot;
mod pit;
mod platform;
mod processors;
mod screen;
mod smp;
mod stuck;
mod trap;
mod window;

pub use self::{
    finish::finish,
    platform::{QemuCore, QemuPlatform, start_core},
    window::MmuWindow,
};
pub use crate::bare::trap::Spot;

use core::sync::atomic::{AtomicUsize, Ordering};

use crate::{
    CoreId,
    bare::{cpu, frames, paging, port, private},
};

/// Calls `action` with interrupts from other cores off: for state that a handler might want as well.
pub fn without_interrupts<R>(action: impl FnOnce() -> R) -> R {
    let _interrupts = cpu::InterruptsOff::new();
    action()
}

/// The number of this core, in private memory: the fastest place to look.
static THIS_CORE: AtomicUsize = AtomicUsize::new(0);

/// The core of the whole machine that the calling core is: on a node of a cluster, its own number follows those of
/// the nodes before it.
pub fn this_core_id() -> CoreId {
    cluster::global(this_core())
}

/// The number of the calling core among those of its node, from 0.
#[inline]
pub fn this_core() -> usize {
    THIS_CORE.load(Ordering::Relaxed)
}

fn set_this_core(core: usize) {
    THIS_CORE.store(core, Ordering::Relaxed);
}
