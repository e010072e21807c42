//! Cached memory of an emulated core: views, flushes, and private memory that is exposed.

use core::ptr::NonNull;

use crate::{
    CoreId, Home, LineAddress, Region,
    cached::{Touch, ViewAccess},
    kind,
    kit::{CachedMemory, Event, Expense, ExposedMemory, Hardware, Slot},
};

use super::{
    super::{Choice, PageWindow, Platform, page_window::position},
    Emulated, Omit,
};

impl<P: Platform> Emulated<P> {
    /// Returns whether something had to be fetched.
    pub(super) fn fetch(&self, region: Region<kind::Cached>, access: ViewAccess) -> bool {
        let copies = self.copies(region.start().home());
        let touched = self.account.with_exposures(|exposures| copies.touch(&self.platform, exposures, region, access));
        let counting = self.account.counting();
        counting.lines_fetched.add(touched.lines_fetched);
        counting.lines_evicted.add(touched.lines_evicted);
        touched.lines_fetched > 0
    }

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

    /// Writes a region back and forgets it, as far as this core may have copies of it. Nothing happens while the machine
    /// comes to its end: nothing would be written, and what is read then is not what memory has.
    fn write_back(&self, region: Region<kind::Cached>) {
        if self.platform.is_dying() {
            return;
        }
        let home = region.start().home();
        self.meet_domain(home, true);
        let flushed = self.copies(home).write_back_invalidate(&self.platform, region);
        if self.copies(home).is_shared() {
            self.platform.await_write_backs();
        }
        self.platform.fence();
        self.platform.witness(|| Event::Flushed(Some(region)));
        let counting = self.account.counting();
        counting.lines_written_back.add(flushed.lines_written);
        counting.lines_evicted.add(flushed.neighbours_written);
    }
}

// SAFETY: 1. a promise of `Platform`; 2. the window, or the memory itself on a coherent machine, covers every region that
// may be viewed, and touched pages stay accessible: what a touch makes present stays so for slices, or faults and comes
// back; 3. `with_slices`.
unsafe impl<P: Platform> CachedMemory for Emulated<P> {
    const WATCHES_VIEWS: bool = true;

    fn view_address(&self, region: Region<kind::Cached>) -> *mut u8 {
        if self.platform.coherent() {
            self.platform.shared_memory(region)
        } else {
            self.copies(region.start().home()).window().address(position(region.start()))
        }
    }

    fn touch(&self, region: Region<kind::Cached>, access: ViewAccess) -> Option<Touch> {
        if access.lasts() {
            // First, so that nobody comes to it any more who would be in the way.
            self.has_slices.set(true);
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
            touch.is_held = self.platform.coherent() || self.copies(region.start().home()).is_shared();
        }
        Some(touch)
    }

    fn end_access(&self, region: Region<kind::Cached>, touch: Touch) {
        if touch.is_absent && self.platform.choose(Choice::StoreThrough, 2) == 1 {
            self.copies(region.start().home()).store_through(&self.platform, region);
        }
    }

    fn end_view(&self, region: Region<kind::Cached>) {
        if self.has_slices.get() {
            self.platform.with_slices(|slices| slices.end_view(self.platform.core(), region));
        }
    }

    fn end_slices(&self) {
        if self.has_slices.replace(false) {
            self.platform.with_slices(|slices| slices.end(self.platform.core()));
        }
    }

    fn flush(&self, region: Region<kind::Cached>) {
        if !self.omits(Omit::FLUSH) {
            self.write_back(region);
        }
    }

    fn flush_all(&self) {
        if self.omits(Omit::FLUSH) || self.platform.is_dying() {
            return;
        }
        self.meet_domain(Home::Controller(0), true);
        let mut written = self.domain.write_back_invalidate_all(&self.platform);
        if self.domain.is_shared() {
            self.platform.await_write_backs();
            written += self.own.write_back_invalidate_all(&self.platform);
        }
        self.platform.fence();
        self.platform.witness(|| Event::Flushed(None));
        self.account.counting().lines_written_back.add(written);
    }
}

// SAFETY: 1. and 2. are promises of `Platform`.
unsafe impl<P: Platform> ExposedMemory for Emulated<P> {
    /// What is private is in nobody's window, so that there is nothing to write back of it.
    unsafe fn expose(&self, region: Region<kind::Cached>, memory: NonNull<u8>) {
        // SAFETY: the caller promises it.
        unsafe { self.platform.expose(region, memory) }
        self.platform.witness(|| Event::Exposed(region));
    }

    fn conceal(&self, region: Region<kind::Cached>) -> Result<(), CoreId> {
        // Neither is for a test to leave out: what is still on its way has nowhere to go afterwards, and the owner's
        // own loads find its copies in its caches.
        self.push_out_pending();
        if self.omits(Omit::FLUSH) {
            self.write_back(region);
        }
        self.platform.conceal(region)?;
        self.platform.witness(|| Event::Concealed(region));
        Ok(())
    }

    fn reach(&self, region: Region<kind::Cached>) {
        self.platform.reach(region);
    }

    fn let_go(&self, region: Region<kind::Cached>) {
        self.push_out_pending();
        self.platform.let_go(region);
    }

    /// No slot stands for anything here.
    fn map_slot(&self, _slot: Slot, _place: usize) {}

    fn forget_slot(&self, slot: Slot) {
        let pends = |at| matches!(at, LineAddress::Shared(address) if Slot::of(address) == Some(slot));
        if self.undrained().is_some_and(pends) {
            self.push_out_pending();
        }
        self.account.pushed_out();
        self.platform.spend(Expense::InvalidateMpb);
        self.lines.borrow_mut().invalidate();
        self.platform.witness(|| Event::Invalidate);
    }
}
