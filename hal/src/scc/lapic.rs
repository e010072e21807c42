//! The local APIC: the only interrupt controller there is (`hal::hardware`, Interrupts).
//!
//! The pin INTR, a bit of `GLCFG`, is its local pin 0; NMI is pin 1. It cannot interrupt other cores, and its
//! identifier is not the core's number.

use crate::bare::lapic;

/// Lets this core take what other cores raise by its configuration register, once its interrupts are on.
pub(super) fn enable() {
    lapic::enable();
    lapic::take_interrupts_by_pin();
}
