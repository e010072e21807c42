//! Page table entries at run time, and memory that is cleared when it is first touched.
//!
//! Heaps, caching regions and the emulated shared DRAM are zero at start. Clearing them all would touch every byte of
//! a machine of hundreds of MiB, of which most programs use little, and the host would have to provide it. So their
//! pages are only *promised* at first: the entry holds the frame but is not present. The first access faults, the
//! page is cleared under a scratch mapping, and only then becomes present: no core, of those that share it, can see
//! it before.

use crate::{
    bare::{
        PAGE_BYTES, cpu,
        paging::{self, Entry, TABLE_SPAN},
    },
    qemu::{
        lock::EmulatorLock,
        memory::addresses::{SCRATCH, TABLES_BASE},
    },
};

/// Makes sure that a shared page is cleared once.
#[unsafe(link_section = ".emulator")]
static CLEARING: EmulatorLock<()> = EmulatorLock::new(());

/// The page table entry of an address, in the part where a core sees its own page tables.
pub(crate) fn entry(address: usize) -> *mut Entry {
    core::ptr::with_exposed_provenance_mut::<Entry>(TABLES_BASE).wrapping_add(address / PAGE_BYTES)
}

/// Reads the page table entry of an address.
///
/// # Safety
/// The address must have a page table.
pub(crate) unsafe fn read_entry(address: usize) -> Entry {
    // SAFETY: the caller says so. Volatile, since the processor sets bits.
    unsafe { entry(address).read_volatile() }
}

/// Changes the page table entry of an address and forgets the old translation on this core.
///
/// # Safety
/// The address must have a page table, and what the change does to the memory seen there must be right for everybody
/// who uses it.
pub(crate) unsafe fn write_entry(address: usize, value: Entry) {
    // SAFETY: the caller says so.
    unsafe { entry(address).write_volatile(value) }
    cpu::invalidate_page(address);
}

/// Keeps the promise for the page of an address, if there is one. Called for every page fault on a page that was not
/// present, before anything else.
pub(crate) fn keep_promise(address: usize) -> bool {
    // The entry of the entry is the page directory's.
    let table = entry(address).addr();
    debug_assert_eq!(table / PAGE_BYTES, TABLES_BASE / PAGE_BYTES + address / TABLE_SPAN);
    // SAFETY: page tables always have a page table, the directory.
    if !unsafe { read_entry(table) }.contains(Entry::PRESENT) {
        return false;
    }
    // SAFETY: the address has a page table.
    let value = unsafe { read_entry(address) };
    if value.contains(Entry::PRESENT) {
        // Another core has kept the promise since the access faulted.
        cpu::invalidate_page(address);
        return true;
    }
    if !value.contains(Entry::ZERO_ON_TOUCH) {
        return false;
    }
    let _clearing = CLEARING.lock();
    // Another core may have been first; then the page is present by now. SAFETY: the address has a page table. The
    // frame belongs to nobody until the entry is present, the scratch page is this core's own, and the lock keeps out
    // other cores that want the same page.
    unsafe {
        let promised = read_entry(address);
        if promised.contains(Entry::ZERO_ON_TOUCH) {
            let kept = Entry::new(promised.address(), Entry::WRITABLE);
            write_entry(SCRATCH, kept);
            paging::clear(SCRATCH, PAGE_BYTES);
            write_entry(SCRATCH, Entry::empty());
            write_entry(address, kept);
        }
    }
    true
}
