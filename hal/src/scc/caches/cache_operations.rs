//! The caches of a core: what empties them, as single functions that everything else calls.
//!
//! | | L1, MPBT lines | L1, other lines | write-combine buffer | L2 |
//! |---|---|---|---|---|
//! | [`invalidate_mpb`] | forgotten | | | |
//! | [`drain`] | | | pushed out | |
//! | [`atoll_scc_purge`] | forgotten | written back and forgotten | | written back and forgotten, by sets |
//!
//! Each is found in an image by its name, which is that of a symbol or of a section: a test takes it away, and demands that
//! somebody notices.

use core::{
    arch::{asm, global_asm},
    mem::offset_of,
};

use descriptions::boards::Geometry;

use crate::{
    bare::{cpu, private::Private},
    scc::caches::purge::{Purge, Reads, Sets},
};

/// What is known for purges; nothing before [`prepare`].
static PURGE: Private<Option<Purge>> = Private::new(None);

/// Says how large L2 is, and which private memory is read to displace what it holds: twice `half_bytes` bytes from
/// `start`, which nothing else uses. Leaves nothing in the caches.
///
/// # Safety
/// The memory is there, written back by its page type, and nobody else's.
///
/// # Panics
/// If it is too small.
pub(crate) unsafe fn prepare(geometry: &Geometry, start: usize, half_bytes: usize) {
    let _interrupts = cpu::InterruptsOff::new();
    // SAFETY: the static is private to this core, and only this and `atoll_scc_purge` use it, with interrupts off.
    unsafe { *PURGE.get() = Some(Purge::new(geometry, start, half_bytes)) };
    // The first one fills what is empty since the reset, the second one leaves nothing else of what was there.
    flush_all();
    flush_all();
}

/// Assembly that is where it is used, since nearly every access has some and a call would take longer than what it does, and that
/// is found nevertheless: the section `.atoll.NAME` says where each piece begins and ends.
macro_rules! found_by_name {
    ($name:literal, $instruction:literal $($operands:tt)*) => {
        asm!(
            "882:",
            $instruction,
            "883:",
            concat!(".pushsection .atoll.", $name, ", \"R\", @progbits"),
            ".long 882b, 883b",
            ".popsection"
            $($operands)*
        )
    };
}

/// Forgets all MPBT lines of L1 (`CL1INVMB`, 0F 0A): about a cycle. What is in the write-combine buffer stays there.
#[inline(always)]
pub(crate) fn invalidate_mpb() {
    // SAFETY: lines of this type are written through, so nothing is lost. The instruction changes no register. The block touches
    // memory as far as the compiler knows, so that accesses stay on their side of it.
    unsafe { found_by_name!("invalidate_mpb", ".byte 0x0F, 0x0A", options(nostack, preserves_flags)) }
}

/// Pushes out what is in the write-combine buffer, by a store to another line: that at `own_line_0`, the first of the
/// own MPB, which nobody uses otherwise. Its own word stays in the buffer; nobody waits for it.
///
/// # Safety
/// The address is that of line 0 of the own MPB, which is mapped, and which nobody reads.
#[inline(always)]
pub(crate) unsafe fn drain(own_line_0: usize) {
    // SAFETY: the caller says so. The block touches memory as far as the compiler knows, so that stores before it are made before.
    unsafe { found_by_name!("drain", "mov dword ptr [{}], 0", in(reg) own_line_0, options(nostack, preserves_flags)) }
}

/// Writes everything in L1, and `sets` sets of L2 from `first_set` on, back to memory, and forgets it. How and why it
/// is enough is in [`purge`](super::purge).
#[unsafe(no_mangle)]
#[inline(never)]
pub(crate) extern "C" fn atoll_scc_purge(first_set: usize, sets: usize) {
    if sets == 0 {
        return;
    }
    let _interrupts = cpu::InterruptsOff::new();
    // SAFETY: the static is private to this core, and only this and `prepare` change it, with interrupts off.
    let Some(purge) = (unsafe { (*PURGE.get()).as_mut() }) else { return };
    let reads = purge.turn(Sets { first: first_set, count: sets });
    // SAFETY: interrupts are off, and what is read is the area that was set aside for this.
    unsafe { scc_purge_sets(&raw const reads) }
}

unsafe extern "C" {
    /// Empties L1, then makes the reads, and stores nothing.
    ///
    /// # Safety
    /// Interrupts are off, and all that is to be read can be.
    fn scc_purge_sets(reads: *const Reads);
}

// The first round goes through the loop with reads of one line of `Reads`, so that the code is in L1 before it counts.
global_asm!(
    r#"
    .section .text.scc_purge_sets, "ax", @progbits
    .balign 32, 0x90
    .globl scc_purge_sets
    .type scc_purge_sets, @function
scc_purge_sets:
    pushl %ebp
    pushl %ebx
    pushl %esi
    pushl %edi
    movl 20(%esp), %ebp
    movl {set}(%ebp), %eax
    decl %eax
    movl {sets}(%ebp), %ecx
    incl %ecx
    wbinvd
    movl %ebp, %esi
    xorl %edi, %edi
    movl {ways}(%ebp), %edx
    jmp scc_purge_ways

scc_purge_set:
    movl {second_half}(%ebp), %edi
    movl {start}(%ebp), %esi
    btl %eax, (%edi)
    jnc scc_purge_half
    addl {half_bytes}(%ebp), %esi
scc_purge_half:
    movl %eax, %edx
    shll $5, %edx
    addl %edx, %esi
    movl {way_bytes}(%ebp), %edi
    movl {ways}(%ebp), %edx
    .balign 32, 0x90
scc_purge_ways:
    movl (%esi), %ebx
    addl %edi, %esi
    decl %edx
    jnz scc_purge_ways
    incl %eax
    andl {last_set}(%ebp), %eax
    decl %ecx
    jnz scc_purge_set

    popl %edi
    popl %esi
    popl %ebx
    popl %ebp
    retl
    .size scc_purge_sets, . - scc_purge_sets
    .text
    "#,
    set = const offset_of!(Reads, set),
    sets = const offset_of!(Reads, sets),
    last_set = const offset_of!(Reads, last_set),
    start = const offset_of!(Reads, start),
    half_bytes = const offset_of!(Reads, half_bytes),
    way_bytes = const offset_of!(Reads, way_bytes),
    ways = const offset_of!(Reads, ways),
    second_half = const offset_of!(Reads, second_half),
    options(att_syntax)
);

/// Writes the lines of some memory back, and forgets them.
pub(crate) fn flush(address: usize, len_bytes: usize) {
    let sets = Sets::of(address, len_bytes, l2_sets());
    if sets.count > 0 {
        atoll_scc_purge(sets.first, sets.count);
    }
}

/// Writes everything back, and forgets it.
pub(crate) fn flush_all() {
    atoll_scc_purge(0, l2_sets());
}

fn l2_sets() -> usize {
    // SAFETY: the static is private to this core, and what is read of it does not change after `prepare`.
    unsafe { (*PURGE.get()).as_ref() }.map_or(0, Purge::sets)
}
