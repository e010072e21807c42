//! Where chunks are: lines of MPBs, or words of uncached memory.

use core::ops::Range;

use hal::{Core, CoreId, LINE_BYTES, Line, MpbLine, Place, Poll, Region, kind};

/// Bytes of a chunk: what a line has room for beside the numbers of two chunks.
pub(super) const CHUNK_BYTES: usize = LINE_BYTES - 8;

/// Lines of an operation: up, and two down.
pub(super) const LINES: usize = 3;

/// The first of them.
pub(super) const UP: usize = 0;

/// Words of a line, of which the last but one says which chunk is in it.
const WORDS: usize = LINE_BYTES / 4;
const NUMBER: usize = WORDS - 2;

/// Where the lines of an operation are.
pub(super) enum Lines {
    /// From this line of every MPB on.
    Mpb(usize),
    /// In these words, from this one on, rank by rank.
    Words(Region<kind::Uncached>, usize),
}

impl Lines {
    /// Words of shared memory that one operation on `ranks` ranks takes.
    pub(super) const fn words(ranks: usize) -> usize {
        ranks * LINES * WORDS
    }

    fn word((rank, line): (usize, usize)) -> usize {
        (rank * LINES + line) * WORDS
    }

    /// The places where a line of a rank, which is on this core, shows.
    pub(super) fn places(&self, core: CoreId, of: (usize, usize)) -> impl Iterator<Item = Place> + use<> {
        let (line, words) = match *self {
            Self::Mpb(first) => (Some(Place::Line(MpbLine::new(core, first + of.1))), None),
            Self::Words(region, first) => (None, Some((region, first + Self::word(of)))),
        };
        let words = words.into_iter().flat_map(|(region, first)| (0..WORDS).map(move |word| (region, first + word)));
        line.into_iter().chain(words.map(|(region, word)| Place::Word(region, word)))
    }

    /// What a poll finds in the line whose places begin there, if its numbers are wanted; and how many places it has. Without
    /// the data, words of these are not read.
    pub(super) fn find(
        &self,
        poll: &Poll<'_>,
        place: usize,
        with_data: bool,
        is_wanted: impl Fn(&Line) -> bool,
    ) -> (Option<Line>, usize) {
        match self {
            Self::Mpb(_) => (Some(poll.line(place)).filter(is_wanted), 1),
            Self::Words(..) => {
                let mut line = Line::default();
                let read = |words: Range<usize>, line: &mut Line| {
                    words.for_each(|word| {
                        line.0[4 * word..4 * word + 4].copy_from_slice(&poll.word(place + word).to_le_bytes());
                    });
                };
                read(NUMBER..WORDS, &mut line);
                let is_there = is_wanted(&line);
                if is_there && with_data {
                    read(0..NUMBER, &mut line);
                }
                (is_there.then_some(line), WORDS)
            }
        }
    }

    /// Puts a line of this rank. In an MPB it is whole, so that it leaves the write-combine buffer at once.
    pub(super) fn put(&self, hal: &impl Core, of: (usize, usize), data: &Chunk, number: u32, taken: u32) {
        let make = |line: &mut [u8]| {
            line[..CHUNK_BYTES].copy_from_slice(data);
            line[CHUNK_BYTES..CHUNK_BYTES + 4].copy_from_slice(&number.to_le_bytes());
            line[CHUNK_BYTES + 4..].copy_from_slice(&taken.to_le_bytes());
        };
        match *self {
            Self::Mpb(first) => {
                hal.put_made(LINE_BYTES, MpbLine::new(hal.core(), first + of.1), |_, line| make(line));
            }
            Self::Words(region, first) => {
                let mut line = Line::default();
                make(&mut line.0);
                let first = first + Self::word(of);
                for word in (0..NUMBER).chain([NUMBER + 1, NUMBER]) {
                    hal.store_word(region, first + word, line.word(word));
                }
            }
        }
    }
}

pub(super) type Chunk = [u8; CHUNK_BYTES];

/// Data, the number of their chunk, and the number of the last chunk that was taken.
pub(super) fn parts(line: &Line) -> (Chunk, u32, u32) {
    let mut data = [0; CHUNK_BYTES];
    data.copy_from_slice(&line.0[..CHUNK_BYTES]);
    let number = |at: usize| u32::from_le_bytes([0, 1, 2, 3].map(|byte| line.0[at + byte]));
    (data, number(CHUNK_BYTES), number(CHUNK_BYTES + 4))
}
