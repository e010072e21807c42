//! What is where in a core's private memory.
//!
//! | from | what |
//! |---|---|
//! | [`descriptions::boards::map`] | what the image is told; the image, with its `.data` and `.bss` |
//! | `linker_pristine_start` | a copy of `.data` as it was loaded |
//! | `linker_stack_guard` | one page that is not mapped, then the stack to start on |
//! | `linker_stack_top` | page tables |
//! | then, at a multiple of what one way of L2 holds | [the purge area](purge_area) |
//! | then | one page that is not mapped, then the program's stack |
//! | then | the heap, as large as the command line says; it ends where the setting says at the latest |

use core::ops::Range;

use descriptions::boards::map::{self, EXPOSED_BYTES, SLOT_BYTES};

use crate::{
    LINE_BYTES,
    bare::{PAGE_BYTES, paging::TABLE_SPAN, private::PrivateOnce, this_core::this_core},
    limits::{HEAP_KIB, MOST_STACK_KIB, STACK_KIB},
    scc::{
        exit::failure::{fail, number},
        handed::handed,
        memory::{image, map::CONTROLLER_SPAN},
    },
};

/// The least stack, on which a core can come to its program.
const LEAST_STACK_KIB: usize = 16;

/// The least heap that a core starts with, in bytes.
const LEAST_HEAP_BYTES: usize = 64 << 10;

/// What lies behind the stack.
#[derive(Clone, Debug)]
pub(crate) struct Areas {
    pub(crate) tables: Range<usize>,
    pub(crate) purge: Range<usize>,
    /// The program's stack; the page below is not mapped.
    pub(crate) stack: Range<usize>,
    pub(crate) heap: Range<usize>,
}

static AREAS: PrivateOnce<Areas> = PrivateOnce::new();

/// Decides what lies behind the stack. Ends the machine if there is too little memory.
pub(crate) fn lay_out() {
    let handed = handed();
    let (geometry, setting) = (&handed.geometry, &handed.setting);
    let way_bytes = geometry.costs.cache_sets as usize * LINE_BYTES;
    let tables = image::stack_top()..image::stack_top() + most_tables() * PAGE_BYTES;
    let purge_start = tables.end.next_multiple_of(way_bytes.max(PAGE_BYTES));
    let purge = purge_start..purge_start + (2 * way_bytes * geometry.l2_ways as usize).next_multiple_of(PAGE_BYTES);
    let stack_kib = number("stack_kib", MOST_STACK_KIB).unwrap_or(STACK_KIB).max(LEAST_STACK_KIB);
    let stack_start = purge.end + PAGE_BYTES;
    let stack = stack_start..stack_start + (stack_kib << 10).next_multiple_of(PAGE_BYTES);
    let limit = (setting.heap_end.min(EXPOSED_BYTES) as usize) & !(PAGE_BYTES - 1);
    if limit < stack.end + LEAST_HEAP_BYTES {
        fail(format_args!(
            "private memory may be used up to {limit:#x}, and the image needs {:#x}",
            stack.end + LEAST_HEAP_BYTES
        ));
    }
    let present_kib = (limit - stack.end) >> 10;
    let wanted_kib = heap_kib().unwrap_or(HEAP_KIB.min(present_kib));
    if wanted_kib > present_kib {
        fail(format_args!("a heap of {wanted_kib} KiB is wanted, and there is room for {present_kib} KiB"));
    }
    let heap = stack.end..stack.end + (wanted_kib << 10).next_multiple_of(PAGE_BYTES);
    AREAS.set(Areas { tables, purge, stack, heap });
}

/// What the command line says of this core's heap.
fn heap_kib() -> Option<usize> {
    let most = (EXPOSED_BYTES >> 10) as usize;
    let of_all = number("heap_kib", most);
    if this_core() == 0 { number("heap0_kib", most).or(of_all) } else { of_all }
}

/// Page tables of one slot.
const TABLES_PER_SLOT: usize = SLOT_BYTES as usize / TABLE_SPAN;

/// The most page tables that a core can need, the directory included.
fn most_tables() -> usize {
    let handed = handed();
    let (geometry, setting) = (&handed.geometry, &handed.setting);
    let of = |bytes: usize| bytes.div_ceil(TABLE_SPAN) + 1;
    let modules: usize = handed.modules().map(|module| of(module.len_bytes as usize)).sum();
    let controllers = 3 * geometry.controllers as usize * CONTROLLER_SPAN / TABLE_SPAN;
    let tiles = 2 * (geometry.columns * geometry.rows) as usize;
    let foreign = geometry.foreign_slots_end.saturating_sub(setting.private_slots) as usize * TABLES_PER_SLOT;
    // The directory, the scratch page, own and board's registers, the local APIC, the page that cores begin in.
    let single = 6;
    single + of(setting.heap_end as usize) + modules + controllers + tiles + foreign
}

pub(crate) fn areas() -> &'static Areas {
    AREAS.get().unwrap_or_else(|| fail(format_args!("asked for the memory's layout before it was made")))
}

/// The heap of this core: start and bytes. Nothing is said of its contents.
pub fn heap() -> (*mut u8, usize) {
    let heap = areas().heap.clone();
    (core::ptr::with_exposed_provenance_mut(heap.start), heap.len())
}

/// Bytes of this core's heap that are for its program: all of them.
pub fn program_heap_bytes() -> usize {
    areas().heap.len()
}

/// Memory that is there to be read in order to displace what the caches hold: its start, and half of its bytes.
///
/// It starts with set 0 of L2, and each half fills L2. Two halves, since what is read again is not displaced (facts
/// 1.9). Nobody writes to it.
pub fn purge_area() -> (usize, usize) {
    let purge = areas().purge.clone();
    (purge.start, purge.len() / 2)
}

/// The program's stack; the page below is not mapped.
pub(crate) fn stack() -> Range<usize> {
    areas().stack.clone()
}

/// The block with what the image is told.
pub(crate) fn handed_range() -> Range<usize> {
    map::HANDED as usize..(map::HANDED + map::HANDED_BYTES) as usize
}
