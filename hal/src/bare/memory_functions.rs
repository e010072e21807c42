//! Copying and filling memory, which compilers call by name. String instructions move a word in each turn; the loops that come
//! with the library take ten times as many instructions for what a line has.

use core::arch::global_asm;

// By the C convention; the direction flag is clear, as it always is between functions.
global_asm!(
    r#"
    .section .text.memcpy, "ax", @progbits
    .globl memcpy
    .type memcpy, @function
memcpy:
    pushl %esi
    pushl %edi
    movl 12(%esp), %edi
    movl 16(%esp), %esi
    movl 20(%esp), %edx
    movl %edi, %eax
    movl %edx, %ecx
    shrl $2, %ecx
    rep movsl
    movl %edx, %ecx
    andl $3, %ecx
    rep movsb
    popl %edi
    popl %esi
    retl
    .size memcpy, . - memcpy

    .section .text.memset, "ax", @progbits
    .globl memset
    .type memset, @function
memset:
    pushl %edi
    movl 8(%esp), %edi
    movzbl 12(%esp), %eax
    movl 16(%esp), %edx
    imull $0x01010101, %eax, %eax
    movl %edx, %ecx
    shrl $2, %ecx
    rep stosl
    movl %edx, %ecx
    andl $3, %ecx
    rep stosb
    popl %edi
    movl 4(%esp), %eax
    retl
    .size memset, . - memset
    .text
    "#,
    options(att_syntax)
);
