//! Non-blocking broadcast, allreduce and barrier: begun by one call, and completed by another.
//!
//! ```
//! # use collectives::{Comm, Error, Operator};
//! # use hal::Core;
//! fn mean<C: Core>(comm: &Comm<'_, C>, value: f64) -> Result<f64, Error> {
//!     let mut sum = [value];
//!     let request = comm.start_allreduce(&mut sum, Operator::SUM)?;
//!     // … something else; `sum` is borrowed …
//!     request.wait();
//!     Ok(sum[0] / comm.size() as f64)
//! }
//! # let outcome = hal::sim::Machine::scc(5).run(|core| mean(&Comm::world(core, regions::of_a_test()).unwrap(), core_number(core)).unwrap());
//! # fn core_number(core: &hal::sim::SimCore) -> f64 { use hal::Topology; core.core().index() as f64 }
//! # assert_eq!(outcome.unwrap().results(), [2.0; 5]);
//! ```
//!
//! **Progress.** There is nobody else on a core: an operation goes on while its rank waits for anything through the
//! communicator, be it another request, a barrier, a broadcast, a message or the synchronisation of a window, and
//! when it tests a request: one test or wait drives all that are outstanding. So ranks may complete requests in any
//! order, each in its own, and call blocking operations in between. While a rank computes, its operations rest, and
//! so does what has to go through it, unless it [asks for interrupts](Comm::progress_by_interrupts). Waits of windows of class `message`, and copy engines at work, drive nothing.
//!
//! **How many.** On all ranks [`REQUESTS`] operations have lines of their own in every MPB, by turns, and on a communicator of some
//! one has; or words of uncached memory, if no lines are left for the communicator. So an operation cannot be
//! begun before the one that was begun that many before has been completed by [`wait`](Request::wait), by a
//! [`test`](Request::test) that says yes, or by dropping the request. All ranks begin the same operations in the same
//! order; about blocking ones in between they need not agree.
//!
//! **How.** A tree of degree 6, chunks of 24 bytes with their number in one line, written by owners and polled by
//! those who wait; see the modules. A rank finds its result without being signalled, and no barrier or
//! acknowledgement delays it. Elements may have any size; those above 24 bytes take some chunks more, by the levels of
//! the tree. Throughput is that of single lines, one for each way up and down the tree: what is long
//! is better sent by blocking operations.

mod lines;
mod operation;
mod outstanding;
mod stages;
mod tree;

use alloc::{boxed::Box, vec::Vec};

use bytemuck::{Pod, cast_slice, cast_slice_mut};
use hal::{Clock, Core, Deadline, LINE_BYTES, Reason, Span};

use crate::{
    Combine, Comm, Error,
    collective::call::{Call, Collective},
};

use self::{lines::CHUNK_BYTES, operation::Kind};

/// Non-blocking operations that can be outstanding on a rank.
pub const REQUESTS: usize = 4;

/// Lines that each of them has in every MPB.
pub(crate) const REQUEST_LINES: usize = lines::LINES;

/// Words of uncached memory that one has where there are no such lines.
pub(crate) const fn operation_words(ranks: usize) -> usize {
    lines::Lines::words(ranks)
}

/// A non-blocking operation that may be under way.
///
/// It borrows the buffer until it is dropped. Dropped before it is complete, it waits until it is.
#[must_use = "an operation is completed by `wait` or `test`"]
pub struct Request<'r, 'c, C: Core, T: Pod> {
    comm: &'r Comm<'c, C>,
    buffer: &'r mut [T],
    what: &'static str,
    /// The request's place among the outstanding ones, until it is complete.
    place: Option<usize>,
}

impl<C: Core, T: Pod> Request<'_, '_, C, T> {
    /// Waits until the operation is complete on this rank: the buffer has its result, or may be changed again.
    pub fn wait(mut self) {
        self.complete();
    }

    /// Drives what is outstanding, without waiting, and says whether this operation is complete, as
    /// [`wait`](Self::wait) leaves it.
    pub fn test(&mut self) -> bool {
        let Some(place) = self.place else { return true };
        let outstanding = self.comm.outstanding();
        let is_done = || outstanding.is_done(place).then_some(());
        let reason = Reason::new(self.what);
        if is_done().is_some() || self.comm.wait_until(&[], Deadline::At(0), reason, |_| is_done()).is_ok() {
            self.take_result(place);
        }
        self.place.is_none()
    }

    fn complete(&mut self) {
        let Some(place) = self.place else { return };
        let _span = self.comm.hal().span(Span::new("wait for request").of(size_of_val(self.buffer)));
        let outstanding = self.comm.outstanding();
        while !outstanding.is_done(place) {
            let (steps, chunk, rank) = outstanding.progress(place);
            let mut reason = Reason::new(self.what).number(chunk);
            if let Some(core) = outstanding::core_of(self.comm, rank) {
                reason = reason.from(core);
            }
            let went_on = || (outstanding.steps() != steps).then_some(());
            if self.comm.wait_until(&[], Deadline::Never, reason, |_| went_on()).is_err() {
                // The machine is dying.
                return;
            }
        }
        self.take_result(place);
    }

    fn take_result(&mut self, place: usize) {
        let data = self.comm.outstanding().end(place);
        account_long_copy(self.comm.hal(), data.len());
        cast_slice_mut(self.buffer).copy_from_slice(&data);
        self.place = None;
    }
}

impl<C: Core, T: Pod> Drop for Request<'_, '_, C, T> {
    fn drop(&mut self) {
        if !self.comm.hal().is_dying() {
            self.complete();
        }
    }
}

/// Accounts for the copy between the buffer and where an operation works, which others may drive while the buffer is
/// borrowed. A single chunk is in L1 all the time; its read or write of memory is accounted for where it is combined
/// or taken.
fn account_long_copy(hal: &impl Clock, len: usize) {
    if len > CHUNK_BYTES {
        hal.account_memory(len.div_ceil(LINE_BYTES), len.div_ceil(LINE_BYTES));
    }
}

impl<'c, C: Core> Comm<'c, C> {
    fn start<'r, T: Pod>(
        &'r self,
        kind: Kind,
        buffer: &'r mut [T],
        data: Vec<u8>,
        what: &'static str,
    ) -> Result<Request<'r, 'c, C, T>, Error> {
        self.check_no_profile()?;
        self.drive_requests();
        let place = self.outstanding().begin(self, kind, data)?;
        Ok(Request { comm: self, buffer, what, place: Some(place) })
    }

    /// Begins to broadcast `message` from rank `root` to all. Collective, with equal lengths.
    ///
    /// # Errors
    /// [`Error::NoSuchRank`] for the root, on every rank alike; [`Error::TooManyRequests`] on a rank on which too
    /// many are outstanding. Nothing is begun then, and a program in which not all ranks get it is wrong.
    pub fn start_broadcast<'r, T: Pod>(
        &'r self,
        message: &'r mut [T],
        root: usize,
    ) -> Result<Request<'r, 'c, C, T>, Error> {
        self.check_call(|| Call::new(Collective::StartBroadcast).of::<T>().len(message.len()).rooted(root))?;
        self.check_rank(root)?;
        let _span = self.hal().span(Span::new("start broadcast").with(self.core_of(root)).of(size_of_val(message)));
        let data = cast_slice(message).to_vec();
        if self.rank() == root {
            account_long_copy(self.hal(), data.len());
        }
        self.start(Kind::Broadcast { root }, message, data, "a non-blocking broadcast, chunk")
    }

    /// Begins to combine the elements of all ranks' `values`, in the order of ranks, which then has what comes out on
    /// every rank. Collective, with equal lengths and the same operation. Results are the same bit by bit on all ranks
    /// and in all runs.
    ///
    /// # Errors
    /// [`Error::TooManyRequests`] on a rank on which too many are outstanding. Nothing is begun then, and a program in
    /// which not all ranks get it is wrong.
    pub fn start_allreduce<'r, T: Pod>(
        &'r self,
        values: &'r mut [T],
        operation: impl Combine<T> + 'static,
    ) -> Result<Request<'r, 'c, C, T>, Error> {
        self.check_call(|| Call::new(Collective::StartAllreduce).of::<T>().len(values.len()).combined(&operation))?;
        let (element_bytes, cycles) = (size_of::<T>().max(1), operation.cycles());
        let _span = self.hal().span(Span::new("start allreduce").of(size_of_val(values)));
        let data: Vec<u8> = cast_slice(values).to_vec();
        account_long_copy(self.hal(), data.len());
        let combine = Box::new(move |there: &mut [u8], operands: &[u8]| {
            for (there, operand) in there.chunks_exact_mut(element_bytes).zip(operands.chunks_exact(element_bytes)) {
                let read = |bytes: &[u8]| bytemuck::pod_read_unaligned(bytes);
                there.copy_from_slice(bytemuck::bytes_of(&operation.combine(read(there), read(operand))));
            }
        });
        let kind = Kind::Allreduce { combine, element_bytes, cycles };
        self.start(kind, values, data, "a non-blocking allreduce, chunk")
    }

    /// Begins a barrier, which is complete when every rank has begun it.
    ///
    /// # Errors
    /// [`Error::TooManyRequests`] on a rank on which too many are outstanding. Nothing is begun then, and a program
    /// in which not all ranks get it is wrong.
    pub fn start_barrier(&self) -> Result<Request<'_, 'c, C, u8>, Error> {
        self.check_call(|| Call::new(Collective::StartBarrier))?;
        let _span = self.hal().span(Span::new("start barrier"));
        self.start(Kind::Barrier, &mut [], Vec::new(), "a non-blocking barrier, chunk")
    }
}
