//! What drains, invalidations and flushes of a program were good for.
//!
//! A drain has changed something if it has pushed something out; a flush, if it has written changed bytes back. An
//! invalidation, or the other half of a flush, has if it is why a load was right: it is the last one that took out a line which
//! was loaded again after somebody else had stored to it. So whoever takes away all that have never changed anything keeps
//! the last one before each of those loads, and the program stays right in the runs that were made.

use std::fmt;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::{
    CoreId, LineAddress, Region, kind,
    kit::{Event, Upkeep},
};

use super::{
    Checker,
    landing::keys,
    shadow::Line,
    stacks::{Frame, Symbols, Trace},
    terms::Mapping,
};

/// All that a program has asked for at one place.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AskedFor {
    /// What.
    pub upkeep: Upkeep,
    /// Where, from the innermost function on.
    pub frames: Vec<Frame>,
    /// The address where the first of them goes on, in this process.
    pub address: usize,
    /// How often.
    pub times: u64,
    /// Whether that has changed something, once at least.
    pub has_changed: bool,
    /// How long all of it took, in virtual time.
    pub time_ps: u64,
}

impl AskedFor {
    /// What it is called.
    fn name(&self) -> &'static str {
        match self.upkeep {
            Upkeep::Drain => "drain",
            Upkeep::Invalidation => "invalidation",
            Upkeep::Flush => "flush",
            Upkeep::Purge => "purge",
        }
    }
}

/// What a checked run leaves out, at some places: so that tests see what those are for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LeftOut {
    /// What.
    pub upkeep: Upkeep,
    /// The [addresses](AskedFor::address) of the places.
    pub addresses: Vec<usize>,
}

/// One line with fields between tabs, for tools: what, how often, picoseconds, and whether it has changed something (`yes` or
/// `no`); for each function `F`, its name, file and line.
impl fmt::Display for AskedFor {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let has_changed = if self.has_changed { "yes" } else { "no" };
        write!(out, "{}\t{}\t{}\t{has_changed}", self.name(), self.times, self.time_ps)?;
        self.frames.iter().try_for_each(|frame| write!(out, "\t{frame}"))
    }
}

/// The number of a place.
type Place = usize;

/// What happens at one place.
#[derive(Default)]
struct Tally {
    times: u64,
    has_changed: bool,
    time_ps: u64,
}

/// What a core does now.
struct Call {
    upkeep: Upkeep,
    place: Place,
    since_ps: u64,
}

/// A line that was in L1 or in a cache.
struct Former {
    /// When it was loaded last.
    loaded: u64,
    /// Where it was taken out last, if the program has asked for that.
    taken_out: Option<Place>,
}

/// What is known of one core.
#[derive(Default)]
struct Core {
    call: Option<Call>,
    /// When L1 got lines last, whether it still has them or not.
    l1: FxHashMap<u64, u64>,
    /// Where L1 was invalidated last, if the program has asked for that.
    invalidated: Option<Place>,
}

/// What was cached in one domain.
#[derive(Default)]
struct Cached {
    former: FxHashMap<u64, Former>,
    /// Changed lines that were written back without being asked for: a flush would have done it.
    evicted: FxHashSet<u64>,
}

/// The account of one run.
pub(super) struct Upkeeps {
    places: FxHashMap<(Upkeep, Trace), Place>,
    tallies: Vec<Tally>,
    cores: Vec<Core>,
    domains: Vec<Cached>,
}

impl Upkeeps {
    pub(super) fn new(cores: usize, domains: usize) -> Self {
        Self {
            places: FxHashMap::default(),
            tallies: Vec::new(),
            cores: (0..cores).map(|_| Core::default()).collect(),
            domains: (0..domains).map(|_| Cached::default()).collect(),
        }
    }

    /// All places.
    pub(super) fn all(&self) -> Vec<AskedFor> {
        let mut symbols = Symbols::default();
        let all = self.places.iter().map(|((upkeep, trace), place)| {
            let Tally { times, has_changed, time_ps } = self.tallies[*place];
            let (address, frames) = trace.place(&mut symbols);
            AskedFor { upkeep: *upkeep, frames, address, times, has_changed, time_ps }
        });
        let mut all: Vec<_> = all.collect();
        all.sort_by(|a, b| (a.upkeep, &a.frames).cmp(&(b.upkeep, &b.frames)));
        all
    }

    fn begin(&mut self, core: usize, now_ps: u64, upkeep: Upkeep) {
        let next = self.tallies.len();
        let place = *self.places.entry((upkeep, Trace::now())).or_insert(next);
        if place == next {
            self.tallies.push(Tally::default());
        }
        self.tallies[place].times += 1;
        self.cores[core].call = Some(Call { upkeep, place, since_ps: now_ps });
    }

    fn end(&mut self, core: usize, now_ps: u64) {
        let Some(call) = self.cores[core].call.take() else { return };
        let tally = &mut self.tallies[call.place];
        tally.time_ps += now_ps - call.since_ps;
    }

    /// What the core does now changes something, if it is one of these.
    fn changes(&mut self, core: usize, those: &[Upkeep]) -> bool {
        let call = self.cores[core].call.as_ref().filter(|call| those.contains(&call.upkeep));
        call.map(|call| self.tallies[call.place].has_changed = true).is_some()
    }

    /// Lines of a domain were written back and forgotten.
    fn flush(&mut self, core: usize, domain: usize, region: Option<Region<kind::Cached>>) {
        let place = self.cores[core].call.as_ref().map(|call| call.place);
        let cached = &mut self.domains[domain];
        let is_meant = |key: u64| region.is_none_or(|region| keys(region).contains(&key));
        match region {
            Some(region) if region.len_lines() < cached.former.len() => {
                for key in keys(region) {
                    cached.former.entry(key).and_modify(|former| former.taken_out = place);
                }
            }
            _ => {
                let meant = cached.former.iter_mut().filter(|(key, _)| is_meant(**key));
                meant.for_each(|(_, former)| former.taken_out = place);
            }
        }
        let before = cached.evicted.len();
        cached.evicted.retain(|key| !is_meant(*key));
        if cached.evicted.len() < before {
            self.changes(core, &FLUSHES);
        }
    }
}

/// What writes back.
const FLUSHES: [Upkeep; 2] = [Upkeep::Flush, Upkeep::Purge];

/// Whether a line has changed by others since it was loaded, as a copy of it does not show.
fn has_changed(line: &Line, loaded: u64, is_seen: impl Fn(usize, Mapping) -> bool) -> bool {
    line.landed
        .iter()
        .any(|landed| landed.moment > loaded && !is_seen(usize::from(landed.store.id.core), landed.mapping))
}

impl Checker {
    /// Something has happened, and the checker has taken note of it: keeps account of what that was good for.
    pub(super) fn tally(&mut self, core: usize, now_ps: u64, event: &Event) {
        let Some(mut upkeeps) = self.upkeeps.take() else { return };
        let domain = self.domain(core);
        match *event {
            Event::Asked(upkeep) => upkeeps.begin(core, now_ps, upkeep),
            Event::Done => upkeeps.end(core, now_ps),
            Event::PushedOut => _ = upkeeps.changes(core, &[Upkeep::Drain]),
            Event::Invalidate => {
                let state = &mut upkeeps.cores[core];
                state.invalidated = state.call.as_ref().map(|call| call.place);
            }
            Event::Fill(at) => {
                let key = at.key();
                let before = upkeeps.cores[core].l1.insert(key, self.moment);
                let is_seen = |by, mapping| by == core && mapping == Mapping::Lines;
                if before.is_some_and(|loaded| has_changed(self.line(key), loaded, is_seen))
                    && let Some(place) = upkeeps.cores[core].invalidated
                {
                    upkeeps.tallies[place].has_changed = true;
                }
            }
            Event::Fetched(at) => {
                let key = LineAddress::Shared(at).key();
                let former = Former { loaded: self.moment, taken_out: None };
                let before = upkeeps.domains[domain].former.insert(key, former);
                if let Some(Former { loaded, taken_out: Some(place) }) = before {
                    let layout = self.layout;
                    let is_seen = |by, mapping| layout.domain(CoreId::new(by)) == domain && mapping == Mapping::Cached;
                    upkeeps.tallies[place].has_changed |= has_changed(self.line(key), loaded, is_seen);
                }
            }
            Event::WrittenBack { at, changed } if changed != 0 && !upkeeps.changes(core, &FLUSHES) => {
                upkeeps.domains[domain].evicted.insert(LineAddress::Shared(at).key());
            }
            Event::Flushed(region) => upkeeps.flush(core, domain, region),
            _ => {}
        }
        self.upkeeps = Some(upkeeps);
    }
}
