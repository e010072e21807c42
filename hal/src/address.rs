//! Addresses that say which kind of memory they belong to.
//!
//! A pointer on a non-coherent core looks the same whatever it points to, and means something else for each kind
//! of memory. So nothing here is a pointer: an address names an MPB line or a place in DRAM that cores share, and a
//! [`Region`] of that carries in its type how it is mapped.

use core::{fmt, marker::PhantomData};

use crate::core_id::CoreId;

/// Bytes of a line: the unit of caching, of mesh packets and of atomicity for MPB and combined memory.
pub const LINE_BYTES: usize = 32;

/// Lines of one core's message passing buffer on the SCC: 8 KB.
pub const MPB_LINES: usize = 256;

/// The contents of one line.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[repr(C, align(32))]
pub struct Line(pub [u8; LINE_BYTES]);

// SAFETY: 32 bytes of any value, aligned to their number: there is no padding.
unsafe impl bytemuck::Zeroable for Line {}
// SAFETY: 32 bytes of any value without padding, `Copy`, `repr(C)`, and without lifetimes.
unsafe impl bytemuck::Pod for Line {}

impl Line {
    /// The little-endian word at `index` (0..8).
    #[inline]
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

/// Memory controllers that a machine can have at most: enough for the nodes of a cluster on a host, where memory that
/// is not touched costs nothing. The SCC has four.
pub const MAX_CONTROLLERS: usize = if cfg!(target_os = "none") { 8 } else { 64 };

/// Shared DRAM behind each memory controller, in bytes: the legacy shared memory (LUT slots 0x80–0x83 of
/// sccKit's default map).
pub const SHARED_BYTES_PER_CONTROLLER: usize = 16 << 20;

/// How much of its private memory a core can expose to others at a time, in bytes: four LUT slots.
pub const EXPOSED_BYTES_PER_CORE: usize = 64 << 20;

/// Whose memory an address lies in.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Home {
    /// The shared memory behind the memory controller with this number.
    Controller(u16),
    /// What this core exposes of its private memory, which lies behind its nearest controller (see
    /// [`Expose`](crate::Expose)).
    Core(CoreId),
}

impl Home {
    /// Bytes that addresses of this home can tell apart.
    const fn len_bytes(self) -> usize {
        match self {
            Self::Controller(_) => SHARED_BYTES_PER_CONTROLLER,
            Self::Core(_) => EXPOSED_BYTES_PER_CORE,
        }
    }

    /// A number that no other home has.
    const fn number(self) -> u32 {
        match self {
            Self::Controller(controller) => controller as u32,
            Self::Core(core) => 1 << 16 | core.index() as u32,
        }
    }

    /// The home that has this number.
    const fn from_number(number: u32) -> Self {
        if number >> 16 == 0 {
            Self::Controller(number as u16)
        } else {
            Self::Core(CoreId::new(number as usize & 0xFFFF))
        }
    }
}

/// A byte of DRAM that cores share: behind a memory controller, or in what a core exposes of its private memory.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct SharedAddress {
    /// The [number](Home::number) of its home: so addresses compare, and move, as two words.
    home: u32,
    offset: u32,
}

impl SharedAddress {
    /// Byte `offset` of the shared memory behind `controller`.
    ///
    /// # Panics
    /// If there is no such controller or it has less memory.
    pub const fn new(controller: usize, offset: usize) -> Self {
        assert!(controller <= u16::MAX as usize, "no such shared memory");
        Self::at(Home::Controller(controller as u16), offset)
    }

    /// Byte `offset` of what `core` exposes.
    ///
    /// # Panics
    /// If no core can expose that much.
    pub const fn exposed(core: CoreId, offset: usize) -> Self {
        Self::at(Home::Core(core), offset)
    }

    const fn at(home: Home, offset: usize) -> Self {
        if let Home::Controller(controller) = home {
            assert!((controller as usize) < MAX_CONTROLLERS, "no such shared memory");
        }
        assert!(offset < home.len_bytes(), "no such shared memory");
        Self { home: home.number(), offset: offset as u32 }
    }

    /// Whose memory the byte lies in.
    pub const fn home(self) -> Home {
        Home::from_number(self.home)
    }

    /// The memory controller that the byte is behind, unless a core exposes it.
    pub const fn controller(self) -> Option<usize> {
        match self.home() {
            Home::Controller(controller) => Some(controller as usize),
            Home::Core(_) => None,
        }
    }

    /// Offset in its home, in bytes.
    pub const fn offset(self) -> usize {
        self.offset as usize
    }

    /// Position counted over the shared memory of all controllers, in bytes: how a backend finds its storage.
    ///
    /// # Panics
    /// If the byte is a core's.
    pub const fn flat(self) -> usize {
        match self.home() {
            Home::Controller(controller) => controller as usize * SHARED_BYTES_PER_CONTROLLER + self.offset(),
            Home::Core(_) => panic!("what a core exposes has no position among the controllers' memory"),
        }
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
    /// If that is not in the same home.
    pub const fn plus(self, bytes: usize) -> Self {
        assert!(bytes < self.home().len_bytes(), "no such shared memory");
        Self::at(self.home(), self.offset() + bytes)
    }

    /// The first byte of the line that this one is in.
    pub const fn line_start(self) -> Self {
        Self::at(self.home(), self.offset() / LINE_BYTES * LINE_BYTES)
    }

    /// The address as two words, to tell another rank of it. The first is never `u32::MAX`.
    pub const fn to_words(self) -> [u32; 2] {
        [self.home, self.offset]
    }

    /// The address that [`to_words`](Self::to_words) made these words of.
    ///
    /// # Panics
    /// If they are not those of an address.
    pub const fn from_words(words: [u32; 2]) -> Self {
        assert!(words[0] >> 16 <= 1, "no memory has that number");
        Self::at(Home::from_number(words[0]), words[1] as usize)
    }
}

impl fmt::Display for SharedAddress {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.home() {
            Home::Controller(controller) => {
                write!(out, "shared memory {:#x} behind controller {controller}", self.offset)
            }
            Home::Core(core) => write!(out, "exposed memory {:#x} of {core}", self.offset),
        }
    }
}

/// The kinds of mapping that shared DRAM can have, as types that are only names.
pub mod kind {
    /// Every access goes to memory; a 32-bit word is atomic; no read-modify-write is.
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub enum Uncached {}

    /// Through L1 and L2 of this core: private until written back, stale until invalidated, written back by whole
    /// lines.
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

/// A run of whole lines of DRAM in one [`Home`], and the kind of mapping it is reached by.
///
/// Holding one proves that its bytes are shared memory, which somebody who has the [right to](Regions) gave out; it proves
/// nothing about who else reaches them. That is the allocator's and the protocols' matter, see [what may be relied
/// on](crate::soundness).
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
    /// If the region does not start and end on line boundaries, or does not fit into its home.
    pub(crate) const fn new(start: SharedAddress, len_bytes: usize) -> Self {
        assert!(
            start.offset().is_multiple_of(LINE_BYTES) && len_bytes.is_multiple_of(LINE_BYTES),
            "a region consists of whole lines"
        );
        assert!(len_bytes <= start.home().len_bytes() - start.offset(), "a region has one home");
        Self { start, len_bytes: len_bytes as u32, kind: PhantomData }
    }

    /// The region as words, to tell another rank of it: those of its [start](SharedAddress::to_words), and its length.
    /// [`Regions::from_words`] makes it of them again.
    pub const fn to_words(&self) -> [u32; 3] {
        let [home, offset] = self.start.to_words();
        [home, offset, self.len_bytes]
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

    /// This region and `next` as one, if that begins where this one ends.
    pub fn joined(&self, next: &Self) -> Option<Self> {
        let follows =
            self.start.home == next.start.home && self.start.offset() + self.len_bytes() == next.start.offset();
        follows.then(|| Self::new(self.start, self.len_bytes() + next.len_bytes()))
    }

    /// Whether the two regions have a byte in common.
    pub const fn overlaps<O: kind::Kind>(&self, other: &Region<O>) -> bool {
        let (a, b) = (self.start.offset(), other.start.offset());
        self.start.home == other.start.home && a < b + other.len_bytes as usize && b < a + self.len_bytes as usize
    }
}

/// The right to make regions of numbers: of an address, or of what another rank told.
///
/// It is what separates those who manage shared memory from those who use it. The launcher of a core takes it and gives
/// it to the communicator, which keeps it; programs get regions from collective allocations. It is looked at where a
/// region is made, and no access knows of it.
#[derive(Debug)]
pub struct Regions {
    /// Memory controllers of the machine: there is no shared memory behind others.
    controllers: usize,
    /// The right stays with its core.
    not_send: PhantomData<*mut ()>,
}

impl Regions {
    /// Takes the right, for the core that calls, on a machine with this many memory controllers.
    ///
    /// # Safety
    /// 1. A core takes it once, and gives it to the one manager of its shared memory, not to programs.
    /// 2. Whoever holds it makes regions of memory only that it has allocated itself, or that a holder on another core
    ///    has told it of, or that a core exposes; and until that memory is given back, it gives it to nobody else.
    /// 3. What it keeps in shared memory for its own purposes, it gives to no program.
    /// 4. The machine has no fewer controllers.
    pub const unsafe fn new(controllers: usize) -> Self {
        Self { controllers, not_send: PhantomData }
    }

    /// `len_bytes` bytes from `start`.
    ///
    /// # Panics
    /// If the region does not start and end on line boundaries, or does not fit into its home, or the machine has no such
    /// home.
    pub const fn region<K: kind::Kind>(&self, start: SharedAddress, len_bytes: usize) -> Region<K> {
        if let Home::Controller(controller) = start.home() {
            assert!((controller as usize) < self.controllers, "this machine has no such shared memory");
        }
        Region::new(start, len_bytes)
    }

    /// The region that [`Region::to_words`] made these words of.
    ///
    /// # Panics
    /// If they are not those of a region of this machine.
    pub const fn from_words<K: kind::Kind>(&self, words: [u32; 3]) -> Region<K> {
        self.region(SharedAddress::from_words([words[0], words[1]]), words[2] as usize)
    }
}

/// A line that goes through L1 and the write-combine buffer: of an MPB or of DRAM mapped combined. Also names the
/// lines of cached memory when they are fetched or written back.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum LineAddress {
    /// In an MPB.
    Mpb(MpbLine),
    /// In DRAM that cores share; the address is that of the line's first byte.
    Shared(SharedAddress),
}

impl LineAddress {
    /// A number that no other line has; neighbours have neighbouring ones.
    pub(crate) const fn key(self) -> u64 {
        match self {
            Self::Mpb(line) => (line.core.index() as u64) << 8 | line.line as u64,
            Self::Shared(address) => 1 << 63 | (address.home as u64) << 32 | (address.offset() / LINE_BYTES) as u64,
        }
    }

    /// The line that has this [`key`](Self::key).
    ///
    /// # Panics
    /// If none has it.
    pub(crate) const fn of_key(key: u64) -> Self {
        if key >> 63 == 0 {
            return Self::Mpb(MpbLine::new(CoreId::new((key >> 8) as usize), key as usize & 0xFF));
        }
        let home = Home::from_number((key >> 32) as u32 & 0x7FFF_FFFF);
        Self::Shared(SharedAddress::at(home, key as u32 as usize * LINE_BYTES))
    }
}

impl fmt::Display for LineAddress {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LineAddress::Mpb(line) => line.fmt(out),
            LineAddress::Shared(address) => write!(out, "line of {address}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_name_lines() {
        let lines = [
            LineAddress::Mpb(MpbLine::new(CoreId::new(0), 0)),
            LineAddress::Mpb(MpbLine::new(CoreId::new(65_534), MPB_LINES - 1)),
            LineAddress::Shared(SharedAddress::new(0, 0)),
            LineAddress::Shared(SharedAddress::new(3, SHARED_BYTES_PER_CONTROLLER - LINE_BYTES)),
            LineAddress::Shared(SharedAddress::exposed(CoreId::new(65_534), EXPOSED_BYTES_PER_CORE - LINE_BYTES)),
        ];
        for (index, line) in lines.into_iter().enumerate() {
            assert_eq!(LineAddress::of_key(line.key()), line);
            assert!(lines[..index].iter().all(|other| other.key() != line.key()));
        }
    }

    #[test]
    fn words_name_a_region_in_any_home() {
        let starts = [SharedAddress::new(3, 64), SharedAddress::exposed(CoreId::new(65_534), 64)];
        for start in starts {
            let region = Region::<kind::Combined>::new(start, 96);
            // SAFETY: nobody else has it, and no core reaches the region.
            assert_eq!(unsafe { Regions::new(4) }.from_words(region.to_words()), region);
        }
    }

    #[test]
    #[should_panic(expected = "this machine has no such shared memory")]
    fn words_that_were_stored_over_name_no_memory_past_the_last_controller() {
        // SAFETY: nobody else has it, and no core reaches the region.
        unsafe { Regions::new(4) }.from_words::<kind::Cached>([4, 0, 64]);
    }

    #[test]
    fn neighbours_join() {
        let region = |home, offset| Region::<kind::Cached>::new(SharedAddress::new(home, offset), 64);
        assert_eq!(region(1, 32).joined(&region(1, 96)), Some(Region::new(SharedAddress::new(1, 32), 128)));
        assert_eq!([region(1, 32), region(1, 128), region(2, 96)].map(|next| region(1, 32).joined(&next)), [None; 3]);
    }

    #[test]
    fn homes_do_not_overlap() {
        let region = |start| Region::<kind::Cached>::new(start, 64);
        let starts = [0, 1].map(|home| [SharedAddress::new(home, 32), SharedAddress::exposed(CoreId::new(home), 32)]);
        for (a, b) in starts.iter().flatten().flat_map(|a| starts.iter().flatten().map(move |b| (*a, *b))) {
            assert_eq!(region(a).overlaps(&region(b)), a == b);
            assert_eq!(LineAddress::Shared(a).key() == LineAddress::Shared(b).key(), a == b);
        }
        assert!(region(starts[1][1]).overlaps(&region(SharedAddress::exposed(CoreId::new(1), 64))));
        assert!(!region(starts[1][1]).overlaps(&region(SharedAddress::exposed(CoreId::new(1), 96))));
    }
}
