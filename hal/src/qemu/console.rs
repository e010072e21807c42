//! The console: COM1, whole messages, from any core.
//!
//! A message is formatted and sent under one lock, so lines of different cores never mix. The lock knows its owner, for
//! two reasons: a core that faults in the middle of a message must still be able to report it, and so must a core that
//! finds the owner stuck. Such a core waits as long as the owner makes progress and then breaks in.
//!
//! The UART is asked for room once per 16 bytes, its FIFO's size: every port access leaves the translated code of QEMU.

use super::{cpu, exit, port, this_core};
use core::fmt::{self, Write};
use core::sync::atomic::{AtomicU32, Ordering};

const COM1: u16 = 0x3F8;
const LINE_STATUS: u16 = COM1 + 5;
const TRANSMITTER_EMPTY: u8 = 1 << 5;
const FIFO_BYTES: usize = 16;

/// How often the UART is asked for room before its absence is assumed and the bytes are dropped: more than a second.
const MAX_POLLS: u32 = 2_000_000;
/// How often an urgent message looks for progress of the lock's owner before it breaks in: some milliseconds.
const MAX_IDLE_LOOKS: u32 = 4_000;

const NOBODY: u32 = 0;

/// The owner's core number plus 1, or [`NOBODY`].
#[unsafe(link_section = ".emulator")]
static OWNER: AtomicU32 = AtomicU32::new(NOBODY);
/// Counts filled FIFOs and finished messages, so that a waiting core sees that the owner is not stuck.
#[unsafe(link_section = ".emulator")]
static PROGRESS: AtomicU32 = AtomicU32::new(0);

/// Sets the UART to 115200 baud, 8 bits, no parity, FIFO on, no interrupts. Called once, before the first message.
pub(super) fn initialise() {
    const SETTINGS: [(u16, u8); 7] = [
        (1, 0x00), // no interrupts
        (3, 0x80), // the next two registers are the divisor
        (0, 0x01), // 115200 baud
        (1, 0x00),
        (3, 0x03), // 8 bits, no parity, one stop bit
        (2, 0x07), // FIFO on and empty
        (4, 0x03), // data terminal ready, request to send
    ];
    for (register, value) in SETTINGS {
        // SAFETY: COM1's registers; the UART does not access memory.
        unsafe { port::out8(COM1 + register, value) }
    }
}

/// Prints one line; the line end is added.
pub fn write_line(line: &str) {
    write_fmt(format_args!("{line}\n"));
}

/// Prints a message in one piece. It should end with a line end, since another core may print next.
///
/// A message printed while this core prints one already (from a formatted value's own code) appears inside it.
pub fn write_fmt(message: fmt::Arguments<'_>) {
    let _interrupts = cpu::InterruptsOff::new();
    let me = this_core() as u32 + 1;
    if OWNER.load(Ordering::Relaxed) == me {
        return send(message);
    }
    while OWNER.compare_exchange_weak(NOBODY, me, Ordering::Acquire, Ordering::Relaxed).is_err() {
        if exit::is_ending() {
            cpu::park();
        }
        cpu::pause();
    }
    if exit::is_ending() {
        cpu::park();
    }
    send(message);
    // Only if it is still ours: an urgent message may have broken in.
    let _ = OWNER.compare_exchange(me, NOBODY, Ordering::Release, Ordering::Relaxed);
}

/// Prints a message of a core that is about to end the machine, even if the console's owner is stuck or is this core.
pub fn write_urgent(message: fmt::Arguments<'_>) {
    let _interrupts = cpu::InterruptsOff::new();
    let me = this_core() as u32 + 1;
    if exit::is_ending() {
        cpu::park();
    }
    if !take_in_time(me) {
        send(format_args!("\n"));
    }
    send(message);
    let _ = OWNER.compare_exchange(me, NOBODY, Ordering::Release, Ordering::Relaxed);
}

/// Takes the console for good: a message under way is finished, no other follows.
pub(super) fn seize() {
    take_in_time(this_core() as u32 + 1);
    // What is in the FIFO leaves it before the machine ends (QEMU has sent it already).
    wait_for_room();
}

/// Takes the lock, by force if its owner makes no progress or is this core. Returns whether it was free.
fn take_in_time(me: u32) -> bool {
    let mut seen = PROGRESS.load(Ordering::Relaxed);
    let mut idle_looks = 0;
    loop {
        match OWNER.compare_exchange(NOBODY, me, Ordering::Acquire, Ordering::Relaxed) {
            Ok(_) => return true,
            Err(owner) if owner == me => return false,
            Err(_) => {}
        }
        let now = PROGRESS.load(Ordering::Relaxed);
        idle_looks = if now == seen { idle_looks + 1 } else { 0 };
        seen = now;
        if idle_looks > MAX_IDLE_LOOKS {
            OWNER.store(me, Ordering::Relaxed);
            return false;
        }
        port::short_delay();
        cpu::pause();
    }
}

fn send(message: fmt::Arguments<'_>) {
    let mut fifo = Fifo { bytes: [0; FIFO_BYTES], len: 0 };
    // The writer never fails; an error can only come from a value's own formatting and loses its text, nothing else.
    let _ = fifo.write_fmt(message);
    fifo.flush();
}

/// Collects bytes until the UART's FIFO can be filled at once.
struct Fifo {
    bytes: [u8; FIFO_BYTES],
    len: usize,
}

impl Fifo {
    fn flush(&mut self) {
        if self.len > 0 && wait_for_room() {
            for &byte in &self.bytes[..self.len] {
                // SAFETY: COM1's data register; the UART does not access memory.
                unsafe { port::out8(COM1, byte) }
            }
        }
        self.len = 0;
        PROGRESS.fetch_add(1, Ordering::Relaxed);
    }
}

impl Write for Fifo {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for &byte in text.as_bytes() {
            self.bytes[self.len] = byte;
            self.len += 1;
            if self.len == FIFO_BYTES {
                self.flush();
            }
        }
        Ok(())
    }
}

/// Waits until the UART's FIFO is empty; false if it never is, because there is no UART.
fn wait_for_room() -> bool {
    for _ in 0..MAX_POLLS {
        // SAFETY: reading COM1's line status only clears error bits, which nobody uses.
        if unsafe { port::in8(LINE_STATUS) } & TRANSMITTER_EMPTY != 0 {
            return true;
        }
        cpu::pause();
    }
    false
}
