//! Addresses that say which kind of memory they belong to.
//!
//! A pointer on a non-coherent core looks the same whatever it points to, and means something else for each kind
//! of memory. So nothing here is a pointer: an address names an MPB line or a place in shared DRAM, and a
//! [`Region`] of shared DRAM carries in its type how it is mapped.

use core::{fmt, marker::PhantomData};

use crate::{
    CoreId,
    topology::{MAX_CONTROLLERS, SHARED_BYTES_PER_CONTROLLER},
};

/// Bytes of a line: the unit of caching, of mesh packets and of atomicity for MPB and combined memory.
pub const LINE_BYTES: usize = 32;

/// Lines of one core's message passing buffer on the SCC: 8 KB.
pub const MPB_LINES: usize = 256;

/// The contents of one line.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[repr(C, align(32))]
pub struct Line(pub [u8; LINE_BYTES]);

impl Line {
    /// The little-endian word at `index` (0..8).
    pub fn word(&self, index: usize) -> u32 {
        let at = index * 4;
        u32::from_le_bytes([self.0[at], self.0[at + 1], self.0[at + 2], self.0[at + 3]])
    }
}

/// One line of one core's MPB.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct MpbLine {
    /// Whose MPB.
    pub core: CoreId,
    /// Which of its lines.
    pub line: u16,
}

impl MpbLine {
    /// Line `line` of `core`'s MPB.
    ///
    /// # Panics
    /// If no MPB has that line.
    pub const fn new(core: CoreId, line: usize) -> Self {
        assert!(line < MPB_LINES, "no MPB has that line");
        Self { core, line: line as u16 }
    }

    /// The line `lines` further on in the same MPB.
    ///
    /// # Panics
    /// If it has no such line.
    pub const fn plus(self, lines: usize) -> Self {
        assert!(lines < MPB_LINES, "no MPB has that line");
        Self::new(self.core, self.line as usize + lines)
    }
}

impl fmt::Display for MpbLine {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "MPB line {} of {}", self.line, self.core)
    }
}

/// A byte of shared DRAM: memory controller and offset behind it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct SharedAddress(u32);

impl SharedAddress {
    /// Byte `offset` of the shared memory behind `controller`.
    ///
    /// # Panics
    /// If there is no such controller or it has less memory.
    pub const fn new(controller: usize, offset: usize) -> Self {
        assert!(controller < MAX_CONTROLLERS && offset < SHARED_BYTES_PER_CONTROLLER, "no such shared memory");
        Self((controller * SHARED_BYTES_PER_CONTROLLER + offset) as u32)
    }

    /// The memory controller that the byte is behind.
    pub const fn controller(self) -> usize {
        self.0 as usize / SHARED_BYTES_PER_CONTROLLER
    }

    /// Offset behind the controller, in bytes.
    pub const fn offset(self) -> usize {
        self.0 as usize % SHARED_BYTES_PER_CONTROLLER
    }

    /// Position counted over all controllers, in bytes: how a backend finds its storage.
    pub const fn flat(self) -> usize {
        self.0 as usize
    }

    /// The inverse of [`flat`](Self::flat).
    ///
    /// # Panics
    /// If the position lies beyond the last controller's memory.
    pub const fn from_flat(position: usize) -> Self {
        Self::new(position / SHARED_BYTES_PER_CONTROLLER, position % SHARED_BYTES_PER_CONTROLLER)
    }

    /// The byte `bytes` further on.
    ///
    /// # Panics
    /// If that is not behind the same controller.
    pub const fn plus(self, bytes: usize) -> Self {
        assert!(bytes < SHARED_BYTES_PER_CONTROLLER, "no such shared memory");
        Self::new(self.controller(), self.offset() + bytes)
    }
}

impl fmt::Display for SharedAddress {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "shared memory {:#x} behind controller {}", self.offset(), self.controller())
    }
}

/// The kinds of mapping that shared DRAM can have, as types that are only names.
pub mod kind {
    /// Every access goes to memory; a 32-bit word is atomic; no read-modify-write is.
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub enum Uncached {}

    /// Through L1 and L2 of this core: private until written back, stale until invalidated, written back by whole lines.
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub enum Cached {}

    /// Through L1 only, invalidated with the MPB lines; stores collect in the write-combine buffer.
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub enum Combined {}

    /// Implemented by the three kinds alone.
    pub trait Kind: Copy + 'static {
        /// What the kind is called in reports.
        const NAME: &'static str;
    }

    impl Kind for Uncached {
        const NAME: &'static str = "uncached";
    }

    impl Kind for Cached {
        const NAME: &'static str = "cached";
    }

    impl Kind for Combined {
        const NAME: &'static str = "combined";
    }
}

/// A run of whole lines of shared DRAM behind one controller, and the kind of mapping it is reached by.
///
/// Holding one proves nothing about who else reaches the same bytes; that is the allocator's and the protocols' matter.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Region<K> {
    start: SharedAddress,
    len_bytes: u32,
    kind: PhantomData<K>,
}

impl<K: kind::Kind> Region<K> {
    /// `len_bytes` bytes from `start`.
    ///
    /// # Panics
    /// If the region does not start and end on line boundaries, or does not fit behind its controller.
    pub const fn new(start: SharedAddress, len_bytes: usize) -> Self {
        assert!(
            start.offset().is_multiple_of(LINE_BYTES) && len_bytes.is_multiple_of(LINE_BYTES),
            "a region consists of whole lines"
        );
        assert!(len_bytes <= SHARED_BYTES_PER_CONTROLLER - start.offset(), "a region lies behind one controller");
        Self { start, len_bytes: len_bytes as u32, kind: PhantomData }
    }

    /// The region as two words, to tell another rank of it.
    pub const fn to_words(&self) -> [u32; 2] {
        [self.start.0, self.len_bytes]
    }

    /// The region that [`to_words`](Self::to_words) made these words of.
    ///
    /// # Panics
    /// If they are not those of a region.
    pub const fn from_words(words: [u32; 2]) -> Self {
        Self::new(SharedAddress::from_flat(words[0] as usize), words[1] as usize)
    }

    /// First byte.
    pub const fn start(&self) -> SharedAddress {
        self.start
    }

    /// Length in bytes, a multiple of [`LINE_BYTES`].
    pub const fn len_bytes(&self) -> usize {
        self.len_bytes as usize
    }

    /// Length in lines.
    pub const fn len_lines(&self) -> usize {
        self.len_bytes as usize / LINE_BYTES
    }

    /// Whether the region has no bytes.
    pub const fn is_empty(&self) -> bool {
        self.len_bytes == 0
    }

    /// The whole lines around bytes `from..to` of the region.
    ///
    /// # Panics
    /// If the region ends before.
    pub const fn lines_around(&self, from: usize, to: usize) -> Self {
        assert!(from <= to && to <= self.len_bytes as usize, "bytes beyond the end of a region");
        if from == to {
            return Self::new(self.start, 0);
        }
        let (first, end) = (from / LINE_BYTES, to.div_ceil(LINE_BYTES));
        Self::new(self.start.plus(first * LINE_BYTES), (end - first) * LINE_BYTES)
    }

    /// The same bytes mapped as another kind. What that means for data that one mapping still holds is the caller's
    /// matter.
    pub const fn mapped<O: kind::Kind>(&self) -> Region<O> {
        Region::new(self.start, self.len_bytes as usize)
    }

    /// Whether the two regions have a byte in common.
    pub const fn overlaps<O: kind::Kind>(&self, other: &Region<O>) -> bool {
        let (a, b) = (self.start.flat(), other.start.flat());
        a < b + other.len_bytes as usize && b < a + self.len_bytes as usize
    }
}

/// A line that goes through L1 and the write-combine buffer: of an MPB or of shared DRAM mapped combined. Also names the
/// lines of cached memory when they are fetched or written back.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum LineAddress {
    /// In an MPB.
    Mpb(MpbLine),
    /// In shared DRAM; the address is that of the line's first byte.
    Shared(SharedAddress),
}

impl fmt::Display for LineAddress {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LineAddress::Mpb(line) => line.fmt(out),
            LineAddress::Shared(address) => write!(out, "line of {address}"),
        }
    }
}
