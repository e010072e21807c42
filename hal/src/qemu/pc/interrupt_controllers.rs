//! The interrupt controllers of the PC AT, which nothing uses but the timer of a cluster's node.

use crate::bare::{port, trap};

/// Vector of the timer, which only nodes of a cluster let through.
const TIMER: u8 = 0x20;

/// Vectors on which a masked controller may still report a request that vanished.
const SPURIOUS: [u8; 2] = [0x27, 0x2F];

/// Entry points of the vectors that these controllers use.
pub(crate) fn gates(timer: usize) -> [(u8, usize); 3] {
    let [first, second] = SPURIOUS;
    [(TIMER, timer), (first, trap::ignore_stub()), (second, trap::ignore_stub())]
}

/// Moves the controllers away from the exceptions' vectors and masks them.
pub(crate) fn mask() {
    const SETTINGS: [(u16, u8); 10] = [
        (0x20, 0x11),
        (0xA0, 0x11),
        (0x21, 0x20), // vectors 0x20 to 0x27
        (0xA1, 0x28), // vectors 0x28 to 0x2F
        (0x21, 0x04),
        (0xA1, 0x02),
        (0x21, 0x01),
        (0xA1, 0x01),
        (0x21, 0xFF),
        (0xA1, 0xFF),
    ];
    for (register, value) in SETTINGS {
        // SAFETY: the documented initialisation of the two controllers; they do not access memory.
        unsafe { port::out8(register, value) }
        port::short_delay();
    }
}
