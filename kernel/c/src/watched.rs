//! Which memory of a program a machine that checks it wants to know about, so that all other loads and stores cost next to nothing.

use alloc::{boxed::Box, vec};
use core::cell::Cell;

/// Bytes of a page, as a power of two.
const PAGE_BITS: u32 = 12;

/// Pages that are told apart.
const PAGES: usize = 1 << 16;

/// Pages that somebody else may reach, as bits; several pages may have one bit. `watch.c` looks at them.
pub(crate) struct Watched(Option<Box<[Cell<u8>]>>);

impl Watched {
    pub(crate) fn new(is_checked: bool) -> Self {
        Self(is_checked.then(|| vec![Cell::new(0); PAGES / 8].into()))
    }

    /// The bits, for C; a null pointer if nothing is checked.
    pub(crate) fn bits(&self) -> *const u8 {
        self.0.as_ref().map_or(core::ptr::null(), |bits| bits.as_ptr().cast())
    }

    /// From now on this memory is watched.
    pub(crate) fn add(&self, start: usize, len: usize) {
        let Some(bits) = self.0.as_ref().filter(|_| len > 0) else { return };
        let last = start.saturating_add(len - 1) >> PAGE_BITS;
        for page in (start >> PAGE_BITS..=last).take(PAGES) {
            let byte = &bits[page % PAGES / 8];
            byte.set(byte.get() | 1 << (page % 8));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_have_bits() {
        let watched = Watched::new(true);
        watched.add((PAGES + 9) << PAGE_BITS, 4097);
        watched.add(5, 0);
        // SAFETY: there are as many bits as pages.
        let bits = unsafe { core::slice::from_raw_parts(watched.bits(), PAGES / 8) };
        assert_eq!((bits[0], bits[1], bits[2]), (0, 0b110, 0));
        assert!(Watched::new(false).bits().is_null());
    }
}
