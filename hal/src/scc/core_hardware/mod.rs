//! What one core of the chip has: the hardware itself.
//!
//! The rules that it keeps, and that the hardware demands:
//!
//! * **MPBs, the own one included, are reached by the tiles' slots.** The shorter way to the own one is broken.
//! * **MPBT lines are written through, and forgotten before each run of stores to a line.** A store that hit L1 might
//!   not go through the write-combine buffer as one that misses does.
//! * **A drain is a store to line 0 of the own MPB**, where nobody looks.
//! * **A cache knows memory by its address.** Shared memory has a different one for each way to cache it; what a core
//!   exposes is cached where it is, and reached past the caches by a slot that leads to the same memory.
//!
//! Operations count as emulated ones do, but for what only caches know: lines fetched, written back and evicted stay 0.

mod cached;
mod combined;
mod core_registers;
pub(crate) mod start;
mod waits;

use alloc::boxed::Box;
use core::cell::{Cell, RefCell};

use descriptions::boards::Geometry;

use crate::{
    CoreId, LINE_BYTES, Layout, MPB_LINES, Topology,
    kit::{Account, Hardware, HardwareCore, Hooks},
    scc::{
        caches::cache_operations,
        exit::failure::stuck_cycles,
        handed::handed,
        memory::{areas, exposed::Reached, free_slots::FreeSlots},
        registers::{
            board::Board,
            tile::{Register, Registers as TileRegisters, TestAndSetValue, slot_address},
        },
        this::this_core_id,
    },
};

/// A core of the board.
pub type ScCore = HardwareCore<Scc>;

/// Where that of a core is which all cores reach: known once, since each access needs it.
struct CorePlaces {
    /// Line 0 of its MPB.
    mpb: usize,
    test_and_set: Register<TestAndSetValue>,
}

/// The hardware of a core of the board.
pub struct Scc {
    core: CoreId,
    layout: Layout,
    geometry: &'static Geometry,
    board: Option<Board<'static>>,
    free_slots: FreeSlots,
    private_slots: usize,
    controllers: usize,
    /// Of each core.
    cores: Box<[CorePlaces]>,
    /// Lines of an MPB.
    mpb_lines: usize,
    /// Line 0 of the own MPB.
    own_line_0: usize,
    /// For how long a wait may last, in cycles of the time stamp counter; nothing if for ever.
    stuck_cycles: Option<u64>,
    /// Which of the own slots are mapped a second time; a bit for each.
    own_mapped: Cell<u32>,
    /// Cycles in which it did not wait, as far as a program counts them.
    own_cycles: core_registers::OwnCycles,
    reached: RefCell<Reached>,
    account: Account,
}

impl Scc {
    /// The hardware of the core that runs this.
    fn new() -> Self {
        let handed = handed();
        let (geometry, setting) = (&handed.geometry, &handed.setting);
        let (start, half_bytes) = areas::purge_area();
        // SAFETY: the area is set aside for that.
        unsafe { cache_operations::prepare(geometry, start, half_bytes) };
        // SAFETY: the image was handed the geometry of its board, and registers are mapped where they are.
        let board = unsafe { Board::new(geometry) };
        let core = this_core_id();
        let free_slots = FreeSlots::new(geometry, setting.private_slots);
        // SAFETY: the image was handed the geometry of its board, and registers are mapped where they are.
        let cores: Box<[_]> = (0..setting.cores).map(|core| unsafe { CorePlaces::new(geometry, core) }).collect();
        let own_line_0 = cores[core.index()].mpb;
        let layout = Layout::of_board(geometry, setting.cores as usize);
        Self {
            core,
            controllers: layout.controllers(),
            layout,
            geometry,
            board,
            free_slots,
            private_slots: setting.private_slots as usize,
            cores,
            mpb_lines: MPB_LINES.min(geometry.mpb_bytes as usize / LINE_BYTES),
            own_line_0,
            stuck_cycles: stuck_cycles(),
            own_mapped: Cell::new(0),
            own_cycles: core_registers::OwnCycles::default(),
            reached: RefCell::default(),
            account: Account::new(free_slots.foreign()),
        }
    }
}

impl CorePlaces {
    /// The places of a core.
    ///
    /// # Safety
    /// The board is as `geometry` says, and its registers are mapped uncached at their physical addresses.
    unsafe fn new(geometry: &'static Geometry, core: u32) -> Self {
        let [tile, ..] = geometry.tile_of(core);
        let within = core % geometry.cores_per_tile;
        let mpb = slot_address(geometry.mpb_slot + tile) + (within * geometry.mpb_bytes) as usize;
        // SAFETY: the caller says so.
        let registers = unsafe { TileRegisters::of_tile(geometry, tile) };
        Self { mpb, test_and_set: registers.test_and_set(within) }
    }
}

impl Topology for Scc {
    fn core(&self) -> CoreId {
        self.core
    }

    fn layout(&self) -> &Layout {
        &self.layout
    }
}

/// Hardware does by itself what it does.
impl Hooks for Scc {
    #[cfg(feature = "announced")]
    fn announce(&self, announcement: crate::kit::Announcement<'_>) {
        crate::scc::announce::say(announcement);
    }
}

// SAFETY: 1. a field, which is never replaced; 2. there is no other value; 3. an image is for one machine, which maps all MPBs alike.
unsafe impl Hardware for Scc {
    type Hooks = Self;

    #[inline(always)]
    fn account(&self) -> &Account {
        &self.account
    }

    #[inline(always)]
    fn hooks(&self) -> &Self {
        self
    }
}
