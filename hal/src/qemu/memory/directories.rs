//! Where the cores' page directories are.

use core::sync::atomic::AtomicU32;

use crate::qemu::handed::facts::MAX_CORES;

/// Physical address of each core's page directory by number, read by the start code; 0 for no such core.
#[unsafe(link_section = ".emulator")]
pub(crate) static DIRECTORIES: [AtomicU32; MAX_CORES + 1] = [const { AtomicU32::new(0) }; MAX_CORES + 1];
