//! Memory that the runs of a thread use one after the other, cleared in between as far as it was touched.
//!
//! A mapping of its own for each run is all zeros, but making and removing it, and all of its pages, takes a short run longer than
//! what the run does, and stops all threads of the process meanwhile: an exploration makes thousands of short runs.

use std::{
    cell::{Cell, RefCell},
    mem,
    ops::Range,
};

use crate::emulated::{HostMemory, PAGE_BYTES};

/// Memories that a thread keeps for its next runs. A machine has two, for MPBs and for DRAM; a core may run a machine itself.
const MOST_SPARE: usize = 4;

/// Touched pages, 16 MiB, beyond which a memory is not kept: new pages are made as quickly as these are cleared.
const MOST_TOUCHED: usize = 4096;

thread_local! {
    static SPARE: RefCell<Vec<Followed>> = const { RefCell::new(Vec::new()) };
}

/// Memory, and which of its pages may differ from zeros: those to which somebody had a pointer.
struct Followed {
    memory: HostMemory,
    len: usize,
    touched: Vec<Cell<bool>>,
    /// The pages that `touched` has.
    pages: RefCell<Vec<usize>>,
}

impl Followed {
    fn new(len: usize) -> Self {
        let touched = vec![Cell::new(false); len.div_ceil(PAGE_BYTES)];
        Self { memory: HostMemory::new(len), len, touched, pages: RefCell::default() }
    }

    #[cold]
    fn note(&self, pages: Range<usize>) {
        self.pages.borrow_mut().extend(pages.filter(|page| !self.touched[*page].replace(true)));
    }

    /// Clears what was touched.
    fn clear(&mut self) {
        for page in mem::take(self.pages.get_mut()) {
            self.touched[page].set(false);
            let (start, end) = (page * PAGE_BYTES, self.len.min((page + 1) * PAGE_BYTES));
            // SAFETY: bytes of the memory, which its user has dropped, and with it all pointers to them.
            unsafe { self.memory.at(start, end - start).write_bytes(0, end - start) };
        }
    }
}

/// Zeroed memory of a run. Its user uses no pointer to it any more when it is dropped.
pub(super) struct ReusedMemory(Option<Followed>);

impl ReusedMemory {
    /// `len` bytes of zeros.
    pub(super) fn new(len: usize) -> Self {
        let spare = SPARE.with_borrow_mut(|spare| {
            let place = spare.iter().rposition(|followed| followed.len == len)?;
            Some(spare.remove(place))
        });
        Self(Some(spare.unwrap_or_else(|| Followed::new(len))))
    }

    /// Byte `offset`, with at least `len` bytes from there on.
    ///
    /// # Panics
    /// If there are fewer.
    #[inline]
    pub(super) fn at(&self, offset: usize, len: usize) -> *mut u8 {
        let followed = self.0.as_ref().expect("it is there until it is dropped");
        let byte = followed.memory.at(offset, len);
        let pages = offset / PAGE_BYTES..(offset + len).div_ceil(PAGE_BYTES);
        if !followed.touched[pages.clone()].iter().all(Cell::get) {
            followed.note(pages);
        }
        byte
    }
}

impl Drop for ReusedMemory {
    fn drop(&mut self) {
        let Some(mut followed) = self.0.take() else { return };
        if followed.pages.get_mut().len() > MOST_TOUCHED {
            return;
        }
        followed.clear();
        // A thread that ends has nothing to keep it in.
        let _ = SPARE.try_with(|spare| {
            let spare = &mut *spare.borrow_mut();
            if spare.len() == MOST_SPARE {
                spare.remove(0);
            }
            spare.push(followed);
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_comes_next_finds_zeros() {
        for len in [1, PAGE_BYTES, 3 * PAGE_BYTES + 5] {
            let mut starts = Vec::new();
            for _ in 0..3 {
                let memory = ReusedMemory::new(len);
                for byte in 0..len {
                    // SAFETY: a byte of the memory, which nobody else has.
                    assert_eq!(unsafe { memory.at(byte, 1).replace(7) }, 0, "byte {byte} of {len}");
                }
                starts.push(memory.at(0, len));
            }
            assert!(starts.windows(2).all(|two| two[0] == two[1]), "it is the same memory: {starts:?}");
        }
    }

    #[test]
    fn pages_that_a_length_spans_are_cleared() {
        const LEN: usize = 4 * PAGE_BYTES;
        let memory = ReusedMemory::new(LEN);
        // SAFETY: bytes of the memory, which nobody else has.
        unsafe { memory.at(PAGE_BYTES - 1, 2 * PAGE_BYTES).write_bytes(7, 2 * PAGE_BYTES) };
        let start = memory.at(0, 0);
        drop(memory);
        let memory = ReusedMemory::new(LEN);
        assert_eq!(memory.at(0, 0), start, "it is the same memory");
        // SAFETY: as above.
        assert!((0..LEN).all(|byte| unsafe { memory.at(byte, 1).read() } == 0));
    }
}
