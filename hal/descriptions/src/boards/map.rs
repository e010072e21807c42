//! Where everything is in a core's physical memory, which its lookup table maps in slots of 16 MB.
//!
//! | address | what |
//! |---|---|
//! | 0 | a page that is never mapped |
//! | [`HANDED`] | what the image is told ([`handed`](super::handed)) |
//! | [`STATUS`] | a page of zeros: of core 0's memory, where all cores tell how far they are |
//! | [`IMAGE`] | the image, then page tables, stack, purge area and heap, as the image lays them out |
//! | up to [`EXPOSED_BYTES`] | where a core's heap ends at the latest: memory that it can expose to others |
//! | wherever `handed` says | input files, above the heap |
//! | from `private_slots` on | slots for other cores' memory, up to the shared ones |
//! | [`RESET`] | the page that a core starts in |

/// Bytes that one slot of a lookup table maps.
pub const SLOT_BYTES: u32 = 16 << 20;

/// Slots of a lookup table.
pub const SLOTS: u32 = 256;

/// Bytes of a page.
pub const PAGE_BYTES: u32 = 4096;

/// Bytes of a line, of which everything that is loaded has to be a multiple (`hal::hardware`, Loader files).
pub const LINE_BYTES: u32 = 32;

/// Where the image finds what it is told.
pub const HANDED: u32 = 0x1_0000;

/// The most that it can be told, in bytes.
pub const HANDED_BYTES: u32 = 0x1_0000;

/// A page in the memory of core 0 that holds zeros when the cores start. All cores reach it uncached, by pointing a
/// slot of their own at core 0's memory.
pub const STATUS: u32 = 0x2_0000;

/// Cores that the [`STATUS`] page has lines for. Its last line is not a core's: there any core can end the machine.
pub const MOST_CORES: u32 = PAGE_BYTES / LINE_BYTES - 1;

/// Where the image begins.
pub const IMAGE: u32 = 0x10_0000;

/// A core's private memory below this can be exposed to others, and its heap is nowhere else: an exposed address is
/// the offset in the owner's private memory.
pub const EXPOSED_BYTES: u32 = 4 * SLOT_BYTES;

/// The page that a core starts in, at the end of the last slot.
pub const RESET: u32 = 0xFFFF_F000;

/// The slot of that page.
pub const BOOT_SLOT: u32 = SLOTS - 1;

/// The slot that a core's local APIC is in, which the core keeps to itself.
pub const APIC_SLOT: u32 = 0xFE;

/// Slots at whose addresses the image maps its windows of shared memory, and a page to reach any other: nothing that it
/// maps at the address where it is may be there.
pub const WINDOW_SLOTS: core::ops::Range<u32> = 0x80..0x99;

/// Slots for other cores' memory that there are at the least: one that leads to the [`STATUS`] page, as many as a core
/// exposes for a second look at them, and as many for what one other core exposes.
pub const LEAST_FOREIGN_SLOTS: u32 = 1 + 2 * EXPOSED_BYTES / SLOT_BYTES;

/// How far the MPBs of a tile's cores reach at most: what one page table maps.
pub const TILE_MPB_BYTES: u32 = 4 << 20;

/// How far the registers of a tile reach at most.
pub const TILE_REGISTER_BYTES: u32 = 0x2000;

/// How far the registers of a board reach at most.
pub const BOARD_REGISTER_BYTES: u32 = 0x1_0000;

/// Sets of L2 at the least: an image notes for each whether to read the one or the other half of what purges it, in
/// whole words.
pub const LEAST_L2_SETS: u32 = u32::BITS;

/// Bytes of L2 at most, since an image needs twice as much to read when it purges it.
pub const L2_BYTES: u32 = 2 << 20;
