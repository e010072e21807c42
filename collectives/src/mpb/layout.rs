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
//! s+w+29 ‥         spare, for marks of windows and barriers of groups
//! 255−2b           room for the length of a message of the program, which begins here and goes on behind
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
//! 255−2b           room for the length of a message
//! 256−2b ‥ 255     staging: what is left
//! ```
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

/// Lines between the flags of the barrier and the spare ones.
const FIXED_LINES: usize = CELL_LINES + REQUESTS * REQUEST_LINES;

/// Lines that packets leave to a staging buffer at least.
const LEAST_STAGING_LINES: usize = 16;

/// Lines that messages have before the first staging buffer.
const LENGTH_LINES: usize = 1;

/// The layout of every MPB of a communicator.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MpbLayout {
    ranks: usize,
    signal_lines: usize,
    /// First line of messages and of the staging buffers, or of the packets that have taken lines from them.
    staging: usize,
    buffer_lines: usize,
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
        let free =
            MPB_LINES.saturating_sub(1 + signal_lines + barrier::world_lines(ranks) + FIXED_LINES + LENGTH_LINES);
        let buffer_lines = STAGING_LINES.into_iter().find(|lines| 2 * lines + LEAST_SPARE_LINES <= free);
        match buffer_lines {
            Some(buffer_lines) if ranks <= MAX_RANKS => {
                let staging = MPB_LINES - 2 * buffer_lines - LENGTH_LINES;
                Ok(Self { ranks, signal_lines, staging, buffer_lines, section_lines: 0, program_lines: 0 })
            }
            _ => Err(Error::TooManyRanks { size: ranks }),
        }
    }

    /// Line and byte of the signal from `rank`.
    pub fn signal_from(&self, rank: usize) -> (usize, usize) {
        debug_assert!(rank < self.ranks);
        (1 + rank / LINE_BYTES, rank % LINE_BYTES)
    }

    /// Line of cell `cell` of turn `turn`.
    pub(crate) fn cell(&self, turn: u32, cell: usize) -> usize {
        debug_assert!(turn < TURNS && cell < CELLS);
        self.cells().start + turn as usize * CELLS + cell
    }

    /// The flags of the barrier of all ranks.
    pub(crate) fn barrier(&self) -> Range<usize> {
        let first = 1 + self.signal_lines;
        first..first + barrier::world_lines(self.ranks)
    }

    /// The cells of all turns, and the lines of non-blocking operations.
    pub(crate) fn cells(&self) -> Range<usize> {
        self.barrier().end..self.spare().start
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
        self.spare().start..MPB_LINES - 2 * LEAST_STAGING_LINES - LENGTH_LINES
    }

    /// The layout in which a program has `lines` lines of the payload, if that leaves one to messages.
    pub(crate) fn with_program_lines(&self, lines: usize) -> Option<Self> {
        (lines < self.rcce_lines().len()).then_some(Self { program_lines: lines, ..*self })
    }

    /// The layout whose spare lines reach to `end` at least, for which staging gives lines away; none where it has packets,
    /// or would be left with too few.
    pub(crate) fn with_spare_to(&self, end: usize) -> Option<Self> {
        let buffer_lines = MPB_LINES.checked_sub(end + LENGTH_LINES)? / 2;
        let staging = MPB_LINES - 2 * buffer_lines - LENGTH_LINES;
        (self.section_lines == 0 && buffer_lines >= LEAST_STAGING_LINES).then_some(Self {
            staging,
            buffer_lines,
            ..*self
        })
    }

    /// First line of non-blocking operation `request` of those that can be outstanding.
    pub(crate) fn request(&self, request: usize) -> usize {
        debug_assert!(request < REQUESTS);
        self.cells().start + CELL_LINES + request * REQUEST_LINES
    }

    /// Lines that nobody owns.
    pub fn spare(&self) -> Range<usize> {
        self.barrier().end + FIXED_LINES..self.staging
    }

    /// Windows whose marks fit the spare lines at a time, if nothing else takes some; those of further windows are in
    /// uncached memory.
    pub fn windows_that_fit(&self) -> usize {
        self.spare().len() / mark_lines(self.ranks)
    }

    /// First line of staging buffer `index` (0 or 1).
    pub fn buffer(&self, index: usize) -> usize {
        debug_assert!(index < 2);
        MPB_LINES - (2 - index) * self.buffer_lines
    }

    /// The lines that messages of the program go through: a staging buffer, and one more for their length.
    pub(crate) fn message_lines(&self) -> Range<usize> {
        self.buffer(0) - LENGTH_LINES..self.buffer(1)
    }

    /// Lines of one staging buffer.
    pub fn buffer_lines(&self) -> usize {
        self.buffer_lines
    }

    /// The layout with room for packets, unless there are too many ranks for a section each.
    pub(crate) fn with_packets(&self) -> Option<Self> {
        let flags = 2 * self.signal_lines;
        let lines = MPB_LINES - self.staging - LENGTH_LINES;
        let section_lines = lines.checked_sub(flags + 2 * LEAST_STAGING_LINES)? / self.ranks;
        let buffer_lines = (lines - flags - self.ranks * section_lines) / 2;
        (section_lines > 0).then_some(Self { buffer_lines, section_lines, ..*self })
    }

    /// The layout without them.
    pub(crate) fn without_packets(&self) -> Self {
        Self { buffer_lines: (MPB_LINES - self.staging - LENGTH_LINES) / 2, section_lines: 0, ..*self }
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
            "MPB of {MPB_LINES} lines for {} ranks: drain target 1, signals {}, barrier {}, cells {CELL_LINES}, requests {}, spare {} (windows whose marks fit: {}), message 1, staging 2 x {}",
            self.ranks,
            self.signal_lines,
            self.barrier().len(),
            FIXED_LINES - CELL_LINES,
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
    use super::*;

    #[test]
    fn areas_do_not_overlap_for_any_rank_count() {
        for ranks in 1..=MAX_RANKS {
            let layout = MpbLayout::new(ranks).unwrap();
            let (last_signal, _) = layout.signal_from(ranks - 1);
            assert!(last_signal < layout.spare().start);
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
            for end in [end + 1, end + 2, MPB_LINES - 2 * LEAST_STAGING_LINES - LENGTH_LINES] {
                let with = without.with_spare_to(end).unwrap();
                assert!((end..=end + 1).contains(&with.spare().end), "{ranks} ranks, {end}");
                assert_eq!((with.spare().end, with.spare().start), (with.message_lines().start, without.spare().start));
                assert_eq!(with.buffer(1) + with.buffer_lines(), MPB_LINES);
            }
            assert_eq!(without.with_spare_to(MPB_LINES - 2 * LEAST_STAGING_LINES), None);
            let lines = without.rcce_lines().len();
            assert_eq!(without.with_program_lines(lines - 1).unwrap().rcce_payload().len(), 1);
            assert_eq!(without.with_program_lines(lines), None);
        }
        // What a program of 48 ranks gets in all: beside messages, and without them.
        let scc = MpbLayout::new(48).unwrap();
        let most = scc.with_spare_to(MPB_LINES - 2 * LEAST_STAGING_LINES - LENGTH_LINES).unwrap().spare().len();
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
    fn rcce_has_its_payload_up_to_96_ranks() {
        let payload = |ranks| MpbLayout::new(ranks).unwrap().rcce_payload().len();
        assert_eq!([1, 48, 96, 97, 255, 4096].map(payload), [251, 251, 251, 250, 246, 126]);
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
