//! A test-and-set register as a lock.

use hal::{Core, CoreId, Span, TsrGuard};

use super::Lock;
use crate::{Comm, Error};

/// The test-and-set register of a rank's core, which is the lock of all ranks that name that rank. Registers are used for
/// other things, too: whoever holds one must not do what [needs it](crate::memory::allocator), and should not hold it for
/// long.
///
/// Per lock: a successful read of the register and a write of it, beside the reads that find it taken, and an
/// invalidation and a drain.
pub struct RegisterLock<'b, 'c, C> {
    comm: &'b Comm<'c, C>,
    register: CoreId,
}

impl<'c, C: Core> Comm<'c, C> {
    /// The register of `rank` as a lock. Not collective.
    ///
    /// # Errors
    /// [`Error::NoSuchRank`], [`Error::RegisterOutOfReach`].
    pub fn register_lock(&self, rank: usize) -> Result<RegisterLock<'_, 'c, C>, Error> {
        self.check_rank(rank)?;
        self.check_register(rank)?;
        Ok(RegisterLock { comm: self, register: self.core_of(rank) })
    }
}

impl<C: Core> Lock for RegisterLock<'_, '_, C> {
    type Guard<'l>
        = RegisterGuard<'l, C>
    where
        Self: 'l;

    fn lock(&mut self) -> RegisterGuard<'_, C> {
        let hal = self.comm.hal();
        let _span = hal.span(Span::new("lock").with(self.register));
        let register = self.comm.lock_register(self.register, "a lock");
        hal.invalidate_mpb();
        RegisterGuard { hal, _register: register }
    }
}

/// This rank has a [`RegisterLock`]. It is not interrupted meanwhile.
#[must_use = "the lock is given back at once"]
pub struct RegisterGuard<'l, C: Core> {
    hal: &'l C,
    /// Dropped after the drain.
    _register: TsrGuard<'l, C>,
}

impl<C: Core> Drop for RegisterGuard<'_, C> {
    fn drop(&mut self) {
        // Registers do not push out what is in the write-combine buffer.
        self.hal.drain();
    }
}
