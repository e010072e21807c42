//! Statics that only their own core touches.

use core::cell::UnsafeCell;

use super::cpu;

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

/// A value in a private static that is set once, and then never changes.
pub(crate) struct PrivateOnce<T>(Private<Option<T>>);

impl<T> PrivateOnce<T> {
    /// Nothing is set yet.
    pub(crate) const fn new() -> Self {
        Self(Private::new(None))
    }

    /// Sets this core's value.
    ///
    /// # Panics
    /// If it was set before.
    pub(crate) fn set(&'static self, value: T) -> &'static T {
        assert!(self.get().is_none(), "what a core sets once is not set yet");
        // Handlers of faults and NMIs, which this does not keep off, ask for nothing that code after them sets.
        let _interrupts = cpu::InterruptsOff::new();
        // SAFETY: 1. only this core reaches the value, and no handler of its own does so now; 2. nothing was set, so that
        // there is no reference into it; 3. it is written only here, so that afterwards all references are shared ones.
        unsafe { (*self.0.get()).insert(value) }
    }

    /// This core's value, if it was set.
    pub(crate) fn get(&'static self) -> Option<&'static T> {
        // SAFETY: only this core reaches the value, and it is not being written, see `set`.
        unsafe { (*self.0.get()).as_ref() }
    }
}
