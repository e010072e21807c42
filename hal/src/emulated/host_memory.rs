//! Memory of the host that stands for a machine's.

use std::ptr::{self, NonNull};

use super::PAGE_BYTES;

/// Zeroed memory, aligned to a page, that the host provides page by page as it is touched.
///
/// It is mapped by itself. An allocator would hand out what others have given back, and clear it by hand: all of a machine's
/// memory, in every one of thousands of short runs.
pub struct HostMemory {
    start: NonNull<u8>,
    len: usize,
}

impl HostMemory {
    /// `len` bytes of zeros.
    ///
    /// # Panics
    /// If the address space has no such room.
    pub fn new(len: usize) -> Self {
        let (protection, flags) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
        // SAFETY: a new mapping, wherever there is room, of at least a byte.
        let mapped = unsafe { libc::mmap(ptr::null_mut(), len.max(1), protection, flags, -1, 0) };
        assert!(mapped != libc::MAP_FAILED, "the host has no room for {len} bytes of a machine's memory");
        let start = NonNull::new(mapped.cast::<u8>()).expect("a mapping at an address of the host's choice");
        debug_assert!(start.as_ptr().addr().is_multiple_of(PAGE_BYTES));
        Self { start, len }
    }

    /// Byte `offset`, with at least `len` bytes from there on.
    ///
    /// # Panics
    /// If there are not as many.
    pub fn at(&self, offset: usize, len: usize) -> *mut u8 {
        assert!(
            offset <= self.len && len <= self.len - offset,
            "the machine has no such memory, of {} bytes",
            self.len
        );
        // SAFETY: inside the buffer, as just checked.
        unsafe { self.start.add(offset).as_ptr() }
    }
}

// SAFETY: it owns what it has mapped, and gives out pointers only: who accesses them sees to it that nobody else does.
unsafe impl Send for HostMemory {}
// SAFETY: as above.
unsafe impl Sync for HostMemory {}

impl Drop for HostMemory {
    fn drop(&mut self) {
        // SAFETY: mapped in `new` with this length.
        unsafe { libc::munmap(self.start.as_ptr().cast(), self.len.max(1)) };
    }
}
