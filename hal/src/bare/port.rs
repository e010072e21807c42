//! Input and output ports.
//!
//! The assembly blocks do not promise `nomem`: a device may react to memory that was written before, so the compiler
//! must not move such stores across a port access.

use core::arch::asm;

/// Writes a byte to a port.
///
/// # Safety
/// The device behind `port` must not do anything that breaks memory safety.
#[inline]
pub(crate) unsafe fn out8(port: u16, value: u8) {
    // SAFETY: the caller vouches for the device; the instruction itself touches no memory.
    unsafe { asm!("out dx, al", in("dx") port, in("al") value, options(nostack, preserves_flags)) }
}

/// Writes a 16-bit word to a port.
///
/// # Safety
/// As for [`out8`].
#[inline]
pub(crate) unsafe fn out16(port: u16, value: u16) {
    // SAFETY: the caller vouches for the device; the instruction itself touches no memory.
    unsafe { asm!("out dx, ax", in("dx") port, in("ax") value, options(nostack, preserves_flags)) }
}

/// Reads a byte from a port.
///
/// # Safety
/// As for [`out8`]; reading may have side effects on the device.
#[inline]
pub(crate) unsafe fn in8(port: u16) -> u8 {
    let value: u8;
    // SAFETY: the caller vouches for the device; the instruction itself touches no memory.
    unsafe { asm!("in al, dx", in("dx") port, out("al") value, options(nostack, preserves_flags)) }
    value
}

/// Lets about one microsecond pass on a PC (a read of the diagnostic port), a few hundred nanoseconds in QEMU.
#[inline]
pub(crate) fn short_delay() {
    // SAFETY: port 0x80 is the diagnostic port; reading it has no effect but to take time.
    unsafe {
        in8(0x80);
    }
}
