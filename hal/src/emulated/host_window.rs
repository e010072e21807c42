//! Where a core on the host, or a coherence domain of them, keeps its private copies of cached shared memory.
//!
//! One buffer as large as the machine's shared memory and all that a core can expose, so that a view of any region is
//! contiguous; the host backs only the pages that are touched, and a core that never claims cached memory has no
//! buffer at all.

use std::cell::{Cell, OnceCell};

use crate::{
    LINE_BYTES,
    topology::{EXPOSED_BYTES_PER_CORE, SHARED_BYTES_PER_CONTROLLER},
};

use super::{EXPOSED_POSITION, HostMemory, PAGE_BYTES, PageWindow};

struct Copies {
    pages: HostMemory,
    twins: HostMemory,
    dirty: Vec<Cell<bool>>,
}

/// The private copies of a simulated core.
pub struct HostWindow {
    frames: usize,
    /// Bytes of shared memory that the machine has.
    shared_bytes: usize,
    copies: OnceCell<Copies>,
}

impl HostWindow {
    /// A window on the memory of the given number of controllers, in which `frames` pages can be resident.
    pub fn new(frames: usize, controllers: usize) -> Self {
        Self { frames, shared_bytes: controllers * SHARED_BYTES_PER_CONTROLLER, copies: OnceCell::new() }
    }

    fn copies(&self) -> &Copies {
        self.copies.get_or_init(|| Copies {
            pages: HostMemory::new(self.shared_bytes + EXPOSED_BYTES_PER_CORE),
            twins: HostMemory::new(self.frames * PAGE_BYTES),
            dirty: vec![Cell::new(false); (self.shared_bytes + EXPOSED_BYTES_PER_CORE) / PAGE_BYTES],
        })
    }

    /// Where in the buffer a position of the window is: what the core exposes comes after the controllers that there
    /// are, instead of after all that there could be.
    fn place(&self, position: usize) -> usize {
        position.checked_sub(EXPOSED_POSITION).map_or(position, |offset| self.shared_bytes + offset)
    }

    fn dirty(&self, page: usize) -> &Cell<bool> {
        &self.copies().dirty[self.place(page * PAGE_BYTES) / PAGE_BYTES]
    }
}

// SAFETY: 1. the buffer has room for all controllers and for what the core exposes, starts on a page, and `at` checks;
// 2. two buffers, of whole pages; 3. pages do not fault; 4. cores take turns by themselves.
unsafe impl PageWindow for HostWindow {
    type Exclusion = ();

    fn exclude(&self) {}

    fn frames(&self) -> usize {
        self.frames
    }

    fn faults(&self) -> bool {
        false
    }

    fn address(&self, position: usize) -> *mut u8 {
        self.copies().pages.at(self.place(position), LINE_BYTES)
    }

    fn prepare(&self, page: usize) {
        self.dirty(page).set(false);
    }

    fn contents(&self, page: usize, _frame: usize) -> *mut u8 {
        self.copies().pages.at(self.place(page * PAGE_BYTES), PAGE_BYTES)
    }

    fn map(&self, _page: usize, _frame: usize) {}

    fn hide(&self, _page: usize) {}

    fn settle(&self) {}

    fn unmap(&self, _page: usize) {}

    fn twin(&self, frame: usize) -> *mut u8 {
        self.copies().twins.at(frame * PAGE_BYTES, PAGE_BYTES)
    }

    fn is_dirty(&self, page: usize) -> bool {
        self.dirty(page).get()
    }

    fn set_dirty(&self, page: usize) {
        self.dirty(page).set(true);
    }

    /// A page stays suspect until it is mapped anew: the program may hold a mutable slice of it, and what it stores
    /// through that after an eviction announces itself nowhere.
    fn set_clean(&self, _page: usize) {}
}
