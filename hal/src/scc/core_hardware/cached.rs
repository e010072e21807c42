//! Memory that is reached through the caches, and private memory that others reach.

use core::ptr::NonNull;

use crate::{
    CoreId, Home, Region, Topology, kind,
    kit::{CachedMemory, CombinedLines, ExposedMemory, Slot},
    scc::{caches::cache_operations, memory::exposed},
};

use super::{Scc, combined::Tables};

// SAFETY: 1. a core of the board is made once; 2. shared memory is mapped, and what a core exposes is its own; what the
// hardware fetches and evicts by itself changes no address; 3. cores of a board have caches of their own; 4. each core has
// an image, and all memory of it, to itself.
unsafe impl CachedMemory for Scc {
    const IS_ALONE: bool = true;

    fn view_address(&self, region: Region<kind::Cached>) -> *mut u8 {
        let start = region.start();
        core::ptr::with_exposed_provenance_mut(match start.home() {
            Home::Controller(_) => self.cached_address(start),
            Home::Core(_) => start.offset(),
        })
    }

    fn flush(&self, region: Region<kind::Cached>) {
        cache_operations::flush(self.view_address(region).addr(), region.len_bytes());
    }

    fn flush_all(&self) {
        cache_operations::flush_all();
    }
}

// SAFETY: 1. a region is where the memory is, and its owner's table says whether it is exposed; 2. `exposed`.
unsafe impl ExposedMemory for Scc {
    const EXPOSES_IN_PLACE: bool = true;

    fn most_mappings(&self) -> usize {
        self.free_slots.foreign()
    }

    unsafe fn expose(&self, region: Region<kind::Cached>, _memory: NonNull<u8>) {
        self.flush(region);
        exposed::enter(&Tables(self), region.start().offset(), region.len_bytes());
    }

    fn conceal(&self, region: Region<kind::Cached>) -> Result<(), CoreId> {
        let words = Tables(self);
        exposed::take_out(&words, region.start().offset(), region.len_bytes(), self.layout().cores())
    }

    fn let_go(&self, region: Region<kind::Cached>) {
        if let Home::Core(owner) = region.start().home() {
            let words = Tables(self);
            self.reached.borrow_mut().let_go(&words, owner, region.start().offset(), region.len_bytes());
        }
    }

    fn map_slot(&self, slot: Slot, place: usize) {
        // SAFETY: a place is given to one slot at a time.
        unsafe { self.point(self.free_slots.foreign_at(place), slot.owner(), slot.number()) };
    }

    fn forget_slot(&self, _slot: Slot) {
        self.push_out();
        self.invalidate_lines();
    }
}
