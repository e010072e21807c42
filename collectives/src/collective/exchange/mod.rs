//! Gather, scatter, allgather and all-to-all: blocks of data from ranks to ranks.
//!
//! All are collective, on slices of any plain type, with blocks of one length or, of [`Pieces`] of a buffer, of
//! different lengths; and all can be [in place](crate::InPlace): what a rank would send to itself is where it belongs
//! already. What they mean is what MPI's operations of the same names do.
//!
//! All go one-sided through the MPBs, with one algorithm for short blocks and another for long ones; the modules say
//! which. As a baseline there are two-sided ones. All leave the communicator in the same state.
//!
//! **Which lengths a rank must know.** All ranks know whether blocks have one length, and say so: all name pieces, or
//! none does. Where they have different ones, the root of a gather or scatter knows all counts and everybody else its
//! own, so that others may name [no pieces in particular](Pieces::default); in an allgather all know all; in an
//! all-to-all a rank knows what it sends to each and what it receives from each. Counts at the two ends have to agree.
//! Normally nobody checks that: a program in which they do not may mix blocks up, or wait for ever for what nobody
//! sends; then the report of the deadlock says so. While [arguments are checked](Comm::check_arguments), the two ends
//! tell each other, and all ranks get the error.
//!
//! **What happens on errors.** What all ranks can see, such as a root that does not exist, all refuse alike; nothing
//! is sent, and buffers stay as they are. So it is with [`Error::ProfileInForce`], while the MPBs are lent to two-sided
//! messages, for all but the exchanges over these. What only one rank can see, such as a buffer too short for what it
//! is to receive, must not keep the others waiting: that rank takes part as its counts say, with zeros for data that
//! it has no right buffer for, leaves its buffers as they are, and then returns the error. The others are not told.

mod allgather;
mod alltoall;
mod comm;
mod ends;
mod gather;
mod named;
mod pieces;
mod scatter;
mod select;
mod transfer;
pub(crate) mod two_sided;

use hal::{Messenger, Span};

use crate::{Comm, Error, mpb::tagged::Source, names};

pub use self::pieces::Pieces;

pub(crate) use self::pieces::{Laid, Spans};

pub(in crate::collective) use self::{
    comm::{apart, own_block},
    ends::Way,
    named::Met,
    transfer::others,
};

use self::alltoall::Buffers;

/// How blocks are exchanged. All ranks use the same at a time.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, Debug)]
pub enum Exchange {
    /// The fastest that there is, by length of blocks and number of ranks.
    #[default]
    Default,
    /// One-sided by the algorithm for long blocks, whatever their length.
    Long,
    /// Two-sided messages.
    TwoSided,
}

/// Elements of blocks of `count` elements from `ranks` ranks; more than any buffer has if there are too many to count.
pub(in crate::collective) fn all_of(count: usize, ranks: usize) -> usize {
    count.saturating_mul(ranks)
}

/// The parts of a rank, on bytes. Each refuses before it touches any buffer.
impl Exchange {
    /// Refuses one-sided exchanges while their lines are lent.
    fn check_lines<C>(self, comm: &Comm<'_, C>) -> Result<(), Error> {
        comm.check_lines(self == Self::TwoSided)
    }

    fn send_to_root<C: Messenger>(
        self,
        comm: &Comm<'_, C>,
        common: Option<usize>,
        block: &[u8],
        root: usize,
    ) -> Result<(), Error> {
        self.check_lines(comm)?;
        let _span = comm.hal().span(Span::new("gather").with(comm.core_of(root)).of(block.len()));
        comm.operate(|| {
            match self {
                Self::TwoSided => comm.send_within(Source::Memory, block, root)?,
                _ => gather::send(comm, self, common, block, root),
            }
            Ok(())
        })
    }

    /// The root collects all blocks; its own one is in its place unless it is named apart.
    fn collect<C: Messenger>(
        self,
        comm: &Comm<'_, C>,
        common: Option<usize>,
        own: Option<&[u8]>,
        all: &mut [u8],
        spans: &Spans,
    ) -> Result<(), Error> {
        self.check_lines(comm)?;
        let _span = comm.hal().span(Span::new("gather").of(all.len()));
        if let Some(own) = own {
            gather::keep_own(comm, own, all, spans);
        }
        comm.operate(|| {
            match self {
                Self::TwoSided => two_sided::collect(comm, all, spans)?,
                _ => gather::collect(comm, self, common, all, spans),
            }
            Ok(())
        })
    }

    /// The root sends all blocks. What is `left` for it to do it does while others get theirs.
    fn distribute<C: Messenger>(
        self,
        comm: &Comm<'_, C>,
        common: Option<usize>,
        (all, spans): (&[u8], &Spans),
        left: impl FnOnce() -> Result<(), Error>,
    ) -> Result<(), Error> {
        self.check_lines(comm)?;
        let span = comm.hal().span(Span::new("scatter").of(all.len()));
        comm.operate(|| {
            match self {
                Self::TwoSided => two_sided::distribute(comm, all, spans)?,
                _ => scatter::send(comm, self, common, all, spans),
            }
            drop(span);
            left()
        })
    }

    fn receive_from_root<C: Messenger>(
        self,
        comm: &Comm<'_, C>,
        common: Option<usize>,
        block: &mut [u8],
        root: usize,
    ) -> Result<(), Error> {
        self.check_lines(comm)?;
        let _span = comm.hal().span(Span::new("scatter").with(comm.core_of(root)).of(block.len()));
        comm.operate(|| {
            match self {
                Self::TwoSided => comm.receive_within(block, root)?,
                _ => scatter::receive(comm, self, common, block, root),
            }
            Ok(())
        })
    }

    /// All blocks to all; the own one is in its place unless it is named apart.
    fn exchange_all<C: Messenger>(
        self,
        comm: &Comm<'_, C>,
        own: Option<&[u8]>,
        all: &mut [u8],
        spans: &Spans,
    ) -> Result<(), Error> {
        self.check_lines(comm)?;
        let _span = comm.hal().span(Span::new("allgather").of(all.len()));
        if let Some(own) = own {
            gather::keep_own(comm, own, all, spans);
        }
        comm.operate(|| {
            if self == Self::TwoSided || allgather::goes_around(comm, self, spans) {
                return two_sided::ring(comm, all, |rank| spans.of(rank));
            }
            allgather::exchange(comm, self, all, spans);
            Ok(())
        })
    }

    fn meet<C: Messenger>(
        self,
        comm: &Comm<'_, C>,
        common: Option<usize>,
        mut buffers: Buffers<'_>,
    ) -> Result<(), Error> {
        self.check_lines(comm)?;
        let _span = comm.hal().span(Span::new("alltoall").of(buffers.receive.len()));
        comm.operate(|| {
            match (self, common) {
                (Self::TwoSided, _) => two_sided::meet(comm, &mut buffers)?,
                (_, Some(len)) => alltoall::exchange_equal(comm, self, len, &mut buffers),
                (_, None) => alltoall::exchange_each(comm, self, &mut buffers),
            }
            buffers.keep_own(comm.hal(), comm.rank());
            Ok(())
        })
    }
}

names! { "way to exchange blocks": pub Exchange { Default => "default", Long => "long", TwoSided => "two-sided" } }
