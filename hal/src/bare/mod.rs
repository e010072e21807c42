//! What every backend on bare x86 needs: instructions, ports, page tables, descriptors and traps, the local APIC's
//! registers, COM1.
//!
//! A backend builds on it and says by [`trap::Hooks`] what traps shall do that only it knows.
//!
//! **Statics are private** wherever this runs: every core has its own.

pub(crate) mod cpu;
pub(crate) mod descriptor;
pub(crate) mod frame_pool;
pub(crate) mod lapic;
mod memory_functions;
#[cfg(feature = "debugger")]
pub(crate) mod notebook;
pub(crate) mod options;
pub(crate) mod paging;
pub(crate) mod port;
pub(crate) mod private;
mod task;
pub(crate) mod this_core;
pub(crate) mod trap;
pub(crate) mod uart;

/// Functions that return the values of the linker script's symbols, which are their addresses.
macro_rules! bounds {
    ($($name:ident = $symbol:ident),* $(,)?) => {
        unsafe extern "C" { $(static $symbol: u8;)* }
        $(pub(in super::super) fn $name() -> usize { (&raw const $symbol).addr() })*
    };
}
pub(crate) use bounds;

/// Bytes of a page; the only page size that is used.
pub(crate) const PAGE_BYTES: usize = 4096;
