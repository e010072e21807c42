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

/// What a communicator of some ranks has among the spare lines, besides signals and the flags of its barrier.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Share {
    /// Operations that can be under way, a power of 2.
    turns: u32,
    /// Non-blocking operations that can be outstanding.
    requests: usize,
    /// Staging lines of short operations.
    staging: usize,
}

/// What is tried, in this order. Twelve staging lines are what a scatter of 8 bytes takes on 48 ranks, and a reduction of one line
/// eleven of them. Fourteen, with the cells of eight turns, are what a reduction of 128 bytes takes on 24 ranks: so they are for more
/// than [`FEW_RANKS`].
const SHARES: [Share; 4] = [
    Share { turns: 8, requests: 1, staging: 14 },
    Share { turns: 8, requests: 1, staging: 12 },
    Share { turns: 4, requests: 1, staging: 12 },
    Share { turns: 1, requests: 1, staging: 2 },
];

/// As many ranks take 25 lines for a reduction of 128 bytes at most.
const FEW_RANKS: usize = 16;

impl Share {
    /// The largest share for `ranks` ranks that takes four fifths of `free` lines at most, so that there are some for the next
    /// one.
    pub(crate) fn fitting(ranks: usize, free: usize) -> Option<Self> {
        let mut shares = SHARES.into_iter().skip(usize::from(ranks <= FEW_RANKS));
        shares.find(|share| share.lines(ranks) * 5 <= free * 4)
    }

    /// Lines that it takes.
    pub(crate) fn lines(&self, ranks: usize) -> usize {
        ranks.div_ceil(LINE_BYTES)
            + barrier::world_lines(ranks)
            + self.turns as usize * CELLS
            + self.requests * REQUEST_LINES
            + self.staging
    }
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

    /// Lines of the doorbells, which the acknowledgements follow, as many.
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

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;

    #[test]
    fn areas_do_not_overlap_for_any_rank_count() {
        for ranks in 1..=MAX_RANKS {
            let layout = MpbLayout::new(ranks).unwrap();
            let (last_signal, _) = layout.signal_from(ranks - 1);
            assert!(last_signal < layout.cells().start && layout.cells().end == layout.message_head());
            assert_eq!(layout.message_head() + HEAD_LINES, layout.spare().start);
            assert!(layout.spare().end <= layout.message_lines().start);
            assert_eq!(layout.buffer(0) + layout.buffer_lines(), layout.buffer(1));
            assert_eq!(layout.buffer(1) + layout.buffer_lines(), MPB_LINES);
        }
    }

    #[test]
    fn programs_get_lines_of_staging_or_of_the_payload() {
        for ranks in 1..=MAX_RANKS {
            let without = MpbLayout::new(ranks).unwrap();
            let end = without.spare().end;
            for end in [end + 1, end + 2, MPB_LINES - 2 * LEAST_STAGING_LINES] {
                let with = without.with_spare_to(end).unwrap();
                assert!((end..=end + 1).contains(&with.spare().end), "{ranks} ranks, {end}");
                assert_eq!((with.spare().end, with.spare().start), (with.message_lines().start, without.spare().start));
                assert_eq!(with.buffer(1) + with.buffer_lines(), MPB_LINES);
            }
            assert_eq!(without.with_spare_to(MPB_LINES - 2 * LEAST_STAGING_LINES + 1), None);
            let lines = without.rcce_lines().len();
            assert_eq!(without.with_program_lines(lines - 1).unwrap().rcce_payload().len(), 1);
            assert_eq!(without.with_program_lines(lines), None);
        }
        // What a program of 48 ranks gets in all: beside messages, and without them.
        let scc = MpbLayout::new(48).unwrap();
        let most = scc.with_spare_to(MPB_LINES - 2 * LEAST_STAGING_LINES).unwrap().spare().len();
        assert_eq!(most, scc.most_spare().len());
        assert_eq!(
            [scc.spare().len(), most, scc.rcce_lines().len() - 1].map(|lines| lines * LINE_BYTES),
            [960, 6080, 8000]
        );
    }

    #[test]
    fn so_many_windows_have_marks_in_mpbs() {
        let fit = |ranks| MpbLayout::new(ranks).unwrap().windows_that_fit();
        assert_eq!([1, 48, 255, 1024].map(fit), [31, 10, 1, 0]);
    }

    #[test]
    fn the_papers_buffers_fit_up_to_992_ranks() {
        assert_eq!(MpbLayout::new(48).unwrap().buffer_lines(), 96);
        assert_eq!([992, 993, 1024].map(|ranks| MpbLayout::new(ranks).unwrap().buffer_lines()), [96, 95, 95]);
        assert_eq!(MpbLayout::new(4096).unwrap().buffer_lines(), 47);
        assert_eq!(MpbLayout::new(4097), Err(Error::TooManyRanks { size: 4097 }));
    }

    #[test]
    fn a_machine_has_all_lines_of_the_plan() {
        assert_eq!(MpbLayout::of_machine(2, MPB_LINES), MpbLayout::new(2));
        let error = MpbLayout::of_machine(2, 128).unwrap_err();
        assert_eq!(error, Error::MpbTooSmall { lines: 128 });
        assert_eq!(
            alloc::string::ToString::to_string(&error),
            "this machine's MPBs have 128 lines; a communicator's plan of them takes 256"
        );
    }

    fn divided(ranks: usize) -> MpbLayout {
        let all = MpbLayout::new(ranks).unwrap();
        all.with_spare_to(all.spare().end + DIVIDED_LINES).unwrap()
    }

    #[test]
    fn communicators_have_lines_of_their_own_until_there_are_none_left() {
        for ranks in (1..=300).chain([992, 1024, MAX_RANKS]) {
            let all = divided(ranks);
            assert!(all.spare().end <= all.message_lines().start);
            let mut free = all.spare();
            for most in [ranks, ranks.div_ceil(2), 1, 1, 1, 1, 1, 1] {
                let own = Share::fitting(most, free.len()).map(|share| (free.start, share));
                let layout = all.beside(most, own);
                let (staging, buffers) = (layout.buffer(0), all.buffer(0)..all.buffer(1));
                assert!(staging >= buffers.start && layout.buffer(1) + layout.buffer_lines() <= buffers.end);
                match own {
                    Some((first, share)) => {
                        assert_eq!(layout.own_lines(), first..first + share.lines(most));
                        assert!(layout.barrier().end == layout.shared().start);
                        assert!(layout.shared().end == layout.cells().start && layout.cells().end <= all.spare().end);
                        let last_cell = layout.cell(layout.turns() - 1, CELLS - 1);
                        assert_eq!(layout.tagged(), layout.shared().start..last_cell + 1);
                        assert!(layout.lent().end <= buffers.end);
                        free.start = layout.own_lines().end;
                    }
                    None => {
                        assert!(layout.cells().start == buffers.start && layout.cells().end == layout.shared().start);
                        assert!(layout.shared().end <= staging && layout.shared().len() >= 8, "{layout:?}");
                        assert_eq!(layout.tagged(), layout.shared());
                    }
                }
                assert_eq!(layout.lent_from(&all), layout);
            }
        }
    }

    #[test]
    fn rows_and_columns_of_the_scc_have_all_that_is_fast() {
        let free = divided(48).spare().len();
        let rows = Share::fitting(6, free).unwrap();
        let columns = Share::fitting(8, free - rows.lines(6)).unwrap();
        assert_eq!((rows, columns), (SHARES[1], SHARES[1]));
    }

    #[test]
    fn duplicates_of_all_ranks_of_the_scc_share_the_spare_lines() {
        let mut free = divided(48).spare().len();
        let shares = core::array::from_fn(|_| {
            let share = Share::fitting(48, free)?;
            free -= share.lines(48);
            Some(share)
        });
        assert_eq!(shares, [Some(SHARES[0]), Some(SHARES[2]), Some(SHARES[3]), None]);
    }

    #[test]
    fn rcce_has_its_payload_up_to_96_ranks() {
        let payload = |ranks| MpbLayout::new(ranks).unwrap().rcce_payload().len();
        assert_eq!([1, 48, 96, 97, 255, 4096].map(payload), [251, 251, 251, 250, 246, 126]);
    }

    #[test]
    fn areas_and_spare_lines_are_all_lines() {
        for ranks in [1, 48, 150, 255, 992, MAX_RANKS] {
            let without = MpbLayout::new(ranks).unwrap();
            for layout in [Some(without), without.with_packets()].into_iter().flatten() {
                let mut areas: Vec<_> = layout.areas().map(|(_, lines)| lines).chain([layout.spare()]).collect();
                areas.sort_by_key(|lines| lines.start);
                // Beside packets a line may be left over.
                let follows = |pair: &[Range<usize>]| (pair[0].end..=pair[0].end + 1).contains(&pair[1].start);
                assert!(areas.windows(2).all(follows), "{ranks} ranks: {areas:?}");
                let (first, last) = (areas[0].start, areas[areas.len() - 1].end);
                assert_eq!((first, last), (0, MPB_LINES), "{ranks} ranks: {areas:?}");
            }
        }
    }

    #[test]
    fn packets_take_lines_from_staging_only_and_give_them_back() {
        for ranks in 1..=MAX_RANKS {
            let without = MpbLayout::new(ranks).unwrap();
            assert_eq!(without.with_packets().is_some(), ranks <= 150, "{ranks} ranks");
            let Some(with) = without.with_packets() else { continue };
            assert_eq!((with.spare(), with.without_packets()), (without.spare(), without));
            assert_eq!(with.doorbell_lines().start, with.spare().end);
            let (last_doorbell, _) = with.doorbell_of(ranks - 1);
            let (last_acknowledgement, _) = with.acknowledgement_of(ranks - 1);
            assert!(last_doorbell < with.acknowledgement_of(0).0 && last_acknowledgement < with.section_of(0));
            assert!(with.section_of(ranks - 1) + with.section_lines() <= with.message_lines().start);
            assert!(with.buffer_lines() >= LEAST_STAGING_LINES);
        }
        let scc = MpbLayout::new(48).unwrap().with_packets().unwrap();
        assert_eq!((scc.section_lines(), scc.buffer_lines()), (3, 22));
    }
}
