//! Non-blocking operations as methods of the communicator.

use alloc::{boxed::Box, vec, vec::Vec};
use core::{iter::repeat_n, ops::Range};

use bytemuck::{Pod, bytes_of, cast_slice, cast_slice_mut, pod_read_unaligned, try_cast_slice, try_cast_slice_mut};
use hal::{Core, LINE_BYTES, Span};

use super::{
    LONG_ALLREDUCE_BYTES, LONG_BROADCAST_BYTES, operation::Kind, outstanding::account_long_copy, schedules::Peers,
};
use crate::{
    Combine, Comm, Divided, Error,
    OrInPlace::{self, Apart},
    Request,
    collective::{
        call::{Call, Collective},
        exchange::{Laid, Met, Spans, Way, apart, others, own_block},
        lengths::check_len,
    },
    matched::{Parts, Ranks, request::Buffer},
};

/// Replaces elements by what `combine` makes of each and of another one.
fn combine_each<T: Pod>(there: &mut [u8], others: &[u8], combine: impl Fn(T, T) -> T) {
    let len = size_of::<T>().max(1);
    for (there, other) in there.chunks_exact_mut(len).zip(others.chunks_exact(len)) {
        there.copy_from_slice(bytes_of(&combine(pod_read_unaligned(there), pod_read_unaligned(other))));
    }
}

/// Combines the operands of an earlier rank with those of a later one, which become the result.
pub(crate) fn combiner<T: Pod>(ranks: &Ranks, operation: impl Combine<T>) -> impl Fn(&Vec<u8>, &mut Vec<u8>) {
    move |earlier, later| {
        ranks.compute((later.len() / size_of::<T>().max(1)) as u64 * operation.cycles());
        match (try_cast_slice(earlier), try_cast_slice_mut(later)) {
            (Ok(earlier), Ok(later)) => operation.combine_all_before(earlier, later),
            // A message may lie anywhere.
            _ => combine_each(later, earlier, |later, earlier| operation.combine(earlier, later)),
        }
    }
}

/// All of what an operation ends with, at the beginning of the buffer.
pub(crate) fn whole(bytes: Vec<u8>) -> Parts {
    vec![(0, bytes)]
}

/// Sends blocks, receives others to where they belong, and keeps an own one.
pub(crate) async fn exchanged(
    ranks: Ranks,
    sends: Vec<(usize, Vec<u8>)>,
    receives: Vec<(usize, Range<usize>)>,
    own: Option<(usize, Vec<u8>)>,
) -> Parts {
    let lens: Vec<_> = receives.iter().map(|(from, span)| (*from, span.len())).collect();
    let blocks = ranks.exchange(sends, &lens).await;
    receives.into_iter().map(|(_, span)| span.start).zip(blocks).chain(own).collect()
}

/// All are collective. They go over messages with tags, which have to be open, but for those that say that they need none.
impl<'c, C: Core> Comm<'c, C> {
    /// Begins a barrier, which is complete when every rank has begun it. It needs no open messages.
    ///
    /// # Errors
    /// [`Error::ProfileInForce`] while the MPBs are lent.
    pub fn start_barrier(&self) -> Result<Request<'_, 'c, C>, Error> {
        self.check_call(|| Call::new(Collective::StartBarrier))?;
        let _span = self.hal().span(Span::new("start barrier"));
        self.start_through_lines(Kind::Barrier, Vec::new(), (&mut [], Ok(())), "a non-blocking barrier, chunk")
    }

    /// Begins to broadcast `message` from rank `root` to all, with equal lengths. It needs no open messages.
    ///
    /// # Errors
    /// [`Error::NoSuchRank`] for the root, on every rank alike; [`Error::ProfileInForce`] while the MPBs are lent.
    pub fn start_broadcast<'r, T: Pod>(
        &'r self,
        message: &'r mut [T],
        root: usize,
    ) -> Result<Request<'r, 'c, C>, Error> {
        self.check_call(|| Call::new(Collective::StartBroadcast).of::<T>().len(message.len()).rooted(root))?;
        self.check_rank(root)?;
        let _span = self.hal().span(Span::new("start broadcast").with(self.core_of(root)).of(size_of_val(message)));
        let (is_root, message) = (self.rank() == root, cast_slice_mut(message));
        let mut data = message.to_vec();
        if data.len() >= LONG_BROADCAST_BYTES && self.has_messages() {
            self.account_copy(if is_root { data.len() } else { 0 });
            return self.start("a non-blocking broadcast", (message, Ok(())), |ranks| async move {
                let Ok(()) = ranks.broadcast(&mut data, root).await;
                if is_root { Parts::new() } else { whole(data) }
            });
        }
        if is_root {
            account_long_copy(self.hal(), data.len());
        }
        self.start_through_lines(Kind::Broadcast { root }, data, (message, Ok(())), "a non-blocking broadcast, chunk")
    }

    /// Begins to combine the operands of all ranks, element by element, into `result` of rank `root`, as
    /// [`reduce`](Self::reduce) does.
    ///
    /// # Errors
    /// [`Error::NoSuchRank`] for the root, on every rank alike; [`Error::MessagesClosed`]; [`Error::ProfileInForce`]. From its request,
    /// [`Error::Length`] on the root if `result` is not as long as `operands`.
    pub fn start_reduce<'r, 'a, T: Pod>(
        &'r self,
        operands: impl Into<OrInPlace<&'a [T]>>,
        result: &'r mut [T],
        operation: impl Combine<T> + 'static,
        root: usize,
    ) -> Result<Request<'r, 'c, C>, Error> {
        let (operands, is_root) = (operands.into(), self.rank() == root);
        let len = operands.or(result).len();
        let call = Call::new(Collective::StartReduce).of::<T>().len(len).combined(&operation).rooted(root);
        self.check_call(|| call)?;
        self.check_rank(root)?;
        let _span =
            self.hal().span(Span::new("start reduce").with(self.core_of(root)).of(size_of_val(operands.or(result))));
        let mut data = self.copied(operands.or(result));
        let checked = if is_root { check_len(result.len(), len) } else { Ok(()) };
        self.start("a non-blocking reduce", (cast_slice_mut(result), checked), |ranks| async move {
            let Ok(()) = ranks.reduce(&mut data, &combiner(&ranks, operation), [0, root]).await;
            if is_root { whole(data) } else { Parts::new() }
        })
    }

    /// Begins to combine the operands of all ranks, element by element, into `result` of every rank, as
    /// [`allreduce`](Self::allreduce) does. Results are the same bit by bit on all ranks and in all runs. It needs no open messages.
    ///
    /// # Errors
    /// [`Error::ProfileInForce`] while the MPBs are lent. From its request, [`Error::Length`] if `result` is not as long as `operands`.
    pub fn start_allreduce<'r, 'a, T: Pod>(
        &'r self,
        operands: impl Into<OrInPlace<&'a [T]>>,
        result: &'r mut [T],
        operation: impl Combine<T> + 'static,
    ) -> Result<Request<'r, 'c, C>, Error> {
        let operands = operands.into();
        let len = operands.or(result).len();
        self.check_call(|| Call::new(Collective::StartAllreduce).of::<T>().len(len).combined(&operation))?;
        let len_bytes = size_of_val(operands.or(result));
        let _span = self.hal().span(Span::new("start allreduce").of(len_bytes));
        let over_messages = len_bytes >= LONG_ALLREDUCE_BYTES && self.has_messages();
        let checked = check_len(result.len(), len);
        let mut data: Vec<u8> = cast_slice(operands.or(result)).to_vec();
        if over_messages {
            self.account_copy(len_bytes);
            return self.start("a non-blocking allreduce", (cast_slice_mut(result), checked), |ranks| async move {
                let Ok(()) = ranks.allreduce(&mut data, &combiner(&ranks, operation)).await;
                whole(data)
            });
        }
        account_long_copy(self.hal(), data.len());
        let (element_bytes, cycles) = (size_of::<T>().max(1), operation.cycles());
        let combine = Box::new(move |there: &mut [u8], operands: &[u8]| {
            combine_each(there, operands, |left, right| operation.combine(left, right));
        });
        let kind = Kind::Allreduce { combine, element_bytes, cycles };
        self.start_through_lines(kind, data, (cast_slice_mut(result), checked), "a non-blocking allreduce, chunk")
    }

    /// Begins to combine the operands of all ranks, element by element, and to give each rank its block of what comes out, as
    /// [`reduce_scatter`](Self::reduce_scatter) does.
    ///
    /// # Errors
    /// On all ranks alike: [`Error::Length`], [`Error::Pieces`], [`Error::PieceOutOfRange`] or [`Error::PiecesOverlap`] as for
    /// [`reduce_scatter`](Self::reduce_scatter); [`Error::MessagesClosed`]; [`Error::ProfileInForce`]. From its request,
    /// [`Error::Length`] on a rank whose `result` is not as long as its block.
    pub fn start_reduce_scatter<'r, 'a, T: Pod>(
        &'r self,
        operands: impl Into<Divided<'a, OrInPlace<&'a [T]>>>,
        result: &'r mut [T],
        operation: impl Combine<T> + 'static,
    ) -> Result<Request<'r, 'c, C>, Error> {
        let (Divided { buffer: operands, pieces }, size) = (operands.into(), self.size());
        let len = operands.or(result).len();
        self.check_call(|| {
            let call = Call::new(Collective::StartReduceScatter).of::<T>().len(len).combined(&operation);
            match pieces {
                Some(pieces) => call.each(pieces.counts()),
                None => call.each(repeat_n(len / size, size)),
            }
        })?;
        let blocks = Spans::of_vector(pieces, len, size)?;
        let _span = self.hal().span(Span::new("start reduce-scatter").of(size_of_val(operands.or(result))));
        let in_bytes = |span: Range<usize>| span.start * size_of::<T>()..span.end * size_of::<T>();
        let blocks: Vec<_> = (0..size).map(|rank| in_bytes(blocks.of(rank))).collect();
        let own = &blocks[self.rank()];
        let (start, checked) = match operands {
            OrInPlace::InPlace => (own.start, Ok(())),
            Apart(_) => (0, check_len(result.len(), own.len() / size_of::<T>().max(1))),
        };
        let mut data = self.copied(operands.or(result));
        self.start("a non-blocking reduce-scatter", (cast_slice_mut(result), checked), |ranks| async move {
            let Ok(block) = ranks.reduce_scatter(&mut data, &combiner(&ranks, operation), &blocks).await;
            vec![(start, block)]
        })
    }

    /// Begins to combine the operands of all ranks up to this one, as [`scan`](Self::scan) does.
    ///
    /// # Errors
    /// [`Error::MessagesClosed`]; [`Error::ProfileInForce`]. From its request, [`Error::Length`] if `result` is not as long as `operands`.
    pub fn start_scan<'r, 'a, T: Pod>(
        &'r self,
        operands: impl Into<OrInPlace<&'a [T]>>,
        result: &'r mut [T],
        operation: impl Combine<T> + 'static,
    ) -> Result<Request<'r, 'c, C>, Error> {
        self.begin_scan(Collective::StartScan, operands.into(), result, operation)
    }

    /// Begins to combine the operands of all ranks below this one, as [`exscan`](Self::exscan) does: `result` of rank 0 stays as it was.
    ///
    /// # Errors
    /// As [`start_scan`](Self::start_scan).
    pub fn start_exscan<'r, 'a, T: Pod>(
        &'r self,
        operands: impl Into<OrInPlace<&'a [T]>>,
        result: &'r mut [T],
        operation: impl Combine<T> + 'static,
    ) -> Result<Request<'r, 'c, C>, Error> {
        self.begin_scan(Collective::StartExscan, operands.into(), result, operation)
    }

    fn begin_scan<'r, T: Pod>(
        &'r self,
        name: Collective,
        operands: OrInPlace<&[T]>,
        result: &'r mut [T],
        operation: impl Combine<T> + 'static,
    ) -> Result<Request<'r, 'c, C>, Error> {
        let len = operands.or(result).len();
        self.check_call(|| Call::new(name).of::<T>().len(len).combined(&operation))?;
        let _span = self.hal().span(Span::new("start scan").of(size_of_val(operands.or(result))));
        let mut data = self.copied(operands.or(result));
        let checked = check_len(result.len(), len);
        let waited_for =
            if name == Collective::StartScan { "a non-blocking scan" } else { "a non-blocking exclusive scan" };
        self.start(waited_for, (cast_slice_mut(result), checked), |ranks| async move {
            let Ok(below) = ranks.scan(&mut data, &combiner(&ranks, operation)).await;
            let wanted = if name == Collective::StartScan { Some(data) } else { below };
            wanted.map_or_else(Parts::new, whole)
        })
    }

    /// Begins to gather a block from every rank at `root`, as [`gather`](Self::gather) does.
    ///
    /// # Errors
    /// [`Error::NoSuchRank`] for the root, on every rank alike; [`Error::MessagesClosed`]; [`Error::ProfileInForce`]. From its request,
    /// on the root, [`Error::Length`], [`Error::Pieces`], [`Error::PieceOutOfRange`] and [`Error::PiecesOverlap`] as for
    /// [`gather`](Self::gather).
    pub fn start_gather<'r, 'a, T: Pod>(
        &'r self,
        block: impl Into<OrInPlace<&'a [T]>>,
        all: impl Into<Divided<'r, &'r mut [T]>>,
        root: usize,
    ) -> Result<Request<'r, 'c, C>, Error> {
        let (block, Divided { buffer: all, pieces }) = (block.into(), all.into());
        let (me, size) = (self.rank(), self.size());
        let names = [Collective::StartGather, Collective::StartGatherPieces];
        let count = self.check_rooted::<T>(names, &(), Way::ToRoot, (apart(&block), all.len()), pieces, root)?;
        let len = count.saturating_mul(size_of::<T>());
        let _span = self.hal().span(Span::new("start gather").with(self.core_of(root)).of(len));
        if me != root {
            let sends = vec![(root, self.copied(block.or(all)))];
            return self
                .start("a non-blocking gather", (&mut [], Ok(())), |ranks| exchanged(ranks, sends, Vec::new(), None));
        }
        let own = pieces.map_or(Ok(()), |pieces| check_len(count, pieces.count(root)));
        let laid = Laid::new::<T>(own, pieces, count, (all.len(), size), true);
        let own = own_block(&block).map(|block| (laid.spans.of(me).start, block.to_vec()));
        let receives = others(self).map(|rank| (rank, laid.spans.of(rank))).collect();
        self.start("a non-blocking gather", (cast_slice_mut(all), laid.checked), |ranks| {
            exchanged(ranks, Vec::new(), receives, own)
        })
    }

    /// Begins to scatter a block to every rank from `root`, as [`scatter`](Self::scatter) does.
    ///
    /// # Errors
    /// [`Error::NoSuchRank`] for the root, on every rank alike; [`Error::MessagesClosed`]; [`Error::ProfileInForce`]. From its request,
    /// on the root, [`Error::Length`], [`Error::Pieces`] and [`Error::PieceOutOfRange`] as for [`scatter`](Self::scatter).
    pub fn start_scatter<'r, 'a, T: Pod>(
        &'r self,
        all: impl Into<Divided<'a, &'a [T]>>,
        block: impl Into<OrInPlace<&'r mut [T]>>,
        root: usize,
    ) -> Result<Request<'r, 'c, C>, Error> {
        let (Divided { buffer: all, pieces }, block) = (all.into(), block.into());
        let (me, size) = (self.rank(), self.size());
        let block = if let Apart(block) = block { Some(block) } else { None };
        let apart = block.as_ref().map(|block| block.len());
        let names = [Collective::StartScatter, Collective::StartScatterPieces];
        let count = self.check_rooted::<T>(names, &(), Way::FromRoot, (apart, all.len()), pieces, root)?;
        let len = count.saturating_mul(size_of::<T>());
        let _span = self.hal().span(Span::new("start scatter").with(self.core_of(root)).of(len));
        if me != root {
            let (block, receives) = (cast_slice_mut(block.unwrap_or_default()), vec![(root, 0..len)]);
            return self.start("a non-blocking scatter", (block, Ok(())), |ranks| {
                exchanged(ranks, Vec::new(), receives, None)
            });
        }
        let laid = Laid::new::<T>(Ok(()), pieces, count, (all.len(), size), false);
        let checked = laid.checked.and(pieces.map_or(Ok(()), |pieces| check_len(count, pieces.count(root))));
        let from = laid.read(cast_slice(all));
        let sends = others(self).map(|rank| (rank, self.copied(&from[laid.spans.of(rank)]))).collect();
        let own = block.is_some().then(|| (0, from[laid.spans.of(me)].to_vec()));
        let block = cast_slice_mut(block.unwrap_or_default());
        self.start("a non-blocking scatter", (block, checked), |ranks| exchanged(ranks, sends, Vec::new(), own))
    }

    /// Begins to gather a block from every rank on every rank, as [`allgather`](Self::allgather) does.
    ///
    /// # Errors
    /// [`Error::MessagesClosed`]; [`Error::ProfileInForce`]. From its request, [`Error::Length`], [`Error::Pieces`],
    /// [`Error::PieceOutOfRange`] and [`Error::PiecesOverlap`] as for [`allgather`](Self::allgather).
    pub fn start_allgather<'r, 'a, T: Pod>(
        &'r self,
        block: impl Into<OrInPlace<&'a [T]>>,
        all: impl Into<Divided<'r, &'r mut [T]>>,
    ) -> Result<Request<'r, 'c, C>, Error> {
        let (block, Divided { buffer: all, pieces }) = (block.into(), all.into());
        let names = [Collective::StartAllgather, Collective::StartAllgatherPieces];
        let (laid, own, count) = self.check_gathered::<T>(names, &(), apart(&block), all.len(), pieces)?;
        let _span = self.hal().span(Span::new("start allgather").of(count * size_of::<T>()));
        let all = cast_slice_mut(all);
        let place = laid.spans.of(self.rank());
        let block = match own_block(&block) {
            Some(block) if own.is_ok() => self.copied(block),
            None if laid.checked.is_ok() => self.copied(&all[place.clone()]),
            _ => vec![0; place.len()],
        };
        let sends = others(self).map(|rank| (rank, block.clone())).collect();
        let receives = others(self).map(|rank| (rank, laid.spans.of(rank))).collect();
        self.start("a non-blocking allgather", (all, laid.checked), |ranks| {
            exchanged(ranks, sends, receives, Some((place.start, block)))
        })
    }

    /// Begins to send a block to every rank and to receive one from every rank, as [`alltoall`](Self::alltoall) does.
    ///
    /// # Errors
    /// On every rank alike [`Error::Length`] as for [`alltoall`](Self::alltoall); [`Error::MessagesClosed`];
    /// [`Error::ProfileInForce`]. From its request what only one rank sees: [`Error::Length`], [`Error::Pieces`],
    /// [`Error::PieceOutOfRange`] and [`Error::PiecesOverlap`] as for [`alltoall`](Self::alltoall).
    pub fn start_alltoall<'r, 'a, T: Pod>(
        &'r self,
        send: impl Into<OrInPlace<Divided<'a, &'a [T]>>>,
        receive: impl Into<Divided<'r, &'r mut [T]>>,
    ) -> Result<Request<'r, 'c, C>, Error> {
        let (send, Divided { buffer: receive, pieces: received }) = (send.into(), receive.into());
        let sent = match &send {
            Apart(send) => (send.buffer.len(), send.pieces),
            OrInPlace::InPlace => (receive.len(), received),
        };
        let names = [Collective::StartAlltoall, Collective::StartAlltoallPieces];
        let Met { from, to, .. } = self.check_met::<T>(names, &(), sent, (receive.len(), received))?;
        let _span = self.hal().span(Span::new("start alltoall").of(sent.0 * size_of::<T>()));
        let buffer = match &send {
            Apart(send) => send.buffer,
            OrInPlace::InPlace => &*receive,
        };
        let buffer = from.read(cast_slice(buffer));
        let block = |rank: usize| self.copied(&buffer[from.spans.of(rank)]);
        let sends = others(self).map(|rank| (rank, block(rank))).collect();
        let me = self.rank();
        let own = Some((to.spans.of(me).start, block(me)));
        let receives = others(self).map(|rank| (rank, to.spans.of(rank))).collect();
        self.start("a non-blocking all-to-all", (cast_slice_mut(receive), to.checked), |ranks| {
            exchanged(ranks, sends, receives, own)
        })
    }

    /// Elements as a message, of which they are a copy.
    pub(crate) fn copied<T: Pod>(&self, elements: &[T]) -> Vec<u8> {
        self.account_copy(size_of_val(elements));
        cast_slice(elements).to_vec()
    }

    fn account_copy(&self, len_bytes: usize) {
        let lines = len_bytes.div_ceil(LINE_BYTES);
        self.hal().account_memory(lines, lines);
    }

    /// Begins an operation over messages.
    ///
    /// # Errors
    /// [`Error::MessagesClosed`]; [`Error::ProfileInForce`].
    pub(crate) fn start<'r, W: Future<Output = Parts> + 'static>(
        &'r self,
        name: &'static str,
        buffer: Buffer<'r>,
        work: impl FnOnce(Ranks) -> W,
    ) -> Result<Request<'r, 'c, C>, Error> {
        self.check_no_profile()?;
        self.start_over_messages(name, buffer, work)
    }

    fn start_through_lines<'r>(
        &'r self,
        kind: Kind,
        data: Vec<u8>,
        buffer: Buffer<'r>,
        name: &'static str,
    ) -> Result<Request<'r, 'c, C>, Error> {
        self.check_no_profile()?;
        self.drive_requests();
        let number = self.outstanding().begin(self, kind, data);
        Ok(Request::through_lines(self, number, name, buffer))
    }
}
