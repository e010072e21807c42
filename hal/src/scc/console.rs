//! The console: COM1 of this core, which the board's host shows.
//!
//! Every core has its own, so messages of different cores can mix, and lines of one cannot. What is behind it depends
//! on the host's software (`hal::hardware`, Console): a 16550 for each core, or something that takes bytes and has no
//! status. So it is asked for room before each byte, but not for ever, and it is not set up, since what has no
//! registers would print what they are set to.

use core::{
    fmt,
    sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed},
};

use crate::{
    bare::{cpu, uart},
    scc::exit::machine::is_ending,
};

/// How often the UART is asked for room: each time takes a message to the host and back, some microseconds.
const MOST_LOOKS: u32 = 20_000;
/// How often after it had none for so long.
const LOOKS_AFTER_NONE: u32 = 4;

static LOOKS: AtomicU32 = AtomicU32::new(MOST_LOOKS);

/// Whether a message is under way.
static IS_PRINTING: AtomicBool = AtomicBool::new(false);

/// Prints one line; the line end is added.
pub fn write_line(line: &str) {
    write_fmt(format_args!("{line}\n"));
}

/// Prints a message in one piece.
///
/// A message printed while this core prints one already (from a formatted value's own code) appears inside it.
pub fn write_fmt(message: fmt::Arguments<'_>) {
    let _interrupts = cpu::InterruptsOff::new();
    let was_printing = IS_PRINTING.swap(true, Relaxed);
    send(message);
    IS_PRINTING.store(was_printing, Relaxed);
}

/// Prints a message of a core that is about to end the machine, even if it is printing. Does not return if another core
/// has ended the machine.
pub fn write_urgent(message: fmt::Arguments<'_>) {
    let _interrupts = cpu::InterruptsOff::new();
    if is_ending() {
        cpu::park();
    }
    if IS_PRINTING.swap(false, Relaxed) {
        send(format_args!("\n"));
    }
    send(message);
}

fn send(message: fmt::Arguments<'_>) {
    uart::in_pieces(message, |bytes| {
        for byte in bytes.chunks(1) {
            let has_room = uart::wait_for_room(LOOKS.load(Relaxed));
            LOOKS.store(if has_room { MOST_LOOKS } else { LOOKS_AFTER_NONE }, Relaxed);
            uart::fill(byte);
        }
    });
}
