//! What the image of a board says of itself while it runs, to an emulator that looks at it from outside: which operations and
//! waits begin and end, and which phases.
//!
//! The core calls a function that does nothing, whose address the emulator knows, with the address of six words. On a board
//! nobody hears it.

use bytemuck::{Pod, Zeroable};

/// The name of the function as a symbol of the image. By the C calling convention it takes the address of an [`Announced`].
pub const SYMBOL: &str = "atoll_scc_announce";

/// The peer where there is none.
pub const NOBODY: u32 = u32::MAX;

/// What a core announces.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Pod, Zeroable)]
#[repr(C)]
pub struct Announced {
    /// One of the constants below.
    pub what: u32,
    /// The address of the first byte of the name, of the operation, the phase or of what is awaited.
    pub name: u32,
    /// Bytes of the name.
    pub name_bytes: u32,
    /// The other core that it is about, or [`NOBODY`].
    pub peer: u32,
    /// Bytes that an operation is about; the number of what is awaited.
    pub number: u32,
    /// 1 if what is awaited has a number, else 0.
    pub has_number: u32,
}

impl Announced {
    /// Bytes of one.
    pub const BYTES: usize = size_of::<Self>();
    /// An operation begins.
    pub const BEGINS: u32 = 1;
    /// The operation ends that began last; nothing else is said of it.
    pub const ENDS: u32 = 2;
    /// A wait begins.
    pub const WAITS: u32 = 3;
    /// The wait is over.
    pub const HAS_WAITED: u32 = 4;
    /// Its time is up.
    pub const IS_LATE: u32 = 5;
    /// A phase of the program begins.
    pub const PHASE: u32 = 6;

    /// The one that a core has in these bytes of its memory.
    pub fn read(bytes: &[u8; Self::BYTES]) -> Self {
        bytemuck::pod_read_unaligned(bytes)
    }

    /// The other core, if there is one.
    pub fn peer(&self) -> Option<u32> {
        Some(self.peer).filter(|peer| *peer != NOBODY)
    }
}
