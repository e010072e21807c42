//! What an emulated core notes for a timeline.
//!
//! Operations and waits are noted when they end, with their begin, so that what is forgotten for lack of memory, the
//! oldest, leaves nothing half. A store is noted when it leaves the write-combine buffer, since nobody sees it earlier.

use alloc::{collections::VecDeque, vec::Vec};
use core::{
    cell::{Cell, RefCell},
    fmt,
};

use descriptions::trace::{Kind, Line, PHASE_BYTES, phase};
use heapless::String;

use crate::{CoreId, LineAddress, Place, Reason, SharedAddress, Span};

use super::terms::Watch;

/// What others can wait for, or a core waits for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Spot {
    /// A line.
    Line(LineAddress),
    /// An uncached word.
    Word(SharedAddress),
    /// A test-and-set register.
    Register(CoreId),
    /// An atomic counter.
    Counter(usize),
    /// A core being interrupted.
    Interrupt(CoreId),
}

impl Spot {
    /// A number that no other line, register, counter or core's interrupt has; neighbouring lines have neighbouring
    /// ones.
    fn key(self) -> u64 {
        match self {
            Self::Line(at) => at.key(),
            Self::Word(at) => LineAddress::Shared(at).key(),
            Self::Register(core) => 1 << 62 | core.index() as u64,
            Self::Counter(counter) => 1 << 61 | counter as u64,
            Self::Interrupt(core) => 1 << 60 | core.index() as u64,
        }
    }

    fn mask(self) -> u32 {
        match self {
            Self::Word(at) => 0b1111 << (at.offset() % crate::LINE_BYTES),
            _ => u32::MAX,
        }
    }
}

impl fmt::Display for Spot {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Line(at) => at.fmt(out),
            Self::Word(at) => write!(out, "word of {at}"),
            Self::Register(core) => write!(out, "test-and-set register of {core}"),
            Self::Counter(counter) => write!(out, "atomic counter {counter}"),
            Self::Interrupt(core) => write!(out, "interrupt of {core}"),
        }
    }
}

impl From<&Place> for Spot {
    fn from(place: &Place) -> Self {
        match *place {
            Place::Line(line) => Self::Line(LineAddress::Mpb(line)),
            Place::Word(region, index) => Self::Word(region.start().plus(index * size_of::<u32>())),
            Place::Counter(counter) => Self::Counter(counter),
        }
    }
}

/// How a wait went.
#[derive(Clone, Copy, Debug)]
pub(super) struct Waited {
    pub(super) reason: Reason,
    pub(super) failed_polls: u64,
    pub(super) timed_out: bool,
}

enum Record {
    Span { depth: u8, begin: u64, end: u64, of_hardware: bool, span: Span },
    Wait { depth: u8, begin: u64, end: u64, waited: Waited },
    Place(Spot),
    Mark { at: u64, name: String<PHASE_BYTES> },
    Store { first: u64, count: u32, mask: u32, begin: u64, visible: u64 },
}

impl fmt::Display for Record {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = |name| Name(name, None);
        match *self {
            Self::Span { depth, begin, end, of_hardware, span: Span { operation, peer, bytes, .. } } => {
                let (peer, bytes) = (peer.map(number), bytes as u64);
                Line::Operation { depth, begin, end, of_hardware, peer, bytes, name: name(operation) }.fmt(out)
            }
            Self::Wait { depth, begin, end, waited: Waited { reason, failed_polls: polls, timed_out: is_late } } => {
                let (peer, name) = (reason.peer.map(number), Name(reason.what, reason.detail));
                Line::Wait { depth, begin, end, peer, polls, is_late, name }.fmt(out)
            }
            Self::Place(spot) => Line::Place { key: spot.key(), mask: spot.mask(), name: spot }.fmt(out),
            Self::Mark { at, ref name } => Line::Phase { at, name }.fmt(out),
            Self::Store { first, count, mask, begin, visible } => {
                Line::<&str>::Store { first, count, mask, begin, visible }.fmt(out)
            }
        }
    }
}

/// The number of a core, as lines have it.
fn number(core: CoreId) -> u32 {
    core.index() as u32
}

/// What is done or awaited, and the number of what is.
struct Name(&'static str, Option<u32>);

impl fmt::Display for Name {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.0)?;
        self.1.map_or(Ok(()), |number| write!(out, " {number}"))
    }
}

/// What is under way.
enum Deed {
    Operation { of_hardware: bool, span: Span },
    Wait(Reason),
}

/// An operation or a wait that is under way.
struct Open {
    begin: u64,
    deed: Deed,
}

/// One that is under way so deep within others.
struct UnderWay<'o>(u8, &'o Open);

impl fmt::Display for UnderWay<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(depth, Open { begin, deed }) = self;
        let (peer, bytes, kind, name) = match *deed {
            Deed::Operation { of_hardware, span: Span { operation, peer, bytes, .. } } => {
                let kind = if of_hardware { Kind::Hardware } else { Kind::Operation };
                (peer, bytes, kind, Name(operation, None))
            }
            Deed::Wait(Reason { what, peer, detail }) => (peer, 0, Kind::Wait, Name(what, detail)),
        };
        let (begin, peer, bytes) = (*begin, peer.map(number), bytes as u64);
        Line::UnderWay { depth: *depth, begin, peer, bytes, kind, name }.fmt(out)
    }
}

#[derive(Default)]
struct Log {
    records: VecDeque<Record>,
    limit: usize,
    lost: u64,
    open: Vec<Open>,
}

impl Log {
    fn push(&mut self, record: Record) {
        if self.records.len() == self.limit {
            self.forget();
        }
        if self.limit == 0 {
            self.lost += 1;
            return;
        }
        self.records.push_back(record);
    }

    /// Makes room: the oldest record goes, and a wait goes with its places, some of which would not explain its end.
    fn forget(&mut self) {
        while let Some(oldest) = self.records.pop_front() {
            self.lost += 1;
            if !matches!(oldest, Record::Place(_)) {
                break;
            }
        }
    }

    fn show(&self, moments_per_second: u64, reader: &mut dyn FnMut(&dyn fmt::Display)) {
        reader(&Line::<&str>::Clock { moments_per_second, lost: self.lost });
        self.records.iter().for_each(|record| reader(record));
    }

    /// The operation or wait that began last is over; its depth.
    fn close(&mut self) -> Option<(Open, u8)> {
        let open = self.open.pop()?;
        Some((open, u8::try_from(self.open.len()).unwrap_or(u8::MAX)))
    }
}

/// The trace of a core, if it is traced.
#[derive(Default)]
pub struct Tracer {
    is_on: Cell<bool>,
    log: RefCell<Log>,
}

impl Tracer {
    pub(super) fn is_on(&self) -> bool {
        self.is_on.get()
    }

    /// Begins a trace in the given number of bytes.
    pub(super) fn start(&self, limit_bytes: usize) {
        let limit = limit_bytes / size_of::<Record>();
        *self.log.borrow_mut() = Log { records: VecDeque::with_capacity(limit), limit, ..Log::default() };
        self.is_on.set(true);
    }

    /// Ends, and shows all that was noted; what is still under way is not.
    pub(super) fn end(&self, moments_per_second: u64, reader: &mut dyn FnMut(&dyn fmt::Display)) {
        self.is_on.set(false);
        self.log.take().show(moments_per_second, reader);
    }

    /// Shows all that was noted, and then what is under way. If the core was interrupted while it noted something, only the
    /// first line, which says that there is a trace.
    pub(super) fn tell(&self, moments_per_second: u64, reader: &mut dyn FnMut(&dyn fmt::Display)) {
        let Ok(log) = self.log.try_borrow() else {
            return reader(&Line::<&str>::Clock { moments_per_second, lost: 0 });
        };
        log.show(moments_per_second, reader);
        log.open
            .iter()
            .enumerate()
            .for_each(|(depth, open)| reader(&UnderWay(u8::try_from(depth).unwrap_or(u8::MAX), open)));
    }

    pub(super) fn begin(&self, now: u64, of_hardware: bool, span: Span) {
        self.log.borrow_mut().open.push(Open { begin: now, deed: Deed::Operation { of_hardware, span } });
    }

    pub(super) fn begin_wait(&self, now: u64, reason: Reason) {
        self.log.borrow_mut().open.push(Open { begin: now, deed: Deed::Wait(reason) });
    }

    pub(super) fn end_span(&self, now: u64) {
        let mut log = self.log.borrow_mut();
        if let Some((Open { begin, deed: Deed::Operation { of_hardware, span } }, depth)) = log.close() {
            log.push(Record::Span { depth, begin, end: now, of_hardware, span });
        }
    }

    pub(super) fn end_wait(&self, now: u64, watch: Watch<'_>, waited: Waited) {
        let mut log = self.log.borrow_mut();
        let Some((Open { begin, .. }, depth)) = log.close() else { return };
        match watch {
            Watch::Places(places) => places.iter().for_each(|place| log.push(Record::Place(place.into()))),
            Watch::Register(core) => log.push(Record::Place(Spot::Register(core))),
        }
        log.push(Record::Wait { depth, begin, end: now, waited });
    }

    /// A phase of the program begins.
    pub(super) fn mark(&self, now: u64, name: &str) {
        self.log.borrow_mut().push(Record::Mark { at: now, name: phase(name).collect() });
    }

    /// Bytes of a place were changed, which others see from `visible` on. Runs of whole lines are noted as one.
    pub(super) fn stored(&self, spot: Spot, mask: u32, begin: u64, visible: u64) {
        let mut log = self.log.borrow_mut();
        if let Some(Record::Store { first, count, mask: u32::MAX, visible: last, .. }) = log.records.back_mut()
            && matches!(spot, Spot::Line(_))
            && mask == u32::MAX
            && *first + u64::from(*count) == spot.key()
        {
            *count += 1;
            *last = visible;
            return;
        }
        log.push(Record::Store { first: spot.key(), count: 1, mask: mask & spot.mask(), begin, visible });
    }
}

#[cfg(all(test, feature = "sim"))]
mod tests {
    use std::{string::ToString, vec::Vec};

    use super::*;
    use crate::MpbLine;

    fn lines(tracer: &Tracer) -> Vec<std::string::String> {
        let mut lines = Vec::new();
        tracer.end(10, &mut |line| lines.push(line.to_string()));
        lines
    }

    #[test]
    fn the_oldest_is_forgotten_and_counted() {
        let tracer = Tracer::default();
        tracer.start(3 * size_of::<Record>());
        tracer.begin(0, false, Span::new("all"));
        for now in 1..=4 {
            tracer.begin(now, true, Span::new("one").with(CoreId::new(7)).of(32));
            tracer.end_span(now + 1);
        }
        tracer.end_span(9);
        assert_eq!(lines(&tracer), ["c 10 2", "h 1 3 4 7 32 one", "h 1 4 5 7 32 one", "s 0 0 9 - 0 all"]);
    }

    #[test]
    fn a_wait_is_forgotten_with_its_places() {
        let tracer = Tracer::default();
        tracer.start(3 * size_of::<Record>());
        tracer.begin_wait(1, Reason::new("a flag"));
        let waited = Waited { reason: Reason::new("a flag"), failed_polls: 2, timed_out: false };
        tracer.end_wait(5, Watch::Register(CoreId::new(1)), waited);
        for now in [6, 7] {
            tracer.begin(now, true, Span::new("one"));
            tracer.end_span(now);
        }
        assert_eq!(lines(&tracer), ["c 10 2", "h 0 6 6 - 0 one", "h 0 7 7 - 0 one"]);
        tracer.start(0);
        tracer.begin(1, true, Span::new("one"));
        tracer.end_span(2);
        assert_eq!(lines(&tracer), ["c 10 1"]);
    }

    #[test]
    fn runs_of_whole_lines_are_one_store() {
        let tracer = Tracer::default();
        tracer.start(1000 * size_of::<Record>());
        let line = |line| Spot::Line(LineAddress::Mpb(MpbLine::new(CoreId::new(2), line)));
        tracer.stored(line(5), u32::MAX, 1, 2);
        tracer.stored(line(6), u32::MAX, 3, 4);
        tracer.stored(line(7), 1, 5, 6);
        tracer.stored(line(8), u32::MAX, 7, 8);
        tracer.stored(Spot::Word(SharedAddress::new(0, 36)), u32::MAX, 9, 9);
        assert_eq!(
            lines(&tracer),
            ["c 10 0", "t 205 2 ffffffff 1 4", "t 207 1 1 5 6", "t 208 1 ffffffff 7 8", "t 8000000000000001 1 f0 9 9"]
        );
    }

    #[test]
    fn what_is_under_way_is_told_and_goes_on() {
        let tracer = Tracer::default();
        tracer.start(1000 * size_of::<Record>());
        tracer.begin(1, false, Span::new("send").with(CoreId::new(7)).of(32));
        tracer.begin(2, true, Span::new("MPB put"));
        tracer.end_span(3);
        tracer.begin_wait(4, Reason::new("a flag").number(3));
        let mut told = Vec::new();
        let mut tell = || {
            told.clear();
            tracer.tell(10, &mut |line| told.push(line.to_string()));
            told.clone()
        };
        let expected = ["c 10 0", "h 1 2 3 - 0 MPB put", "o 0 1 7 32 s send", "o 1 4 - 0 w a flag 3"];
        assert_eq!(tell(), expected);
        assert_eq!(tell(), expected);
        let interrupted = tracer.log.borrow_mut();
        assert_eq!(tell(), ["c 10 0"]);
        drop(interrupted);
        let waited = Waited { reason: Reason::new("a flag"), failed_polls: 2, timed_out: false };
        tracer.end_wait(5, Watch::Places(&[]), waited);
        tracer.end_span(6);
        assert_eq!(lines(&tracer), ["c 10 0", "h 1 2 3 - 0 MPB put", "w 1 4 5 - 2 ok a flag", "s 0 1 6 7 32 send"]);
    }

    #[test]
    fn names_of_phases_are_parts_of_lines() {
        let tracer = Tracer::default();
        tracer.start(1000 * size_of::<Record>());
        tracer.mark(3, "two\nlines");
        tracer.mark(4, "a name of forty letters, the last of ééé");
        assert_eq!(lines(&tracer), ["c 10 0", "m 3 two lines", "m 4 a name of forty letters, the las"]);
    }

    #[test]
    fn waits_name_their_places() {
        let tracer = Tracer::default();
        tracer.start(1000 * size_of::<Record>());
        tracer.begin_wait(1, Reason::new("a flag"));
        let waited = Waited { reason: Reason::new("a flag").number(3), failed_polls: 2, timed_out: false };
        tracer.end_wait(5, Watch::Register(CoreId::new(1)), waited);
        let register = "p 4000000000000001 ffffffff test-and-set register of core 1";
        assert_eq!(lines(&tracer), ["c 10 0", register, "w 0 1 5 - 2 ok a flag 3"]);
    }
}
