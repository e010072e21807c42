//! Memory that is reached through the caches: views and flushes.

use core::ptr::NonNull;

use crate::{
    Cached, Caches, ClaimError, CoreId, Home, LocalView, Pod, Region, Topology,
    cached::{
        ViewWindow,
        access::{Touch, ViewAccess},
    },
    kind,
};

use super::{
    Account, HardwareCore,
    event::{Event, Upkeep},
    hardware::{Hardware, Hooks},
    terms::Expense,
    tracing::NotingOperations,
    views::Views,
};

impl<H: Hardware> HardwareCore<H> {
    /// This core is at a coherence point.
    pub(super) fn end_its_slices(&self, caches: &Caches) {
        if !H::IS_ALONE {
            caches.assert_of(self);
        }
        if H::WATCHES_VIEWS {
            self.hardware.end_slices();
        }
    }

    pub(super) fn count_flush(&self, region: Region<kind::Cached>) {
        self.hardware.account().counting().flushes.add(1);
        self.hardware.hooks().spend(Expense::Flush { lines: region.len_lines() as u32 });
    }

    /// Writes a region back and forgets it, as far as this core may have it in its caches.
    pub(super) fn flush(&self, region: Region<kind::Cached>) {
        self.count_flush(region);
        // This core has nothing of what others expose, and nobody has anything of no bytes.
        if !region.is_empty() && Account::foreign(self, region).is_none() {
            self.hardware.flush(region);
        }
    }
}

// SAFETY: 1. and 4. are promises of `CachedMemory`: `claim` has entered the view of what the core exposes, or shared memory;
// 2. `claim`; 3. a promise of `CachedMemory`.
unsafe impl<H: Hardware> ViewWindow for HardwareCore<H> {
    fn watches_accesses(&self) -> bool {
        H::WATCHES_VIEWS
    }

    unsafe fn touch(&self, region: Region<kind::Cached>, access: ViewAccess) -> Option<Touch> {
        let operation = self.operation();
        let touch = self.hardware.touch(region, access)?;
        if touch.is_held {
            // The access follows before anybody else's turn, and before this core's handler.
            operation.leave_open();
        }
        Some(touch)
    }

    fn accessed(&self, region: Region<kind::Cached>, first_byte: usize, len: usize, access: ViewAccess) {
        self.hardware.hooks().witness(|| Event::View { start: region.start().plus(first_byte), len, access });
    }

    unsafe fn end_access(&self, region: Region<kind::Cached>, touch: Touch) {
        let _operation = if touch.is_held { self.take_up() } else { self.operation() };
        self.hardware.end_access(region, touch);
    }

    unsafe fn release(&self, region: Region<kind::Cached>) {
        let _operation = self.operation();
        self.hardware.account().views.leave(region);
        if H::WATCHES_VIEWS {
            self.hardware.end_view(region);
        }
    }
}

impl<H: Hardware> Cached for HardwareCore<H> {
    fn claim<T: Pod>(&self, region: Region<kind::Cached>, len: usize) -> Result<LocalView<'_, T>, ClaimError> {
        let _operation = self.operation();
        Views::fit::<T>(self.layout(), region, len)?;
        let start = region.start();
        if let Home::Core(owner) = start.home()
            && !(owner == self.core() && self.hardware.account().exposes(start.offset(), region.len_bytes()))
        {
            return Err(ClaimError::NotExposed { start });
        }
        self.hardware.account().views.enter(region)?;
        let memory = self.hardware.view_address(region).cast::<T>();
        let elements = NonNull::new(memory).expect("nothing that can be viewed is at address 0");
        // SAFETY: 1. a promise of `CachedMemory`; what is exposed is not concealed before its views are dropped;
        // 2. regions start on line boundaries and the length was checked; 3. the claim was entered above.
        Ok(unsafe { LocalView::new(elements, len, region, self) })
    }

    fn write_back_invalidate(&self, caches: &mut Caches, region: Region<kind::Cached>) {
        let _operation = self.operation();
        self.end_its_slices(caches);
        let _span = self.hardware.hardware_span("flush", region.start().home(), region.len_bytes());
        self.asked(Upkeep::Flush, || self.flush(region));
    }

    fn write_back_invalidate_all(&self, caches: &mut Caches) {
        let _operation = self.operation();
        self.end_its_slices(caches);
        let _span = self.hardware.hardware_span("flush of everything", None::<CoreId>, 0);
        self.hardware.account().counting().flushes.add(1);
        self.asked(Upkeep::Purge, || {
            self.hardware.hooks().spend(Expense::FlushAll);
            self.hardware.flush_all();
        });
    }

    fn end_slices(&self, caches: &mut Caches) {
        if H::WATCHES_VIEWS {
            let _operation = self.operation();
            self.end_its_slices(caches);
        } else {
            caches.assert_of(self);
        }
    }

    fn take_caches(&self) -> Option<Caches> {
        let _operation = self.operation();
        // SAFETY: the flag lets only one token of this core come into being, and no other value is this core, which is a
        // promise of `CachedMemory`.
        (!self.hardware.account().caches_taken.replace(true)).then(|| unsafe { Caches::new(self) })
    }
}
