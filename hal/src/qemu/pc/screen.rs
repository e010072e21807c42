//! The screen of a PC: the last lines of the console, and at the end the verdict, to be read across the room.
//!
//! What is on it is kept a second time, since memory of a screen is slow to read. Whoever owns the console writes here.

use core::{
    ptr::with_exposed_provenance_mut,
    sync::atomic::{AtomicBool, AtomicU16, AtomicUsize, Ordering::Relaxed},
};

use crate::{bare::port, qemu::pc::fw_cfg};

const COLUMNS: usize = 80;
const ROWS: usize = 25;
const CELLS: usize = COLUMNS * ROWS;
/// The first cell of the bottom row, on which all is written.
const BOTTOM: usize = CELLS - COLUMNS;
/// Where the text mode's cells are: a letter and its colours each.
const VIDEO_MEMORY: usize = 0xB_8000;

const GREY_ON_BLACK: u8 = 0x07;
const WHITE_ON_GREEN: u8 = 0x2F;
const WHITE_ON_RED: u8 = 0x4F;

/// Rows of the verdict.
const BAR_ROWS: usize = 3;

#[unsafe(link_section = ".bss.emulator")]
static SHOWN: [AtomicU16; CELLS] = [const { AtomicU16::new(0) }; CELLS];

/// Where the next letter goes in the bottom row.
#[unsafe(link_section = ".bss.emulator")]
static COLUMN: AtomicUsize = AtomicUsize::new(0);

/// Whether something was written.
#[unsafe(link_section = ".bss.emulator")]
static IS_OPEN: AtomicBool = AtomicBool::new(false);

const fn cell(letter: u8, colours: u8) -> u16 {
    (colours as u16) << 8 | letter as u16
}

fn put(place: usize, cell: u16) {
    SHOWN[place].store(cell, Relaxed);
    let address = with_exposed_provenance_mut::<u16>(VIDEO_MEMORY).wrapping_add(place);
    // SAFETY: places are below `CELLS` (the line above has looked), and so many cells are in the video memory, which is
    // mapped one to one and belongs to nobody else.
    unsafe { address.write_volatile(cell) }
}

/// Takes the screen over as whoever came before has left it: empty, and without a cursor.
fn open() {
    const HIDE_CURSOR: [(u16, u8); 2] = [(0x3D4, 0x0A), (0x3D5, 0x20)];
    for (register, value) in HIDE_CURSOR {
        // SAFETY: registers of the screen's controller, which move nothing in memory.
        unsafe { port::out8(register, value) }
    }
    (0..CELLS).for_each(|place| put(place, cell(b' ', GREY_ON_BLACK)));
}

fn new_line() {
    for place in 0..BOTTOM {
        put(place, SHOWN[place + COLUMNS].load(Relaxed));
    }
    (BOTTOM..CELLS).for_each(|place| put(place, cell(b' ', GREY_ON_BLACK)));
    COLUMN.store(0, Relaxed);
}

/// Shows a part of the console's text. In QEMU nobody looks.
pub(crate) fn write(text: &[u8]) {
    if fw_cfg::is_used() {
        return;
    }
    if !IS_OPEN.swap(true, Relaxed) {
        open();
    }
    for &letter in text {
        // A line that has ended gives way only to the next one, so that it is seen.
        if COLUMN.load(Relaxed) >= COLUMNS {
            new_line();
        }
        match letter {
            b'\n' => COLUMN.store(COLUMNS, Relaxed),
            b' '..=b'~' => {
                let column = COLUMN.fetch_add(1, Relaxed);
                put(BOTTOM + column.min(COLUMNS - 1), cell(letter, GREY_ON_BLACK));
            }
            _ => {}
        }
    }
}

/// Shows how the machine has ended.
pub(crate) fn show_verdict(success: bool) {
    if fw_cfg::is_used() {
        return;
    }
    let (colours, verdict): (_, &[u8]) =
        if success { (WHITE_ON_GREEN, b"P A S S") } else { (WHITE_ON_RED, b"F A I L") };
    write(b"\n");
    (0..BAR_ROWS).for_each(|_| new_line());
    (CELLS - BAR_ROWS * COLUMNS..CELLS).for_each(|place| put(place, cell(b' ', colours)));
    let start = CELLS - 2 * COLUMNS + (COLUMNS - verdict.len()) / 2;
    for (offset, letter) in verdict.iter().enumerate() {
        put(start + offset, cell(*letter, colours));
    }
}
