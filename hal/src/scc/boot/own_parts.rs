//! What a core does before it says that it is there: what nobody has loaded holds anything (`hal::hardware`, Reset).
//!
//! Whole lines are stored to memory of the MPB's type, each at once: they leave the write-combine buffer by themselves,
//! and since nothing has been read there, none of them can hit L1 and stay in it (`hal::hardware`, MPB type).

use core::arch::asm;

use crate::{
    LINE_BYTES,
    bare::this_core::this_core,
    scc::{
        handed::{core_count, handed},
        memory::map::{CONTROLLER_SPAN, SHARED_COMBINED},
        registers::{
            board::Board,
            tile::{Glcfg, Registers, TestAndSetValue, slot_address},
        },
    },
    topology::SHARED_BYTES_PER_CONTROLLER,
};

const LINE_WORDS: usize = LINE_BYTES / size_of::<u32>();

/// Clears this core's MPB and its share of the shared memory, which is zero on all machines when programs begin, frees
/// its test-and-set register and its pins. Core 0 clears the board's counters.
pub(crate) fn own_parts() {
    let handed = handed();
    let geometry = &handed.geometry;
    let [tile, ..] = geometry.tile_of(this_core() as u32);
    let place = this_core() as u32 % geometry.cores_per_tile;

    let mpb_bytes = geometry.mpb_bytes as usize;
    let mpb = slot_address(geometry.mpb_slot + tile) + place as usize * mpb_bytes;
    // SAFETY: the MPB is mapped so, always by its tile's slot (`hal::hardware`, Own MPB), and nobody uses it before all
    // cores have met.
    unsafe { clear(mpb, mpb_bytes) }
    let lines = SHARED_BYTES_PER_CONTROLLER / LINE_BYTES;
    let [first, end] = [this_core(), this_core() + 1].map(|share| share * lines / core_count());
    for controller in 0..geometry.controllers as usize {
        let start = SHARED_COMBINED + controller * CONTROLLER_SPAN;
        // SAFETY: the memory is mapped so, and nobody uses it before all cores have met; other cores clear the rest.
        unsafe { clear(start + first * LINE_BYTES, (end - first) * LINE_BYTES) }
    }
    // SAFETY: the board is as it was handed over, and its registers are mapped uncached at their addresses.
    let (own, board) = unsafe { (Registers::of_tile(geometry, tile), Board::new(geometry)) };
    own.test_and_set(place).write(TestAndSetValue::FREE);
    // What an earlier program has raised is none of this one's.
    own.core_configuration(place).update(|pins| pins - (Glcfg::INTR | Glcfg::NMI));
    if let Some(board) = board.filter(|_| this_core() == 0) {
        (0..geometry.counters as usize).for_each(|counter| board.set(counter, 0));
    }
}

/// # Safety
/// Whole lines of memory of the MPB's type, which nobody uses.
unsafe fn clear(start: usize, bytes: usize) {
    // The x87 stores eight bytes at once, and has a zero that is zeros only.
    // SAFETY: the caller says so. One place of the x87's empty stack is used, and given back.
    unsafe {
        asm!(
            "fldz",
            "2:",
            "cmp {line}, {end}",
            "je 3f",
            "fst qword ptr [{line}]",
            "fst qword ptr [{line} + 8]",
            "fst qword ptr [{line} + 16]",
            "fst qword ptr [{line} + 24]",
            "add {line}, {line_bytes}",
            "jmp 2b",
            "3:",
            "fstp st(0)",
            line = inout(reg) start => _,
            end = in(reg) start + bytes,
            line_bytes = const LINE_BYTES,
            out("st(0)") _, out("st(1)") _, out("st(2)") _, out("st(3)") _,
            out("st(4)") _, out("st(5)") _, out("st(6)") _, out("st(7)") _,
            options(nostack),
        );
    }
}

/// Stores a whole line at once, so that it is not left in the write-combine buffer.
///
/// # Safety
/// There must be a line, mapped with the MPB's type, that nobody else uses.
pub(crate) unsafe fn store_line(address: usize, words: [u32; LINE_WORDS]) {
    let line = core::ptr::with_exposed_provenance_mut::<u32>(address);
    for (index, word) in words.into_iter().enumerate() {
        // SAFETY: the caller says so. Volatile: every word is stored once, in this order.
        unsafe { line.add(index).write_volatile(word) }
    }
}
