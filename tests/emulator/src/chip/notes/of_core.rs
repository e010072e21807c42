//! What one core did.

use std::{collections::VecDeque, fmt, rc::Rc};

use descriptions::{
    boards::announced::Announced,
    trace::{Kind, Line},
};

use super::{super::cache::LINE_BYTES, GAP_CYCLES, LOOKED, POLL_CYCLES, spot::Spot};

/// What is done or awaited.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Name {
    /// As notes call it.
    Known(&'static str),
    /// As the core calls it.
    Said(Rc<str>),
}

impl fmt::Display for Name {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Known(name) => out.write_str(name),
            Self::Said(name) => out.write_str(name),
        }
    }
}

/// What a core did; `next` is the place with which an operation of the hardware would go on.
pub(super) enum Record {
    Hardware { depth: u8, begin: u64, end: u64, peer: Option<u32>, bytes: u64, name: &'static str, next: u64 },
    Line(Line<Name>),
    Place { spot: Spot, mask: u32 },
    Store { first: u64, count: u32, mask: u32, begin: u64, visible: u64 },
}

impl fmt::Display for Record {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            &Self::Hardware { depth, begin, end, peer, bytes, name, .. } => {
                Line::Operation { depth, begin, end, of_hardware: true, peer, bytes, name }.fmt(out)
            }
            Self::Line(line) => line.fmt(out),
            &Self::Place { spot, mask } => Line::Place { key: spot.key(), mask, name: spot }.fmt(out),
            &Self::Store { first, count, mask, begin, visible } => {
                Line::<&str>::Store { first, count, mask, begin, visible }.fmt(out)
            }
        }
    }
}

/// What has begun and not ended.
pub(super) struct Open {
    pub(super) begin: u64,
    pub(super) kind: Kind,
    pub(super) peer: Option<u32>,
    pub(super) bytes: u64,
    pub(super) name: Name,
}

/// A line that a core has loaded, and what it found there.
struct Look {
    spot: Spot,
    mask: u32,
    value: u64,
    end: u64,
    /// How often.
    times: u64,
}

/// All of one core.
#[derive(Default)]
pub(super) struct OfCore {
    pub(super) records: VecDeque<Record>,
    pub(super) lost: u64,
    /// What has begun and not ended, the outermost first.
    pub(super) open: Vec<Open>,
    /// From when on, and until when its access lasts.
    pub(super) begin: u64,
    pub(super) end: u64,
    /// When the last of what has ended did.
    latest: u64,
    /// Whether something was announced since the last operation, which does not go on then.
    is_cut: bool,
    looked: Vec<Look>,
    /// Polls in vain, and since when, where waits are guessed.
    polls: u64,
    waits_since: u64,
}

impl OfCore {
    pub(super) fn push(&mut self, limit: usize, record: Record) {
        self.records.push_back(record);
        while self.records.len() > limit {
            // A wait goes with its places.
            while self.records.pop_front().is_some_and(|oldest| matches!(oldest, Record::Place { .. })) {}
            self.lost += 1;
        }
    }

    /// Within how many others something is that begins now.
    fn depth(&self) -> u8 {
        u8::try_from(self.open.len()).unwrap_or(u8::MAX)
    }

    /// Whether the core has said that it waits.
    fn has_said_to_wait(&self) -> bool {
        self.open.last().is_some_and(|open| open.kind == Kind::Wait)
    }

    /// A wait is over; it has looked at these places.
    fn push_wait(&mut self, limit: usize, places: Vec<Look>, wait: Line<Name>) {
        places.iter().for_each(|look| self.push(limit, Record::Place { spot: look.spot, mask: look.mask }));
        self.push(limit, Record::Line(wait));
    }

    /// It waits no more, if it looked like that.
    pub(super) fn end_wait(&mut self, limit: usize, core: usize, end: u64) {
        let looked = std::mem::take(&mut self.looked);
        let polls = std::mem::take(&mut self.polls);
        let Some(last) = looked.last().filter(|_| polls > 0) else { return };
        // Whoever has not looked for long did something else.
        let end = if end.saturating_sub(last.end) < POLL_CYCLES { end } else { last.end };
        let ([.., what], peer) = (last.spot.names(), last.spot.peer(core));
        let (depth, begin, name) = (self.depth(), self.waits_since, Name::Known(what));
        self.push_wait(limit, looked, Line::Wait { depth, begin, end, peer, polls, is_late: false, name });
    }

    /// What it seems to wait for now, and since when.
    pub(super) fn awaited(&self, now: u64) -> Option<(Spot, u64)> {
        let still_looks = |look: &&Look| self.polls > 0 && now.saturating_sub(look.end) < POLL_CYCLES;
        self.looked.last().filter(still_looks).map(|look| (look.spot, self.waits_since))
    }

    /// An operation, which goes on with the last one if its place is the next.
    fn did(&mut self, limit: usize, core: usize, spot: Spot, name: &'static str, bytes: u64, end: u64) {
        let (key, is_line, depth) = (spot.key(), bytes == LINE_BYTES as u64, self.depth());
        // The last operation may have ended with a store's coming to memory, which the core does not wait for.
        let from = self.begin.max(self.latest);
        self.latest = end.max(from).max(self.latest);
        let last = match self.records.back() {
            Some(Record::Store { .. }) => self.records.len().checked_sub(2),
            _ => self.records.len().checked_sub(1),
        };
        if let Some(Record::Hardware { end: last, bytes: all, name: before, next, .. }) =
            last.filter(|_| !self.is_cut).and_then(|last| self.records.get_mut(last))
            && (*before, *next) == (name, key)
            && is_line
            && from.saturating_sub(*last) < GAP_CYCLES
        {
            (*last, *all, *next) = (end, *all + bytes, key + 1);
            return;
        }
        self.is_cut = false;
        let (peer, next) = (spot.peer(core), key + u64::from(is_line));
        self.push(limit, Record::Hardware { depth, begin: from, end: end.max(from), peer, bytes, name, next });
    }

    /// It has loaded something, and found a value there. Where waits are not `said`, it may be one that goes on.
    pub(super) fn looked(&mut self, limit: usize, core: usize, look: (Spot, u32, u64), bytes: usize, said: bool) {
        let ((spot, mask, value), begin, end) = (look, self.begin, self.end);
        let [load, ..] = spot.names();
        if said && !self.has_said_to_wait() {
            return self.did(limit, core, spot, load, bytes as u64, end);
        }
        let is_full = self.polls > 0 || self.looked.len() == LOOKED;
        // The first looks are accesses; a wait begins behind them.
        let since = self.looked.iter().map(|look| look.end).max().unwrap_or(begin);
        match self.looked.iter_mut().find(|look| (look.spot, look.mask) == (spot, mask)) {
            Some(look) if said => {
                look.times += 1;
                return;
            }
            Some(look) if begin.saturating_sub(look.end) < POLL_CYCLES && look.value == value => {
                look.end = end;
                if self.polls == 0 {
                    self.waits_since = since;
                }
                self.polls += 1;
                return;
            }
            _ if said => {}
            // What it waited for has come.
            Some(_) => self.end_wait(limit, core, end),
            None if is_full => self.end_wait(limit, core, begin),
            None => {}
        }
        if self.looked.len() < LOOKED {
            self.looked.push(Look { spot, mask, value, end, times: 1 });
        }
        if !said {
            self.did(limit, core, spot, load, bytes as u64, end);
        }
    }

    /// It has changed something, which others see from `now` on.
    pub(super) fn changed(&mut self, limit: usize, core: usize, (spot, mask): (Spot, u32), now: u64, said: bool) {
        let begin = self.begin;
        let visible = now.max(begin);
        if !said {
            self.end_wait(limit, core, begin);
        }
        let [_, store, _] = spot.names();
        let key = spot.key();
        // Registers and pins carry no data.
        let bytes = match spot {
            Spot::Line { .. } | Spot::Memory { .. } => mask.count_ones().into(),
            Spot::Register(_) | Spot::Interrupt(_) => 0,
        };
        self.did(limit, core, spot, store, bytes, visible);
        if let Some(Record::Store { first, count, mask: u32::MAX, visible: last, .. }) = self.records.back_mut()
            && mask == u32::MAX
            && *first + u64::from(*count) == key
        {
            (*count, *last) = (*count + 1, visible);
            return;
        }
        self.push(limit, Record::Store { first: key, count: 1, mask, begin, visible });
    }

    /// It says what it does.
    pub(super) fn announced(&mut self, limit: usize, announced: &Announced, name: &str, now: u64) {
        let (peer, at) = (announced.peer(), now.max(self.latest));
        let said = || match announced.has_number {
            0 => Name::Said(name.into()),
            _ => Name::Said(format!("{name} {}", announced.number).into()),
        };
        self.is_cut = true;
        match announced.what {
            Announced::BEGINS => {
                let (bytes, name) = (announced.number.into(), Name::Said(name.into()));
                self.open.push(Open { begin: at, kind: Kind::Operation, peer, bytes, name });
            }
            Announced::WAITS => {
                self.looked.clear();
                self.open.push(Open { begin: at, kind: Kind::Wait, peer, bytes: 0, name: said() });
            }
            Announced::ENDS => {
                // What had begun before anybody listened ends unheard.
                let Some(Open { begin, peer, bytes, name, .. }) = self.open.pop() else { return };
                let (depth, end) = (self.depth(), at);
                let line = Line::Operation { depth, begin, end, of_hardware: false, peer, bytes, name };
                self.push(limit, Record::Line(line));
            }
            Announced::HAS_WAITED | Announced::IS_LATE => {
                let Some(Open { begin, .. }) = self.open.pop() else { return };
                let (depth, looked) = (self.depth(), std::mem::take(&mut self.looked));
                let polls = looked.iter().map(|look| look.times - 1).max().unwrap_or(0);
                let (is_late, name) = (announced.what == Announced::IS_LATE, said());
                self.push_wait(limit, looked, Line::Wait { depth, begin, end: at, peer, polls, is_late, name });
            }
            Announced::PHASE => self.push(limit, Record::Line(Line::Phase { at: now, name: Name::Said(name.into()) })),
            _ => return,
        }
        self.latest = at;
    }
}
