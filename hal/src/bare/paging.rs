//! Page tables.
//!
//! Everything in [`AddressSpace`] writes physical memory directly and is therefore only right while paging is off, or
//! maps the tables at their physical addresses. Under QEMU, page tables that hold shared mappings only are shared by
//! all cores.
//!
//! Large memory that must be zero is only promised: see `demand`.

use super::PAGE_BYTES;
use super::frame_pool::FramePool;
use bitflags::bitflags;
use core::arch::asm;
use core::ops::Range;

bitflags! {
    /// Bits of a page table entry or page directory entry (4 KiB pages, no extensions).
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub(crate) struct Entry: u32 {
        /// The entry is valid.
        const PRESENT = 1 << 0;
        /// Writing is allowed.
        const WRITABLE = 1 << 1;
        /// Stores go to memory at once.
        const WRITE_THROUGH = 1 << 3;
        /// The page is not cached.
        const CACHE_DISABLE = 1 << 4;
        /// Set by the processor at the first access.
        const ACCESSED = 1 << 5;
        /// Set by the processor at the first store.
        const DIRTY = 1 << 6;
        /// On the SCC: lines of the page are of the MPB's type, which L1 holds, but not L2, and which are invalidated
        /// all at once. Elsewhere 0.
        const MPB_TYPE = 1 << 7;
        /// Ours, in an entry that is not present: the page is cleared and becomes present when it is first touched.
        const ZERO_ON_TOUCH = 1 << 9;
        /// The physical address and the remaining bits.
        const _ = !0;
    }
}

/// Entries of a page table.
pub(crate) const TABLE_ENTRIES: usize = 1024;
/// Bytes that one page table maps.
pub(crate) const TABLE_SPAN: usize = TABLE_ENTRIES * PAGE_BYTES;

impl Entry {
    /// An entry for a page with the given bits.
    pub(crate) fn new(physical: usize, bits: Self) -> Self {
        Self::from_bits_retain(physical as u32) | bits | Self::PRESENT
    }

    /// An entry for a writable page that is cleared when it is first touched.
    fn promised(physical: usize) -> Self {
        Self::from_bits_retain(physical as u32) | Self::WRITABLE | Self::ZERO_ON_TOUCH
    }

    /// The page that the entry refers to.
    pub(crate) fn address(self) -> usize {
        self.bits() as usize & !(PAGE_BYTES - 1)
    }
}

/// No free page was left although the plan had counted them.
#[derive(Debug)]
pub(crate) struct OutOfFrames;

/// A page directory in physical memory.
pub(crate) struct AddressSpace {
    directory: usize,
}

impl AddressSpace {
    /// Makes an empty page directory.
    ///
    /// # Safety
    /// As long as the value is used, paging must be off, or map the pool's pages at their physical addresses. They
    /// must be free RAM.
    pub(crate) unsafe fn new(pool: &mut FramePool) -> Result<Self, OutOfFrames> {
        Ok(Self { directory: zeroed_page(pool)? })
    }

    /// Physical address of the page directory, for control register 3.
    pub(crate) fn directory(&self) -> usize {
        self.directory
    }

    fn entry(table: usize, index: usize) -> *mut Entry {
        core::ptr::with_exposed_provenance_mut::<Entry>(table).wrapping_add(index)
    }

    fn directory_entry(&self, slot: usize) -> Entry {
        // SAFETY: the directory can be reached, by the contract of `new`, and is a page of its own; a slot is below
        // 1024.
        unsafe { Self::entry(self.directory, slot).read() }
    }

    fn set_directory_entry(&mut self, slot: usize, table: usize) {
        // SAFETY: the directory can be reached, by the contract of `new`, and nobody else writes to it; a slot is below 1024.
        unsafe { Self::entry(self.directory, slot).write(Entry::new(table, Entry::WRITABLE)) }
    }

    /// Makes sure that a page table exists for an address and returns it.
    pub(crate) fn ensure_table(&mut self, address: usize, pool: &mut FramePool) -> Result<usize, OutOfFrames> {
        let slot = address / TABLE_SPAN;
        let entry = self.directory_entry(slot);
        if entry.contains(Entry::PRESENT) {
            return Ok(entry.address());
        }
        let table = zeroed_page(pool)?;
        self.set_directory_entry(slot, table);
        Ok(table)
    }

    /// The entry of an address, if it has a page table.
    pub(crate) fn entry_of(&self, address: usize) -> Option<Entry> {
        let table = self.directory_entry(address / TABLE_SPAN);
        // SAFETY: the table can be reached, by the contract of `new`, and is a page of its own; the index is below
        // 1024.
        table
            .contains(Entry::PRESENT)
            .then(|| unsafe { Self::entry(table.address(), address / PAGE_BYTES % TABLE_ENTRIES).read() })
    }

    /// # Safety
    /// As for [`map`](Self::map).
    unsafe fn set(&mut self, address: usize, value: Entry, pool: &mut FramePool) -> Result<(), OutOfFrames> {
        let table = self.ensure_table(address, pool)?;
        // SAFETY: the table was just made or found, and can be reached by the contract of `new`; the index is below 1024.
        unsafe { Self::entry(table, address / PAGE_BYTES % TABLE_ENTRIES).write(value) }
        Ok(())
    }

    /// Maps one page.
    ///
    /// # Safety
    /// 1. Nobody relies on what was seen at the address before, in this space or in those that share its table; who sees
    ///    it from now on may see the physical page, and store to it if the bits say so.
    /// 2. Who has the page in caches under another address does not rely on either showing what the other has.
    pub(crate) unsafe fn map(
        &mut self,
        address: usize,
        physical: usize,
        bits: Entry,
        pool: &mut FramePool,
    ) -> Result<(), OutOfFrames> {
        // SAFETY: the caller says so.
        unsafe { self.set(address, Entry::new(physical, bits), pool) }
    }

    /// Maps every page that a range touches to the physical page with the same address.
    ///
    /// # Safety
    /// As for [`map`](Self::map).
    pub(crate) unsafe fn map_identity(
        &mut self,
        range: Range<usize>,
        bits: Entry,
        pool: &mut FramePool,
    ) -> Result<(), OutOfFrames> {
        for address in (range.start & !(PAGE_BYTES - 1)..range.end).step_by(PAGE_BYTES) {
            // SAFETY: the caller says so.
            unsafe { self.map(address, address, bits, pool)? };
        }
        Ok(())
    }

    /// Promises writable pages that are zero, at the same physical addresses.
    ///
    /// # Safety
    /// As for [`map`](Self::map).
    pub(crate) unsafe fn promise_identity(
        &mut self,
        range: Range<usize>,
        pool: &mut FramePool,
    ) -> Result<(), OutOfFrames> {
        for address in range.step_by(PAGE_BYTES) {
            // SAFETY: the caller says so.
            unsafe { self.set(address, Entry::promised(address), pool)? };
        }
        Ok(())
    }

    /// Promises fresh writable pages that are zero.
    ///
    /// # Safety
    /// As for [`map`](Self::map).
    pub(crate) unsafe fn promise_zeroed(
        &mut self,
        range: Range<usize>,
        pool: &mut FramePool,
    ) -> Result<(), OutOfFrames> {
        for address in range.step_by(PAGE_BYTES) {
            let page = pool.page().ok_or(OutOfFrames)?;
            // SAFETY: the caller says so.
            unsafe { self.set(address, Entry::promised(page), pool)? };
        }
        Ok(())
    }

    /// Maps fresh writable pages with arbitrary contents.
    ///
    /// # Safety
    /// As for [`map`](Self::map).
    pub(crate) unsafe fn map_fresh(&mut self, range: Range<usize>, pool: &mut FramePool) -> Result<(), OutOfFrames> {
        for address in range.step_by(PAGE_BYTES) {
            let page = pool.page().ok_or(OutOfFrames)?;
            // SAFETY: the caller says so.
            unsafe { self.map(address, page, Entry::WRITABLE, pool)? };
        }
        Ok(())
    }

    /// Maps fresh writable pages that are zero.
    ///
    /// # Safety
    /// As for [`map`](Self::map).
    pub(crate) unsafe fn map_zeroed(&mut self, range: Range<usize>, pool: &mut FramePool) -> Result<(), OutOfFrames> {
        for address in range.step_by(PAGE_BYTES) {
            let page = zeroed_page(pool)?;
            // SAFETY: the caller says so.
            unsafe { self.map(address, page, Entry::WRITABLE, pool)? };
        }
        Ok(())
    }

    /// Maps fresh pages that are copies of what is at the same physical addresses.
    ///
    /// # Safety
    /// As for [`map`](Self::map).
    pub(crate) unsafe fn map_copy(&mut self, range: Range<usize>, pool: &mut FramePool) -> Result<(), OutOfFrames> {
        for address in range.step_by(PAGE_BYTES) {
            let page = copied_page(address, pool)?;
            // SAFETY: the caller says so.
            unsafe { self.map(address, page, Entry::WRITABLE, pool)? };
        }
        Ok(())
    }

    /// Takes over all page tables of `other`, as copies where they cover a part of `own` and shared elsewhere. They
    /// have no addresses in common with its own.
    ///
    /// # Safety
    /// As for [`map`](Self::map), of all that `other` maps.
    pub(crate) unsafe fn inherit(
        &mut self,
        other: &Self,
        own: Range<usize>,
        pool: &mut FramePool,
    ) -> Result<(), OutOfFrames> {
        for slot in 0..TABLE_ENTRIES {
            let entry = other.directory_entry(slot);
            if entry.contains(Entry::PRESENT) {
                let is_own = (own.start / TABLE_SPAN..own.end.div_ceil(TABLE_SPAN)).contains(&slot);
                let table = if is_own { copied_page(entry.address(), pool)? } else { entry.address() };
                self.set_directory_entry(slot, table);
            }
        }
        Ok(())
    }

    /// Makes the page tables visible in the 4 MiB from `start` on: the directory becomes a page table of itself.
    ///
    /// # Safety
    /// Who stores there changes the space. Nothing else is there.
    pub(crate) unsafe fn map_tables(&mut self, start: usize) {
        self.set_directory_entry(start / TABLE_SPAN, self.directory);
    }
}

/// Fills memory with zeros.
///
/// # Safety
/// The range must be writable memory in whole pages that nobody uses: physical memory while paging is off, mapped
/// memory afterwards.
pub(crate) unsafe fn clear(start: usize, bytes: usize) {
    // SAFETY: the caller says so. The direction flag is clear, as everywhere.
    unsafe {
        asm!(
            "rep stosd",
            inout("edi") start => _,
            inout("ecx") bytes / size_of::<u32>() => _,
            in("eax") 0,
            options(nostack, preserves_flags)
        );
    }
}

fn zeroed_page(pool: &mut FramePool) -> Result<usize, OutOfFrames> {
    let page = pool.page().ok_or(OutOfFrames)?;
    // SAFETY: the page came from the pool, so it is free RAM; by the contract of `AddressSpace::new` it can be reached.
    unsafe { clear(page, PAGE_BYTES) }
    Ok(page)
}

fn copied_page(source: usize, pool: &mut FramePool) -> Result<usize, OutOfFrames> {
    let page = pool.page().ok_or(OutOfFrames)?;
    // SAFETY: the page came from the pool, so it is free RAM and no part of `source`, which is an existing page; both
    // can be reached by the contract of `AddressSpace::new`.
    unsafe {
        core::ptr::with_exposed_provenance_mut::<u8>(page)
            .copy_from_nonoverlapping(core::ptr::with_exposed_provenance(source), PAGE_BYTES);
    }
    Ok(page)
}
