//! Where a simulated core keeps its private copies of cached shared memory.
//!
//! One buffer as large as all shared memory and all that a core can expose, so that a view of any region is
//! contiguous; the host backs only the pages that are touched, and a core that never claims cached memory has no
//! buffer at all.

use std::cell::{Cell, OnceCell};

use crate::{
    LINE_BYTES,
    emulated::{PAGE_BYTES, PageWindow, WINDOW_BYTES},
};

use super::memory::Buffer;

const PAGES: usize = WINDOW_BYTES / PAGE_BYTES;

struct Copies {
    pages: Buffer,
    twins: Buffer,
    dirty: Vec<Cell<bool>>,
}

/// The private copies of a simulated core.
pub struct SimWindow {
    frames: usize,
    copies: OnceCell<Copies>,
}

impl SimWindow {
    /// A window in which `frames` pages can be resident.
    pub(super) fn new(frames: usize) -> Self {
        Self { frames, copies: OnceCell::new() }
    }

    fn copies(&self) -> &Copies {
        self.copies.get_or_init(|| Copies {
            pages: Buffer::new(WINDOW_BYTES),
            twins: Buffer::new(self.frames * PAGE_BYTES),
            dirty: vec![Cell::new(false); PAGES],
        })
    }
}

impl PageWindow for SimWindow {
    fn frames(&self) -> usize {
        self.frames
    }

    fn faults(&self) -> bool {
        false
    }

    fn address(&self, position: usize) -> *mut u8 {
        self.copies().pages.at(position, LINE_BYTES)
    }

    fn map(&self, page: usize, _frame: usize) {
        self.copies().dirty[page].set(false);
    }

    fn unmap(&self, _page: usize) {}

    fn twin(&self, frame: usize) -> *mut u8 {
        self.copies().twins.at(frame * PAGE_BYTES, PAGE_BYTES)
    }

    fn is_dirty(&self, page: usize) -> bool {
        self.copies().dirty[page].get()
    }

    fn set_dirty(&self, page: usize) {
        self.copies().dirty[page].set(true);
    }

    /// A page stays suspect until it is mapped anew: the program may hold a mutable slice of it, and what it stores
    /// through that after an eviction announces itself nowhere.
    fn set_clean(&self, _page: usize) {}
}
