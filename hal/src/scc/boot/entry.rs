//! The first instructions of every core.
//!
//! A core leaves its reset in real mode, 16 bytes below 4 GB, where slot 255 of its lookup table has a page of its own
//! memory (`hal::hardware`, Reset). There is a jump back to the beginning of the page, and there a table of two flat
//! segments, with which the core goes on in 32-bit mode in the image. What the memory holds that nobody has loaded is
//! not defined, so the start code clears what the image takes to be zero.
//!
//! Caches stay off until there is paging: page tables say what may be cached, and registers may not.

use core::arch::global_asm;

use crate::{
    bare::cpu::{Cr0, X87_CONTROL_WORD},
    scc::boot::sequence,
};

/// What the reset leaves set and the start code clears. Not the bits that keep the caches off.
const CR0_CLEAR: u32 = Cr0::EMULATION.union(Cr0::TASK_SWITCHED).complement().bits();
const CR0_SET: u32 =
    Cr0::PROTECTION.union(Cr0::MONITOR_COPROCESSOR).union(Cr0::NUMERIC_ERROR).union(Cr0::WRITE_PROTECT).bits();

// The section is not marked as code, since what is disassembled to find instructions that a P54C lacks is 32-bit code.
// Descriptors have their accessed bit set from the beginning, so that nothing is written here.
global_asm!(
    r#"
    .section .reset, "a", @progbits
    .code16
    .type reset_page, @object
reset_page:
    cli
    cld
    /* cs begins 64 KB below 4 GB, and this page 4 KB below. */
    lgdtl %cs:0xF000 + (reset_gdt_pointer - reset_page)
    movl %cr0, %eax
    orl ${cr0_protection}, %eax
    movl %eax, %cr0
    ljmpl $0x08, $reset_entry
    .balign 8
reset_gdt:
    .quad 0
    .quad 0x00CF9B000000FFFF            /* flat code, accessed */
    .quad 0x00CF93000000FFFF            /* flat data, accessed */
reset_gdt_end:
reset_gdt_pointer:
    .word reset_gdt_end - reset_gdt - 1
    .long reset_gdt
    .org 0xFF0
    /* Here a core begins: a near jump to the start of the page. */
    .byte 0xE9, 0x0D, 0xF0
    .org 0x1000
    .code32
    .size reset_page, . - reset_page

    .section .rodata.reset_control_word, "a", @progbits
    .balign 2
reset_control_word:
    .word {control_word}

    .section .text.reset_entry, "ax", @progbits
    .balign 16
    .globl reset_entry
    .type reset_entry, @function
reset_entry:
    cld
    movl $0x10, %ecx
    movw %cx, %ds
    movw %cx, %es
    movw %cx, %fs
    movw %cx, %gs
    movw %cx, %ss
    /* What was loaded as .data, before anything changes it: whoever starts other cores gives it to them. */
    movl $linker_private_start, %esi
    movl $linker_pristine_start, %edi
    movl $linker_data_words, %ecx
    rep movsl
    movl $linker_data_end, %edi
    movl $linker_bss_words, %ecx
    xorl %eax, %eax
    rep stosl
    movl $linker_stack_top, %esp
    xorl %ebp, %ebp
    movl %cr0, %ecx
    andl ${cr0_clear}, %ecx
    orl ${cr0_set}, %ecx
    movl %ecx, %cr0
    fninit
    fldcw reset_control_word
    call {start}
    ud2
    .size reset_entry, . - reset_entry
    .text
    "#,
    control_word = const X87_CONTROL_WORD,
    cr0_protection = const Cr0::PROTECTION.bits(),
    cr0_clear = const CR0_CLEAR,
    cr0_set = const CR0_SET,
    start = sym sequence::start,
    options(att_syntax)
);
