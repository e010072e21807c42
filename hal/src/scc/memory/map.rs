//! Virtual addresses: where a core sees what.
//!
//! Virtual addresses are physical ones, but for the uncached view of shared memory, which may be elsewhere. Physical
//! ones are what the core's lookup table maps in slots of 16 MB; which slots is in [`descriptions::boards::Geometry`]. The further
//! views of shared memory have slots of their own with the same entries, since a cache knows memory by its physical
//! address.
//!
//! | virtual addresses | what | page bits |
//! |---|---|---|
//! | page 0 | not mapped | |
//! | private memory that is used | image, page tables, stack, purge area, heap, input files | none: written back |
//! | `private_slots` | the first foreign slot, which points at core 0's memory: the status page | PCD, PWT |
//! | the slots that follow | other cores' memory, when mapped | PMB, PWT |
//! | [`SHARED_UNCACHED`] | shared memory behind each controller | PCD, PWT |
//! | [`SHARED_CACHED`] | the same | none |
//! | [`SHARED_COMBINED`] | the same | PMB, PWT |
//! | [`SCRATCH`] | single words of any physical page | PCD, PWT |
//! | slots of MPBs | the MPBs of all tiles | PMB, PWT |
//! | slots of registers | those of all tiles, of the own one, of the board | PCD, PWT |
//! | `0xFEE0_0000` | the core's local APIC | PCD, PWT |

use descriptions::{
    MOST_CONTROLLERS,
    boards::map::{SLOT_BYTES, WINDOW_SLOTS},
};

/// Bytes of shared memory behind a controller that are used: one slot.
pub const CONTROLLER_SPAN: usize = SLOT_BYTES as usize;

/// Where the shared memory of the first controller is seen uncached; that of the others follows.
pub const SHARED_UNCACHED: usize = 0x8000_0000;

/// Where it is seen through the core's caches.
pub const SHARED_CACHED: usize = SHARED_UNCACHED + MOST_CONTROLLERS * CONTROLLER_SPAN;

/// Where it is seen as MPB lines are: through L1 and the write-combine buffer.
pub const SHARED_COMBINED: usize = SHARED_CACHED + MOST_CONTROLLERS * CONTROLLER_SPAN;

/// A page for uncached words of any physical page.
pub const SCRATCH: usize = SHARED_COMBINED + MOST_CONTROLLERS * CONTROLLER_SPAN;

// Board files are checked against these slots.
const _: () = assert!(SHARED_UNCACHED == WINDOW_SLOTS.start as usize * CONTROLLER_SPAN, "where the windows begin");
const _: () = assert!(SCRATCH + CONTROLLER_SPAN == WINDOW_SLOTS.end as usize * CONTROLLER_SPAN, "where they end");
