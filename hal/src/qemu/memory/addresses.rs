//! Addresses: where everything is that a core can see.
//!
//! | virtual addresses | what | whose |
//! |---|---|---|
//! | page 0 | not mapped | |
//! | to 1 MiB | low memory, identity | shared |
//! | image | `.text`, `.rodata` read-only; `.emulator` | shared |
//! | image | `.data`, `.bss` | private frames |
//! | where they are in RAM | modules (read-only), emulated shared DRAM and MPB, identity | shared, on a cluster by all nodes |
//! | [`HEAP_BASE`] | heap | private |
//! | [`CACHE_WINDOW_BASE`] | caching region, not present at first | page tables of the core, or of its coherence domain |
//! | [`CACHE_FRAMES_BASE`], [`CACHE_TWINS_BASE`] | its frames and twins, always mapped | private |
//! | [`DOMAIN_BASE`] and on | frames, twins and account of copies that cores of one coherence domain share | the domain's |
//! | below [`STACK_TOP`] | the [stack](super::areas::stack), and below it one page that is not mapped | private |
//! | above the stack | pages for short-lived mappings, and for memory that other cores expose | private |
//! | `0xFEE0_0000` | local APIC, uncached | the core's |
//! | [`TABLES_BASE`] | the core's page tables | private, in part shared |
//!
//! Heap, caching region and shared DRAM are cleared page by page when they are first touched (see `demand`).
//!
//! Shared addresses are identical to physical ones, so they must lie below [`HEAP_BASE`]; private frames may be
//! anywhere below 4 GiB, since each core reaches them by a mapping of its own, be they its own or exposed by another
//! core.

use core::ops::Range;

use crate::{
    bare::{PAGE_BYTES, paging::TABLE_SPAN},
    emulated::{EXPOSED_POSITION, MAX_FRAMES, WINDOW_BYTES},
    limits::MOST_STACK_KIB,
    topology::EXPOSED_BYTES_PER_CORE,
};

const _: () = assert!(CACHE_FRAMES_BASE + CACHE_MAX_FRAMES * PAGE_BYTES <= DOMAIN_BASE, "frames do not overlap");
const _: () = assert!(DOMAIN_ACCOUNT_BASE + DOMAIN_ACCOUNT_BYTES <= CACHE_TWINS_BASE, "nor do they and twins");

const _: () = assert!(CACHE_WINDOW_BASE + CACHE_WINDOW_BYTES <= CACHE_FRAMES_BASE, "the window ends before its frames");

/// Start of each core's heap.
pub const HEAP_BASE: usize = 0x8000_0000;
/// Upper limit for the size of a core's heap.
pub const HEAP_MAX_BYTES: usize = 0x4000_0000;
/// Start of the private caching region's window.
pub const CACHE_WINDOW_BASE: usize = 0xC000_0000;
/// Bytes of the private caching region's window: all memory that controllers may have, and what the core may expose.
pub const CACHE_WINDOW_BYTES: usize = WINDOW_BYTES;
/// The parts of the window that are used: copies of the emulated shared DRAM, and of what the core exposes.
pub(crate) const CACHE_WINDOW_PARTS: [Range<usize>; 2] =
    [0..SHARED_DRAM_BYTES, EXPOSED_POSITION..EXPOSED_POSITION + EXPOSED_BYTES_PER_CORE];
/// Where the frames of the private caching region are always mapped.
pub const CACHE_FRAMES_BASE: usize = 0xCC00_0000;
/// Where the twins of these frames are always mapped.
pub const CACHE_TWINS_BASE: usize = 0xCE00_0000;
/// Upper limit for the number of frames of a caching region.
pub const CACHE_MAX_FRAMES: usize = MAX_FRAMES;
/// Start of what the cores of a coherence domain share.
pub const DOMAIN_BASE: usize = CACHE_FRAMES_BASE + 0x0100_0000;
/// Where their frames are always mapped.
pub const DOMAIN_FRAMES_BASE: usize = DOMAIN_BASE;
/// Where the twins of these frames are always mapped.
pub const DOMAIN_TWINS_BASE: usize = DOMAIN_FRAMES_BASE + CACHE_MAX_FRAMES * PAGE_BYTES;
/// Where their account is.
pub const DOMAIN_ACCOUNT_BASE: usize = DOMAIN_TWINS_BASE + CACHE_MAX_FRAMES * PAGE_BYTES;
/// Bytes that the account may take.
pub const DOMAIN_ACCOUNT_BYTES: usize = 12 * PAGE_BYTES;
/// The address after the stack's last byte: in the middle of what a page table spans, so that the pages above have
/// one, too.
pub const STACK_TOP: usize = STACK_LIMIT + (MOST_STACK_KIB << 10) + TABLE_SPAN / 2;
/// Nothing of a stack is below.
const STACK_LIMIT: usize = 0xD000_0000;
/// A page of address space for short-lived mappings, above the stack and in the same page table.
pub(crate) const SCRATCH: usize = STACK_TOP + 16 * PAGE_BYTES;
/// A page of address space to read other cores' page tables through, behind it.
pub(crate) const WALK: usize = SCRATCH + PAGE_BYTES;
/// Where a core maps pages that others expose, behind that.
pub(crate) const FOREIGN_BASE: usize = WALK + PAGE_BYTES;
/// Pages of others that a core maps at a time.
pub(crate) const FOREIGN_PAGES: usize = 64;
/// Where a core sees its own page tables, its page directory among them. Nothing is above: there the addresses begin that
/// pointers have which are wrong by being below zero.
pub const TABLES_BASE: usize = 0xFF80_0000;
/// Bytes of the emulated shared DRAM: four memory controllers with 16 MiB each.
pub const SHARED_DRAM_BYTES: usize = 64 << 20;
/// Bytes of the emulated MPB of one core.
pub const MPB_BYTES_PER_CORE: usize = 8192;
/// Bytes of what the nodes of a cluster share: the shared DRAM, then the MPBs of all cores, then the notice board. `xtask`
/// makes it that long.
pub(crate) const CLUSTER_REGION_BYTES: usize = SHARED_DRAM_BYTES + (4 << 20);
/// Where in it the notice board is.
pub(crate) const BOARD_OFFSET: usize = SHARED_DRAM_BYTES + (3 << 20);
