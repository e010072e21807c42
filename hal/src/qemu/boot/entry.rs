//! The first instructions of every core.
//!
//! The first core comes from the loader in flat 32-bit mode, the others from a start-up message in real mode, at a page
//! below 1 MiB into which the first core has copied `ap_trampoline`. Both arrive at `boot_enter`, which turns paging on
//! with the core's own directory, and leave it for `boot_core_start` on the core's own stack.
//!
//! Until then the first core uses a stack and statics in the shared part of the image: `.data` and `.bss` as they are
//! linked are the template for every core's own and must stay untouched.
//!
//! Descriptors have their accessed bit set from the beginning, since they lie in memory that becomes read-only.

use core::arch::global_asm;

use crate::{
    bare::{
        cpu::{Cr0, X87_CONTROL_WORD},
        lapic,
        private::Private,
    },
    qemu::{
        boot::{sequence, trampoline},
        memory::{addresses, directories::DIRECTORIES},
        pc::apic_ids,
    },
};

const BOOT_STACK_BYTES: usize = 64 * 1024;

#[repr(C, align(16))]
struct BootStack([u8; BOOT_STACK_BYTES]);

// Written by the processor as a stack only, never through this item.
#[unsafe(link_section = ".bss.emulator")]
static BOOT_STACK: Private<BootStack> = Private::new(BootStack([0; BOOT_STACK_BYTES]));

const CR0_CLEAR: u32 = Cr0::EMULATION
    .union(Cr0::TASK_SWITCHED)
    .union(Cr0::NOT_WRITE_THROUGH)
    .union(Cr0::CACHE_DISABLE)
    .complement()
    .bits();
const CR0_SET: u32 =
    Cr0::PROTECTION.union(Cr0::MONITOR_COPROCESSOR).union(Cr0::NUMERIC_ERROR).union(Cr0::WRITE_PROTECT).bits();

global_asm!(
    r#"
    .section .multiboot, "a", @progbits
    .balign 4
    .type boot_header, @object
boot_header:
    .long 0x1BADB002
    .long 0x00000003                    /* modules on pages, memory map wanted */
    .long -(0x1BADB002 + 0x00000003)
    .size boot_header, . - boot_header

    .section .rodata.boot_gdt, "a", @progbits
    .balign 8
boot_gdt:
    .quad 0
    .quad 0x00CF9B000000FFFF            /* flat code, accessed */
    .quad 0x00CF93000000FFFF            /* flat data, accessed */
boot_gdt_end:
    .type boot_gdt, @object
    .size boot_gdt, . - boot_gdt
boot_gdt_pointer:
    .word boot_gdt_end - boot_gdt - 1
    .long boot_gdt
    .balign 2
boot_control_word:
    .word {control_word}

    .section .text.boot_entry, "ax", @progbits
    .balign 16
    .globl boot_entry
    .type boot_entry, @function
boot_entry:
    cli
    cld
    movl %eax, %esi                     /* the loader's magic number */
    lgdtl boot_gdt_pointer
    ljmpl $0x08, $boot_flat
boot_flat:
    movl $0x10, %ecx
    movw %cx, %ds
    movw %cx, %es
    movw %cx, %fs
    movw %cx, %gs
    movw %cx, %ss
    movl ${boot_stack} + {boot_stack_bytes}, %esp
    xorl %ebp, %ebp
    movl %cr0, %ecx
    andl ${cr0_clear}, %ecx
    orl ${cr0_set}, %ecx
    movl %ecx, %cr0
    fninit
    fldcw boot_control_word
    subl $8, %esp                       /* keeps calls on 16 bytes */
    pushl %ebx                          /* the loader's information */
    pushl %esi
    call {boot_first}
    /* Returns the directory of core 0 in eax. */
    xorl %ebx, %ebx
    jmp boot_enter
    .size boot_entry, . - boot_entry

    /* eax: page directory, ebx: core number */
    .balign 16
    .type boot_enter, @function
boot_enter:
    movl %eax, %cr3
    movl %cr0, %ecx
    andl ${cr0_clear}, %ecx
    orl ${cr0_set} | {cr0_paging}, %ecx
    movl %ecx, %cr0
    jmp boot_paged
boot_paged:
    movl ${stack_top}, %esp
    xorl %ebp, %ebp
    fninit
    fldcw boot_control_word
    subl $12, %esp
    pushl %ebx
    call {core_start}
    ud2
    .size boot_enter, . - boot_enter

    /* Flat 32-bit code of the other cores; no stack yet. */
    .balign 16
    .type ap_flat, @function
ap_flat:
    movl $0x10, %ecx
    movw %cx, %ds
    movw %cx, %es
    movw %cx, %fs
    movw %cx, %gs
    movw %cx, %ss
    movl {lapic_id}, %ebx
    shrl $24, %ebx
    movzbl {cores}(%ebx), %ebx
    movl {directories}(,%ebx,4), %eax
    testl %eax, %eax
    jnz boot_enter
ap_unknown:
    cli
    hlt
    jmp ap_unknown
    .size ap_flat, . - ap_flat

    /* Copied to a page below 1 MiB; starts in real mode with cs = page / 16. */
    .section .rodata.ap_trampoline, "a", @progbits
    .balign 16
    .globl ap_trampoline
    .type ap_trampoline, @object
    .code16
ap_trampoline:
    cli
    cld
    xorw %ax, %ax
    movw %ax, %ds
    lgdtl {trampoline} + (ap_gdt_pointer - ap_trampoline)
    movl %cr0, %eax
    andl ${cr0_clear}, %eax
    orl ${cr0_protection}, %eax
    movl %eax, %cr0
    ljmpl $0x08, $ap_flat
    .balign 4
ap_gdt_pointer:
    .word boot_gdt_end - boot_gdt - 1
    .long boot_gdt
    .globl ap_trampoline_end
ap_trampoline_end:
    .code32
    .size ap_trampoline, . - ap_trampoline
    .text
    "#,
    control_word = const X87_CONTROL_WORD,
    boot_stack = sym BOOT_STACK,
    boot_stack_bytes = const BOOT_STACK_BYTES,
    boot_first = sym sequence::first_core,
    core_start = sym sequence::core_start,
    cores = sym apic_ids::CORES,
    directories = sym DIRECTORIES,
    stack_top = const addresses::STACK_TOP,
    cr0_clear = const CR0_CLEAR,
    cr0_set = const CR0_SET,
    cr0_paging = const Cr0::PAGING.bits(),
    cr0_protection = const Cr0::PROTECTION.bits(),
    lapic_id = const lapic::BASE + lapic::ID,
    trampoline = const trampoline::TRAMPOLINE,
    options(att_syntax)
);
