//! COM1, the line to whoever watches the machine.
//!
//! Messages come in pieces of 16 bytes, a FIFO's size, so that the UART can be asked for room once for each: every
//! port access leaves the translated code of QEMU. On a board, whose UARTs may have no FIFO, it is asked for each byte.

use core::fmt::{self, Write};

use super::{cpu, port};

const COM1: u16 = 0x3F8;
const LINE_STATUS: u16 = COM1 + 5;
const TRANSMITTER_EMPTY: u8 = 1 << 5;
const FIFO_BYTES: usize = 16;

/// Sets the UART to 115200 baud, 8 bits, no parity, FIFO on, no interrupts. Called once, before the first message.
pub(crate) fn initialise() {
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

/// Waits until the UART's FIFO is empty; false if it is not after `looks` looks, perhaps because there is no UART.
pub(crate) fn wait_for_room(looks: u32) -> bool {
    for _ in 0..looks {
        // SAFETY: reading COM1's line status only clears error bits, which nobody uses.
        if unsafe { port::in8(LINE_STATUS) } & TRANSMITTER_EMPTY != 0 {
            return true;
        }
        cpu::pause();
    }
    false
}

/// Puts bytes into the UART's FIFO, which has room for them.
pub(crate) fn fill(bytes: &[u8]) {
    for &byte in bytes {
        // SAFETY: COM1's data register; the UART does not access memory.
        unsafe { port::out8(COM1, byte) }
    }
}

/// Gives a message to `send` in pieces that fit the UART's FIFO.
pub(crate) fn in_pieces(message: fmt::Arguments<'_>, send: impl FnMut(&[u8])) {
    let mut fifo = Fifo { bytes: [0; FIFO_BYTES], len: 0, send };
    // The writer never fails; an error can only come from a value's own formatting and loses its text, nothing else.
    let _ = fifo.write_fmt(message);
    fifo.flush();
}

/// Collects bytes until the UART's FIFO can be filled at once.
struct Fifo<S> {
    bytes: [u8; FIFO_BYTES],
    len: usize,
    send: S,
}

impl<S: FnMut(&[u8])> Fifo<S> {
    fn flush(&mut self) {
        (self.send)(&self.bytes[..self.len]);
        self.len = 0;
    }
}

impl<S: FnMut(&[u8])> Write for Fifo<S> {
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
