//! Signals for communicators that have no lines in the MPBs: in uncached words, one for each ordered pair of ranks.
//!
//! They are slower than those in MPBs by what uncached memory is slower than a line of the own MPB, and there is room for as many
//! as one likes; behind them are words of a [non-blocking operation](crate::collective::nonblocking). A word is written by one rank and read by one, and has the [byte](crate::mpb::signals) that a line would have.

use hal::{Core, Place, Region, kind};

use crate::{Comm, collective::nonblocking::operation_words};

/// Where signals are that do not go through MPBs. It knows no more of its core than signals do.
pub(crate) trait Elsewhere<C> {
    /// Sets the byte of this rank for rank `to`, after all that was put and stored before.
    fn set(&self, comm: &Comm<'_, C>, to: usize, value: u8);

    /// The word in which rank `rank` finds the byte of rank `from`.
    fn place(&self, rank: usize, from: usize) -> Place;

    /// Words for a non-blocking operation, and which is the first of them.
    fn operation_words(&self) -> (Region<kind::Uncached>, usize);

    /// Gives the words back when all ranks have called it.
    fn end(&self, comm: &Comm<'_, C>);
}

/// The words of a communicator.
pub(super) struct Words {
    pub(super) region: Region<kind::Uncached>,
    pub(super) ranks: usize,
    /// The rank that has allocated them.
    pub(super) owner: usize,
}

impl Words {
    /// Bytes for `ranks` ranks.
    pub(super) fn len_bytes(ranks: usize) -> usize {
        (ranks * ranks + operation_words(ranks)) * 4
    }

    fn word(&self, rank: usize, from: usize) -> usize {
        rank * self.ranks + from
    }
}

impl<C: Core> Elsewhere<C> for Words {
    fn set(&self, comm: &Comm<'_, C>, to: usize, value: u8) {
        // Words do not push out what is in the write-combine buffer.
        comm.hal().drain();
        comm.hal().store_word(self.region, self.word(to, comm.rank()), value.into());
    }

    fn place(&self, rank: usize, from: usize) -> Place {
        Place::Word(self.region, self.word(rank, from))
    }

    fn operation_words(&self) -> (Region<kind::Uncached>, usize) {
        (self.region, self.ranks * self.ranks)
    }

    fn end(&self, comm: &Comm<'_, C>) {
        if comm.rank() != self.owner {
            comm.signal(self.owner);
            return;
        }
        let others = (0..comm.size()).filter(|rank| *rank != self.owner);
        comm.take_signals(others, hal::Reason::new("the end of a communicator"));
        // They are an allocation, so nothing can go wrong.
        let _ = comm.allocator().free(self.region);
    }
}
