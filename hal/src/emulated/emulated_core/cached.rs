//! Cached memory of an emulated core: views, flushes, and private memory that is exposed.

use core::ptr::NonNull;

use crate::{
    Cached, Caches, ClaimError, Exposable, Expose, Exposure, Home, LocalView, MapError, MpbCoherence, Pod, Region,
    SharedAddress, Topology,
    backend::{
        deferral::Deferring,
        exposures::Exposures,
        mappings::{Asked, Slot},
        views::Views,
    },
    cached::{Touch, ViewAccess, ViewWindow},
    exposed::{ExposureHost, NotExposed},
    kind,
};

use super::{
    super::{Choice, Expense, PageWindow, Platform, page_window::position},
    EmulatedCore, Omit,
};

impl<P: Platform> EmulatedCore<P> {
    /// Insists that no slice of another core excludes an access of a view, and notes a slice. Nothing if one does while the
    /// machine comes to its end: programs leave off anywhere then.
    fn meet_slices(&self, region: Region<kind::Cached>, access: ViewAccess) -> Option<()> {
        let core = self.platform.core();
        match self.platform.with_slices(|slices| slices.access(core, region, access)) {
            Some(Err(_)) if self.platform.is_dying() => None,
            Some(Err(conflict)) => panic!("{conflict}"),
            Some(Ok(())) | None => Some(()),
        }
    }

    /// This core is at a coherence point: its slices are gone.
    fn end_its_slices(&self) {
        self.platform.with_slices(|slices| slices.end(self.platform.core()));
    }
}

// SAFETY: 1. to 3. `claim` has entered the view, so its region is covered by the window, or is memory of a coherent
// machine; what a touch makes present stays so for slices, or faults and comes back. 4. `with_slices`.
unsafe impl<P: Platform> ViewWindow for EmulatedCore<P> {
    fn touch(&self, region: Region<kind::Cached>, access: ViewAccess) -> Option<Touch> {
        let operation = self.operation();
        if access.lasts() {
            // First, so that nobody comes to it any more who would be in the way.
            self.meet_slices(region, access)?;
        }
        let mut touch = Touch::default();
        if !self.platform.coherent() {
            self.explore();
            self.meet_domain(region.start().home(), access.writes());
            touch.is_absent = self.fetch(region, access) && access == ViewAccess::Store;
        }
        if !access.lasts() {
            // Last, since slices may have come meanwhile.
            self.meet_slices(region, access)?;
            if self.platform.coherent() || self.copies(region.start().home()).is_shared() {
                // The access follows before anybody else's turn, and before this core's handler.
                touch.is_held = true;
                operation.leave_open();
            }
        }
        Some(touch)
    }

    unsafe fn end_access(&self, region: Region<kind::Cached>, touch: Touch) {
        let _operation = if touch.is_held { self.take_up() } else { self.operation() };
        if touch.is_absent && self.platform.choose(Choice::StoreThrough, 2) == 1 {
            self.copies(region.start().home()).store_through(&self.platform, region);
        }
    }

    unsafe fn release(&self, region: Region<kind::Cached>) {
        let _operation = self.operation();
        self.views.leave(region);
        self.platform.with_slices(|slices| slices.end_view(self.platform.core(), region));
    }
}

impl<P: Platform> Cached for EmulatedCore<P> {
    fn claim<T: Pod>(&self, region: Region<kind::Cached>, len: usize) -> Result<LocalView<'_, T>, ClaimError> {
        let _operation = self.operation();
        Views::fit::<T>(self.layout(), region, len)?;
        if let Home::Core(owner) = region.start().home()
            && !(owner == self.core() && self.exposures.borrow().contains(region.start().offset(), region.len_bytes()))
        {
            return Err(ClaimError::NotExposed { start: region.start() });
        }
        self.views.enter(region)?;
        let memory = if self.platform.coherent() {
            self.platform.shared_memory(region)
        } else {
            self.copies(region.start().home()).window().address(position(region.start()))
        };
        let elements = NonNull::new(memory.cast::<T>()).expect("shared memory is not at address 0");
        // SAFETY: 1. the window (or the memory itself, on a coherent machine) covers every region that may be
        // claimed, and touched pages stay accessible; what is exposed is not concealed before its views are dropped;
        // 2. regions start on line boundaries and the length was checked; 3. the claim was entered above.
        Ok(unsafe { LocalView::new(elements, len, region, self) })
    }

    fn write_back_invalidate(&self, caches: &mut Caches, region: Region<kind::Cached>) {
        let _operation = self.operation();
        caches.assert_of(self);
        self.end_its_slices();
        let _span = self.hardware_span("flush", region.start().home(), region.len_bytes());
        self.count_flush(region);
        // This core has no copies of what others expose.
        if self.foreign(region).is_none() && !self.omits(Omit::FLUSH) {
            self.flush(region);
        }
    }

    fn write_back_invalidate_all(&self, caches: &mut Caches) {
        let _operation = self.operation();
        caches.assert_of(self);
        self.end_its_slices();
        let _span = self.hardware_span("flush of everything", None, 0);
        self.counting.count(|counters| counters.flushes += 1);
        self.platform.spend(Expense::FlushAll);
        if !self.omits(Omit::FLUSH) && !self.platform.is_dying() {
            self.meet_domain(Home::Controller(0), true);
            let mut written = self.domain.write_back_invalidate_all(&self.platform);
            if self.domain.is_shared() {
                self.platform.await_write_backs();
                written += self.own.write_back_invalidate_all(&self.platform);
            }
            self.counting.count(|counters| counters.lines_written_back += written);
        }
    }

    fn end_slices(&self, caches: &mut Caches) {
        let _operation = self.operation();
        caches.assert_of(self);
        self.end_its_slices();
    }

    fn take_caches(&self) -> Option<Caches> {
        let _operation = self.operation();
        // SAFETY: the flag lets only one token of this core come into being.
        (!self.caches_taken.replace(true)).then(|| unsafe { Caches::new(self) })
    }
}

impl<P: Platform> ExposureHost for EmulatedCore<P> {
    unsafe fn conceal(&self, caches: &mut Caches, region: Region<kind::Cached>) {
        let _operation = self.operation();
        caches.assert_of(self);
        self.end_its_slices();
        assert!(!self.views.overlap(region), "a local view is left of {}, whose exposure ends", region.start());
        // Neither is for a test to leave out: what is still on its way has nowhere to go afterwards, and the owner's
        // own loads find its copies in its caches.
        self.drain();
        self.push_out_pending();
        let _span = self.hardware_span("flush", None, region.len_bytes());
        self.count_flush(region);
        self.flush(region);
        if let Err(core) = self.platform.conceal(region) {
            panic!("{core} has not let go of {}, whose exposure ends", region.start());
        }
        self.exposures.borrow_mut().remove(region.start().offset(), region.len_bytes());
    }
}

impl<P: Platform> Expose for EmulatedCore<P> {
    fn expose<M: Exposable>(&self, caches: &mut Caches, mut memory: M) -> Result<Exposure<'_, M>, NotExposed<M>> {
        let _operation = self.operation();
        caches.assert_of(self);
        let bytes = NonNull::from(memory.bytes());
        let (start, len_bytes) = (bytes.cast::<u8>(), bytes.len());
        let placed = Exposures::whole_lines(start.addr().get(), len_bytes)
            .and_then(|()| self.exposures.borrow_mut().place(len_bytes));
        let offset = match placed {
            Ok(offset) => offset,
            Err(error) => return Err(NotExposed { error, memory }),
        };
        let region = Region::new(SharedAddress::exposed(self.core(), offset), len_bytes);
        // SAFETY: the memory is `Exposable`, and the exposure lets nobody reach it before it has been concealed.
        unsafe { self.platform.expose(region, start) };
        // SAFETY: 1. just exposed as this region, of as many bytes; 2. concealed by this core only, and by nothing else.
        // From here on it keeps the memory, even if the flush panics.
        let exposure = unsafe { Exposure::new(self, memory, region) };
        self.write_back_invalidate(caches, region);
        Ok(exposure)
    }

    fn map(&self, region: Region<kind::Combined>) -> Result<(), MapError> {
        let _operation = self.operation();
        match region.start().home() {
            Home::Core(core) if core.index() >= self.layout().cores() => return Err(MapError::NoSuchCore { core }),
            Home::Core(owner) if owner != self.core() => {}
            _ => return Ok(()),
        }
        for slot in Slot::all_of(region) {
            let asked = self.mappings.borrow_mut().ask(slot);
            if let Asked::New(given_up) = asked {
                given_up.into_iter().for_each(|slot| self.forget_slot(slot));
                self.counting.count(|counters| counters.mappings += 1);
                self.platform.spend(Expense::MapSlot);
            }
        }
        Ok(())
    }

    fn mapped_slots(&self) -> usize {
        self.undisturbed(|| self.mappings.borrow().capacity())
    }

    fn let_go(&self, region: Region<kind::Combined>) {
        let _operation = self.operation();
        let Some(foreign) = self.foreign(region) else { return };
        self.runs.end();
        self.push_out_pending();
        self.platform.let_go(foreign);
    }

    fn unmap(&self, region: Region<kind::Combined>) {
        let _operation = self.operation();
        self.let_go(region);
        for slot in Slot::all_of(region) {
            if self.mappings.borrow_mut().remove(slot) {
                self.forget_slot(slot);
            }
        }
    }
}
