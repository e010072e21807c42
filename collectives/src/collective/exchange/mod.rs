//! Gather, scatter, allgather and all-to-all: blocks of data from ranks to ranks.
//!
//! All are collective, on slices of any plain type, with blocks of one length or, in the variants `…v`, of different
//! lengths; and all have a variant *in place*, in which what a rank would send to itself is where it belongs already.
//! What they mean is what MPI's operations of the same names do.
//!
//! All go one-sided through the MPBs, with one algorithm for short blocks and another for long ones; the modules say
//! which. As a baseline there are two-sided ones. All leave the communicator in the same state.
//!
//! **Which lengths a rank must know.** In [`gatherv`](Exchange::gatherv) and [`scatterv`](Exchange::scatterv) the
//! root knows all counts and everybody else its own; in [`allgatherv`](Exchange::allgatherv) all know all; in
//! [`alltoallv`](Exchange::alltoallv) a rank knows what it sends to each and what it receives from each. Counts at
//! the two ends have to agree. Normally nobody checks that: a program in which they do not may mix blocks up, or wait
//! for ever for what nobody sends; then the report of the deadlock says so. While [arguments are
//! checked](Comm::check_arguments), the two ends tell each other, and all ranks get the error.
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
mod pieces;
mod scatter;
mod select;
mod transfer;
pub(crate) mod two_sided;
mod vector;

use alloc::vec;
use core::{fmt, str::FromStr};

use bytemuck::{Pod, cast_slice, cast_slice_mut};
use hal::{Messenger, Span};

use crate::{
    Comm, Error,
    collective::{
        call::{Call, Collective},
        lengths::{check_len, with_buffer},
    },
    mpb::tagged::Source,
};

pub use self::pieces::Pieces;

use self::{alltoall::Buffers, pieces::Spans};

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
fn all_of(count: usize, ranks: usize) -> usize {
    count.saturating_mul(ranks)
}

impl Exchange {
    /// Gathers a block from every rank at `root`: in `all` there, rank by rank. Other ranks' `all` is not used, and
    /// may be empty.
    ///
    /// # Errors
    /// [`Error::NoSuchRank`] for the root, on every rank alike; [`Error::Length`], on the root, unless `all` has as
    /// many elements as all blocks.
    pub fn gather<C: Messenger, T: Pod>(
        self,
        comm: &Comm<'_, C>,
        block: &[T],
        all: &mut [T],
        root: usize,
    ) -> Result<(), Error> {
        comm.check_call(|| Call::new(Collective::Gather).of::<T>().len(block.len()).rooted(root).by(&self))?;
        comm.check_rank(root)?;
        let len = size_of_val(block);
        if comm.rank() != root {
            return self.send_to_root(comm, Some(len), cast_slice(block), root);
        }
        let count = all_of(block.len(), comm.size());
        with_buffer(check_len(all.len(), count), all, count, |all| {
            self.collect(comm, Some(len), Some(cast_slice(block)), cast_slice_mut(all), &Spans::Equal(len))
        })
    }

    /// Like [`gather`](Self::gather) with blocks of `count` elements: `buffer` is the block to be sent, and on the
    /// root that of all blocks, with its own in its place.
    ///
    /// # Errors
    /// Those of [`gather`](Self::gather), [`Error::Length`] on every rank whose buffer has another length.
    pub fn gather_in_place<C: Messenger, T: Pod>(
        self,
        comm: &Comm<'_, C>,
        buffer: &mut [T],
        count: usize,
        root: usize,
    ) -> Result<(), Error> {
        comm.check_call(|| Call::new(Collective::Gather).of::<T>().len(count).rooted(root).by(&self))?;
        comm.check_rank(root)?;
        let len = count.saturating_mul(size_of::<T>());
        if comm.rank() != root {
            return with_buffer(check_len(buffer.len(), count), buffer, count, |block| {
                self.send_to_root(comm, Some(len), cast_slice(block), root)
            });
        }
        let all = all_of(count, comm.size());
        with_buffer(check_len(buffer.len(), all), buffer, all, |all| {
            self.collect(comm, Some(len), None, cast_slice_mut(all), &Spans::Equal(len))
        })
    }

    /// Scatters a block to every rank from `root`: from `all` there, rank by rank. Other ranks' `all` is not used,
    /// and may be empty.
    ///
    /// # Errors
    /// [`Error::NoSuchRank`] for the root, on every rank alike; [`Error::Length`], on the root, unless `all` has as
    /// many elements as all blocks.
    pub fn scatter<C: Messenger, T: Pod>(
        self,
        comm: &Comm<'_, C>,
        all: &[T],
        block: &mut [T],
        root: usize,
    ) -> Result<(), Error> {
        comm.check_call(|| Call::new(Collective::Scatter).of::<T>().len(block.len()).rooted(root).by(&self))?;
        comm.check_rank(root)?;
        let len = size_of_val(block);
        if comm.rank() != root {
            return self.receive_from_root(comm, Some(len), cast_slice_mut(block), root);
        }
        let spans = Spans::Equal(len);
        match check_len(all.len(), all_of(block.len(), comm.size())) {
            Ok(()) => self
                .distribute(comm, Some(len), cast_slice(all), &spans)
                .map(|()| scatter::keep_own(comm, cast_slice(all), &spans, cast_slice_mut(block))),
            wrong => self.distribute(comm, Some(len), &vec![0; len * comm.size()], &spans).and(wrong),
        }
    }

    /// Like [`scatter`](Self::scatter) with blocks of `count` elements: `buffer` receives the block, and on the root
    /// it is that of all blocks, where its own stays.
    ///
    /// # Errors
    /// Those of [`scatter`](Self::scatter), [`Error::Length`] on every rank whose buffer has another length.
    pub fn scatter_in_place<C: Messenger, T: Pod>(
        self,
        comm: &Comm<'_, C>,
        buffer: &mut [T],
        count: usize,
        root: usize,
    ) -> Result<(), Error> {
        comm.check_call(|| Call::new(Collective::Scatter).of::<T>().len(count).rooted(root).by(&self))?;
        comm.check_rank(root)?;
        let len = count.saturating_mul(size_of::<T>());
        if comm.rank() != root {
            return with_buffer(check_len(buffer.len(), count), buffer, count, |block| {
                self.receive_from_root(comm, Some(len), cast_slice_mut(block), root)
            });
        }
        let all = all_of(count, comm.size());
        with_buffer(check_len(buffer.len(), all), buffer, all, |all| {
            self.distribute(comm, Some(len), cast_slice(all), &Spans::Equal(len))
        })
    }

    /// Gathers a block from every rank on every rank, in `all`, rank by rank.
    ///
    /// # Errors
    /// [`Error::Length`] unless `all` has as many elements as all blocks, which have equal lengths.
    pub fn allgather<C: Messenger, T: Pod>(self, comm: &Comm<'_, C>, block: &[T], all: &mut [T]) -> Result<(), Error> {
        comm.check_call(|| Call::new(Collective::Allgather).of::<T>().len(all_of(block.len(), comm.size())).by(&self))?;
        let (count, spans) = (all_of(block.len(), comm.size()), Spans::Equal(size_of_val(block)));
        with_buffer(check_len(all.len(), count), all, count, |all| {
            self.exchange_all(comm, Some(cast_slice(block)), cast_slice_mut(all), &spans)
        })
    }

    /// Like [`allgather`](Self::allgather), with this rank's block in its place.
    ///
    /// # Errors
    /// [`Error::Length`] unless the elements of `all` are a multiple of the ranks; on every rank alike, if all call
    /// it with equal lengths as they have to.
    pub fn allgather_in_place<C: Messenger, T: Pod>(self, comm: &Comm<'_, C>, all: &mut [T]) -> Result<(), Error> {
        comm.check_call(|| Call::new(Collective::Allgather).of::<T>().len(all.len()).by(&self))?;
        let count = all.len() / comm.size();
        check_len(all.len(), count * comm.size())?;
        self.exchange_all(comm, None, cast_slice_mut(all), &Spans::Equal(count * size_of::<T>()))
    }

    /// Sends a block to every rank from `send`, rank by rank, and receives one from every rank in `receive`.
    ///
    /// # Errors
    /// [`Error::Length`] unless the elements of `send` are a multiple of the ranks, on every rank alike, if all send
    /// equal lengths as they have to; the same, unless `receive` has as many.
    pub fn alltoall<C: Messenger, T: Pod>(
        self,
        comm: &Comm<'_, C>,
        send: &[T],
        receive: &mut [T],
    ) -> Result<(), Error> {
        comm.check_call(|| Call::new(Collective::Alltoall).of::<T>().len(send.len()).by(&self))?;
        let count = send.len() / comm.size();
        check_len(send.len(), count * comm.size())?;
        let spans = Spans::Equal(count * size_of::<T>());
        with_buffer(check_len(receive.len(), send.len()), receive, send.len(), |receive| {
            let (send, receive) = (Some((cast_slice(send), &spans)), cast_slice_mut(receive));
            self.meet(comm, Some(count * size_of::<T>()), Buffers { send, receive, received: &spans })
        })
    }

    /// Like [`alltoall`](Self::alltoall); blocks that arrive take the places of those that were sent.
    ///
    /// # Errors
    /// [`Error::Length`] unless the elements are a multiple of the ranks; on every rank alike, if all call it with
    /// equal lengths as they have to.
    pub fn alltoall_in_place<C: Messenger, T: Pod>(self, comm: &Comm<'_, C>, buffer: &mut [T]) -> Result<(), Error> {
        comm.check_call(|| Call::new(Collective::Alltoall).of::<T>().len(buffer.len()).by(&self))?;
        let count = buffer.len() / comm.size();
        check_len(buffer.len(), count * comm.size())?;
        let received = &Spans::Equal(count * size_of::<T>());
        let buffers = Buffers { send: None, receive: cast_slice_mut(buffer), received };
        self.meet(comm, Some(count * size_of::<T>()), buffers)
    }
}

/// The parts of a rank, on bytes. Each refuses before it touches any buffer.
impl Exchange {
    /// Refuses one-sided exchanges while their lines are lent.
    fn check_lines<C>(self, comm: &Comm<'_, C>) -> Result<(), Error> {
        if self == Self::TwoSided { Ok(()) } else { comm.check_no_profile() }
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
        match self {
            Self::TwoSided => comm.send_within(Source::Memory, block, root)?,
            _ => gather::send(comm, self, common, block, root),
        }
        Ok(())
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
        match self {
            Self::TwoSided => two_sided::collect(comm, all, spans)?,
            _ => gather::collect(comm, self, common, all, spans),
        }
        Ok(())
    }

    fn distribute<C: Messenger>(
        self,
        comm: &Comm<'_, C>,
        common: Option<usize>,
        all: &[u8],
        spans: &Spans,
    ) -> Result<(), Error> {
        self.check_lines(comm)?;
        let _span = comm.hal().span(Span::new("scatter").of(all.len()));
        match self {
            Self::TwoSided => two_sided::distribute(comm, all, spans)?,
            _ => scatter::send(comm, self, common, all, spans),
        }
        Ok(())
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
        match self {
            Self::TwoSided => comm.receive_within(block, root)?,
            _ => scatter::receive(comm, self, common, block, root),
        }
        Ok(())
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
        if self == Self::TwoSided || allgather::goes_around(comm, self, spans) {
            two_sided::ring(comm, all, |rank| spans.of(rank))?;
        } else {
            allgather::exchange(comm, self, all, spans);
        }
        Ok(())
    }

    fn meet<C: Messenger>(
        self,
        comm: &Comm<'_, C>,
        common: Option<usize>,
        mut buffers: Buffers<'_>,
    ) -> Result<(), Error> {
        self.check_lines(comm)?;
        let _span = comm.hal().span(Span::new("alltoall").of(buffers.receive.len()));
        match (self, common) {
            (Self::TwoSided, _) => two_sided::meet(comm, &mut buffers)?,
            (_, Some(len)) => alltoall::exchange_equal(comm, self, len, &mut buffers),
            (_, None) => alltoall::exchange_each(comm, self, &mut buffers),
        }
        buffers.keep_own(comm.hal(), comm.rank());
        Ok(())
    }
}

/// No way to exchange blocks has this name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct UnknownExchange;

impl fmt::Display for UnknownExchange {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("no such way to exchange blocks; there are default, long and two-sided")
    }
}

impl core::error::Error for UnknownExchange {}

impl FromStr for Exchange {
    type Err = UnknownExchange;

    fn from_str(name: &str) -> Result<Self, UnknownExchange> {
        match name {
            "default" => Ok(Self::Default),
            "long" => Ok(Self::Long),
            "two-sided" => Ok(Self::TwoSided),
            _ => Err(UnknownExchange),
        }
    }
}
