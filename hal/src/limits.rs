//! How much memory a core has for its program, unless the command line says otherwise, on all backends; and what to say
//! when that is not enough.

use core::fmt;

/// Heap of a core, in KiB.
pub const HEAP_KIB: usize = 4096;

/// Stack of a core, in KiB.
pub const STACK_KIB: usize = 256;

/// The most that can be chosen for a stack, in KiB.
pub const MOST_STACK_KIB: usize = 32 << 10;

/// A heap had no room for an allocation: a line that names the option which makes it larger.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct HeapExhausted {
    /// Whose heap; core 0's has an option of its own.
    pub core: usize,
    /// What was asked for, in bytes.
    pub bytes: usize,
    /// The whole heap, in bytes.
    pub heap_bytes: usize,
}

impl fmt::Display for HeapExhausted {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { core, bytes, heap_bytes } = self;
        let option = if *core == 0 { "heap0_kib" } else { "heap_kib" };
        write!(out, "its heap of {} KiB has no room for {bytes} bytes; raise {option}=", heap_bytes >> 10)
    }
}

/// A core has overrun its stack.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct StackOverflow {
    /// The whole stack, in bytes.
    pub stack_bytes: usize,
}

impl fmt::Display for StackOverflow {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "stack overflow: its stack has {} KiB; raise stack_kib=", self.stack_bytes >> 10)
    }
}
