//! Where in a program an access is.

use std::fmt;

use rustc_hash::FxHashMap;

use crate::{
    Span,
    cached::ViewAccess,
    kit::{Event, LoadedFor},
};

use super::super::loaded::told_of_loaded;

/// Addresses of a stack that are looked at; more functions than that may be inlined there.
const MOST_ADDRESSES: usize = 64;

/// Functions of a stack that are told at most.
const MOST_FRAMES: usize = 40;

/// A function, or one that is inlined there, and a line of it.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Frame {
    /// The name of the function.
    pub function: String,
    /// Path of the source file.
    pub file: String,
    /// Its line.
    pub line: u32,
}

/// Fields between tabs: `F`, function, file and line.
impl fmt::Display for Frame {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { function, file, line } = self;
        write!(out, "F\t{function}\t{file}\t{line}")
    }
}

/// An access that a finding is about, when the run came to it again.
pub(super) struct Captured {
    pub(super) now_ps: u64,
    pub(super) what: &'static str,
    pub(super) spans: String,
    trace: Trace,
}

impl Captured {
    /// The access that the running core makes now.
    pub(super) fn now(now_ps: u64, spans: &[Span], event: &Event) -> Self {
        Self::of(now_ps, spans, what(event))
    }

    /// The access that the running core makes now, called `what`.
    pub(super) fn of(now_ps: u64, spans: &[Span], what: &'static str) -> Self {
        Self { now_ps, what, spans: name_all(spans), trace: Trace::now() }
    }

    /// The functions, from the innermost one that is not of this crate on.
    pub(super) fn frames(&self, symbols: &mut Symbols) -> Vec<Frame> {
        self.trace.frames(symbols)
    }

    /// Whether another access is made where this one was.
    pub(super) fn is_where(&self, other: &Self) -> bool {
        self.trace == other.trace
    }
}

/// A stack. Addresses only: what they are called is looked up when no core runs any more, whose stack is small.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(super) struct Trace(Box<[usize]>);

impl Trace {
    /// The stack of the running core.
    pub(super) fn now() -> Self {
        let mut addresses = Vec::with_capacity(MOST_ADDRESSES);
        backtrace::trace(|frame| {
            addresses.push(frame.ip().addr());
            addresses.len() < MOST_ADDRESSES
        });
        Self(addresses.into())
    }

    /// The functions, from the innermost one that is not of this crate on.
    pub(super) fn frames(&self, symbols: &mut Symbols) -> Vec<Frame> {
        self.place(symbols).1
    }

    /// The functions as [`frames`](Self::frames) has them, and the address where the first one goes on.
    pub(super) fn place(&self, symbols: &mut Symbols) -> (usize, Vec<Frame>) {
        let is_here =
            |(_, frame): &(usize, Frame)| frame.file.starts_with(concat!(env!("CARGO_MANIFEST_DIR"), "/src/"));
        let at =
            |address: &usize| symbols.at(*address).iter().map(|frame| (*address, frame.clone())).collect::<Vec<_>>();
        // Below it is whoever runs the machine.
        let is_below =
            |(_, frame): &(usize, Frame)| frame.file == concat!(env!("CARGO_MANIFEST_DIR"), "/src/sim/machine.rs");
        let frames: Vec<_> = self.0.iter().flat_map(at).take_while(|frame| !is_below(frame)).collect();
        let own = frames.iter().position(is_here).unwrap_or(0);
        let outside = frames.iter().skip(own).position(|frame| !is_here(frame)).unwrap_or(0);
        let address = frames.get(own + outside).map_or(0, |(address, _)| *address);
        (address, frames.into_iter().skip(own + outside).take(MOST_FRAMES).map(|(_, frame)| frame).collect())
    }

    /// Whether one of these addresses is in it.
    pub(super) fn comes_through(&self, addresses: &[usize]) -> bool {
        self.0.iter().any(|address| addresses.contains(address))
    }
}

/// What was found at addresses. It takes long to look one up, and stacks have most of theirs in common.
#[derive(Default)]
pub(super) struct Symbols(FxHashMap<usize, Vec<Frame>>);

impl Symbols {
    fn at(&mut self, address: usize) -> &[Frame] {
        self.0.entry(address).or_insert_with(|| {
            let mut frames = Vec::new();
            // The reader of reports looks into what was loaded; the call is before the address where it returns to.
            if let Some(place) = told_of_loaded(address.saturating_sub(1)) {
                frames.push(Frame { function: String::new(), file: format!("{place:#x}"), line: 0 });
            }
            backtrace::resolve(std::ptr::without_provenance_mut(address), |symbol| {
                if let (Some(name), Some(file), Some(line)) = (symbol.name(), symbol.filename(), symbol.lineno()) {
                    frames.push(Frame { function: format!("{name:#}"), file: file.display().to_string(), line });
                }
            });
            frames
        })
    }
}

/// What an event is, as the predicate of a sentence about the core.
pub(super) fn what(event: &Event) -> &'static str {
    match event {
        Event::Load { at: crate::LineAddress::Mpb(_), what_for: LoadedFor::Look | LoadedFor::Poll, .. } => {
            "looks at an MPB line"
        }
        Event::Load { at: crate::LineAddress::Mpb(_), .. } => "loads from an MPB",
        Event::Load { .. } => "loads from combined memory",
        Event::Store { at: crate::LineAddress::Mpb(_), .. } => "stores to an MPB",
        Event::Store { .. } => "stores to combined memory",
        Event::LoadWord(_) => "loads an uncached word",
        Event::StoreWord(_) => "stores an uncached word",
        Event::View { access: ViewAccess::Load, .. } => "loads from cached memory",
        Event::View { access: ViewAccess::Slice, .. } => "takes a slice of cached memory",
        Event::View { access: ViewAccess::Store, .. } => "stores to cached memory",
        Event::View { access: ViewAccess::SliceMut, .. } => "stores to cached memory by a slice",
        Event::Exposed(_) => "exposes private memory",
        Event::Fill(_) => "gets a line into L1",
        Event::PushedOut => "has what was in its write-combine buffer in memory",
        Event::Fetched(_) => "gets a line into its cache",
        Event::WrittenBack { .. } => "has a line that it had cached in memory",
        _ => "accesses memory",
    }
}

fn name_all(spans: &[Span]) -> String {
    let names = spans.iter().map(|span| match span.peer {
        Some(peer) => format!("{} with {peer}", span.operation),
        None => span.operation.to_owned(),
    });
    names.collect::<Vec<_>>().join(", ")
}
