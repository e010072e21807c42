//! Buffers of an origin that copy engines can reach.

use core::{cell::Cell, marker::PhantomData};

use hal::{Core, Pod, Region, SharedAddress, kind};

use crate::{Comm, CopyEngines, Error, Placement};

/// Elements in shared memory that belong to one rank: what it puts from and gets into when an engine does the copying.
///
/// They are written and read by the combined mapping, so nothing of them is ever in a cache that has to be flushed.
/// Contains anything at first.
pub struct SharedBuffer<'c, C: Core, T: Pod> {
    comm: &'c Comm<'c, C>,
    region: Region<kind::Combined>,
    len: usize,
    /// Who may still be copying from or to it, though the epoch that asked for it was forgotten.
    engines: Cell<Option<&'c CopyEngines<'c, C>>>,
    element: PhantomData<T>,
}

impl<'c, C: Core, T: Pod> SharedBuffer<'c, C, T> {
    /// Allocates a buffer of `len` elements near this core. Not collective.
    ///
    /// # Errors
    /// [`Error::OutOfSharedMemory`], [`Error::PartTooLarge`].
    pub fn new(comm: &'c Comm<'c, C>, len: usize) -> Result<Self, Error> {
        let placement = Placement::Near(comm.hal().core());
        let region = comm.allocator().allocate(len.saturating_mul(size_of::<T>()), placement)?;
        Ok(Self { comm, region, len, engines: Cell::new(None), element: PhantomData })
    }

    /// Number of elements.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Writes `source` over the elements from `first` on.
    ///
    /// # Errors
    /// [`Error::Length`] if the buffer ends before.
    pub fn write(&mut self, first: usize, source: &[T]) -> Result<(), Error> {
        let offset = self.offset(first, source.len())?;
        let hal = self.comm.hal();
        hal.write(self.region, offset, bytemuck::cast_slice(source));
        // Whoever copies from here reads memory, and where there is no engine that is this core, past its own
        // write-combine buffer.
        hal.drain();
        Ok(())
    }

    /// Reads elements from `first` on.
    ///
    /// # Errors
    /// [`Error::Length`] if the buffer ends before.
    pub fn read(&self, first: usize, into: &mut [T]) -> Result<(), Error> {
        let offset = self.offset(first, into.len())?;
        let hal = self.comm.hal();
        // What this core itself copied here may still be on its way, and what an engine wrote is not in L1.
        hal.drain();
        hal.invalidate_mpb();
        hal.read(self.region, offset, bytemuck::cast_slice_mut(into));
        Ok(())
    }

    /// Where elements are, for a copy by these engines.
    pub(crate) fn place(
        &self,
        first: usize,
        len: usize,
        engines: Option<&'c CopyEngines<'c, C>>,
    ) -> Result<SharedAddress, Error> {
        let offset = self.offset(first, len)?;
        self.engines.set(engines.or(self.engines.get()));
        Ok(self.region.start().plus(offset))
    }

    fn offset(&self, first: usize, len: usize) -> Result<usize, Error> {
        match first.checked_add(len) {
            Some(end) if end <= self.len => Ok(first * size_of::<T>()),
            end => Err(Error::Length { len: self.len, wanted: end.unwrap_or(usize::MAX) }),
        }
    }
}

impl<C: Core, T: Pod> Drop for SharedBuffer<'_, C, T> {
    fn drop(&mut self) {
        let hal = self.comm.hal();
        if !hal.is_dying() {
            self.engines.get().inspect(|engines| engines.finish());
            // A line of it that leaves the write-combine buffer later would be somebody else's.
            hal.drain();
            let freed = self.comm.allocator().free(self.region);
            debug_assert!(freed.is_ok(), "a buffer frees what it has allocated");
        }
    }
}
