//! One core of the chip: every trait of the HAL, on the hardware itself.
//!
//! What an emulated core models, this one has. The rules that it keeps, and that the hardware demands:
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
mod clock;
mod combined;
mod interrupts;
pub(crate) mod start;
mod waits;

use core::cell::{Cell, RefCell};

use descriptions::boards::Geometry;

use crate::{
    CoreId, LINE_BYTES, Layout, Line, LineAddress, MPB_LINES, Mpb, MpbCoherence, MpbCopy, MpbLine, Topology,
    backend::{
        deferral::{Deferral, Deferring},
        exposures::Exposures,
        mappings::Mappings,
        runs::{StoreRuns, mask_of},
        transfers::{Transfers, writable_mpb_line},
        views::Views,
    },
    counters::Counting,
    scc::{
        caches::{cache_operations, lines},
        exit::failure::stuck_cycles,
        handed::handed,
        memory::{areas, exposed::Reached, free_slots::FreeSlots},
        registers::{
            board::Board,
            tile::{Registers, slot_address},
        },
        this::this_core_id,
    },
};

/// A core of the board.
pub struct ScCore {
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
    views: Views,
    exposures: RefCell<Exposures>,
    mappings: RefCell<Mappings>,
    reached: RefCell<Reached>,
    counting: Counting,
    runs: StoreRuns,
    caches_taken: Cell<bool>,
    deferral: Deferral<Self>,
}

impl ScCore {
    /// The line that was stored to and has not been drained; for reports.
    pub(crate) fn undrained(&self) -> Option<LineAddress> {
        self.runs.last()
    }

    fn new() -> Self {
        let handed = handed();
        let (geometry, setting) = (&handed.geometry, &handed.setting);
        let free_slots = FreeSlots::new(geometry, setting.private_slots);
        let (start, half_bytes) = areas::purge_area();
        // SAFETY: the area is set aside for that.
        unsafe { cache_operations::prepare(geometry, start, half_bytes) };
        // SAFETY: the image was handed the geometry of its board, and registers are mapped where they are.
        let board = unsafe { Board::new(geometry) };
        let core = this_core_id();
        Self {
            core,
            layout: Layout::of_board(geometry, setting.cores as usize),
            geometry,
            board,
            free_slots,
            private_slots: setting.private_slots as usize,
            own_line_0: mpb_line(geometry, MpbLine::new(core, 0)).addr(),
            stuck_cycles: stuck_cycles(),
            own_mapped: Cell::new(0),
            views: Views::default(),
            exposures: RefCell::default(),
            mappings: RefCell::new(Mappings::with_capacity(free_slots.foreign())),
            reached: RefCell::default(),
            counting: Counting::default(),
            runs: StoreRuns::default(),
            caches_taken: Cell::new(false),
            deferral: Deferral::default(),
        }
    }

    /// The configuration registers of a core's tile, and which of the tile's cores it is.
    fn registers_of(&self, core: CoreId) -> (Registers<'static>, u32) {
        assert!(core.index() < self.layout.cores(), "{core} does not exist");
        let number = core.index() as u32;
        let [tile, ..] = self.geometry.tile_of(number);
        // SAFETY: 1. the image was handed the geometry of its board; 2. registers are mapped where they are.
        let registers = unsafe { Registers::of_tile(self.geometry, tile) };
        (registers, number % self.geometry.cores_per_tile)
    }

    /// Where a line is that goes through the write-combine buffer.
    fn line(&self, at: LineAddress) -> *mut Line {
        match at {
            LineAddress::Mpb(line) => {
                assert!(line.core.index() < self.layout.cores(), "{} does not exist", line.core);
                assert!(usize::from(line.line) < self.mpb_lines(), "{line} does not exist");
                mpb_line(self.geometry, line)
            }
            LineAddress::Shared(address) => core::ptr::with_exposed_provenance_mut(self.combined_address(address)),
        }
    }

    fn load_uncounted(&self, at: LineAddress) -> Line {
        // SAFETY: `line` checked that it is there; lines of this type are reached like this only.
        unsafe { lines::load(self.line(at)) }
    }

    /// Pushes out what is in the write-combine buffer.
    fn push_out(&self) {
        self.runs.end();
        // SAFETY: `new` has found where that is, and `writable_mpb_line` lets nobody store there.
        unsafe { cache_operations::atoll_scc_drain(self.own_line_0) };
    }
}

/// Where a line of an MPB is.
fn mpb_line(geometry: &Geometry, at: MpbLine) -> *mut Line {
    let core = at.core.index() as u32;
    let [tile, ..] = geometry.tile_of(core);
    let within = (core % geometry.cores_per_tile) * geometry.mpb_bytes;
    let address = slot_address(geometry.mpb_slot + tile) + within as usize + usize::from(at.line) * LINE_BYTES;
    core::ptr::with_exposed_provenance_mut(address)
}

impl Topology for ScCore {
    fn core(&self) -> CoreId {
        self.core
    }

    fn layout(&self) -> &Layout {
        &self.layout
    }
}

impl MpbCoherence for ScCore {
    fn invalidate_mpb(&self) {
        let _operation = self.operation();
        self.counting.count(|counters| counters.mpb_invalidations += 1);
        cache_operations::atoll_scc_invalidate_mpb();
    }

    fn drain(&self) {
        let _operation = self.operation();
        self.counting.count(|counters| counters.drains += 1);
        self.push_out();
    }
}

impl Transfers for ScCore {
    fn load_combined(&self, at: LineAddress) -> Line {
        self.counting.count(|counters| match at {
            LineAddress::Mpb(_) => counters.mpb_lines_read += 1,
            LineAddress::Shared(_) => counters.combined_lines_read += 1,
        });
        self.load_uncounted(at)
    }

    fn store_combined(&self, at: LineAddress, offset: usize, bytes: &[u8]) {
        self.runs.count(&self.counting, at, mask_of(offset, bytes.len()));
        let line = self.line(at);
        cache_operations::atoll_scc_invalidate_mpb();
        // SAFETY: as above.
        unsafe { lines::store(line, offset, bytes) }
    }

    fn take_private(&self, source: &[u8], bytes: &mut [u8]) {
        bytes.copy_from_slice(source);
    }

    fn keep_private(&self, bytes: &[u8], target: &mut [u8]) {
        lines::bring_in(target);
        target.copy_from_slice(bytes);
    }
}

impl Mpb for ScCore {
    fn mpb_lines(&self) -> usize {
        MPB_LINES.min(self.geometry.mpb_bytes as usize / LINE_BYTES)
    }

    fn load_line(&self, at: MpbLine) -> Line {
        let _operation = self.operation();
        self.load_combined(LineAddress::Mpb(at))
    }

    fn store(&self, at: MpbLine, offset: usize, bytes: &[u8]) {
        let _operation = self.operation();
        assert!(offset + bytes.len() <= LINE_BYTES, "a store stays within a line");
        self.store_combined(writable_mpb_line(at), offset, bytes);
    }
}

impl MpbCopy for ScCore {
    fn put(&self, source: &[u8], to: MpbLine) {
        self.put_made(source.len(), to, |index, bytes| {
            self.take_private(&source[index * LINE_BYTES..][..bytes.len()], bytes);
        });
    }

    fn put_from_own_mpb(&self, from: usize, to: MpbLine, lines: usize) {
        let _operation = self.operation();
        self.copy_lines(lines, |index| (MpbLine::new(self.core, from + index), to.plus(index)));
    }

    fn get(&self, from: MpbLine, target: &mut [u8]) {
        self.get_used(from, target.len(), |index, bytes| {
            self.keep_private(bytes, &mut target[index * LINE_BYTES..][..bytes.len()]);
        });
    }

    fn get_to_own_mpb(&self, from: MpbLine, to: usize, lines: usize) {
        let _operation = self.operation();
        self.copy_lines(lines, |index| (from.plus(index), MpbLine::new(self.core, to + index)));
    }

    fn put_made(&self, len: usize, to: MpbLine, fill: impl FnMut(usize, &mut [u8])) {
        let _operation = self.operation();
        self.put_lines(len, to, fill);
    }

    fn get_used(&self, from: MpbLine, len: usize, take: impl FnMut(usize, &[u8])) {
        let _operation = self.operation();
        self.get_lines(from, len, take);
    }

    fn keep(&self, polled: &[u8], target: &mut [u8]) {
        self.keep_private(polled, target);
    }
}
