//! Copying and filling memory, which compilers call by name. String instructions move a word in each turn; the loops that come
//! with the library take ten times as many instructions for what a line has.

use core::arch::global_asm;

use crate::LINE_BYTES;

/// Bytes that are read before they are written: far fewer than L1 has.
const CHUNK_BYTES: usize = 1 << 10;

/// A function by the C convention, by which the direction flag is clear: `$prepare` takes its second argument, and `$words` and `$bytes`
/// write as many of them as `ecx` says from where `edi` leads on.
///
/// It takes up to `CHUNK_BYTES` at a time, and reads a byte of each line of those before it writes them. A store that misses goes to
/// memory by itself on an SCC, word for word, since no cache allocates a line for it; one that hits is cheap (`hal::hardware`, Caches).
macro_rules! in_chunks {
    ($name:literal, $prepare:literal, $words:literal, $bytes:literal) => {
        global_asm!(
            concat!(".section .text.", $name, r#", "ax", @progbits"#),
            concat!(".globl ", $name),
            concat!(".type ", $name, ", @function"),
            concat!($name, ":"),
            "pushl %esi",
            "pushl %edi",
            "pushl %ebx",
            "pushl %ebp",
            "movl 20(%esp), %edi",
            $prepare,
            "movl 28(%esp), %edx",
            "testl %edx, %edx",
            "je 5f",
            "2:",
            "movl ${CHUNK_BYTES}, %ebx",
            "cmpl %ebx, %edx",
            "jae 3f",
            "movl %edx, %ebx",
            "3:",
            "subl %ebx, %edx",
            "leal (%edi,%ebx), %ebp",
            "movl %edi, %ecx",
            "4:",
            "testb %cl, (%ecx)",
            "addl ${LINE_BYTES}, %ecx",
            "cmpl %ebp, %ecx",
            "jb 4b",
            "testb %cl, -1(%ebp)",
            "movl %ebx, %ecx",
            "shrl $2, %ecx",
            $words,
            "movl %ebx, %ecx",
            "andl $3, %ecx",
            $bytes,
            "testl %edx, %edx",
            "jne 2b",
            "5:",
            "movl 20(%esp), %eax",
            "popl %ebp",
            "popl %ebx",
            "popl %edi",
            "popl %esi",
            "retl",
            concat!(".size ", $name, ", . - ", $name),
            ".text",
            CHUNK_BYTES = const CHUNK_BYTES,
            LINE_BYTES = const LINE_BYTES,
            options(att_syntax)
        );
    };
}

in_chunks!("memcpy", "movl 24(%esp), %esi", "rep movsl", "rep movsb");
// Four times the byte.
in_chunks!("memset", "movzbl 24(%esp), %eax; imull $0x01010101, %eax, %eax", "rep stosl", "rep stosb");
