//! The address space of a core: see [`map`](super::map).
//!
//! Pages of 4 KB only: extended pages must stay off, since the bit that marks them marks the MPB type instead, which
//! bit 11 of control register 4 switches on (`hal::hardware`, MPB type).

use core::arch::asm;

use descriptions::boards::{
    Geometry,
    map::{BOARD_REGISTER_BYTES, RESET, SLOT_BYTES, STATUS, TILE_REGISTER_BYTES},
};

use crate::{
    bare::{
        PAGE_BYTES,
        cpu::{self, Cr0},
        frame_pool::FramePool,
        lapic,
        paging::{AddressSpace, Entry, OutOfFrames},
        private::Private,
    },
    scc::{
        exit::failure::fail,
        handed::handed,
        memory::{
            areas, image,
            map::{CONTROLLER_SPAN, SCRATCH, SHARED_CACHED, SHARED_COMBINED, SHARED_UNCACHED},
        },
        registers::tile::slot_address,
    },
};

/// Pages of 4 MB, which must be off.
const CR4_PAGE_SIZE_EXTENSIONS: u32 = 1 << 4;
/// The MPB type.
const CR4_MPB_TYPE: u32 = 1 << 11;

/// Bytes of a tile's configuration registers.
const REGISTERS_BYTES: usize = TILE_REGISTER_BYTES as usize;
/// Bytes of the board's registers.
const BOARD_BYTES: usize = BOARD_REGISTER_BYTES as usize;

/// Entries of pages that are written back, and read-only.
const READ_ONLY: Entry = Entry::empty();
/// Entries of pages that are written back.
const CACHED: Entry = Entry::WRITABLE;
/// Entries of pages that are not cached.
pub(crate) const UNCACHED: Entry = Entry::WRITABLE.union(Entry::CACHE_DISABLE).union(Entry::WRITE_THROUGH);
/// Entries of pages of the MPB type: as Barrelfish and HPI's network driver have them, since a store that hits a
/// written-back line would stay in L1, and the next invalidation would lose it (`hal::hardware`, MPB type).
const COMBINED: Entry = Entry::WRITABLE.union(Entry::MPB_TYPE).union(Entry::WRITE_THROUGH);

struct Space {
    space: AddressSpace,
    pool: FramePool,
}

static SPACE: Private<Option<Space>> = Private::new(None);

/// Builds the address space of this core and enters it.
///
/// # Safety
/// Paging must be off, memory laid out, and nobody must use the areas yet.
pub(crate) unsafe fn enter() {
    // SAFETY: the caller says so.
    let Ok(space) = (unsafe { build() }) else { fail(format_args!("there are too few page tables")) };
    let directory = space.space.directory();
    // SAFETY: only this core reaches the value.
    unsafe { SPACE.get().write(Some(space)) }
    // SAFETY: the directory maps what is in use, code, stack and statics, where it is; so the code goes on after it. It
    // must not be moved to the other side of memory accesses, which the missing `nomem` says.
    unsafe {
        asm!(
            "mov cr3, {directory}",
            "mov {value}, cr4",
            "and {value}, {cr4_clear}",
            "or {value}, {cr4_set}",
            "mov cr4, {value}",
            "mov {value}, cr0",
            "or {value}, {cr0_set}",
            "mov cr0, {value}",
            "jmp 2f",
            "2:",
            directory = in(reg) directory,
            value = out(reg) _,
            cr4_clear = const !CR4_PAGE_SIZE_EXTENSIONS,
            cr4_set = const CR4_MPB_TYPE,
            cr0_set = const Cr0::PAGING.bits(),
            options(nostack),
        );
    }
}

/// # Safety
/// As for [`enter`].
unsafe fn build() -> Result<Space, OutOfFrames> {
    let handed = handed();
    let geometry = &handed.geometry;
    let areas = areas::areas();
    let mut pool = FramePool::new();
    pool.add(areas.tables.clone());
    // SAFETY: paging is off, as the caller says, and the tables are mapped at their physical addresses below; nobody
    // else uses them.
    let mut space = unsafe { AddressSpace::new(&mut pool)? };
    for (range, bits) in [
        (areas::handed_range(), READ_ONLY),
        (image::text_start()..image::text_end(), READ_ONLY),
        (image::rodata_start()..image::rodata_end(), READ_ONLY),
        (image::private_start()..image::private_end(), CACHED),
        (image::pristine_start()..image::stack_guard(), READ_ONLY),
        (image::stack_start()..image::stack_top(), CACHED),
        (areas.tables.clone(), CACHED),
        (areas.purge.clone(), READ_ONLY),
        (areas.stack.clone(), CACHED),
        (areas.heap.clone(), CACHED),
        (lapic::BASE..lapic::BASE + PAGE_BYTES, UNCACHED),
    ] {
        // SAFETY: nobody uses the space yet, and the areas have no byte in common: code and files cannot be written.
        unsafe { space.map_identity(range, bits, &mut pool)? };
    }
    for module in handed.modules() {
        let start = module.start as usize;
        // SAFETY: nobody uses the space yet, and files have no byte in common with the areas.
        unsafe { space.map_identity(start..start + module.len_bytes as usize, READ_ONLY, &mut pool)? };
    }
    // SAFETY: nobody uses the space yet; what all cores see alike is reached through `hal` only, each kind in its own way.
    unsafe { map_board(geometry, &mut space, &mut pool)? };
    let status = slot_address(handed.setting.private_slots) + STATUS as usize;
    // SAFETY: nobody uses the space yet; the page of status words is of no other use, and the reset page is not written.
    unsafe {
        space.map_identity(status..status + PAGE_BYTES, UNCACHED, &mut pool)?;
        space.map(RESET as usize, RESET as usize, READ_ONLY, &mut pool)?;
    }
    space.ensure_table(SCRATCH, &mut pool)?;
    Ok(Space { space, pool })
}

/// Maps what all cores see alike.
///
/// # Safety
/// As for [`AddressSpace::map`].
unsafe fn map_board(geometry: &Geometry, space: &mut AddressSpace, pool: &mut FramePool) -> Result<(), OutOfFrames> {
    // SAFETY: the caller says so.
    unsafe {
        let slot = |number: u32, bytes: usize| slot_address(number)..slot_address(number) + bytes;
        let mpb_bytes = (geometry.mpb_bytes * geometry.cores_per_tile) as usize;
        for tile in 0..geometry.columns * geometry.rows {
            space.map_identity(slot(geometry.mpb_slot + tile, mpb_bytes), COMBINED, pool)?;
            space.map_identity(slot(geometry.registers_slot + tile, REGISTERS_BYTES), UNCACHED, pool)?;
        }
        space.map_identity(slot(geometry.own_registers_slot, REGISTERS_BYTES), UNCACHED, pool)?;
        if geometry.board_slot != 0 {
            space.map_identity(slot(geometry.board_slot, BOARD_BYTES), UNCACHED, pool)?;
        }
        let shared_bytes = geometry.controllers as usize * CONTROLLER_SPAN;
        let uncached = slot_address(geometry.shared_slot);
        for offset in (0..shared_bytes).step_by(PAGE_BYTES) {
            space.map(SHARED_UNCACHED + offset, uncached + offset, UNCACHED, pool)?;
        }
        // By slots of their own, see `lookup_table`.
        space.map_identity(SHARED_CACHED..SHARED_CACHED + shared_bytes, CACHED, pool)?;
        space.map_identity(SHARED_COMBINED..SHARED_COMBINED + shared_bytes, COMBINED, pool)
    }
}

fn with_space<R>(change: impl FnOnce(&mut AddressSpace, &mut FramePool) -> Result<R, OutOfFrames>) -> R {
    let _interrupts = cpu::InterruptsOff::new();
    // SAFETY: only this core reaches the value, and with interrupts off only this function does.
    let Some(Space { space, pool }) = (unsafe { (*SPACE.get()).as_mut() }) else {
        fail(format_args!("asked for page tables before they were made"))
    };
    // The pool has what all slots together can need.
    change(space, pool).unwrap_or_else(|OutOfFrames| fail(format_args!("all page tables are taken")))
}

/// Maps the whole of a slot as lines of the MPB's type, if it is not yet. What is seen there is what the slot's entry
/// in this core's lookup table leads to.
///
/// # Panics
/// If it is none of the slots for other cores' memory, behind that of the status page.
pub fn map_foreign(slot: u32) {
    let handed = handed();
    let slots = handed.setting.private_slots + 1..handed.geometry.foreign_slots_end;
    assert!(slots.contains(&slot), "slot {slot} is none for other cores' memory, {slots:?}");
    let start = slot_address(slot);
    with_space(|space, pool| {
        if space.entry_of(start).is_some_and(|entry| entry.contains(Entry::PRESENT)) {
            return Ok(());
        }
        // SAFETY: the slot is one for other cores' memory, as was checked, and was not mapped; a page of it is nobody's
        // before its entry in the lookup table is.
        unsafe { space.map_identity(start..start + SLOT_BYTES as usize, COMBINED, pool) }
    })
}

/// Gives `access` a pointer to the uncached word at a physical address, for as long as it runs, with interrupts off.
///
/// Not to be nested, since there is one page for it.
///
/// # Panics
/// If the address is not that of a word.
pub(crate) fn with_uncached_page<R>(physical: u32, access: impl FnOnce(*mut u32) -> R) -> R {
    let physical = physical as usize;
    assert!(physical.is_multiple_of(size_of::<u32>()), "{physical:#x} is not the address of a word");
    let _interrupts = cpu::InterruptsOff::new();
    // SAFETY: the scratch page is used here only, with interrupts off; what is done through the pointer is for those who
    // use it to answer for.
    with_space(|space, pool| unsafe { space.map(SCRATCH, physical & !(PAGE_BYTES - 1), UNCACHED, pool) });
    cpu::invalidate_page(SCRATCH);
    access(core::ptr::with_exposed_provenance_mut(SCRATCH + physical % PAGE_BYTES))
}
