//! Private memory that cores expose, and how other cores reach it.
//!
//! A core's private frames are nobody else's business, except those of what it exposes. What that is stands in a
//! table in the shared part of the image: by which offset others name it, and where its owner sees it. Another core
//! finds the frame in the owner's page tables, reads them through a page of its own ([`addresses::WALK`]), and maps the
//! frame where it maps all of them ([`addresses::FOREIGN_BASE`], a direct-mapped cache of pages). The frame of a private
//! page never changes once it is present, so neither do these mappings become wrong.
//!
//! Lines and words of exposed memory move under the lock of their owner's entries: so nothing is read or written any
//! more when an exposure has ended.

use core::sync::atomic::Ordering;

use heapless::Vec;

use crate::{
    CoreId, Home, Region,
    bare::{
        PAGE_BYTES,
        paging::{Entry, TABLE_ENTRIES, TABLE_SPAN},
        private::Private,
        this_core::this_core,
    },
    kind,
    kit::MAX_EXPOSURES,
    qemu::{
        cluster::nodes,
        handed::facts::MAX_CORES,
        lock::EmulatorLock,
        memory::{
            addresses::{self, FOREIGN_BASE, FOREIGN_PAGES, WALK},
            demand,
            directories::DIRECTORIES,
        },
    },
};

/// A piece of exposed memory.
struct Exposed {
    offset: usize,
    len_bytes: usize,
    /// Where its owner sees it.
    address: usize,
    /// Other cores of this node that may access it, a bit for each.
    reached_by: [u32; MAX_CORES.div_ceil(32)],
}

#[unsafe(link_section = ".bss.emulator")]
static EXPOSED: [EmulatorLock<Vec<Exposed, MAX_EXPOSURES>>; MAX_CORES] =
    [const { EmulatorLock::new(Vec::new()) }; MAX_CORES];

/// Which page of which core of this node each page of the foreign window shows.
static FOREIGN: Private<[Option<(usize, usize)>; FOREIGN_PAGES]> = Private::new([None; FOREIGN_PAGES]);

/// From now on this core's memory from `address` on is what others name by `offset`.
///
/// # Safety
/// The memory must be private and stay valid, and nobody else may reach it, until it is [concealed](conceal).
pub(crate) unsafe fn expose(offset: usize, address: usize, len_bytes: usize) {
    let end = address + len_bytes;
    let mut touched = address;
    while touched < end {
        // SAFETY: the caller says that the memory is valid. Touching it makes sure that its page is present, which
        // others rely on.
        unsafe { core::ptr::with_exposed_provenance::<u8>(touched).read_volatile() };
        touched = (touched + PAGE_BYTES) & !(PAGE_BYTES - 1);
    }
    let entered = EXPOSED[this_core()].lock().push(Exposed { offset, len_bytes, address, reached_by: [0; _] });
    assert!(entered.is_ok(), "a core exposes more than it can");
}

/// Ends an exposure, unless another core of this node may still access it.
pub(crate) fn conceal(offset: usize, len_bytes: usize) -> Result<(), usize> {
    let mut exposed = EXPOSED[this_core()].lock();
    let is_it = |exposed: &Exposed| (exposed.offset, exposed.len_bytes) == (offset, len_bytes);
    let Some(index) = exposed.iter().position(is_it) else { return Ok(()) };
    let reached_by = exposed[index].reached_by;
    let reaches = |core: &usize| reached_by[core / 32] >> (core % 32) & 1 == 1;
    (0..MAX_CORES).find(reaches).map_or(Ok(()), Err)?;
    exposed.swap_remove(index);
    Ok(())
}

/// Notes whether this core may access what another one exposes, as far as that has bytes of a region.
pub(crate) fn set_reached(region: Region<kind::Cached>, is_reached: bool) {
    let (offset, len_bytes) = (region.start().offset(), region.len_bytes());
    let Home::Core(owner) = region.start().home() else { return };
    // What other nodes expose is out of reach anyway.
    let Some(owner) = nodes::local(owner) else { return };
    let mut exposed = EXPOSED[owner].lock();
    let overlaps = |it: &&mut Exposed| it.offset < offset + len_bytes && offset < it.offset + it.len_bytes;
    let (word, bit) = (this_core() / 32, 1 << (this_core() % 32));
    for exposed in exposed.iter_mut().filter(overlaps) {
        exposed.reached_by[word] = exposed.reached_by[word] & !bit | if is_reached { bit } else { 0 };
    }
}

/// Where this core sees what it exposes from `offset` on.
pub(crate) fn own_address(offset: usize, len_bytes: usize) -> Option<usize> {
    find(&EXPOSED[this_core()].lock(), offset, len_bytes)
}

/// Gives `access` a pointer to `len_bytes` bytes of a line that `owner` exposes, while nobody else has one. Returns
/// nothing if the line is not exposed.
pub(crate) fn with<R>(owner: CoreId, offset: usize, len_bytes: usize, access: impl FnOnce(*mut u8) -> R) -> Option<R> {
    let local_owner = nodes::expect_local(owner, "exposed memory");
    let exposed = EXPOSED[local_owner].lock();
    let address = find(&exposed, offset, len_bytes)?;
    let address = if local_owner == this_core() { address } else { foreign(local_owner, address) };
    Some(access(core::ptr::with_exposed_provenance_mut(address)))
}

fn find(exposed: &[Exposed], offset: usize, len_bytes: usize) -> Option<usize> {
    exposed.iter().find_map(|exposed| {
        let within = offset.checked_sub(exposed.offset)?;
        let fits = within <= exposed.len_bytes && len_bytes <= exposed.len_bytes - within;
        fits.then_some(exposed.address + within)
    })
}

/// The address under which this core sees what `owner` sees at `address`, until the next call.
fn foreign(owner: usize, address: usize) -> usize {
    let page = address / PAGE_BYTES;
    let index = (page + owner) % FOREIGN_PAGES;
    let shown_at = FOREIGN_BASE + index * PAGE_BYTES;
    // SAFETY: only this core reaches the value, and no fault handler does.
    let shown = unsafe { &mut (*FOREIGN.get())[index] };
    if *shown != Some((owner, page)) {
        let frame = frame_of(owner, address);
        // SAFETY: the page has a page table, it is this core's own, and only used while the lock of the owner's
        // entries is held.
        unsafe { demand::write_entry(shown_at, Entry::new(frame, Entry::WRITABLE)) }
        *shown = Some((owner, page));
    }
    shown_at + address % PAGE_BYTES
}

/// The frame of a page that is present for `owner`.
fn frame_of(owner: usize, address: usize) -> usize {
    let directory = DIRECTORIES[owner].load(Ordering::Acquire) as usize;
    let table = entry(directory, address / TABLE_SPAN);
    entry(table.address(), address / PAGE_BYTES % TABLE_ENTRIES).address()
}

/// Reads an entry of a page table, or of a page directory, in a frame of another core.
fn entry(frame: usize, index: usize) -> Entry {
    // SAFETY: the page has a page table and is this core's own for short-lived mappings like this one; page tables
    // stay where they are for ever. Volatile, since the owner's processor sets bits.
    unsafe {
        demand::write_entry(WALK, Entry::new(frame, Entry::empty()));
        core::ptr::with_exposed_provenance::<Entry>(WALK).add(index).read_volatile()
    }
}

const _: () = assert!(
    ((addresses::STACK_TOP - 1) / TABLE_SPAN) == (FOREIGN_BASE + FOREIGN_PAGES * PAGE_BYTES - 1) / TABLE_SPAN,
    "the pages for other cores' memory have a page table, that of the stack"
);
