//! Copying and filling memory, which compilers call by name. String instructions move a word in each turn; the loops that come
//! with the library take ten times as many instructions for what a line has.

use core::arch::global_asm;

use crate::LINE_BYTES;

/// Bytes that are read before they are written: far fewer than L1 has.
const CHUNK_BYTES: usize = 1 << 10;

// By the C convention; the direction flag is clear, as it always is between functions.
//
// Both take up to `CHUNK_BYTES` at a time, and read a byte of each line of those before they write them. A store that misses goes to
// memory by itself on an SCC, word for word, since no cache allocates a line for it; one that hits is cheap (`hal::hardware`, Caches).
global_asm!(
    r#"
    .section .text.memcpy, "ax", @progbits
    .globl memcpy
    .type memcpy, @function
memcpy:
    pushl %esi
    pushl %edi
    pushl %ebx
    movl 16(%esp), %edi
    movl 20(%esp), %esi
    movl 24(%esp), %edx
    testl %edx, %edx
    je 3f
1:
    movl ${CHUNK_BYTES}, %ebx
    cmpl %ebx, %edx
    jae 2f
    movl %edx, %ebx
2:
    subl %ebx, %edx
    leal (%edi,%ebx), %eax
    movl %edi, %ecx
4:
    testb %cl, (%ecx)
    addl ${LINE_BYTES}, %ecx
    cmpl %eax, %ecx
    jb 4b
    testb %cl, -1(%eax)
    movl %ebx, %ecx
    shrl $2, %ecx
    rep movsl
    movl %ebx, %ecx
    andl $3, %ecx
    rep movsb
    testl %edx, %edx
    jne 1b
3:
    movl 16(%esp), %eax
    popl %ebx
    popl %edi
    popl %esi
    retl
    .size memcpy, . - memcpy

    .section .text.memset, "ax", @progbits
    .globl memset
    .type memset, @function
memset:
    pushl %esi
    pushl %edi
    pushl %ebx
    movl 16(%esp), %edi
    movzbl 20(%esp), %eax
    movl 24(%esp), %edx
    imull $0x01010101, %eax, %eax
    testl %edx, %edx
    je 3f
1:
    movl ${CHUNK_BYTES}, %ebx
    cmpl %ebx, %edx
    jae 2f
    movl %edx, %ebx
2:
    subl %ebx, %edx
    leal (%edi,%ebx), %esi
    movl %edi, %ecx
4:
    testb %cl, (%ecx)
    addl ${LINE_BYTES}, %ecx
    cmpl %esi, %ecx
    jb 4b
    testb %cl, -1(%esi)
    movl %ebx, %ecx
    shrl $2, %ecx
    rep stosl
    movl %ebx, %ecx
    andl $3, %ecx
    rep stosb
    testl %edx, %edx
    jne 1b
3:
    movl 16(%esp), %eax
    popl %ebx
    popl %edi
    popl %esi
    retl
    .size memset, . - memset
    .text
    "#,
    CHUNK_BYTES = const CHUNK_BYTES,
    LINE_BYTES = const LINE_BYTES,
    options(att_syntax)
);
