//! Statics that only their own core touches.

use core::cell::UnsafeCell;

/// A value in a private static: every core has its own, so no lock is needed, only care about the core's own handlers.
#[derive(Debug)]
#[repr(transparent)]
pub(crate) struct Private<T>(UnsafeCell<T>);

// SAFETY: statics lie in `.data` and `.bss`, of which each core has its own: page tables of QEMU's cores map them to
// frames of their own, and a board's cores have memory of their own. So the value is never used from two cores, as
// long as it is not placed in a shared section.
unsafe impl<T> Sync for Private<T> {}

impl<T> Private<T> {
    /// Makes the value of a private static.
    pub(crate) const fn new(value: T) -> Self {
        Self(UnsafeCell::new(value))
    }

    /// This core's value. Using the pointer is subject to the usual rules, with handlers of this core as the only
    /// others.
    pub(crate) const fn get(&self) -> *mut T {
        self.0.get()
    }
}
