//! Where everything is in a core's physical memory, which its lookup table maps in slots of 16 MB.
//!
//! | address | what |
//! |---|---|
//! | 0 | a page that is never mapped |
//! | [`HANDED`] | what the image is told ([`handed`](crate::handed)) |
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

/// Bytes of a line, of which everything that is loaded has to be a multiple (facts 2.3).
pub const LINE_BYTES: u32 = 32;

/// Where the image finds what it is told.
pub const HANDED: u32 = 0x1_0000;

/// The most that it can be told, in bytes.
pub const HANDED_BYTES: u32 = 0x1_0000;

/// A page in the memory of core 0 that holds zeros when the cores start. All cores reach it uncached, by pointing a
/// slot of their own at core 0's memory.
pub const STATUS: u32 = 0x2_0000;

/// Where the image begins.
pub const IMAGE: u32 = 0x10_0000;

/// A core's private memory below this can be exposed to others, and its heap is nowhere else: an exposed address is
/// the offset in the owner's private memory.
pub const EXPOSED_BYTES: u32 = 4 * SLOT_BYTES;

/// The page that a core starts in, at the end of the last slot.
pub const RESET: u32 = 0xFFFF_F000;
