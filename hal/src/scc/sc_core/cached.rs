//! Memory that is reached through the caches, and private memory that others reach.

use core::ptr::NonNull;

use crate::{
    Cached, Caches, ClaimError, Exposable, Expose, Exposure, Home, LocalView, MapError, MpbCoherence, Pod, Region,
    SharedAddress, Topology,
    backend::{deferral::Deferring, exposures::Exposures, mappings::Slot, views::Views},
    cached::{Touch, ViewAccess, ViewWindow},
    exposed::{ExposureHost, NotExposed},
    kind,
    scc::{caches::cache_operations, memory::exposed, sc_core::ScCore},
};

impl ScCore {
    /// Where this core has memory that it may cache: its own, or shared memory behind a controller.
    fn view_address(&self, address: SharedAddress) -> usize {
        match address.home() {
            Home::Controller(_) => self.cached_address(address),
            Home::Core(_) => address.offset(),
        }
    }

    /// Writes a region back and forgets it, as far as this core may have it in its caches.
    fn flush(&self, region: Region<kind::Cached>) {
        self.counting.count(|counters| counters.flushes += 1);
        // This core has nothing of what others expose.
        let is_foreign = matches!(region.start().home(), Home::Core(owner) if owner != self.core);
        if !is_foreign {
            cache_operations::flush(self.view_address(region.start()), region.len_bytes());
        }
    }

    /// Prepares for a slot to stand for other memory, or for none.
    pub(crate) fn forget_slot(&self) {
        self.push_out();
        cache_operations::atoll_scc_invalidate_mpb();
    }
}

// SAFETY: 1. `claim` has entered the view, and what it points to is mapped; 2. as long as it is entered; 3. the core's
// number; 4. cores of a board have caches of their own.
unsafe impl ViewWindow for ScCore {
    fn touch(&self, _region: Region<kind::Cached>, _access: ViewAccess) -> Option<Touch> {
        // The hardware fetches what is accessed, and sends by itself to memory what misses.
        Some(Touch::default())
    }

    unsafe fn end_access(&self, _region: Region<kind::Cached>, _touch: Touch) {}

    unsafe fn release(&self, region: Region<kind::Cached>) {
        let _operation = self.operation();
        self.views.leave(region);
    }
}

impl Cached for ScCore {
    fn claim<T: Pod>(&self, region: Region<kind::Cached>, len: usize) -> Result<LocalView<'_, T>, ClaimError> {
        let _operation = self.operation();
        Views::fit::<T>(self.layout(), region, len)?;
        let start = region.start();
        if let Home::Core(owner) = start.home()
            && !(owner == self.core && self.exposures.borrow().contains(start.offset(), region.len_bytes()))
        {
            return Err(ClaimError::NotExposed { start });
        }
        let memory = core::ptr::with_exposed_provenance_mut::<T>(self.view_address(start));
        let elements = NonNull::new(memory).expect("nothing that can be viewed is at address 0");
        self.views.enter(region)?;
        // SAFETY: 1. shared memory is mapped, and what is exposed is not concealed before its views are dropped;
        // 2. regions start on line boundaries and the length was checked; 3. the claim was entered above.
        Ok(unsafe { LocalView::new(elements, len, region, self) })
    }

    fn write_back_invalidate(&self, caches: &mut Caches, region: Region<kind::Cached>) {
        let _operation = self.operation();
        caches.assert_of(self);
        self.flush(region);
    }

    fn write_back_invalidate_all(&self, caches: &mut Caches) {
        let _operation = self.operation();
        caches.assert_of(self);
        self.counting.count(|counters| counters.flushes += 1);
        cache_operations::flush_all();
    }

    fn end_slices(&self, caches: &mut Caches) {
        caches.assert_of(self);
    }

    fn take_caches(&self) -> Option<Caches> {
        let _operation = self.operation();
        // SAFETY: the flag lets only one token of this core come into being.
        (!self.caches_taken.replace(true)).then(|| unsafe { Caches::new(self) })
    }
}

impl ExposureHost for ScCore {
    unsafe fn conceal(&self, caches: &mut Caches, region: Region<kind::Cached>) {
        let _operation = self.operation();
        caches.assert_of(self);
        assert!(!self.views.overlap(region), "a local view is left of {}, whose exposure ends", region.start());
        self.drain();
        self.flush(region);
        let (start, len_bytes) = (region.start(), region.len_bytes());
        if let Err(core) = exposed::take_out(self, start.offset(), len_bytes, self.layout().cores()) {
            panic!("{core} has not let go of {start}, whose exposure ends");
        }
        self.exposures.borrow_mut().remove(start.offset(), len_bytes);
    }
}

impl Expose for ScCore {
    fn expose<M: Exposable>(&self, caches: &mut Caches, mut memory: M) -> Result<Exposure<'_, M>, NotExposed<M>> {
        let _operation = self.operation();
        caches.assert_of(self);
        let (start, len_bytes) = {
            let bytes = memory.bytes();
            (bytes.as_mut_ptr().expose_provenance(), bytes.len())
        };
        let exposed = Exposures::whole_lines(start, len_bytes)
            .and_then(|()| self.exposures.borrow_mut().insert(start, len_bytes));
        if let Err(error) = exposed {
            return Err(NotExposed { error, memory });
        }
        let region = Region::new(SharedAddress::exposed(self.core, start), len_bytes);
        // SAFETY: 1. just entered as this region, which is where the bytes are; 2. `conceal` alone removes it, when nobody
        // may access it any more. From here on it keeps the memory.
        let exposure = unsafe { Exposure::new(self, memory, region) };
        self.flush(region);
        exposed::enter(self, start, len_bytes);
        Ok(exposure)
    }

    fn map(&self, region: Region<kind::Combined>) -> Result<(), MapError> {
        let _operation = self.operation();
        match region.start().home() {
            Home::Core(core) if core.index() >= self.layout().cores() => return Err(MapError::NoSuchCore { core }),
            Home::Core(owner) if owner != self.core => {}
            _ => return Ok(()),
        }
        self.map_slots(region);
        Ok(())
    }

    fn mapped_slots(&self) -> usize {
        self.undisturbed(|| self.mappings.borrow().capacity())
    }

    fn let_go(&self, region: Region<kind::Combined>) {
        let _operation = self.operation();
        if let Home::Core(owner) = region.start().home() {
            self.reached.borrow_mut().let_go(self, owner, region.start().offset(), region.len_bytes());
        }
    }

    fn unmap(&self, region: Region<kind::Combined>) {
        let _operation = self.operation();
        self.let_go(region);
        for slot in Slot::all_of(region) {
            if self.mappings.borrow_mut().remove(slot) {
                self.forget_slot();
            }
        }
    }
}
