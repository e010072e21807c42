//! Who owns which line of an MPB.
//!
//! The MPB is 256 lines and everybody wants them. Every core's MPB is laid out alike, so that the place of something
//! in a peer's MPB is known without asking:
//!
//! ```text
//! 0                drain target of the write-combine buffer, nobody's
//! 1 ‥ s            signals: one byte per peer, s = ⌈ranks / 32⌉
//! s+1 ‥ s+w        flags of the barrier of all ranks, w = 2 up to 64 ranks, or 1
//! s+w+1 ‥ s+w+16   cells of collective operations: two lines for each of eight turns
//! s+w+17 ‥ s+w+28  lines of non-blocking operations
//! s+w+29           the head of a message of the program, with all of a short one
//! s+w+30 ‥         spare, for marks of windows and barriers of groups
//! 256−2b ‥ 255     staging: two buffers of b lines, b = 96, or 95, 48, 47 where more than 992 ranks leave less
//! ```
//!
//! While there are windows whose ranks communicate by [packets](crate::one_sided::message), staging gives its first lines away
//! for them:
//!
//! ```text
//! p ‥              doorbells: one byte per peer; p is where staging began
//! p+s ‥            acknowledgements: one byte per peer
//! p+2s ‥           sections: l lines per peer, as many as leave staging 2 × 16 lines
//! 256−2b ‥ 255     staging: what is left
//! ```
//!
//! When other communicators than that of all ranks are made, staging gives its first lines to the spare ones. A communicator of
//! some ranks has lines of its own among these, laid out as above as far as it goes:
//!
//! ```text
//! f ‥              signals and flags of its barrier
//! ‥                staging that its operations share, of few lines
//! ‥                cells, for fewer turns, and lines of fewer non-blocking operations
//! ```
//!
//! Cells follow staging, so that an operation of data with tags can have cells as well, whose turns nobody is in. Long operations
//! of such a communicator stage in the first staging buffer of all ranks, after one of its barriers, or before one, or between two; so
//! they do with everything where it has no lines of its own. See `sequence`.
//!
//! The head of messages never moves, and holds nothing else but while the profile of RCCE is in force: others look there
//! for what is sent to them.
//!
//! For a time, everything but the drain target, the signals and the flags of the barrier can be lent to the baselines, see
//! [`rcce_profile`](crate::mpb::rcce_profile), or to a program, see [`program_lines`](crate::mpb::program_lines). A program
//! that wants more lines than are spare gets some of staging for good.
//!
//! The first staging buffer is the owner's: two-sided messages and OC-Bcast leave it quiescent, that is, when they
//! return on a rank nobody will read that rank's buffer any more. The second one belongs to the `sequence` of
//! collective operations.

mod share;
#[cfg(test)]
mod tests;

pub(crate) use self::share::Share;

use core::{fmt, ops::Range};

use hal::{LINE_BYTES, MPB_LINES};

use crate::{
    Error,
    collective::{
        barrier,
        nonblocking::{REQUEST_LINES, REQUESTS},
    },
    comm::group::MAX_RANKS,
    mpb::sequence::{CELLS, TURNS},
    one_sided::window::mark_lines,
};

/// Sizes that a staging buffer may have, in lines; the first is that of the OC-Bcast paper (section 5.1).
const STAGING_LINES: [usize; 4] = [96, 95, 48, 47];

/// Lines that staging leaves to spare at least: as many as a barrier of any group takes.
const LEAST_SPARE_LINES: usize = 2;

/// Lines of the cells of collective operations.
const CELL_LINES: usize = TURNS as usize * CELLS;

/// Lines that the [profile of RCCE](crate::mpb::rcce_profile) has for its payload at most (OC-Bcast paper, section 5.1).
const RCCE_PAYLOAD_LINES: usize = 251;

/// Lines of the head of a message.
const HEAD_LINES: usize = 1;

/// Lines between the flags of the barrier and the spare ones.
const FIXED_LINES: usize = CELL_LINES + REQUESTS * REQUEST_LINES + HEAD_LINES;

/// Lines that staging gives away when there are to be several communicators.
pub(crate) const DIVIDED_LINES: usize = 48;

/// Lines that packets leave to a staging buffer at least.
const LEAST_STAGING_LINES: usize = 16;

/// Whose lines these are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Home {
    /// The communicator of all ranks has the MPB.
    All,
    /// A communicator has lines of its own among the spare ones.
    Own,
    /// It has none, and gets the first staging buffer for each operation.
    Lent,
}

/// The layout of every MPB of a communicator.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MpbLayout {
    home: Home,
    ranks: usize,
    /// First line of the signals.
    first: usize,
    signal_lines: usize,
    /// First line of the cells.
    cells: usize,
    turns: u32,
    requests: usize,
    /// First line of messages and of the staging buffers, or of the packets that have taken lines from them.
    staging: usize,
    /// Behind the second staging buffer.
    end: usize,
    buffer_lines: usize,
    /// The lines that operations share, and the most that one gets.
    shared: usize,
    shared_lines: usize,
    most_shared: usize,
    /// Lines of each section, 0 without packets.
    section_lines: usize,
    /// Lines at the front of the payload of RCCE that the program has for itself.
    program_lines: usize,
}

impl MpbLayout {
    /// The layout for a communicator of `ranks` ranks.
    ///
    /// # Errors
    /// [`Error::TooManyRanks`] above [`MAX_RANKS`].
    pub fn new(ranks: usize) -> Result<Self, Error> {
        let signal_lines = ranks.div_ceil(LINE_BYTES);
        let free = MPB_LINES.saturating_sub(1 + signal_lines + barrier::world_lines(ranks) + FIXED_LINES);
        let buffer_lines = STAGING_LINES.into_iter().find(|lines| 2 * lines + LEAST_SPARE_LINES <= free);
        match buffer_lines {
            Some(buffer_lines) if ranks <= MAX_RANKS => {
                let layout = Self {
                    home: Home::All,
                    ranks,
                    first: 1,
                    signal_lines,
                    cells: 1 + signal_lines + barrier::world_lines(ranks),
                    turns: TURNS,
                    requests: REQUESTS,
                    staging: MPB_LINES - 2 * buffer_lines,
                    end: MPB_LINES,
                    buffer_lines: 0,
                    shared: 0,
                    shared_lines: 0,
                    most_shared: 0,
                    section_lines: 0,
                    program_lines: 0,
                };
                Ok(layout.staged(buffer_lines, 0))
            }
            _ => Err(Error::TooManyRanks { size: ranks }),
        }
    }

    /// The layout for all ranks of a machine whose MPBs have `mpb_lines` lines.
    ///
    /// # Errors
    /// [`Error::MpbTooSmall`] below [`MPB_LINES`], and as [`new`](Self::new).
    pub(crate) fn of_machine(ranks: usize, mpb_lines: usize) -> Result<Self, Error> {
        if mpb_lines < MPB_LINES {
            return Err(Error::MpbTooSmall { lines: mpb_lines });
        }
        Self::new(ranks)
    }

    /// The layout with buffers of `buffer_lines` lines, the second of which is for operations to share.
    fn staged(self, buffer_lines: usize, section_lines: usize) -> Self {
        Self {
            buffer_lines,
            shared: self.end - buffer_lines,
            shared_lines: buffer_lines,
            most_shared: buffer_lines,
            section_lines,
            ..self
        }
    }

    /// The layout of a communicator of at most `ranks` ranks, beside that of all ranks: with this share of the spare lines, from
    /// line `first` on, or with nothing of its own.
    pub(crate) fn beside(self, ranks: usize, own: Option<(usize, Share)>) -> Self {
        let signal_lines = ranks.div_ceil(LINE_BYTES);
        let layout = match own {
            Some((first, Share { turns, requests, staging })) => {
                let shared = first + signal_lines + barrier::world_lines(ranks);
                let cells = shared + staging;
                Self {
                    home: Home::Own,
                    ranks,
                    first,
                    signal_lines,
                    cells,
                    turns,
                    requests,
                    shared,
                    shared_lines: staging,
                    ..self
                }
            }
            None => Self { home: Home::Lent, ranks, signal_lines: 0, requests: 0, ..self },
        };
        layout.lent_from(&self)
    }

    /// This layout of some ranks after that of all ranks has changed: they lend their first staging buffer.
    pub(crate) fn lent_from(self, all: &Self) -> Self {
        let (first, lines) = (all.buffer(0), all.buffer_lines);
        match self.home {
            Home::All => self,
            Home::Own => {
                Self { staging: first, end: first + lines / 2 * 2, buffer_lines: lines / 2, most_shared: lines, ..self }
            }
            Home::Lent => {
                let turns = if lines < STAGING_LINES[3] { 1 } else { 4 };
                let cell_lines = turns as usize * CELLS;
                let buffer_lines = (lines - cell_lines) / 4;
                let shared_lines = lines - cell_lines - 2 * buffer_lines;
                Self {
                    first,
                    cells: first,
                    turns,
                    shared: first + cell_lines,
                    shared_lines,
                    most_shared: shared_lines,
                    staging: first + cell_lines + shared_lines,
                    end: first + lines,
                    buffer_lines,
                    ..self
                }
            }
        }
    }

    /// All lines that a communicator of some ranks has for itself.
    pub(crate) fn own_lines(&self) -> Range<usize> {
        self.first..self.cells().end
    }

    /// Whether there are lines that nobody else ever uses.
    pub(crate) fn has_own_lines(&self) -> bool {
        self.home != Home::Lent
    }

    /// The most ranks that it has room for.
    pub(crate) fn ranks(&self) -> usize {
        self.ranks
    }

    /// Line and byte of the signal from `rank`.
    pub fn signal_from(&self, rank: usize) -> (usize, usize) {
        debug_assert!(rank < self.ranks);
        (self.first + rank / LINE_BYTES, rank % LINE_BYTES)
    }

    /// Line of cell `cell` of turn `turn`.
    pub(crate) fn cell(&self, turn: u32, cell: usize) -> usize {
        debug_assert!(turn < self.turns && cell < CELLS);
        self.cells + turn as usize * CELLS + cell
    }

    /// Operations that can be under way before one has to wait for all ranks; a power of 2.
    pub(crate) fn turns(&self) -> u32 {
        self.turns
    }

    /// Non-blocking operations that can be outstanding.
    pub(crate) fn requests(&self) -> usize {
        self.requests
    }

    /// The flags of the barrier of all ranks.
    pub(crate) fn barrier(&self) -> Range<usize> {
        let flags = self.first + self.signal_lines;
        flags..if self.home == Home::Own { self.shared } else { self.cells }
    }

    /// The cells of all turns, and the lines of non-blocking operations.
    pub(crate) fn cells(&self) -> Range<usize> {
        self.cells..self.cells + self.turns as usize * CELLS + self.requests * REQUEST_LINES
    }

    /// The staging lines that operations take turns in.
    pub(crate) fn shared(&self) -> Range<usize> {
        self.shared..self.shared + self.shared_lines
    }

    /// The lines that operations of data with tags take turns in: staging, and the cells behind it.
    pub(crate) fn tagged(&self) -> Range<usize> {
        let cells = if self.home == Home::Own { self.turns as usize * CELLS } else { 0 };
        self.shared..self.shared().end + cells
    }

    /// The most staging lines that an operation gets: of those, or of the lines that are lent to it.
    pub(crate) fn most_shared(&self) -> usize {
        self.most_shared
    }

    /// The lines that are lent to a communicator of some ranks which has lines of its own.
    pub(crate) fn lent(&self) -> Range<usize> {
        self.staging..self.staging + self.most_shared
    }

    /// The lines that the [profile of RCCE](crate::mpb::rcce_profile) has for its payload: 251 up to 96 ranks, and beyond
    /// what signals and the barrier leave (246 for 255 ranks, 126 for 4096); fewer while a program has some of them.
    pub fn rcce_payload(&self) -> Range<usize> {
        self.rcce_lines().start + self.program_lines..MPB_LINES
    }

    /// The lines that the program and the payload of the profile of RCCE have together.
    pub(crate) fn rcce_lines(&self) -> Range<usize> {
        self.barrier().end.max(MPB_LINES - RCCE_PAYLOAD_LINES)..MPB_LINES
    }

    /// The spare lines, and those that staging can give away.
    pub(crate) fn most_spare(&self) -> Range<usize> {
        self.spare().start..MPB_LINES - 2 * LEAST_STAGING_LINES
    }

    /// The layout in which a program has `lines` lines of the payload, if that leaves one to messages.
    pub(crate) fn with_program_lines(&self, lines: usize) -> Option<Self> {
        (lines < self.rcce_lines().len()).then_some(Self { program_lines: lines, ..*self })
    }

    /// The layout whose spare lines reach to `end` at least, for which staging gives lines away; none where it has packets,
    /// or would be left with too few, or is that of some ranks.
    pub(crate) fn with_spare_to(&self, end: usize) -> Option<Self> {
        let buffer_lines = MPB_LINES.checked_sub(end)? / 2;
        let staging = MPB_LINES - 2 * buffer_lines;
        let can_give = self.home == Home::All && self.section_lines == 0 && buffer_lines >= LEAST_STAGING_LINES;
        can_give.then(|| Self { staging, ..*self }.staged(buffer_lines, 0))
    }

    /// First line of non-blocking operation `request` of those that can be outstanding.
    pub(crate) fn request(&self, request: usize) -> usize {
        debug_assert!(request < self.requests);
        self.cells + self.turns as usize * CELLS + request * REQUEST_LINES
    }

    /// Lines that nobody owns; none in the layout of some ranks, which share those of all.
    pub fn spare(&self) -> Range<usize> {
        let first = if self.home == Home::All { self.cells + FIXED_LINES } else { self.staging };
        first..self.staging
    }

    /// Windows whose marks fit the spare lines at a time, if nothing else takes some; those of further windows are in
    /// uncached memory.
    pub fn windows_that_fit(&self) -> usize {
        self.spare().len() / mark_lines(self.ranks)
    }

    /// First line of staging buffer `index` (0 or 1).
    pub fn buffer(&self, index: usize) -> usize {
        debug_assert!(index < 2);
        self.end - (2 - index) * self.buffer_lines
    }

    /// The line that messages of the program begin with; of the layout of all ranks.
    pub(crate) fn message_head(&self) -> usize {
        debug_assert!(self.home == Home::All);
        self.cells + FIXED_LINES - HEAD_LINES
    }

    /// The lines that the bytes of messages of the program go through.
    pub(crate) fn message_lines(&self) -> Range<usize> {
        self.buffer(0)..self.buffer(1)
    }

    /// Lines of one staging buffer.
    pub fn buffer_lines(&self) -> usize {
        self.buffer_lines
    }

    /// What the lines of the layout of all ranks are, but for the spare ones: areas in ascending order, none of them empty.
    pub(crate) fn areas(&self) -> impl Iterator<Item = (&'static str, Range<usize>)> + use<> {
        let packets = if self.section_lines > 0 { self.staging..self.section_of(self.ranks) } else { 0..0 };
        let (cells, requests) = (self.cells + self.turns as usize * CELLS, self.cells().end);
        let areas = [
            ("drain target", 0..1),
            ("signals", self.first..self.first + self.signal_lines),
            ("flags of the barrier", self.barrier()),
            ("cells of collective operations", self.cells..cells),
            ("non-blocking operations", cells..requests),
            ("head of messages", self.message_head()..self.message_head() + HEAD_LINES),
            ("packets", packets),
            ("staging of messages and broadcasts", self.buffer(0)..self.buffer(1)),
            ("staging of collective operations", self.shared()),
        ];
        areas.into_iter().filter(|(_, lines)| !lines.is_empty())
    }

    /// The layout with room for packets, unless there are too many ranks for a section each, or some ranks only.
    pub(crate) fn with_packets(&self) -> Option<Self> {
        if self.home != Home::All {
            return None;
        }
        let flags = 2 * self.signal_lines;
        let lines = MPB_LINES - self.staging;
        let section_lines = lines.checked_sub(flags + 2 * LEAST_STAGING_LINES)? / self.ranks;
        let buffer_lines = (lines - flags - self.ranks * section_lines) / 2;
        (section_lines > 0).then_some(self.staged(buffer_lines, section_lines))
    }

    /// The layout without them.
    pub(crate) fn without_packets(&self) -> Self {
        self.staged((MPB_LINES - self.staging) / 2, 0)
    }

    /// Lines of the doorbells. Behind them are the acknowledgements, in equally many lines.
    pub(crate) fn doorbell_lines(&self) -> Range<usize> {
        debug_assert!(self.section_lines > 0);
        self.staging..self.staging + self.signal_lines
    }

    /// Line and byte of the doorbell that `rank` rings.
    pub(crate) fn doorbell_of(&self, rank: usize) -> (usize, usize) {
        (self.doorbell_lines().start + rank / LINE_BYTES, rank % LINE_BYTES)
    }

    /// Line and byte in which `rank` acknowledges packets.
    pub(crate) fn acknowledgement_of(&self, rank: usize) -> (usize, usize) {
        (self.doorbell_lines().end + rank / LINE_BYTES, rank % LINE_BYTES)
    }

    /// First line of the section for packets of `rank`.
    pub(crate) fn section_of(&self, rank: usize) -> usize {
        self.doorbell_lines().end + self.signal_lines + rank * self.section_lines
    }

    /// Lines of each section.
    pub(crate) fn section_lines(&self) -> usize {
        self.section_lines
    }
}

impl fmt::Display for MpbLayout {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            out,
            "MPB of {MPB_LINES} lines for {} ranks: drain target 1, signals {}, barrier {}, cells {CELL_LINES}, requests {}, message {HEAD_LINES}, spare {} (windows whose marks fit: {}), staging 2 x {}",
            self.ranks,
            self.signal_lines,
            self.barrier().len(),
            REQUESTS * REQUEST_LINES,
            self.spare().len(),
            self.windows_that_fit(),
            self.buffer_lines
        )?;
        if self.section_lines > 0 {
            write!(out, ", packets 2 x {} and {} x {}", self.signal_lines, self.ranks, self.section_lines)?;
        }
        Ok(())
    }
}
