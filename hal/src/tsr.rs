//! Test-and-set registers: one per core, the only atomic read-modify-write that the chip has.

use crate::{CoreId, Topology};

/// The test-and-set registers of all cores (RCCE's locks): reading acquires, any write frees.
///
/// On machines where they can be reached within a coherence domain only
/// ([`Layout::reaches_register`](crate::Layout::reaches_register)), an operation on another one panics.
pub trait TestAndSet: Topology {
    /// Reads the register of `core` once: true if it was free and is this core's now.
    fn try_acquire_register(&self, core: CoreId) -> bool;

    /// Waits until the register of `core` is this core's. `purpose` is for the report of a machine that is stuck.
    fn acquire_register(&self, core: CoreId, purpose: &'static str);

    /// Frees the register of `core`. Stores that still sit in the write-combine buffer are *not* pushed out.
    fn free_register(&self, core: CoreId);

    /// Puts this core's interrupts off, whose handler might want the register that is held, until as many calls of
    /// [`end_exclusion`](Self::end_exclusion); guards do so by themselves.
    fn begin_exclusion(&self);

    /// Ends what began with [`begin_exclusion`](Self::begin_exclusion).
    fn end_exclusion(&self);

    /// Takes the register of `core` if it is free at once.
    fn try_lock(&self, core: CoreId) -> Option<TsrGuard<'_, Self>> {
        self.begin_exclusion();
        if !self.try_acquire_register(core) {
            self.end_exclusion();
            return None;
        }
        Some(TsrGuard { registers: self, core })
    }

    /// Waits for the register of `core` and holds it until the guard is dropped.
    fn lock(&self, core: CoreId, purpose: &'static str) -> TsrGuard<'_, Self> {
        self.begin_exclusion();
        self.acquire_register(core, purpose);
        TsrGuard { registers: self, core }
    }
}

/// Proof that this core holds a test-and-set register; dropping it frees the register. Meanwhile the core is not
/// interrupted.
///
/// It proves mutual exclusion and nothing about memory: stores made under it are visible to the next holder only if
/// they were uncached, or drained or written back, before the drop.
#[must_use = "the register is freed at once"]
pub struct TsrGuard<'r, R: TestAndSet + ?Sized> {
    registers: &'r R,
    core: CoreId,
}

impl<R: TestAndSet + ?Sized> Drop for TsrGuard<'_, R> {
    fn drop(&mut self) {
        self.registers.free_register(self.core);
        self.registers.end_exclusion();
    }
}
