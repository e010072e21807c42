//! Where a core's own memory is, and the chip's.

use core::ops::Range;

use crate::{
    bare::this_core::this_core,
    qemu::{
        handed::facts,
        memory::addresses::{HEAP_BASE, MPB_BYTES_PER_CORE, SHARED_DRAM_BYTES, STACK_TOP},
    },
};

/// The heap of this core: start and bytes. Private, zero-filled, at the same address on every core.
pub fn heap() -> (*mut u8, usize) {
    (core::ptr::with_exposed_provenance_mut(HEAP_BASE), facts::information().heap_bytes(this_core()))
}

/// Bytes of this core's heap that are for its program, and not for its trace.
pub fn program_heap_bytes() -> usize {
    let information = facts::information();
    information.heap_bytes(this_core()).saturating_sub(information.trace_bytes)
}

/// The memory that stands for the chip's shared DRAM: start and bytes ([`SHARED_DRAM_BYTES`]).
///
/// Zero at start, physically contiguous, writable by every core. Only the emulator may touch it.
pub fn shared_dram() -> (*mut u8, usize) {
    (core::ptr::with_exposed_provenance_mut(facts::information().shared_dram), SHARED_DRAM_BYTES)
}

/// The memory that stands for all message passing buffers: start and bytes ([`MPB_BYTES_PER_CORE`] per core of the whole
/// machine).
///
/// Zero at start, writable by every core. Only the emulator may touch it.
pub fn mpb() -> (*mut u8, usize) {
    let information = facts::information();
    (core::ptr::with_exposed_provenance_mut(information.mpb), information.all_cores() * MPB_BYTES_PER_CORE)
}

/// The stack of each core; the page below is never mapped.
pub(crate) fn stack() -> Range<usize> {
    STACK_TOP - facts::information().stack_bytes..STACK_TOP
}
