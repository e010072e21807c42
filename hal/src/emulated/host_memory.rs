//! Memory of the host that stands for a machine's.

use std::{
    alloc::{self, Layout as Allocation},
    ptr::NonNull,
};

use super::PAGE_BYTES;

/// Zeroed memory, aligned to a page, that the host provides page by page as it is touched.
pub struct HostMemory {
    allocated: NonNull<u8>,
    allocation: Allocation,
    start: NonNull<u8>,
    len: usize,
}

/// Beyond this allocators take memory from the host, untouched. What is smaller they may have used before, and would clear
/// by hand: 4 MB of every core in every one of thousands of short runs.
const FRESH_BYTES: usize = if cfg!(miri) { 0 } else { 33 << 20 };

impl HostMemory {
    /// `len` bytes of zeros.
    ///
    /// # Panics
    /// If the address space has no such room.
    pub fn new(len: usize) -> Self {
        // The allocator clears memory of a larger alignment by hand, which would touch it all; so the page is found
        // here.
        let allocation = Allocation::from_size_align(len.max(FRESH_BYTES) + PAGE_BYTES, 16)
            .expect("a buffer fits the address space");
        // SAFETY: the size is not 0.
        let allocated = unsafe { alloc::alloc_zeroed(allocation) };
        let Some(allocated) = NonNull::new(allocated) else { alloc::handle_alloc_error(allocation) };
        // SAFETY: a page was added to the size, so the next page boundary lies in the allocation.
        let start = unsafe { allocated.add(allocated.align_offset(PAGE_BYTES)) };
        Self { allocated, allocation, start, len }
    }

    /// Byte `offset`, with at least `len` bytes from there on.
    ///
    /// # Panics
    /// If there are not as many.
    pub fn at(&self, offset: usize, len: usize) -> *mut u8 {
        assert!(offset <= self.len && len <= self.len - offset, "bytes beyond the end of a buffer");
        // SAFETY: inside the buffer, as just checked.
        unsafe { self.start.add(offset).as_ptr() }
    }
}

// SAFETY: it owns what it has allocated, and gives out pointers only: who accesses them sees to it that nobody else does.
unsafe impl Send for HostMemory {}
// SAFETY: as above.
unsafe impl Sync for HostMemory {}

impl Drop for HostMemory {
    fn drop(&mut self) {
        // SAFETY: allocated in `new` with this layout.
        unsafe { alloc::dealloc(self.allocated.as_ptr(), self.allocation) };
    }
}
