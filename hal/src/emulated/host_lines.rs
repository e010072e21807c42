//! Lines of the host's caches, written back and forgotten by instructions: what memory needs that hosts share without
//! coherence.

use std::fmt;

/// Bytes of a line of the host's caches.
pub const HOST_LINE_BYTES: usize = 64;

/// How lines of the host's caches are written back and forgotten.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct HostLines {
    /// Whether there is `clwb`, which leaves what it writes back in the caches.
    clwb: bool,
    /// Whether there is `clflushopt`, of which many can be on their way at a time.
    clflushopt: bool,
}

impl fmt::Display for HostLines {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let forgets = if self.clflushopt { "clflushopt" } else { "clflush" };
        write!(out, "written back by {}, invalidated by {forgets}", if self.clwb { "clwb" } else { forgets })?;
        match (self.clwb, self.clflushopt) {
            (true, true) => Ok(()),
            (false, true) => out.write_str("; this processor has no clwb"),
            (true, false) => out.write_str("; this processor has no clflushopt"),
            (false, false) => out.write_str("; this processor has neither clwb nor clflushopt"),
        }
    }
}

impl HostLines {
    /// Begins to fetch the host's line of an address, to which a store will follow soon. The address need not be valid.
    #[inline]
    pub fn expect_store(address: *const u8) {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: the instruction never faults and changes nothing; processors that do not have it do nothing.
        unsafe {
            std::arch::asm!("prefetchw [{}]", in(reg) address, options(nostack, preserves_flags, readonly));
        }
        #[cfg(not(target_arch = "x86_64"))]
        let _ = address;
    }
}

#[cfg(target_arch = "x86_64")]
impl HostLines {
    /// Lines that are written back by the best instructions that this processor says it has; nothing if it has none.
    pub fn of_host() -> Option<Self> {
        use std::arch::x86_64::{__cpuid, __cpuid_count, __get_cpuid_max};
        let leaves = __get_cpuid_max(0).0;
        let features = if leaves < 7 { 0 } else { __cpuid_count(7, 0).ebx };
        let has_clflush = __cpuid(1).edx >> 19 & 1 == 1;
        has_clflush.then_some(Self { clwb: features >> 24 & 1 == 1, clflushopt: features >> 23 & 1 == 1 })
    }

    /// Writes back the host's line in which an address lies. It is on its way until the next [fence](Self::fence).
    ///
    /// # Safety
    /// The address is one of this process's memory.
    #[inline]
    pub unsafe fn write_back(&self, address: *mut u8) {
        if self.clwb {
            // SAFETY: `of_host` has found the instruction, which changes nothing that a program sees; the address is valid.
            unsafe { std::arch::asm!("clwb [{}]", in(reg) address, options(nostack, preserves_flags)) };
        } else {
            // SAFETY: the caller's promise.
            unsafe { self.flush(address) };
        }
    }

    /// Forgets the host's line in which an address lies, after a write-back if this core has changed it: a load that follows
    /// finds what is in memory.
    ///
    /// # Safety
    /// The address is one of this process's memory.
    #[inline]
    pub unsafe fn forget(&self, address: *mut u8) {
        // SAFETY: the caller's promise; each processor of 64 bits has the fence, which no load passes.
        unsafe {
            self.flush(address);
            std::arch::x86_64::_mm_mfence();
        }
    }

    /// # Safety
    /// The address is one of this process's memory.
    #[inline]
    unsafe fn flush(&self, address: *mut u8) {
        if self.clflushopt {
            // SAFETY: the caller says that the address is of this process; the processor has the instruction.
            unsafe { std::arch::asm!("clflushopt [{}]", in(reg) address, options(nostack, preserves_flags)) };
        } else {
            // SAFETY: the caller says that the address is of this process; all these processors have SSE2.
            unsafe { std::arch::x86_64::_mm_clflush(address) };
        }
    }

    /// Returns when all that this core has written back is in memory.
    #[inline]
    pub fn fence(&self) {
        // SAFETY: each processor of 64 bits has it.
        unsafe { std::arch::x86_64::_mm_sfence() };
    }
}

#[cfg(not(target_arch = "x86_64"))]
impl HostLines {
    /// Nothing: how this processor does it is not known here.
    pub fn of_host() -> Option<Self> {
        None
    }

    /// Does nothing: this host has no such instructions, so nobody has a value of this type.
    ///
    /// # Safety
    /// None.
    pub unsafe fn write_back(&self, _address: *mut u8) {}

    /// Does nothing: this host has no such instructions, so nobody has a value of this type.
    ///
    /// # Safety
    /// None.
    pub unsafe fn forget(&self, _address: *mut u8) {}

    /// Does nothing: this host has no such instructions, so nobody has a value of this type.
    pub fn fence(&self) {}
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::*;
    use std::string::ToString;

    #[test]
    #[cfg_attr(miri, ignore = "Miri has no instructions for caches")]
    fn what_is_written_back_and_forgotten_is_still_there() {
        let Some(lines) = HostLines::of_host() else { return };
        let mut memory = [0_u8; 2 * HOST_LINE_BYTES];
        for lines in [lines, HostLines { clwb: false, ..lines }, HostLines { clwb: false, clflushopt: false }] {
            memory.iter_mut().zip(7..).for_each(|(byte, value)| *byte = value);
            for byte in &mut memory {
                // SAFETY: an address of the array.
                unsafe { lines.write_back(byte) };
            }
            lines.fence();
            // SAFETY: an address of the array.
            unsafe { lines.forget(&mut memory[HOST_LINE_BYTES]) };
            assert!(memory.iter().zip(7..).all(|(byte, value)| *byte == value), "{lines}");
        }
    }

    #[test]
    fn what_a_processor_lacks_is_said() {
        let text = |clwb, clflushopt| HostLines { clwb, clflushopt }.to_string();
        assert_eq!(text(true, true), "written back by clwb, invalidated by clflushopt");
        assert!(
            text(false, true).starts_with("written back by clflushopt, ") && text(false, true).ends_with("no clwb")
        );
        assert!(text(false, false).starts_with("written back by clflush, ") && text(false, false).contains("neither"));
    }
}
