//! Bare metal: the program is part of the image.

use alloc::alloc::{Layout, alloc};
use core::ptr;

use kernel::Failure;

use crate::entry::{Start, of_malloc};

/// A rank's own copy of the program.
pub(crate) struct Loaded {
    /// Where it begins.
    pub(crate) start: Start,
}

impl Loaded {
    /// What tools call an address of the program's.
    pub(crate) fn told(&self, address: usize) -> usize {
        address
    }
}

/// The program, which every core has a copy of.
pub(crate) fn load(_image: &str, _rank: usize, _ranks: usize) -> Result<Loaded, Failure> {
    unsafe extern "C-unwind" {
        #[link_name = "atoll_start"]
        fn start(
            services: *const core::ffi::c_void,
            context: *mut core::ffi::c_void,
            count: i32,
            arguments: *mut *mut core::ffi::c_char,
            environment: *mut *mut core::ffi::c_char,
        ) -> i32;
    }
    Ok(Loaded { start })
}

/// The memory for malloc, of a heap of `heap_bytes` bytes: start and length. It is the program's from now on.
pub(crate) fn heap(heap_bytes: usize, _rank: usize) -> (*mut u8, usize) {
    let mut bytes = of_malloc(heap_bytes);
    while bytes > 0 {
        if let Ok(layout) = Layout::from_size_align(bytes, 16) {
            // SAFETY: the layout is longer than 0 bytes.
            let start = unsafe { alloc(layout) };
            if !start.is_null() {
                return (start, bytes);
            }
        }
        // What this side has allocated already may be in the middle.
        bytes = bytes / 8 * 7 & !0xFFF;
    }
    (ptr::null_mut(), 0)
}
