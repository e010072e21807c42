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

use core::cell::{Cell, RefCell};

use descriptions::boards::Geometry;

use crate::{
    CoreId, Layout, Topology,
    kit::{Account, Hardware, HardwareCore, Hooks},
    scc::{
        caches::cache_operations,
        exit::failure::stuck_cycles,
        handed::handed,
        memory::{areas, exposed::Reached, free_slots::FreeSlots},
        registers::board::Board,
        this::this_core_id,
    },
};

use self::combined::own_line_0;

/// A core of the board.
pub type ScCore = HardwareCore<Scc>;

/// The hardware of a core of the board.
pub struct Scc {
    core: CoreId,
    layout: Layout,
    geometry: &'static Geometry,
    board: Option<Board<'static>>,
    free_slots: FreeSlots,
    private_slots: usize,
    /// Line 0 of the own MPB.
    own_line_0: usize,
    /// For how long a wait may last, in cycles of the time stamp counter; nothing if for ever.
    stuck_cycles: Option<u64>,
    /// Which of the own slots are mapped a second time; a bit for each.
    own_mapped: Cell<u32>,
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
        Self {
            core,
            layout: Layout::of_board(geometry, setting.cores as usize),
            geometry,
            board,
            free_slots,
            private_slots: setting.private_slots as usize,
            own_line_0: own_line_0(geometry, core),
            stuck_cycles: stuck_cycles(),
            own_mapped: Cell::new(0),
            reached: RefCell::default(),
            account: Account::new(free_slots.foreign()),
        }
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
impl Hooks for Scc {}

impl Hardware for Scc {
    fn account(&self) -> &Account {
        &self.account
    }
}
