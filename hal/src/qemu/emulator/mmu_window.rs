//! The window of copies, made by the MMU: pages that are not resident fault.

use core::ptr::with_exposed_provenance_mut;

use crate::{
    emulated::PageWindow,
    qemu::{
        emulator::{
            domain,
            window_pages::{self, Frames},
        },
        lock::EmulatorGuard,
        memory::addresses,
    },
};

/// The window of a core, or the part of it that is its coherence domain's.
pub struct MmuWindow {
    frames: Frames,
}

impl MmuWindow {
    /// The core's own.
    pub(crate) const fn own() -> Self {
        Self { frames: Frames::Own }
    }

    /// The one that the cores of a domain share.
    pub(crate) const fn domain() -> Self {
        Self { frames: Frames::Domain }
    }

    fn is_shared(&self) -> bool {
        self.frames == Frames::Domain
    }
}

/// Keeps the other cores of the domain out, where they share the window.
pub struct Exclusion(#[expect(dead_code, reason = "its end is what counts")] Option<EmulatorGuard<'static, ()>>);

// SAFETY: 1. the window has addresses of its own, and its pages are mapped by the fault handler; 2. `window_pages` gives
// each frame and twin pages of its own; 3. by the fault handler; 4. the lock of the domain, where there are others.
unsafe impl PageWindow for MmuWindow {
    type Exclusion = Exclusion;

    fn exclude(&self) -> Exclusion {
        Exclusion(self.is_shared().then(domain::exclude))
    }

    fn frames(&self) -> usize {
        self.frames.capacity()
    }

    fn faults(&self) -> bool {
        true
    }

    fn address(&self, position: usize) -> *mut u8 {
        with_exposed_provenance_mut(addresses::CACHE_WINDOW_BASE + position)
    }

    fn prepare(&self, _page: usize) {}

    fn contents(&self, _page: usize, frame: usize) -> *mut u8 {
        self.frames.frame(frame).cast()
    }

    fn map(&self, page: usize, frame: usize) {
        // SAFETY: the engine maps a page only when it is not resident, when no access to it is under way; it gives
        // each frame to one page at a time, and has filled it.
        unsafe { window_pages::map(page, self.frames, frame) }
    }

    fn hide(&self, page: usize) {
        if self.is_shared() {
            window_pages::hide(page);
        }
    }

    fn settle(&self) {
        if self.is_shared() {
            domain::forget_translations();
        }
    }

    fn unmap(&self, page: usize) {
        // SAFETY: the next access faults and brings the page back; slices do not survive the coherence points at
        // which pages are unmapped, except for an eviction, which is a whole page's write-back, and those of other cores
        // of the domain, from which the page has been hidden before.
        unsafe { window_pages::unmap(page) }
    }

    fn twin(&self, frame: usize) -> *mut u8 {
        self.frames.twin(frame).cast()
    }

    fn is_dirty(&self, page: usize) -> bool {
        window_pages::is_dirty(page)
    }

    fn set_dirty(&self, _page: usize) {
        // The MMU sees stores by itself.
    }

    fn set_clean(&self, page: usize) {
        // Other cores' processors may remember that the page is dirty already, and would not say so again.
        if !self.is_shared() {
            window_pages::clear_dirty(page);
        }
    }
}
