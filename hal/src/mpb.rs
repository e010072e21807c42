//! Message passing buffers and combined memory: lines that go through L1 and the write-combine buffer.
//!
//! Two hazards live here and both are the programmer's to avert, at the places where a protocol needs it:
//!
//! * a **load** may return what L1 kept from earlier, until [`MpbCoherence::invalidate_mpb`];
//! * a **store** collects in a buffer and may stay there for ever, until [`MpbCoherence::drain`]; a line that is stored as
//!   a whole leaves by itself, and all leave in the order in which they were stored. (The SCC's buffer is of one line, which
//!   also leaves when a store hits another one.) Loads do not drain it, nor do TSR accesses.
//!
//! The rule that follows for every notification, and that RCCE and the SCC's Linux drivers keep: *data lines, then the
//! flag, then drain, and only
//! then release or interrupt*.

use crate::{
    Topology,
    address::{Line, MpbLine, Region, kind},
};

/// What keeps MPB and combined memory coherent: one instruction for loads, one trick for stores.
pub trait MpbCoherence {
    /// Forgets all MPB and combined lines that L1 holds, so that the next load of each goes to memory (`CL1INVMB`:
    /// about one cycle, never writes anything back, does not touch the write-combine buffer).
    fn invalidate_mpb(&self);

    /// Pushes the contents of the write-combine buffer out by a store to line 0 of this core's MPB, which nothing else
    /// uses. When it returns, everything stored before is visible to all cores.
    fn drain(&self);
}

/// A byte of a line of an MPB that was [found](Mpb::find_byte) once: what a machine has to know to store to it is worked out and
/// checked. For flags that are set again and again.
#[derive(Clone, Copy, Debug)]
pub struct MpbByte {
    line: MpbLine,
    offset: u8,
    address: usize,
}

impl MpbByte {
    /// A byte of a line, which has an address if the machine says so; for [`Mpb::find_byte`].
    pub(crate) fn new(line: MpbLine, offset: usize, address: usize) -> Self {
        Self { line, offset: offset as u8, address }
    }

    /// The line that it is in.
    #[inline]
    pub fn line(self) -> MpbLine {
        self.line
    }

    /// Which of the line's bytes it is.
    #[inline]
    pub fn offset(self) -> usize {
        self.offset.into()
    }

    /// Where the machine has said that it is.
    #[inline]
    pub(crate) fn address(self) -> usize {
        self.address
    }
}

/// Some words of a line of an MPB that were [found](Mpb::find_words) once, as an [`MpbByte`] is. For what is polled again and
/// again.
#[derive(Clone, Copy, Debug)]
pub struct MpbWords<const WORDS: usize> {
    line: MpbLine,
    first: u8,
    address: usize,
}

impl<const WORDS: usize> MpbWords<WORDS> {
    /// Words of a line, which have an address if the machine says so; for [`Mpb::find_words`].
    pub(crate) fn new(line: MpbLine, first: usize, address: usize) -> Self {
        Self { line, first: first as u8, address }
    }

    /// The line that they are in.
    #[inline]
    pub fn line(self) -> MpbLine {
        self.line
    }

    /// Which of the line's words is the first of them.
    #[inline]
    pub fn first(self) -> usize {
        self.first.into()
    }

    /// Where the machine has said that they are.
    #[inline]
    pub(crate) fn address(self) -> usize {
        self.address
    }
}

/// Lines of MPBs, for flags and control: one line or part of a line at a time.
pub trait Mpb: Topology + MpbCoherence {
    /// Lines in each core's MPB; line 0 is the drain target and belongs to nobody.
    fn mpb_lines(&self) -> usize;

    /// Loads one line through L1; it may be stale. Costs one line read at its distance.
    fn load_line(&self, at: MpbLine) -> Line;

    /// Stores `bytes` at byte `offset` of a line, through the write-combine buffer. Only these bytes are written: other
    /// writers' bytes of the same line are safe. Costs a put of one line.
    ///
    /// # Panics
    /// If the bytes do not fit the line, or the line is a drain target.
    fn store(&self, at: MpbLine, offset: usize, bytes: &[u8]);

    /// Stores words of a line, from word `first` of eight on, as one [store](Self::store) of all their bytes.
    ///
    /// # Panics
    /// As [`store`](Self::store).
    fn store_words(&self, at: MpbLine, first: usize, words: impl ExactSizeIterator<Item = u32>);

    /// Finds a byte of a line that will be stored to again and again. No access.
    ///
    /// # Panics
    /// As [`store`](Self::store); machines that need nothing worked out find only then that a line does not exist.
    fn find_byte(&self, at: MpbLine, offset: usize) -> MpbByte;

    /// Finds words of a line, from word `first` on, that will be [polled](crate::Poll::words) again and again. No access.
    ///
    /// # Panics
    /// If the line has no such words, or it does not exist, which some machines find only when it is polled.
    fn find_words<const WORDS: usize>(&self, at: MpbLine, first: usize) -> MpbWords<WORDS>;

    /// Stores one byte, as [`store`](Self::store) does.
    fn store_byte(&self, at: MpbByte, value: u8);

    /// Stores one byte and drains, as one operation: what most flags are set by. Counts and costs as the two do.
    fn set(&self, at: MpbByte, value: u8);

    /// The same for a byte that is not found once and for all.
    ///
    /// # Panics
    /// As [`store`](Self::store).
    #[inline(always)]
    fn set_flag(&self, at: MpbLine, offset: usize, value: u8) {
        self.set(self.find_byte(at, offset), value);
    }
}

/// Bulk copies between MPBs and this core's memory (RCCE's put and get; OC-Bcast section 3). Never used for flags.
///
/// None of them invalidates or drains by itself: data that other cores wrote since the last `invalidate_mpb` may come
/// back stale, and the last partial line of a put stays in the write-combine buffer until something follows it.
pub trait MpbCopy: Topology + MpbCoherence {
    /// Puts `source` from private memory to consecutive MPB lines; a partial last line is written byte-masked.
    fn put(&self, source: &[u8], to: MpbLine);

    /// Puts `lines` lines of this core's own MPB, from line `from`, to consecutive lines of an MPB.
    fn put_from_own_mpb(&self, from: usize, to: MpbLine, lines: usize);

    /// Gets consecutive MPB lines into private memory; a partial last line is read whole.
    fn get(&self, from: MpbLine, target: &mut [u8]);

    /// Gets `lines` consecutive lines of an MPB into this core's own MPB, from line `to`.
    fn get_to_own_mpb(&self, from: MpbLine, to: usize, lines: usize);

    /// Puts `len` bytes that are made up on the way to consecutive MPB lines: `fill` makes the bytes of one line
    /// after the other. Costs a put from memory without its reads of memory; what `fill` reads there that L1 does not
    /// hold, the caller [accounts for](crate::Clock::account_memory).
    fn put_made(&self, len: usize, to: MpbLine, fill: impl FnMut(usize, &mut [u8]));

    /// Gets `len` bytes from consecutive MPB lines for use on the spot: `take` is given the bytes of one line after
    /// the other. Costs a get to memory without its writes to memory; what `take` writes there, the caller [accounts
    /// for](crate::Clock::account_memory).
    fn get_used(&self, from: MpbLine, len: usize, take: impl FnMut(usize, &[u8]));

    /// Says that `target`, private memory, is about to be written by what [`get_used`](Self::get_used) gives: a chip whose
    /// caches allocate nothing for stores brings it into them, and saves a store to memory for each word. Changes nothing,
    /// and counts and costs nothing by itself.
    fn bring_in(&self, target: &mut [u8]);

    /// Copies bytes of a line that a poll or a load has brought into registers to private memory. Costs what a get
    /// costs beside the line's read.
    fn keep(&self, polled: &[u8], target: &mut [u8]);
}

/// Shared DRAM by the combined mapping (MPBT-typed pages; Barrelfish TN-005 measures them): how remote window memory
/// is put to and got from.
///
/// Stores are byte-masked, so neighbours in one line do not overwrite each other; that is what sets it apart from
/// cached memory, which writes back whole lines.
///
/// A region that another core exposes of its private memory has to be [mapped](crate::Expose::map) before; an access
/// to one that is not, or that is not exposed any more, panics.
pub trait Combined: Topology + MpbCoherence {
    /// Writes `bytes` at byte `offset` of the region, through the write-combine buffer.
    ///
    /// # Panics
    /// If they do not fit the region.
    fn write(&self, region: Region<kind::Combined>, offset: usize, bytes: &[u8]);

    /// Reads from byte `offset` of the region, through L1; may be stale.
    ///
    /// # Panics
    /// If the region ends before.
    fn read(&self, region: Region<kind::Combined>, offset: usize, bytes: &mut [u8]);

    /// Copies `len_bytes` bytes from byte `from_offset` of `from` to byte `to_offset` of `to`, without a detour
    /// through private memory: each line that has some of them is read once and each line that gets some is written
    /// once, however the two lie in their lines. Reads and writes are those of [`read`](Self::read) and
    /// [`write`](Self::write): what comes may be stale, and a partial last line waits in the write-combine buffer.
    /// Costs the call overhead of a put, and the lines.
    ///
    /// # Panics
    /// If one of the regions ends before, or a byte would be copied to and from.
    fn copy(
        &self,
        from: Region<kind::Combined>,
        from_offset: usize,
        to: Region<kind::Combined>,
        to_offset: usize,
        len_bytes: usize,
    );
}
