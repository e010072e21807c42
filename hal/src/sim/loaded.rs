//! Code that the executable has loaded, in equal copies, and what reports call places in it.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// Where reports begin to count in code that was loaded: beyond all executables.
pub const LOADED_BASE: usize = 1 << 62;

/// Where the first copy of code that was loaded is, how far it is to the next, and where the last one ends.
static LOADED: [AtomicUsize; 3] = [const { AtomicUsize::new(0) }; 3];

/// Tells reports of equal copies of code that the executable has loaded, from `start` on, each `stride` bytes behind the last one. A
/// place in any of them is told as its distance from the copy's start, and 2⁶² added.
pub fn note_loaded_code(start: usize, stride: usize, copies: usize) {
    for (place, value) in LOADED.iter().zip([start, stride, start + stride * copies]) {
        place.store(value, Relaxed);
    }
}

/// What reports say for an address in code that was loaded.
pub(super) fn told_of_loaded(address: usize) -> Option<usize> {
    let [start, stride, end] = [0, 1, 2].map(|index| LOADED[index].load(Relaxed));
    (start..end).contains(&address).then(|| LOADED_BASE + (address - start) % stride)
}
