//! Our own synchronisation: single-writer marks in MPBs, no lock, no read-modify-write, nothing to reset.
//!
//! For each ordered pair of ranks there is one byte, the *mark* of the first for the second, of which only the first is
//! the writer. It holds two numbers that only ever rise: of exposure epochs posted, and of access epochs completed. A
//! rank can be at most one epoch ahead of its peer: a target posts again only after the origin has completed, and the
//! origin completes again only after that post. So two bits of each number suffice, whoever else posts early, and
//! however often the numbers wrap around.
//!
//! ```text
//! bit  7      6      5‥4         3      2      1‥0
//!      many   kept   completed   many   kept   posted
//! ```
//!
//! A mark can be in two places, and which is faster depends on both groups:
//!
//! * **pushed** to the peer, into a line that 32 ranks share: the writer pays a remote store for each peer, the
//!   waiter one look at its own MPB for 32 of them;
//! * **kept** in the writer's own MPB, side by side with those for 31 other peers: the writer pays one store for all of
//!   them, each waiter a remote look for each writer.
//!
//! One origin with many targets is told of their posts by pushes, and keeps its completion where all targets find it.
//! The writer decides, by [`Kept`], and *announces with each mark where the next one will be* (the bit
//! `kept`), so that no waiter looks in vain. If that is another place than now, the mark is written to both, to the
//! new one first, so that nobody finds a number from long ago there. The bit `many` says that the writer's group was
//! large, which is how many the peer's marks will be awaited together with. All of this changes where a mark is and
//! never what it means.
//!
//! Marks follow the data: the store hits another line than the data before it and so pushes that out of the
//! write-combine buffer.
//!
//! Where a window finds no room in the MPBs, its marks are in uncached memory, kept by their writer, four in a word.
//! Pushed, each would need a word of its own, because no read-modify-write is atomic there, and a look would show no
//! more of them.
//!
//! | call | remote accesses |
//! |---|---|
//! | START | none |
//! | POST | a line write for each origin, or none |
//! | COMPLETE | a line write for each target, or none; a line read for each target that kept its post |
//! | WAIT | a line read for each origin that kept its completion |

mod bytes;
mod half;
mod taking;
mod telling;
#[cfg(test)]
mod tests;

pub(super) use half::Told;

use alloc::boxed::Box;
use core::{
    cell::{Cell, RefCell},
    iter,
};

use hal::{Core, LINE_BYTES, MpbWords};

use self::{
    bytes::{Bytes, Cells, RANKS, first},
    taking::Expected,
    telling::{Moves, Settled},
};
use super::{kept::Kept, peers::Peers};
use crate::Comm;

/// Where the marks of a window are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Home {
    /// In every MPB, from this line on: those that were pushed here, a byte for each rank, then those that are kept
    /// here.
    Mpb {
        /// First of [`lines`] lines.
        first: usize,
    },
    /// In the synchronisation data of every rank, kept: a byte for each rank.
    Words,
}

/// Lines of each MPB that the marks of one window take, for `ranks` ranks.
pub(crate) const fn lines(ranks: usize) -> usize {
    (2 * ranks).div_ceil(LINE_BYTES)
}

/// Marks in a word of uncached memory.
const MARKS_PER_WORD: usize = 4;

/// Words of each rank's synchronisation data that the marks of one window take where they are not in MPBs.
pub(super) const fn words(ranks: usize) -> usize {
    ranks.div_ceil(MARKS_PER_WORD)
}

/// The marks of one window. What this rank knows of them is in the order of ranks, [`RANKS`] in a value, as in a line of
/// an MPB, so that they are compared with a line as they are.
///
/// Most groups are told, and taken from, again and again, with all marks where they were before. So what was found out
/// about the group that came last is kept, until something changes that it depends on: where marks are, or who is one of
/// many. Then numbers are all that changes, and no mark is looked at for more than that.
pub(super) struct Marks {
    home: Home,
    /// Line and byte, in MPBs, of the marks that this rank pushes, and of those that peers keep for it.
    pushed_at: (usize, usize),
    kept_at: (usize, usize),
    /// The lines in this rank's MPB that marks are pushed to.
    here: Box<[MpbWords<{ RANKS / MARKS_PER_WORD }>]>,
    kept: Kept,
    /// The marks for peers, as they are now.
    told: Box<[Cells]>,
    /// The halves of peers' marks that are expected next: those that were taken last, with numbers that are one further.
    next: Box<[Cells]>,
    moves: Box<[Cell<Moves>]>,
    /// The group that was told last, of each kind, if all its marks stay where they are.
    settled: [RefCell<Option<Settled>>; 2],
    /// The group whose marks were taken last, of each kind, if the next ones are all pushed or all kept.
    expected: [RefCell<Option<Expected>>; 2],
}

impl Marks {
    pub(super) fn new<C: Core>(home: Home, comm: &Comm<'_, C>) -> Self {
        let lines = comm.size().div_ceil(RANKS);
        let first_line = if let Home::Mpb { first } = home { first } else { 0 };
        let here = (first_line..first_line + lines).map(|line| comm.hal().find_words(comm.own_line(line), 0));
        Self {
            home,
            here: here.collect(),
            pushed_at: place(first_line, comm.rank()),
            kept_at: place(first_line, comm.size() + comm.rank()),
            kept: Kept::new(comm.choices().terms()),
            told: iter::repeat_with(Cells::default).take(lines).collect(),
            next: iter::repeat_with(first).take(lines).collect(),
            moves: iter::repeat_with(Cell::default).take(lines).collect(),
            settled: Default::default(),
            expected: Default::default(),
        }
    }

    pub(super) fn home(&self) -> Home {
        self.home
    }

    /// The marks for 32 peers, as they are now.
    #[inline]
    fn told(&self, index: usize) -> Bytes<'_> {
        Bytes(&self.told[index])
    }

    /// The halves of 32 peers' marks that are expected next.
    #[inline]
    fn next(&self, index: usize) -> Bytes<'_> {
        Bytes(&self.next[index])
    }

    /// Clears the places on this rank.
    pub(super) fn clear<C: Core>(&self, at: &Peers<'_, C>) {
        let (comm, hal) = (at.comm, at.comm.hal());
        match self.home {
            Home::Mpb { first } => {
                for line in first..first + lines(comm.size()) {
                    hal.store(comm.mpb_line(comm.rank(), line), 0, &[0; LINE_BYTES]);
                }
                hal.drain();
            }
            Home::Words => {
                (0..words(comm.size())).for_each(|word| hal.store_word(at.class_words(comm.rank()), word, 0));
            }
        }
    }
}

/// A rank among all: whose line of 32 it has a byte in, which word of that, and how far from its lowest byte, in bits.
#[derive(Clone, Copy)]
struct Among {
    line: usize,
    word: usize,
    shift: u32,
}

impl Among {
    #[inline]
    fn new(rank: usize) -> Self {
        let byte = rank % RANKS;
        Self { line: rank / RANKS, word: byte / MARKS_PER_WORD, shift: (byte % MARKS_PER_WORD * 8) as u32 }
    }
}

/// Line and byte of the mark at `index`, counted from line `first`.
const fn place(first: usize, index: usize) -> (usize, usize) {
    (first + index / LINE_BYTES, index % LINE_BYTES)
}
