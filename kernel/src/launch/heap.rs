//! The heap of a core: its own memory, its own lock.

use core::{
    alloc::{GlobalAlloc, Layout},
    ptr::{self, NonNull},
    sync::atomic::{AtomicUsize, Ordering},
};

use hal::HeapExhausted;
use linked_list_allocator::Heap;
use spin::Mutex;

use super::machine::{memory, without_interrupts};

/// Lies in private memory, as every static: so each core has a heap of its own, and the lock only serves the type.
#[global_allocator]
static HEAP: CoreHeap = CoreHeap { heap: Mutex::new(Heap::empty()), refused: AtomicUsize::new(0) };

struct CoreHeap {
    heap: Mutex<Heap>,
    /// Bytes of the last allocation, if there was no room for it.
    refused: AtomicUsize,
}

// SAFETY: 1. memory comes from `Heap`, which gives out each byte once, with the alignment of the layout;
// 2. it is locked during each call, and neither panics nor unwinds; 3. handlers of faults do not allocate, and those
//   of interrupts
// do not come meanwhile, so the lock is never taken twice by a core.
unsafe impl GlobalAlloc for CoreHeap {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        match without_interrupts(|| self.heap.lock().allocate_first_fit(layout)) {
            Ok(block) => {
                // Whatever was refused before, the program has coped with it. Looked at first: a store to a line that no cache has
                // goes out to memory each time.
                if self.refused.load(Ordering::Relaxed) != 0 {
                    self.refused.store(0, Ordering::Relaxed);
                }
                block.as_ptr()
            }
            Err(()) => {
                self.refused.store(layout.size(), Ordering::Relaxed);
                ptr::null_mut()
            }
        }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        if let Some(block) = NonNull::new(block) {
            // SAFETY: the caller returns what `alloc` gave it for the same layout.
            without_interrupts(|| unsafe { self.heap.lock().deallocate(block, layout) });
        }
    }
}

/// Prepares the heap of this core. Called once, before anything is allocated.
pub(super) fn initialise() {
    let (start, bytes) = memory::heap();
    // SAFETY: the range is mapped, private to this core, and nothing else uses it; the heap was empty until now.
    unsafe { HEAP.heap.lock().init(start, bytes) }
}

/// If the last allocation of this core, which is `core`, was refused: what to say of it.
pub(super) fn exhausted(core: usize) -> Option<HeapExhausted> {
    let bytes = HEAP.refused.load(Ordering::Relaxed);
    (bytes > 0).then(|| HeapExhausted { core, bytes, heap_bytes: memory::program_heap_bytes() })
}
