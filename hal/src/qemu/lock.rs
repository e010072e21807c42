//! Locks of the emulator.
//!
//! They assume coherent memory, which QEMU and PCs have and the emulated chip has not: they hold the emulator together
//! and are never a lock of the chip (that is the test-and-set register). A lock must live in the shared part of the
//! image, `#[unsafe(link_section = ".emulator")]`; in an ordinary static every core would have its own.

use crate::bare::cpu::{self, InterruptsOff};
use core::ops::{Deref, DerefMut};
use spin::mutex::{SpinMutex, SpinMutexGuard};
use spin::relax::RelaxStrategy;

/// Waits with `pause`, at which a single-threaded QEMU goes on to the next vCPU.
#[derive(Debug)]
pub(super) struct Pause;

impl RelaxStrategy for Pause {
    #[inline(always)]
    fn relax() {
        cpu::pause();
    }
}

/// A spin lock between cores that also keeps interrupts off while it is held.
#[derive(Debug)]
pub(super) struct EmulatorLock<T>(SpinMutex<T, Pause>);

impl<T> EmulatorLock<T> {
    /// Makes an unlocked lock.
    pub(super) const fn new(value: T) -> Self {
        Self(SpinMutex::new(value))
    }

    /// Waits for the lock and takes it.
    #[inline]
    pub(super) fn lock(&self) -> EmulatorGuard<'_, T> {
        let interrupts = InterruptsOff::new();
        EmulatorGuard { value: self.0.lock(), _interrupts: interrupts }
    }

    /// Takes the lock if it is free.
    pub(super) fn try_lock(&self) -> Option<EmulatorGuard<'_, T>> {
        let interrupts = InterruptsOff::new();
        let value = self.0.try_lock()?;
        Some(EmulatorGuard { value, _interrupts: interrupts })
    }
}

/// Proof that this core holds an [`EmulatorLock`] and that its interrupts are off.
#[derive(Debug)]
pub(super) struct EmulatorGuard<'a, T> {
    // Fields are dropped in order: the lock is free before interrupts come back.
    value: SpinMutexGuard<'a, T, Pause>,
    _interrupts: InterruptsOff,
}

impl<T> Deref for EmulatorGuard<'_, T> {
    type Target = T;
    fn deref(&self) -> &T {
        &self.value
    }
}

impl<T> DerefMut for EmulatorGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.value
    }
}
