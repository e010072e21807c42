//! Memory of the host that stands for a machine's.

use std::ptr::{self, NonNull};

use super::PAGE_BYTES;

/// What memory is aligned to: the bytes of a way of the SCC's L2, so that its caches find the same places in each run.
const ALIGNMENT: usize = 64 << 10;
const _: () = assert!(ALIGNMENT.is_multiple_of(PAGE_BYTES));

/// Zeroed memory, aligned to what caches tell apart, that the host provides page by page as it is touched.
///
/// It is mapped by itself. An allocator would hand out what others have given back, and clear it by hand: all of a machine's
/// memory, in every one of thousands of short runs.
pub struct HostMemory {
    start: NonNull<u8>,
    len: usize,
    /// What is mapped, with what is before and behind, which nobody touches.
    mapped: (NonNull<u8>, usize),
}

impl HostMemory {
    /// `len` bytes of zeros.
    ///
    /// # Panics
    /// If the address space has no such room.
    pub fn new(len: usize) -> Self {
        let (protection, flags) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
        let all = len.checked_add(ALIGNMENT).expect("a length that a mapping can have");
        // SAFETY: a new mapping, wherever there is room, of at least a byte.
        let mapped = unsafe { libc::mmap(ptr::null_mut(), all, protection, flags, -1, 0) };
        assert!(mapped != libc::MAP_FAILED, "the host has no room for {len} bytes of a machine's memory");
        let mapped = NonNull::new(mapped.cast::<u8>()).expect("a mapping at an address of the host's choice");
        let before = mapped.as_ptr().addr().next_multiple_of(ALIGNMENT) - mapped.as_ptr().addr();
        // SAFETY: inside the mapping, which is longer than `len` by more than `before`.
        let start = unsafe { mapped.add(before) };
        Self { start, len, mapped: (mapped, all) }
    }

    /// Byte `offset`, with at least `len` bytes from there on.
    ///
    /// # Panics
    /// If there are fewer.
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
// SAFETY: a shared one gives out pointers only, too: who accesses them sees to it that nobody else does.
unsafe impl Sync for HostMemory {}

impl Drop for HostMemory {
    fn drop(&mut self) {
        // SAFETY: mapped in `new` with this length.
        unsafe { libc::munmap(self.mapped.0.as_ptr().cast(), self.mapped.1) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_aligned_whatever_its_length() {
        let all = [0, 1, PAGE_BYTES, ALIGNMENT, 3 * ALIGNMENT + 1].map(HostMemory::new);
        for memory in &all {
            let start = memory.at(0, memory.len);
            assert!(start.addr().is_multiple_of(ALIGNMENT), "{start:?}");
            if memory.len > 0 {
                // SAFETY: the last byte of the memory, which nobody else has.
                unsafe { start.add(memory.len - 1).write(1) };
            }
        }
    }
}
