//! Which local views a core holds.

use core::cell::RefCell;

use heapless::Vec;

use crate::{ClaimError, LINE_BYTES, Layout, Pod, Region, kind};

/// Local views that a core can hold at a time.
const MAX_VIEWS: usize = 64;

/// The regions of all views that a core holds.
#[derive(Default)]
pub(super) struct Views(RefCell<Vec<Region<kind::Cached>, MAX_VIEWS>>);

impl Views {
    /// Whether a machine has a region, and `len` elements have room in it.
    pub(super) fn fit<T: Pod>(layout: &Layout, region: Region<kind::Cached>, len: usize) -> Result<(), ClaimError> {
        const {
            assert!(
                align_of::<T>() <= LINE_BYTES && size_of::<T>() > 0,
                "elements are aligned like lines and not empty"
            )
        };
        if region.start().controller().is_some_and(|controller| controller >= layout.controllers()) {
            return Err(ClaimError::NoSuchMemory { start: region.start() });
        }
        let wanted_bytes = len.saturating_mul(size_of::<T>());
        if wanted_bytes > region.len_bytes() {
            return Err(ClaimError::Length { len_bytes: region.len_bytes(), wanted_bytes });
        }
        Ok(())
    }

    /// Notes a view.
    pub(super) fn enter(&self, region: Region<kind::Cached>) -> Result<(), ClaimError> {
        if self.overlap(region) {
            return Err(ClaimError::Claimed { start: region.start() });
        }
        self.0.borrow_mut().push(region).map_err(|_| ClaimError::TooMany { limit: MAX_VIEWS })
    }

    /// A view is gone.
    pub(super) fn leave(&self, region: Region<kind::Cached>) {
        let mut views = self.0.borrow_mut();
        if let Some(index) = views.iter().position(|view| *view == region) {
            views.swap_remove(index);
        }
    }

    /// Whether there is a view of a byte of a region.
    pub(super) fn overlap(&self, region: Region<kind::Cached>) -> bool {
        self.0.borrow().iter().any(|view| view.overlaps(&region))
    }
}
