//! Serial ports.

use emulator::Settings;

use super::setup::*;

#[test]
fn each_core_has_a_console() {
    let mut chip = chip();
    assert_eq!(chip.port_in(3, 0x3FD, 1).unwrap() & 0x60, 0x60);
    chip.port_out(3, 0x3FB, 1, 0x80).unwrap();
    chip.port_out(3, 0x3F8, 1, 1).unwrap();
    chip.port_out(3, 0x3FB, 1, 3).unwrap();
    for (one, other) in b"first\r\n".iter().zip(b"second\n") {
        chip.port_out(3, 0x3F8, 1, u32::from(*one)).unwrap();
        chip.port_out(40, 0x3F8, 1, u32::from(*other)).unwrap();
    }
    chip.port_out(3, 0x3F8, 1, u32::from(b'x')).unwrap();
    assert_eq!(chip.take_console_lines(), [(3, "first".to_owned()), (40, "second".to_owned())]);
    assert_eq!((chip.take_console_lines().len(), chip.unfinished_line(3).as_str()), (0, "x"));
}

#[test]
fn a_console_may_be_without_status() {
    let mut chip = chip_with(Settings { console_status: false, ..Settings::default() });
    assert_eq!(chip.port_in(0, 0x3FD, 1), Ok(0));
    chip.port_out(0, 0x3F8, 1, u32::from(b'\n')).unwrap();
    assert_eq!(chip.take_console_lines(), [(0, String::new())]);
}

#[test]
fn there_are_no_other_ports() {
    let mut chip = chip();
    for port in [0x20_u16, 0x40, 0x80, 0xF4, 0x2F8, 0x3F7, 0x400, 0xCF8] {
        refused(chip.port_out(0, port, 1, 0), 0, port.into(), "there is no port");
        refused(chip.port_in(0, port, 1), 0, port.into(), "there is no port");
    }
    refused(chip.port_out(0, 0x3F8, 4, 0), 0, 0x3F8, "4 bytes");
}
