//! Non-blocking collective operations: begun by one call, and completed by another.
//!
//! ```
//! # use collectives::{Comm, Error, InPlace, Operator};
//! # use hal::Core;
//! fn mean<C: Core>(comm: &Comm<'_, C>, value: f64) -> Result<f64, Error> {
//!     let mut sum = [value];
//!     let mut request = comm.start_allreduce(InPlace, &mut sum, Operator::SUM)?;
//!     // … something else; `sum` is borrowed …
//!     request.wait()?;
//!     drop(request);
//!     Ok(sum[0] / comm.size() as f64)
//! }
//! # let outcome = hal::sim::Machine::scc(5).run(|core| mean(&Comm::world(core, regions::of_a_test()).unwrap(), core_number(core)).unwrap());
//! # fn core_number(core: &hal::sim::SimCore) -> f64 { use hal::Topology; core.core().index() as f64 }
//! # assert_eq!(outcome.unwrap().results(), [2.0; 5]);
//! ```
//!
//! **What there is.** Each blocking operation has a form that begins it and returns a [`Request`](crate::Request), as sends and receives with
//! tags do: they are waited for and tested one by one, or for any, some or all of them, sends, receives and operations together. What goes
//! out is copied when the operation begins, the buffer for what comes is borrowed. Any number may be outstanding on any communicator, and
//! be completed in any order. All ranks of a communicator begin its operations in the same order, and [open](crate::Comm::open_messages) and
//! close messages at the same place among them: that decides which way operations go. About other blocking ones in between they
//! need not agree.
//!
//! **Progress.** There is nobody else on a core: an operation goes on while its rank waits for anything through the
//! communicator, be it another request, a barrier, a broadcast, a message or the synchronisation of a window, and
//! when it tests a request: one test or wait drives all that are outstanding. So ranks may complete requests in any
//! order, each in its own, and call blocking operations in between. While a rank computes, its operations rest, and
//! so does what has to go through it, unless it [asks for interrupts](crate::Comm::progress_by_interrupts). Waits of windows of class `message`, and copy engines at work, drive nothing.
//!
//! **Over messages.** Operations go over messages with tags, in a context of their own, by [schedules]: barriers by dissemination, broadcasts and
//! reductions along binomial trees, scans by doubling distances, and exchanges from everybody to whom it concerns. So messages
//! have to be open. Lengths have to agree; where they do not, and all go over messages, the operation goes on with zeros, and the request
//! says so on every rank to which something of that comes. Through lines nothing tells, and ranks may wait for each other for ever: [comparing arguments](crate::Comm::check_arguments) does.
//!
//! **Through lines.** Barriers need no messages; nor do broadcasts and allreduces that are short, or begun while messages are closed. They have a tree of
//! degree 6, chunks of 24 bytes with their number in one line, written by owners and polled by
//! those who wait; see the modules. A rank finds its result without being signalled, and no barrier or
//! acknowledgement delays it. On all ranks [`REQUESTS`] operations have lines of their own in every MPB, by turns, and on a communicator of some
//! one has; or words of uncached memory, if no lines are left for the communicator. Those that are begun meanwhile wait for their turn. Elements may
//! have any size; those above 24 bytes take some chunks more, by the levels of
//! the tree. Throughput is that of single lines, one for each way up and down the tree: from [`LONG_BROADCAST_BYTES`] and [`LONG_ALLREDUCE_BYTES`] on, messages are quicker.

mod interface;
mod lines;
mod operation;
#[cfg(test)]
pub(crate) mod oracle;
mod outstanding;
pub mod schedules;
mod stages;
mod tree;

pub(crate) use self::interface::{combiner, exchanged, whole};

/// Operations of all ranks that go through lines at the same time.
pub const REQUESTS: usize = 4;

/// Bytes from which on broadcasts go over messages, if these are open. With software's prices one of 4 KB takes 278 µs through lines on
/// 48 ranks, and 276 over messages; one of 1 KB 71 and 85.
pub const LONG_BROADCAST_BYTES: usize = 4096;

/// Bytes from which on allreduces go over messages, if these are open. One of 1 KB takes 282 µs through lines, and 260 over messages.
pub const LONG_ALLREDUCE_BYTES: usize = 1024;

/// Lines that each of them has in every MPB.
pub(crate) const REQUEST_LINES: usize = lines::LINES;

/// Words of uncached memory that one has where there are no such lines.
pub(crate) const fn operation_words(ranks: usize) -> usize {
    lines::Lines::words(ranks)
}
