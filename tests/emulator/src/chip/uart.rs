//! The serial port of a core, which the board's host emulates.

/// The first of its eight ports.
pub(super) const COM1: u16 = 0x3F8;

/// The number of its line status register.
pub(super) const LINE_STATUS: u16 = 5;

/// Bit of the line control register that puts the divisor in place of data and interrupts.
const DIVISOR_LATCH: u8 = 0x80;

/// Both transmitter bits of the line status register.
const TRANSMITTER_EMPTY: u8 = 0x60;

/// A 16550 without interrupts, whose transmitter is always empty.
#[derive(Default)]
pub(super) struct Uart {
    interrupts: u8,
    line_control: u8,
    modem_control: u8,
    scratch: u8,
    divisor: [u8; 2],
    sent: Vec<u8>,
}

impl Uart {
    /// A byte written to one of the eight registers. Returns a line when it is complete.
    pub(super) fn write(&mut self, register: u16, value: u8) -> Option<Vec<u8>> {
        let divisor = self.line_control & DIVISOR_LATCH != 0;
        match register {
            0 | 1 if divisor => self.divisor[usize::from(register)] = value,
            0 if value == b'\n' => return Some(std::mem::take(&mut self.sent)),
            0 => self.sent.push(value),
            1 => self.interrupts = value,
            3 => self.line_control = value,
            4 => self.modem_control = value,
            7 => self.scratch = value,
            _ => {}
        }
        None
    }

    /// A byte read from one of them.
    pub(super) fn read(&self, register: u16) -> u8 {
        let divisor = self.line_control & DIVISOR_LATCH != 0;
        match register {
            0 | 1 if divisor => self.divisor[usize::from(register)],
            1 => self.interrupts,
            2 => 0x01,
            3 => self.line_control,
            4 => self.modem_control,
            LINE_STATUS => TRANSMITTER_EMPTY,
            6 => 0xB0,
            7 => self.scratch,
            _ => 0,
        }
    }

    /// What was sent since the last end of a line.
    pub(super) fn unfinished(&self) -> &[u8] {
        &self.sent
    }
}
