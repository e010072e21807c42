//! The backend for `qemu-system-i386` and PCs.
//!
//! A PC's cores are coherent and share everything; this backend makes a machine out of them whose cores have private
//! memory, start together, and see each other's stores as the cores of a non-coherent chip do:
//!
//! - [`boot`]: from the multiboot loader to `atoll_core_main` on every core;
//! - [`start_core`]: the emulated core, which implements the traits of the HAL (`emulator`); [`finish`]: the end of its
//!   program;
//! - [`memory`]: what is where, the heap, the memory that stands for the chip's shared DRAM and MPB;
//! - [`console`] and [`mod@exit`].
//!
//! Below them, in private: what the loader and the start know (`handed`), locks, and what traps do; and what all bare
//! x86 needs, `crate::bare`. Several machines can be one, which share memory: `cluster`.
//!
//! Which processors there are, the firmware's tables say, to QEMU's images, too. A PC (`pc`) differs in what `fw_cfg`
//! stands for: it has a screen, a counter whose rate is measured, and no way to end it.
//!
//! **Statics are private**: `.data` and `.bss` are mapped to frames of the core's own. What the emulator shares carries
//! `#[unsafe(link_section = ".emulator")]`, or `".bss.emulator"` if it is large and zero at start.
//!
//! Everything must run on a P54C: no instruction newer than the Pentium, in the assembly too.

pub mod boot;
mod cluster;
pub mod console;
mod emulator;
pub mod exit;
mod handed;
mod lock;
pub mod memory;
mod pc;
mod trap;

pub use self::{
    cluster::nodes::this_core_id,
    emulator::{
        mmu_window::MmuWindow,
        platform::{QemuCore, QemuPlatform, start_core},
    },
    exit::finish::finish,
};
pub use crate::bare::{
    this_core::{this_core, without_interrupts},
    trap::Spot,
};
