//! Instructions and registers of the processor that the rest of the backend is built from.

use bitflags::bitflags;
use core::arch::asm;
use core::marker::PhantomData;

bitflags! {
    /// Bits of control register 0.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub(crate) struct Cr0: u32 {
        /// Protected mode.
        const PROTECTION = 1 << 0;
        /// `wait` obeys the task-switched bit.
        const MONITOR_COPROCESSOR = 1 << 1;
        /// No x87: every x87 instruction traps.
        const EMULATION = 1 << 2;
        /// A task switch happened; the next x87 instruction traps.
        const TASK_SWITCHED = 1 << 3;
        /// x87 errors raise exception 16 instead of an external interrupt.
        const NUMERIC_ERROR = 1 << 5;
        /// Supervisor writes obey read-only pages.
        const WRITE_PROTECT = 1 << 16;
        /// Caches are not written through.
        const NOT_WRITE_THROUGH = 1 << 29;
        /// Caches are off.
        const CACHE_DISABLE = 1 << 30;
        /// Paging.
        const PAGING = 1 << 31;
        /// Every other bit.
        const _ = !0;
    }
}

/// The x87 control word of every core: all exceptions masked, round to nearest, 53-bit precision.
///
/// With 53 bits `f64` arithmetic gives the host's results bit for bit; with the default of 64 it does not.
pub(crate) const X87_CONTROL_WORD: u16 = 0x27F;

/// Reads the time-stamp counter.
///
/// Under `-icount` it counts the instructions of all vCPUs together.
#[inline]
pub(crate) fn rdtsc() -> u64 {
    let (low, high): (u32, u32);
    // SAFETY: rdtsc is allowed at privilege level 0 and exists on every Pentium.
    unsafe { asm!("rdtsc", out("eax") low, out("edx") high, options(nomem, nostack, preserves_flags)) }
    u64::from(high) << 32 | u64::from(low)
}

/// Selects what the counters of events count. (Intel, Pentium Processor Family Developer's Manual, volume 3, chapter 16.)
#[cfg(feature = "scc")]
const CESR: u32 = 0x11;
/// The two counters.
#[cfg(feature = "scc")]
const COUNTERS: [u32; 2] = [0x12, 0x13];

/// Selects an event at all levels of privilege.
#[cfg(feature = "scc")]
const fn event(number: u32) -> u32 {
    number | 0b011 << 6
}

/// Lets the counters of events count, or stand still.
#[cfg(feature = "scc")]
fn select(events: u32) {
    // SAFETY: allowed at privilege level 0; every P54C has the register, and nobody else uses it.
    unsafe { asm!("wrmsr", in("ecx") CESR, in("eax") events, in("edx") 0, options(nomem, nostack, preserves_flags)) }
}

/// What a counter of events shows.
#[cfg(feature = "scc")]
fn counted(counter: u32) -> u64 {
    let (low, high): (u32, u32);
    // SAFETY: allowed at privilege level 0; every P54C has the counters, and reading one changes nothing.
    unsafe {
        asm!("rdmsr", in("ecx") counter, out("eax") low, out("edx") high, options(nomem, nostack, preserves_flags))
    }
    u64::from(high) << 32 | u64::from(low)
}

/// Lets counter 0 of events count executed instructions (event 0x16), or stand still, and returns what it shows.
#[cfg(feature = "scc")]
pub(crate) fn count_instructions(runs: bool) -> u64 {
    select(if runs { event(0x16) } else { 0 });
    counted(COUNTERS[0])
}

/// Lets counter 0 count lines of instructions that L1 does not have (event 0x0E), or stand still, and returns what it shows.
#[cfg(feature = "scc")]
pub(crate) fn count_code_misses(runs: bool) -> u64 {
    select(if runs { event(0x0E) } else { 0 });
    counted(COUNTERS[0])
}

/// Lets the counters count cycles in which the core waits: for what it loads (event 0x1A), and for room for what it stores
/// (0x19). Or lets them stand still. Returns what they show together.
#[cfg(feature = "scc")]
pub(crate) fn count_waits(runs: bool) -> u64 {
    select(if runs { event(0x1A) | event(0x19) << 16 } else { 0 });
    counted(COUNTERS[0]).wrapping_add(counted(COUNTERS[1]))
}

/// Tells the processor that this is a wait loop; with a single-threaded TCG this hands over to the next vCPU.
///
/// Under `-icount` a core gives way at this instruction only, so every wait loop needs it. A P54C takes it for a `nop`.
#[inline(always)]
pub(crate) fn pause() {
    // SAFETY: pause has no effect but time. It is not declared `nomem`, so words polled around it are read again.
    unsafe { asm!("pause", options(nostack, preserves_flags)) }
}

/// A pause on boards between two polls of a wait that decides by what it polls, and by no count of polls until the next of its looks
/// ([`POLLS_PER_LOOK`](descriptions::boards::POLLS_PER_LOOK)): the boards' emulator leaves out such polls where they would find nothing new,
/// and tells them from others by this prefix of a `nop`, which no compiler writes. A P54C takes it for a `nop`, as it does `pause`.
#[cfg(feature = "scc")]
#[inline(always)]
pub(crate) fn pause_between_polls() {
    // SAFETY: as of `pause`.
    unsafe { asm!("repne; nop", options(nostack, preserves_flags)) }
}

/// Stops this core for ever.
pub(crate) fn park() -> ! {
    loop {
        // SAFETY: with interrupts off nothing but an NMI wakes the core, and then the loop stops it again.
        unsafe { asm!("cli", "hlt", options(nomem, nostack)) }
    }
}

/// Stops this core until an interrupt comes, with interrupts on.
///
/// # Safety
/// As for [`set_interrupts`].
pub(crate) unsafe fn halt_until_interrupt() {
    // SAFETY: the caller says so; `sti` lets none come before the next instruction. Not `nomem`, so that memory is read again afterwards.
    unsafe { asm!("sti", "hlt", options(nostack)) }
}

/// Forgets the translation of one page.
#[inline]
pub(crate) fn invalidate_page(address: usize) {
    // SAFETY: dropping a translation only makes the processor walk the page table again. Not `nomem`: accesses through
    // the old translation must not move past this point.
    unsafe { asm!("invlpg [{}]", in(reg) address, options(nostack, preserves_flags)) }
}

/// Forgets the translations of all pages.
#[inline]
pub(crate) fn forget_translations() {
    // SAFETY: the page directory stays the same; see `invalidate_page`.
    unsafe { asm!("mov {0}, cr3", "mov cr3, {0}", out(reg) _, options(nostack, preserves_flags)) }
}

/// Reads control register 2: the address of the last page fault.
#[inline]
pub(crate) fn fault_address() -> usize {
    let value: usize;
    // SAFETY: reading control registers is allowed at privilege level 0.
    unsafe { asm!("mov {}, cr2", out(reg) value, options(nomem, nostack, preserves_flags)) }
    value
}

/// Reads control register 3: the physical address of this core's page directory.
#[inline]
pub(crate) fn page_directory() -> u32 {
    let value: u32;
    // SAFETY: reading control registers is allowed at privilege level 0.
    unsafe { asm!("mov {}, cr3", out(reg) value, options(nomem, nostack, preserves_flags)) }
    value
}

/// Switches the caches on, after paging.
///
/// # Safety
/// Paging is on, and what must not be cached is mapped so; the caches hold nothing from before.
pub(crate) unsafe fn enable_caches() {
    let clear = !(Cr0::CACHE_DISABLE | Cr0::NOT_WRITE_THROUGH).bits();
    // SAFETY: the caller says so. Not `nomem`: accesses stay on their side.
    unsafe {
        asm!("mov {0}, cr0", "and {0}, {1}", "mov cr0, {0}", out(reg) _, in(reg) clear, options(nostack));
    }
}

/// Family and model of the processor.
pub(crate) fn family_and_model() -> (u32, u32) {
    let signature: u32;
    // SAFETY: every Pentium has `cpuid`; it changes these registers only.
    unsafe {
        asm!("cpuid", inout("eax") 1 => signature, out("ebx") _, out("ecx") _, out("edx") _, options(nomem, nostack));
    }
    (signature >> 8 & 0xF, signature >> 4 & 0xF)
}

/// Lets interrupts come from now on, or no more.
///
/// # Safety
/// Interrupts that may come have a gate, whose handler leaves everything as it was; and no [`InterruptsOff`] is alive
/// that somebody relies on.
pub(crate) unsafe fn set_interrupts(on: bool) {
    // SAFETY: the caller says so. Not `nomem`, so that
    // memory accesses stay on their side.
    unsafe {
        if on {
            asm!("sti", options(nostack));
        } else {
            asm!("cli", options(nostack));
        }
    }
}

/// Interrupts are off as long as this value lives; dropping it restores what was before.
#[must_use = "interrupts come back when the guard is dropped"]
#[derive(Debug)]
pub(crate) struct InterruptsOff {
    were_on: bool,
    /// The flag belongs to the core that made the guard.
    not_send: PhantomData<*mut ()>,
}

impl InterruptsOff {
    /// Switches interrupts off on this core.
    #[inline]
    pub(crate) fn new() -> Self {
        let flags: u32;
        // SAFETY: reads the flags and clears IF. The block uses the stack, so `nostack` is not promised; memory
        // accesses must not move out of the guarded part, so `nomem` is not promised either.
        unsafe { asm!("pushfd", "pop {}", "cli", out(reg) flags) }
        Self { were_on: flags & (1 << 9) != 0, not_send: PhantomData }
    }
}

impl Default for InterruptsOff {
    fn default() -> Self {
        Self::new()
    }
}

impl Drop for InterruptsOff {
    #[inline]
    fn drop(&mut self) {
        if self.were_on {
            // SAFETY: interrupts were on when the guard was made, so the core is prepared for them.
            unsafe { asm!("sti", options(nostack)) }
        }
    }
}
