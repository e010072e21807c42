//! What is agreed of a program in C, wherever it is loaded: how it is started, and how much of a heap it gets.

use core::ffi::{c_char, c_void};

/// What starts the program and returns when it has ended: `atoll_start` in `start.c`. It gets the table of
/// [`Services`](crate::services::Services), a context, arguments with their count, and the environment.
pub(crate) type Start =
    unsafe extern "C-unwind" fn(*const c_void, *mut c_void, i32, *mut *mut c_char, *mut *mut c_char) -> i32;

/// Bytes of a rank's heap that malloc leaves to this side at least: as much as programs in Rust have by default.
const KEPT_BYTES: usize = 4 << 20;

/// Malloc leaves one byte in four of a large heap to this side: messages are copied there, and a program that has much memory
/// sends much.
const KEPT_ONE_OF: usize = 4;

/// The part of a heap of `heap_bytes` bytes that malloc gives out.
pub(crate) fn of_malloc(heap_bytes: usize) -> usize {
    let kept = KEPT_BYTES.max(heap_bytes / KEPT_ONE_OF);
    heap_bytes.saturating_sub(kept).max(heap_bytes / 2) & !0xFFF
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn malloc_leaves_something() {
        assert_eq!([1, 8, 64].map(|mib| of_malloc(mib << 20) >> 10), [512, 4096, 48 << 10]);
    }
}
