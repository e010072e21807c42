//! What a core does, noted for a timeline.
//!
//! A core that is traced notes its operations as [`Span`]s, its waits, and its stores that others may wait for, each
//! with the time of its begin and its end. Nobody says at once which store ended which wait: whoever reads the traces
//! of all cores side by side finds out, since all have the same clock and name places alike.
//!
//! Protocols say what they are doing by [`Trace::span`]. On hardware that cannot be traced that is nothing, and
//! compiles to nothing. Where tracing is switched off it costs the host a comparison; neither way it costs virtual
//! time, changes counters, or lets other cores run.

use core::{fmt, ops::Range};

use descriptions::trace::Line;

use crate::{Act, CoreId, Topology};

/// An operation, as a timeline shows it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Span {
    /// The name of the operation.
    pub operation: &'static str,
    /// The other core that it is about, where it is one.
    pub peer: Option<CoreId>,
    /// Bytes that it is about, on this core; 0 if there are none.
    pub bytes: usize,
    /// Cores that its own work is for, one after the other; 0 if it does nothing of that kind.
    pub peers: usize,
    /// The name by which what it executes has a price: that of the operation, unless it can be carried out in several ways.
    pub price: &'static str,
}

impl Span {
    /// An operation with nobody in particular.
    pub const fn new(operation: &'static str) -> Self {
        Self { operation, peer: None, bytes: 0, peers: 0, price: operation }
    }

    /// This operation, which is about the core `peer`, too.
    pub const fn with(self, peer: CoreId) -> Self {
        Self { peer: Some(peer), ..self }
    }

    /// This operation, carried out in one of several ways, with the name by which that has a price.
    pub const fn priced_as(self, price: &'static str) -> Self {
        Self { price, ..self }
    }

    /// This operation, which does something for each of `peers` cores.
    pub const fn for_each_of(self, peers: usize) -> Self {
        Self { peers, ..self }
    }

    /// This operation, which is about `bytes` bytes on this core.
    pub const fn of(self, bytes: usize) -> Self {
        Self { bytes, ..self }
    }
}

/// The ranks that an epoch is with.
#[derive(Clone, Copy, Debug)]
pub enum Ranks<'a> {
    /// All of them.
    All,
    /// One.
    One(usize),
    /// Those whose bits are set, 32 to a word.
    These(&'a [u32]),
}

/// An epoch of a window, as a debugger shows it.
#[derive(Clone, Copy, Debug)]
pub struct Epoch<'a> {
    /// The number of the window.
    pub window: u32,
    /// What is open: `access`, `exposure`, and so on.
    pub kind: &'static str,
    /// The ranks with which the epoch is.
    pub with: Ranks<'a>,
}

/// A core that can be traced, or a core that does nothing of that kind.
pub trait Trace {
    /// From now on the core is traced, in `limit_bytes` bytes of its memory. When they are full, the oldest is
    /// forgotten.
    fn start_trace(&self, limit_bytes: usize) {
        let _ = limit_bytes;
    }

    /// Ends the trace, if there is one, and shows `reader` all of it, as [lines of text](descriptions::trace::Line): first what
    /// the clock is, then what was done.
    fn end_trace(&self, reader: &mut dyn FnMut(&dyn fmt::Display)) {
        let _ = reader;
    }

    /// Shows `reader` all that the core has noted so far, in the lines of [`end_trace`](Self::end_trace), and what is still
    /// under way. The trace goes on. This is for cores that have failed or are looked at because another one has, and may
    /// be called at any moment. Of a core that was interrupted while it noted something there is only the first line.
    fn tell_trace(&self, reader: &mut dyn FnMut(&dyn fmt::Display)) {
        let _ = reader;
    }

    /// An operation begins.
    fn begin_span(&self, span: Span) {
        let _ = span;
    }

    /// The operation ends that began last.
    fn end_span(&self) {}

    /// A phase of the program begins, which the program calls `name`; of which traces keep as much as [`phase`](descriptions::trace::phase).
    fn mark(&self, name: &str) {
        let _ = name;
    }

    /// Whether a machine checks the program, which then wants to know of its [acts](Act).
    #[inline(always)]
    fn is_checked(&self) -> bool {
        false
    }

    /// Tells a machine that checks the program, or shows what it has, what it does. To others that is nothing.
    #[inline(always)]
    fn declare(&self, act: &Act<'_>) {
        let _ = act;
    }

    /// Whether the core notes for a debugger what follows. To others that is nothing.
    #[inline(always)]
    fn is_debugged(&self) -> bool {
        false
    }

    /// An epoch is open from now on: a core that is debugged notes it. To others that is nothing.
    #[inline(always)]
    fn open_epoch(&self, epoch: &Epoch<'_>) {
        let _ = epoch;
    }

    /// The epoch is over.
    #[inline(always)]
    fn close_epoch(&self, epoch: &Epoch<'_>) {
        let _ = epoch;
    }

    /// Says what lines of every MPB are from now on, for a core that is debugged.
    #[inline(always)]
    fn name_lines(&self, lines: Range<usize>, what: &'static str) {
        let _ = (lines, what);
    }

    /// An operation begins, and ends when the value is dropped.
    fn span(&self, span: Span) -> Entered<'_, Self> {
        self.begin_span(span);
        Entered { core: self }
    }
}

/// Shows `reader` what a core has noted as lines `@trace RANK …` for the host's tools, with the core's place behind the first:
/// its tile and how many cores a tile has. With `ends` the trace [ends](Trace::end_trace), else it is
/// [told](Trace::tell_trace) as it is now.
pub fn tell<C: Trace + Topology + ?Sized>(core: &C, ends: bool, reader: &mut dyn FnMut(fmt::Arguments<'_>)) {
    let (id, layout) = (core.core(), core.layout());
    let (rank, tile, mut is_first) = (id.index(), layout.tile(id), true);
    let mut pass_on = |line: &dyn fmt::Display| {
        reader(format_args!("@trace {rank} {line}\n"));
        if core::mem::take(&mut is_first) {
            let (column, row, cores) = (tile.x.into(), tile.y.into(), layout.cores_per_tile() as u32);
            reader(format_args!("@trace {rank} {}\n", Line::<&str>::Tile { column, row, cores }));
        }
    };
    if ends { core.end_trace(&mut pass_on) } else { core.tell_trace(&mut pass_on) }
}

/// An operation that is under way, until this is dropped.
#[must_use = "the span ends at once"]
pub struct Entered<'t, T: Trace + ?Sized> {
    core: &'t T,
}

impl<T: Trace + ?Sized> Drop for Entered<'_, T> {
    fn drop(&mut self) {
        self.core.end_span();
    }
}
