//! How a core computes with floating-point numbers: precision, rounding, masked exceptions. It is each core's own, and a
//! switch of coroutines leaves it alone.

/// What a core has chosen.
#[cfg(target_arch = "x86_64")]
pub(super) struct FloatControl {
    x87: u16,
    sse: u32,
}

#[cfg(target_arch = "x86_64")]
impl FloatControl {
    /// What is chosen now.
    pub(super) fn save() -> Self {
        let mut saved = Self { x87: 0, sse: 0 };
        // SAFETY: stores two registers into what has room for them.
        unsafe {
            core::arch::asm!(
                "fnstcw [{x87}]",
                "stmxcsr [{sse}]",
                x87 = in(reg) &raw mut saved.x87,
                sse = in(reg) &raw mut saved.sse,
                options(nostack, preserves_flags)
            );
        }
        saved
    }

    /// Chooses it again.
    pub(super) fn restore(&self) {
        // SAFETY: the registers had these values before, for this core.
        unsafe {
            core::arch::asm!(
                "fldcw [{x87}]",
                "ldmxcsr [{sse}]",
                x87 = in(reg) &raw const self.x87,
                sse = in(reg) &raw const self.sse,
                options(nostack, preserves_flags, readonly)
            );
        }
    }
}

/// Nothing that code of these hosts chooses.
#[cfg(not(target_arch = "x86_64"))]
pub(super) struct FloatControl;

#[cfg(not(target_arch = "x86_64"))]
impl FloatControl {
    pub(super) fn save() -> Self {
        Self
    }

    pub(super) fn restore(&self) {}
}
