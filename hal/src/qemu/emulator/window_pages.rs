//! The caching region's building blocks: a window of pages that each core, or each coherence domain, maps as it likes.
//!
//! Page `i` of the window stands for page `i` of the emulated shared DRAM, and further on for what the core exposes.
//! At start no page is present, so the first access faults and the fault handler (see
//! [`set_fault_handler`](crate::qemu::trap::set_fault_handler)) gives it one of its own frames, filled with a copy.
//! Frames and their twins are always reachable under a second address, [`Frames::frame`] and [`Frames::twin`], which does
//! not touch the dirty bit of the window's page.
//!
//! The part of the window for shared DRAM is the core's own or that of its coherence domain, with frames in another
//! place ([`Frames`]); the rest is always the core's own. What cores share they change one at a time, under the lock of
//! [`domain`](super::domain).

use core::sync::atomic::{AtomicU32, Ordering};

use crate::{
    bare::{PAGE_BYTES, paging::Entry},
    qemu::{
        handed::facts,
        memory::{
            addresses::{self, CACHE_WINDOW_BASE, CACHE_WINDOW_BYTES},
            demand,
        },
    },
};

/// Pages of the window.
pub(crate) const PAGES: usize = CACHE_WINDOW_BYTES / PAGE_BYTES;

/// Where the core's frames and twins begin, and those of its domain: for debuggers, which see statics and no constants.
#[used]
static FRAMES_AND_TWINS: [usize; 4] = [
    addresses::CACHE_FRAMES_BASE,
    addresses::CACHE_TWINS_BASE,
    addresses::DOMAIN_FRAMES_BASE,
    addresses::DOMAIN_TWINS_BASE,
];

/// Contents of a page.
pub(crate) type Page = [u8; PAGE_BYTES];

/// Who owns the frames of a page.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Frames {
    /// The core alone.
    Own,
    /// All cores of its coherence domain together.
    Domain,
}

impl Frames {
    /// Number of frames, and of twins (`cache_frames=` for each core on the command line).
    pub(crate) fn capacity(self) -> usize {
        match self {
            Self::Own => facts::information().own_frames(),
            Self::Domain => facts::information().domain_frames(),
        }
    }

    /// A frame, under the address that is always mapped.
    ///
    /// # Panics
    /// The index lies beyond the [`capacity`](Self::capacity).
    pub(crate) fn frame(self, frame_index: usize) -> *mut Page {
        self.page(addresses::CACHE_FRAMES_BASE, addresses::DOMAIN_FRAMES_BASE, frame_index)
    }

    /// The twin of a frame.
    ///
    /// # Panics
    /// The index lies beyond the [`capacity`](Self::capacity).
    pub(crate) fn twin(self, frame_index: usize) -> *mut Page {
        self.page(addresses::CACHE_TWINS_BASE, addresses::DOMAIN_TWINS_BASE, frame_index)
    }

    fn page(self, own: usize, domain: usize, index: usize) -> *mut Page {
        assert!(index < self.capacity());
        let base = if self == Self::Own { own } else { domain };
        core::ptr::with_exposed_provenance_mut(base + index * PAGE_BYTES)
    }
}

/// Address of a page of the window.
///
/// # Panics
/// The index lies beyond the window.
pub(crate) fn address(page_index: usize) -> *mut Page {
    assert!(page_index < PAGES);
    core::ptr::with_exposed_provenance_mut(CACHE_WINDOW_BASE + page_index * PAGE_BYTES)
}

/// The page of the window that an address lies in.
pub(crate) fn page_of(address: usize) -> Option<usize> {
    let offset = address.checked_sub(CACHE_WINDOW_BASE)?;
    (offset < CACHE_WINDOW_BYTES).then_some(offset / PAGE_BYTES)
}

fn read_entry(address: usize) -> Entry {
    // SAFETY: the window and the frames have page tables on every core.
    unsafe { demand::read_entry(address) }
}

fn write_entry(page_index: usize, value: Entry) {
    let page = address(page_index).addr();
    // SAFETY: the window has page tables on every core; they are this core's own, or its domain's, whose lock it holds;
    // and what becomes of the page's memory is the business of the callers' callers.
    unsafe { demand::write_entry(page, value) }
}

/// Shows a frame in the window, writable and clean.
///
/// # Safety
/// No reference to the window's page may be alive, and every further use of a reference to the frame must respect that
/// the page is the same memory.
///
/// # Panics
/// The index lies beyond the window or the frames' capacity.
pub(crate) unsafe fn map(page_index: usize, frames: Frames, frame_index: usize) {
    let frame = frames.frame(frame_index);
    // SAFETY: the frame is mapped or at least promised. If this is the first touch, the page is cleared now and not
    // later, when it has contents.
    unsafe { frame.cast::<u8>().read_volatile() };
    let physical = read_entry(frame.addr()).address();
    write_entry(page_index, Entry::new(physical, Entry::WRITABLE));
}

/// Takes a page out of the window; the next access faults.
///
/// # Safety
/// No reference to the window's page may be alive, unless the fault handler brings back a page that keeps its promises.
///
/// # Panics
/// The index lies beyond the window.
pub(crate) unsafe fn unmap(page_index: usize) {
    write_entry(page_index, Entry::empty());
}

/// Takes a page out of the window that several cores share, but remembers whether it is dirty. Other cores may see it
/// until they have forgotten old translations.
///
/// # Panics
/// The index lies beyond the window.
pub(crate) fn hide(page_index: usize) {
    let entry = demand::entry(address(page_index).addr()).cast::<u32>();
    // SAFETY: the window has page tables on every core, and an entry is aligned. Other cores' processors set bits of it
    // meanwhile, as atomically.
    let entry = unsafe { AtomicU32::from_ptr(entry) };
    entry.fetch_and(!Entry::PRESENT.bits(), Ordering::SeqCst);
}

/// Whether something was stored through the window since the page was mapped or [`clear_dirty`] was called.
///
/// # Panics
/// The index lies beyond the window.
pub(crate) fn is_dirty(page_index: usize) -> bool {
    read_entry(address(page_index).addr()).contains(Entry::DIRTY)
}

/// Forgets that something was stored.
///
/// # Panics
/// The index lies beyond the window.
pub(crate) fn clear_dirty(page_index: usize) {
    let value = read_entry(address(page_index).addr());
    write_entry(page_index, value - Entry::DIRTY);
}
