//! What it gets wrong of cached and of exposed memory.

use std::ptr::NonNull;

use hal::{
    CoreId, Home, LINE_BYTES, Line, Region, Regions, Topology,
    cached::{Touch, ViewAccess},
    kind,
    kit::{CachedMemory, CombinedLines, ExposedMemory, Slot},
};

use super::{Defect, Defective, EXPOSED_BYTES, PAIR_BYTES, is_exposed};

// SAFETY: the hardware below promises it.
unsafe impl CachedMemory for Defective {
    const WATCHES_VIEWS: bool = true;

    fn view_address(&self, region: Region<kind::Cached>) -> *mut u8 {
        self.inner.view_address(region)
    }

    fn touch(&self, region: Region<kind::Cached>, access: ViewAccess) -> Option<Touch> {
        if self.is(Defect::SlicesStayClean) && access == ViewAccess::SliceMut {
            return self.inner.touch(region, ViewAccess::Slice);
        }
        self.is_dirty.set(self.is_dirty.get() || access.writes());
        for pair in self.pairs(region) {
            self.inner.touch(pair, ViewAccess::Load)?;
            if access.writes() {
                self.dirty_pairs.borrow_mut().insert(pair.start());
            }
        }
        let touch = self.inner.touch(region, access);
        for line in (0..region.len_lines()).map(|line| region.start().plus(LINE_BYTES * line)) {
            if self.present.borrow_mut().insert(line) && access.writes() && self.is(Defect::StoresFetchNothing) {
                let offset = line.offset() - region.start().offset();
                // SAFETY: the line was touched for a store, which follows, and the region is that line or has it.
                unsafe { self.inner.view_address(region).add(offset).cast::<Line>().write(Line::default()) };
            }
        }
        touch
    }

    fn end_access(&self, region: Region<kind::Cached>, touch: Touch) {
        self.inner.end_access(region, touch);
    }

    fn end_view(&self, region: Region<kind::Cached>) {
        self.inner.end_view(region);
    }

    fn end_slices(&self) {
        self.inner.end_slices();
    }

    fn flush(&self, region: Region<kind::Cached>) {
        let is_kept = match self.defect {
            Defect::FlushesNothing => true,
            Defect::FlushesDirtyLinesOnly => !self.is_dirty.replace(false),
            Defect::FlushesNoExposures => matches!(region.start().home(), Home::Core(_)),
            _ => false,
        };
        if !is_kept {
            for line in 0..region.len_lines() {
                self.present.borrow_mut().remove(&region.start().plus(LINE_BYTES * line));
            }
            let spared = usize::from(self.is(Defect::FlushesAllButLast));
            let lines = region.lines_around(0, region.len_bytes() - spared * LINE_BYTES);
            self.write_pairs_back(lines);
            self.inner.flush(lines);
        }
    }

    fn flush_all(&self) {
        if self.is(Defect::FlushesAllButExposures) {
            // SAFETY: nothing else uses this machine.
            let regions = unsafe { Regions::new(self.layout().controllers()) };
            let lines = self.present.borrow().iter().copied().filter(|line| !is_exposed(*line)).collect::<Vec<_>>();
            return lines.into_iter().for_each(|line| self.flush(regions.region(line, LINE_BYTES)));
        }
        if !self.is(Defect::FlushesAllOfNothing) {
            let pairs = self.dirty_pairs.borrow().iter().copied().collect::<Vec<_>>();
            // SAFETY: nothing else uses this machine.
            let regions = unsafe { Regions::new(self.layout().controllers()) };
            pairs.into_iter().for_each(|pair| self.write_pairs_back(regions.region(pair, PAIR_BYTES)));
            self.present.borrow_mut().clear();
            self.is_dirty.set(false);
            self.inner.flush_all();
        }
    }
}

// SAFETY: the hardware below promises it. What is not exposed anew leads nowhere, or to what was exposed before and is
// never given back; what is not concealed, the check keeps, or
// has nobody reach any more.
unsafe impl ExposedMemory for Defective {
    unsafe fn expose(&self, region: Region<kind::Cached>, memory: NonNull<u8>) {
        let memory = if self.is(Defect::ExposesNothingNew) {
            NonNull::from(Box::leak(Box::new([Line::default(); 2]))).cast()
        } else {
            memory
        };
        // SAFETY: the caller says so, or two lines are leaked, which is as many as a check exposes.
        unsafe { self.inner.expose(region, memory) }
    }

    fn conceal(&self, region: Region<kind::Cached>) -> Result<(), CoreId> {
        match self.defect {
            Defect::ConcealsNothing => Ok(()),
            Defect::ConcealsWhatIsReached => self.inner.conceal(region).or(Ok(())),
            _ => self.inner.conceal(region),
        }
    }

    fn reach(&self, region: Region<kind::Cached>) {
        self.inner.reach(region);
    }

    fn let_go(&self, region: Region<kind::Cached>) {
        match self.defect {
            Defect::NeverLetsGo => {}
            // Tables are looked up by where a region starts and how long it is.
            Defect::LetsGoOfWholesOnly if region.len_bytes() < EXPOSED_BYTES => self.inner.drain(),
            Defect::LetsGoOfOneOnly => self.inner.let_go(region.lines_around(0, LINE_BYTES)),
            _ => self.inner.let_go(region),
        }
    }

    fn map_slot(&self, slot: Slot, place: usize) {
        self.inner.map_slot(slot, place);
    }

    fn forget_slot(&self, slot: Slot) {
        if !self.is(Defect::ForgetsNoSlots) {
            self.inner.forget_slot(slot);
        }
    }
}
