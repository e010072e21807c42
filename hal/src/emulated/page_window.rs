//! Where private copies of cached memory live, and which copy is of what.

use crate::{
    CoreId, SharedAddress,
    address::Home,
    topology::{EXPOSED_BYTES_PER_CORE, MAX_CONTROLLERS, SHARED_BYTES_PER_CONTROLLER},
};

/// Bytes of a page.
pub const PAGE_BYTES: usize = crate::kit::PAGE_BYTES;

/// Where the copies of what the core itself exposes begin in its window, after those of all controllers' shared memory.
pub const EXPOSED_POSITION: usize = MAX_CONTROLLERS * SHARED_BYTES_PER_CONTROLLER;

/// Bytes of a window.
pub const WINDOW_BYTES: usize = EXPOSED_POSITION + EXPOSED_BYTES_PER_CORE;

const _: () = assert!(WINDOW_BYTES / PAGE_BYTES <= u32::MAX as usize, "a page number fits 32 bits");

/// Where the copy of a byte is in the window of a core that may have one: of shared memory, and of what it exposes
/// itself.
pub(super) fn position(at: SharedAddress) -> usize {
    match at.home() {
        Home::Controller(_) => at.flat(),
        Home::Core(_) => EXPOSED_POSITION + at.offset(),
    }
}

/// The inverse of [`position`], in the window of `core`.
pub(super) fn address_at(position: usize, core: CoreId) -> SharedAddress {
    match position.checked_sub(EXPOSED_POSITION) {
        None => SharedAddress::from_flat(position),
        Some(offset) => SharedAddress::exposed(core, offset),
    }
}

/// Where the private copies live: one window as large as all memory that a core may have copies of, and a few frames
/// with their twins.
///
/// # Safety
/// 1. [`address`](Self::address) points to the byte at that position of one stretch of [`WINDOW_BYTES`], at multiples of
///    a page for multiples of a page, valid for reads and writes once touched, as long as the window exists; in the
///    stretch, only the controllers and the exposed memory that the machine has need memory.
/// 2. [`contents`](Self::contents) and [`twin`](Self::twin) point to a page's bytes, valid for reads and writes; those of
///    two frames, and contents and twins, have no byte in common.
/// 3. Where pages [fault](Self::faults), a page that is accessed again after it was taken away is fetched before the
///    access is carried out.
/// 4. [`frames`](Self::frames) is always the same, at least 1, and frames are asked for below it only.
/// 5. Between [`exclude`](Self::exclude) and the end of what it returns, no other core reaches the copies but by views.
pub unsafe trait PageWindow {
    /// Keeps other cores that run at the same time out of the copies.
    type Exclusion;

    /// Begins to keep them out. Where cores take turns by themselves, and see the copies between two steps of an
    /// operation only, nothing has to be done.
    fn exclude(&self) -> Self::Exclusion;

    /// Pages that can be resident at a time; more than an engine can keep account of are not used.
    fn frames(&self) -> usize;

    /// Whether an access to a page that is not resident makes it resident.
    fn faults(&self) -> bool;

    /// The address at which programs see the byte at `position`. Only touched pages may be accessed.
    fn address(&self, position: usize) -> *mut u8;

    /// `page` is about to be filled: what programs do to it counts from here on.
    fn prepare(&self, page: usize);

    /// Where the contents of `page`, whose frame is `frame`, can be reached whether programs see it or not:
    /// [`PAGE_BYTES`] bytes.
    fn contents(&self, page: usize, frame: usize) -> *mut u8;

    /// Lets programs see `page` in the frame `frame`, which has been filled.
    fn map(&self, page: usize, frame: usize);

    /// Takes `page` away from programs of several cores for good: it is written back and [unmapped](Self::unmap) next.
    /// It is known only after [`settle`](Self::settle) that none of them sees it any more.
    fn hide(&self, page: usize);

    /// Returns when no core sees a page any more that has been hidden.
    fn settle(&self);

    /// Takes the frame of `page` away.
    fn unmap(&self, page: usize);

    /// The twin of frame `frame`: [`PAGE_BYTES`] bytes.
    fn twin(&self, frame: usize) -> *mut u8;

    /// Whether `page` may have been stored to since [`set_clean`](Self::set_clean).
    fn is_dirty(&self, page: usize) -> bool;

    /// Notes that a program is about to store to `page`, where the window cannot see that by itself.
    fn set_dirty(&self, page: usize);

    /// Notes that `page` equals its twin.
    fn set_clean(&self, page: usize);
}

/// How much is fetched at a time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FetchUnit {
    /// Whole pages, as an MMU can.
    Page,
    /// Single lines, as hardware does.
    Line,
}
