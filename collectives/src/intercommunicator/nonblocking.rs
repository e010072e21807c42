//! Collective operations of two groups that are begun, and completed later.
//!
//! A barrier is one of all ranks of both groups, through words. The others go over messages with tags by the [schedules] of one
//! communicator's: in each group along its trees, between the groups from first rank to first rank, or to and from the root; and exchanges
//! from everybody to whom it concerns. All of an operation's messages have the number that the operation has among those of both groups as
//! their tag, so a rank that has nothing to do begins it, too.
//!
//! [schedules]: crate::collective::nonblocking::schedules

use alloc::{vec, vec::Vec};
use core::ops::Range;

use bytemuck::{Pod, cast_slice, cast_slice_mut};
use hal::{Core, Span};

use super::{Intercommunicator, Root};
use crate::{
    Combine, Divided, Error, Request,
    collective::{
        call::{Call, Collective},
        exchange::{Laid, Spans},
        lengths::check_len,
        nonblocking::{
            combiner, exchanged,
            schedules::{Peers, TwoGroups},
            whole,
        },
    },
    matched::{Parts, Ranks, request::Buffer},
};

/// Messages, each with the rank to which it goes.
type Sends = Vec<(usize, Vec<u8>)>;

/// Each is collective over both groups, which begin them in the same order, and does what the operation without `start_` does. What goes
/// out is copied, the buffer for what comes is borrowed. Blocks may be [pieces](crate::Pieces) of a buffer, one for each rank of the
/// other group, as for [`Comm`](crate::Comm)'s. Where two ranks name different lengths, nobody waits for ever: zeros stand for what should
/// have come, and the request says so on every rank to which something comes by way of a rank that knows, with the numbers that the ranks
/// of that message have in their groups. A group whose calls are refused leaves the other group waiting, which cannot know.
impl<'c, C: Core> Intercommunicator<'c, C> {
    /// Begins a [barrier](Self::barrier), which is complete when all ranks of both groups have begun it.
    ///
    /// # Errors
    /// As [`Comm::start_barrier`](crate::Comm::start_barrier).
    pub fn start_barrier(&self) -> Result<Request<'_, 'c, C>, Error> {
        self.both.start_barrier()
    }

    /// Begins a [broadcast](Self::broadcast).
    ///
    /// # Errors
    /// [`Error::NoSuchRank`] for the root, on all ranks of a group alike; [`Error::MessagesClosed`]; [`Error::ProfileInForce`];
    /// [`Error::CallsDiffer`] while calls are [compared](crate::Comm::check_arguments). From its request, [`Error::MessageLength`] on
    /// all ranks to which something comes that is longer or shorter than is wanted.
    pub fn start_broadcast<'r, T: Pod>(
        &'r self,
        message: &'r mut [T],
        root: Root,
    ) -> Result<Request<'r, 'c, C>, Error> {
        self.check_begun(|| Call::new(Collective::StartBroadcast).of::<T>(), root)?;
        let _span = self.both.hal().span(Span::new("start broadcast").of(size_of_val(message)));
        let mut data = match root {
            Root::Here => self.both.copied(message),
            _ => vec![0; size_of_val(message)],
        };
        self.start("a non-blocking broadcast", (cast_slice_mut(message), Ok(())), |groups| async move {
            let Ok(()) = match root {
                Root::Here => groups.other.send(&data, 0).await,
                Root::At(root) => groups.broadcast_from(&mut data, root).await,
                Root::Beside => Ok(()),
            };
            if let Root::At(_) = root { whole(data) } else { Parts::new() }
        })
    }

    /// Begins a [reduction](Self::reduce).
    ///
    /// # Errors
    /// As [`start_broadcast`](Self::start_broadcast).
    pub fn start_reduce<'r, T: Pod>(
        &'r self,
        operands: &[T],
        result: &'r mut [T],
        operation: impl Combine<T> + 'static,
        root: Root,
    ) -> Result<Request<'r, 'c, C>, Error> {
        self.check_begun(|| Call::new(Collective::StartReduce).of::<T>().combined(&operation), root)?;
        let _span = self.both.hal().span(Span::new("start reduce").of(size_of_val(operands)));
        let mut data = if let Root::At(_) = root { self.both.copied(operands) } else { Vec::new() };
        let len = size_of_val(result);
        self.start("a non-blocking reduce", (cast_slice_mut(result), Ok(())), |groups| async move {
            match root {
                Root::Here => {
                    let Ok(result) = groups.other.receive(len, 0).await;
                    return whole(result);
                }
                Root::At(root) => {
                    let Ok(()) = groups.reduce_for(&mut data, &combiner(&groups.own, operation), root).await;
                }
                Root::Beside => {}
            }
            Parts::new()
        })
    }

    /// Begins an [allreduce](Self::allreduce).
    ///
    /// # Errors
    /// As [`start_broadcast`](Self::start_broadcast), without a root.
    pub fn start_allreduce<'r, T: Pod>(
        &'r self,
        operands: &[T],
        result: &'r mut [T],
        operation: impl Combine<T> + 'static,
    ) -> Result<Request<'r, 'c, C>, Error> {
        self.both.check_call(|| Call::new(Collective::StartAllreduce).of::<T>().combined(&operation))?;
        let _span = self.both.hal().span(Span::new("start allreduce").of(size_of_val(operands)));
        let (mut data, len) = (self.both.copied(operands), size_of_val(result));
        self.start("a non-blocking allreduce", (cast_slice_mut(result), Ok(())), |groups| async move {
            let Ok(result) = groups.allreduce(&mut data, &combiner(&groups.own, operation), len).await;
            whole(result)
        })
    }

    /// Begins a [reduce-scatter](Self::reduce_scatter). Pieces of `operands` say which of what comes from the other group each rank of
    /// this one gets.
    ///
    /// # Errors
    /// As [`start_allreduce`](Self::start_allreduce); [`Error::Pieces`], [`Error::PieceOutOfRange`], [`Error::PiecesOverlap`] or
    /// [`Error::Length`] for pieces that are not one for each rank, with each operand in one of them, on all ranks of a group alike. From
    /// its request, [`Error::Length`] if `result` is not as long as its piece.
    pub fn start_reduce_scatter<'r, 'a, T: Pod>(
        &'r self,
        operands: impl Into<Divided<'a, &'a [T]>>,
        result: &'r mut [T],
        operation: impl Combine<T> + 'static,
    ) -> Result<Request<'r, 'c, C>, Error> {
        let Divided { buffer: operands, pieces } = operands.into();
        self.both.check_call(|| Call::new(Collective::StartReduceScatter).of::<T>().combined(&operation))?;
        let spans = match pieces {
            Some(_) => Spans::of_vector(pieces, operands.len(), self.size()).or_else(|error| self.refuse(error))?,
            None => Spans::Equal(result.len()),
        };
        let _span = self.both.hal().span(Span::new("start reduce-scatter").of(size_of_val(operands)));
        let blocks: Vec<_> = (0..self.size()).map(|rank| spans.of(rank)).collect();
        let checked = check_len(result.len(), blocks[self.rank()].len());
        let in_bytes = |span: Range<usize>| span.start * size_of::<T>()..span.end * size_of::<T>();
        let blocks: Vec<_> = blocks.into_iter().map(in_bytes).collect();
        let mut data = self.both.copied(operands);
        self.start("a non-blocking reduce-scatter", (cast_slice_mut(result), checked), |groups| async move {
            let Ok(block) = groups.reduce_scatter(&mut data, &combiner(&groups.own, operation), &blocks).await;
            whole(block)
        })
    }

    /// Begins to [gather](Self::gather).
    ///
    /// # Errors
    /// As [`start_broadcast`](Self::start_broadcast). From its request, at the root, [`Error::Length`], [`Error::Pieces`],
    /// [`Error::PieceOutOfRange`] and [`Error::PiecesOverlap`] if `all` has not one block for each rank of the other group.
    pub fn start_gather<'r, T: Pod>(
        &'r self,
        block: &[T],
        all: impl Into<Divided<'r, &'r mut [T]>>,
        root: Root,
    ) -> Result<Request<'r, 'c, C>, Error> {
        self.check_begun(|| Call::new(Collective::StartGather).of::<T>(), root)?;
        let _span = self.both.hal().span(Span::new("start gather").of(size_of_val(block)));
        let name = "a non-blocking gather";
        match root {
            Root::Here => {
                let (buffer, receives) = self.to_each_place(all.into(), Ok(()));
                self.start_exchange(name, buffer, Vec::new(), receives)
            }
            Root::At(root) => {
                let sends = vec![(root, self.both.copied(block))];
                self.start_exchange(name, (&mut [], Ok(())), sends, Vec::new())
            }
            Root::Beside => self.start_exchange(name, (&mut [], Ok(())), Vec::new(), Vec::new()),
        }
    }

    /// Begins to [scatter](Self::scatter).
    ///
    /// # Errors
    /// As [`start_broadcast`](Self::start_broadcast). From its request, at the root, [`Error::Length`], [`Error::Pieces`] and
    /// [`Error::PieceOutOfRange`] if `all` has not one block for each rank of the other group.
    pub fn start_scatter<'r, 'a, T: Pod>(
        &'r self,
        all: impl Into<Divided<'a, &'a [T]>>,
        block: &'r mut [T],
        root: Root,
    ) -> Result<Request<'r, 'c, C>, Error> {
        self.check_begun(|| Call::new(Collective::StartScatter).of::<T>(), root)?;
        let _span = self.both.hal().span(Span::new("start scatter").of(size_of_val(block)));
        let name = "a non-blocking scatter";
        match root {
            Root::Here => {
                let (sends, checked) = self.for_each_rank(all.into());
                self.start_exchange(name, (&mut [], checked), sends, Vec::new())
            }
            Root::At(root) => {
                let block = cast_slice_mut(block);
                let receives = vec![(root, 0..block.len())];
                self.start_exchange(name, (block, Ok(())), Vec::new(), receives)
            }
            Root::Beside => self.start_exchange(name, (&mut [], Ok(())), Vec::new(), Vec::new()),
        }
    }

    /// Begins an [allgather](Self::allgather).
    ///
    /// # Errors
    /// As [`start_allreduce`](Self::start_allreduce). From its request, [`Error::Length`], [`Error::Pieces`],
    /// [`Error::PieceOutOfRange`] and [`Error::PiecesOverlap`] if `all` has not one block for each rank of the other group.
    pub fn start_allgather<'r, T: Pod>(
        &'r self,
        block: &[T],
        all: impl Into<Divided<'r, &'r mut [T]>>,
    ) -> Result<Request<'r, 'c, C>, Error> {
        self.both.check_call(|| Call::new(Collective::StartAllgather).of::<T>())?;
        let _span = self.both.hal().span(Span::new("start allgather").of(size_of_val(block)));
        let (buffer, receives) = self.to_each_place(all.into(), Ok(()));
        let sends = self.others().map(|rank| (rank, self.both.copied(block))).collect();
        self.start_exchange("a non-blocking allgather", buffer, sends, receives)
    }

    /// Begins an [all-to-all](Self::alltoall).
    ///
    /// # Errors
    /// As [`start_allreduce`](Self::start_allreduce). From its request, [`Error::Length`], [`Error::Pieces`],
    /// [`Error::PieceOutOfRange`] and [`Error::PiecesOverlap`] if `all` or `received` has not one block for each rank of the other group.
    pub fn start_alltoall<'r, 'a, T: Pod>(
        &'r self,
        all: impl Into<Divided<'a, &'a [T]>>,
        received: impl Into<Divided<'r, &'r mut [T]>>,
    ) -> Result<Request<'r, 'c, C>, Error> {
        self.both.check_call(|| Call::new(Collective::StartAlltoall).of::<T>())?;
        let all = all.into();
        let _span = self.both.hal().span(Span::new("start alltoall").of(size_of_val(all.buffer)));
        let (sends, checked) = self.for_each_rank(all);
        let (buffer, receives) = self.to_each_place(received.into(), checked);
        self.start_exchange("a non-blocking all-to-all", buffer, sends, receives)
    }

    /// Refuses an operation that ranks call differently, as far as all of both groups name the same, or a root that does not exist.
    fn check_begun(&self, call: impl FnOnce() -> Call, root: Root) -> Result<(), Error> {
        self.both.check_call(call)?;
        let Root::At(root) = root else { return Ok(()) };
        self.across.check_rank(root).or_else(|error| self.refuse(error))
    }

    /// Refuses an operation that the other group may have begun: what comes next has the same number in both.
    fn refuse<R>(&self, error: Error) -> Result<R, Error> {
        drop(self.start("a refused operation", (&mut [], Err(error)), async |_| Parts::new())?);
        Err(error)
    }

    /// All ranks of the other group, from the one of this number on: ranks do not all begin with the same.
    fn others(&self) -> impl Iterator<Item = usize> + use<C> {
        let (me, size) = (self.rank(), self.remote_size());
        (0..size).map(move |distance| (me + distance) % size)
    }

    /// A copy of the block for each rank of the other group, and what is wrong with these; then there are zeros.
    fn for_each_rank<T: Pod>(&self, Divided { buffer, pieces }: Divided<'_, &[T]>) -> (Sends, Result<(), Error>) {
        let (len, size) = (buffer.len(), self.remote_size());
        let laid = Laid::new::<T>(Ok(()), pieces, len / size, (len, size), false);
        let bytes = laid.read(cast_slice(buffer));
        let block = |rank| (rank, self.both.copied(&bytes[laid.spans.of(rank)]));
        (self.others().map(block).collect(), laid.checked)
    }

    /// Where the block of each rank of the other group belongs, and the buffer with what is wrong there, or was before.
    fn to_each_place<'r, T: Pod>(
        &self,
        Divided { buffer, pieces }: Divided<'r, &'r mut [T]>,
        checked: Result<(), Error>,
    ) -> (Buffer<'r>, Vec<(usize, Range<usize>)>) {
        let (len, size) = (buffer.len(), self.remote_size());
        let laid = Laid::new::<T>(checked, pieces, len / size, (len, size), true);
        let places = self.others().map(|rank| (rank, laid.spans.of(rank))).collect();
        ((cast_slice_mut(buffer), laid.checked), places)
    }

    fn start_exchange<'r>(
        &'r self,
        name: &'static str,
        buffer: Buffer<'r>,
        sends: Sends,
        receives: Vec<(usize, Range<usize>)>,
    ) -> Result<Request<'r, 'c, C>, Error> {
        self.start(name, buffer, |groups| exchanged(groups.other, sends, receives, None))
    }

    fn start<'r, W: Future<Output = Parts> + 'static>(
        &'r self,
        name: &'static str,
        buffer: Buffer<'r>,
        work: impl FnOnce(TwoGroups<Ranks>) -> W,
    ) -> Result<Request<'r, 'c, C>, Error> {
        let ([own, other], rank) = (self.firsts, self.rank());
        let (own, other) = (own..own + self.size(), other..other + self.remote_size());
        self.both.start(name, buffer, |ranks| {
            work(TwoGroups { own: ranks.among(own, rank), other: ranks.among(other, rank) })
        })
    }
}
