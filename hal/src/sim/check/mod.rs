//! The coherence checker: what every byte of shared memory has been through, and which accesses have no business there.
//!
//! A run is followed event by event ([`Event`]). Each store has a number in its core's own order, and each core knows of every
//! other one up to which number its stores happen before what the core does now ([`clocks`]). It learns that by looks: by
//! polls of a wait, by loads of single MPB lines and of uncached words, by registers, counters and interrupts. Copies
//! (`get`, `read`, loads of a local view) teach nothing; they have to be ordered already.
//!
//! A store is *pending* while it may sit in a write-combine buffer or a cache, and *landed* once that has to be in memory
//! ([`shadow`]). Caches are as large as needed here, so that no access gets away because a line was evicted by luck. The
//! order in which this run happened to go does not decide either: two accesses that nothing orders are a race whoever came
//! first.
//!
//! Findings name accesses by core and number. The run is made once more to find out where in the program those are, as it is
//! the same every time: so that nothing is noted of the millions of accesses that are right.

mod clocks;
mod copies;
mod finding;
mod landing;
mod one_sided;
mod shadow;
mod stacks;
mod stores;
mod story;
mod terms;
mod upkeep;

pub use self::{
    finding::{Access, Finding, Mistake},
    stacks::Frame,
    story::Step,
    upkeep::{AskedFor, LeftOut},
};

pub(super) use self::story::About;

use self::finding::Remedy;

use core::cell::Cell;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::{
    CoreId, Home, LINE_BYTES, Layout, LineAddress, Region, SharedAddress,
    act::Bytes,
    cached::ViewAccess,
    kind,
    kit::{CounterAccess, Event, LoadedFor, Upkeep, mask_of},
};

use self::{
    clocks::{Clock, Learnt, Via},
    finding::{Raw, Where},
    one_sided::OneSided,
    shadow::{Cache, Landed, Line, Store, lines_of},
    stacks::{Captured, Trace},
    story::Notes,
    terms::{Id, Mapping},
    upkeep::Upkeeps,
};

/// Findings of one kind between two cores that are kept: more of them are the same mistake in a loop.
const MOST_ALIKE: usize = 256;

/// Looks in a row at a line that L1 has, after which nobody believes any more that the core will invalidate.
const PATIENCE: u32 = 100_000;

/// A look at a line.
#[derive(Clone, Copy)]
struct Looked {
    key: u64,
    /// The bytes that were loaded. Who loads a whole line may mean any of them.
    mask: u32,
    id: Id,
}

/// What is known of one core.
struct Core {
    clock: Clock,
    /// Events so far.
    events: u64,
    /// Lines that L1 may hold, with the moment at which each was loaded.
    l1: FxHashMap<u64, u64>,
    /// What may sit in the write-combine buffer.
    combining: Option<(u64, Vec<Store>)>,
    spans: Vec<crate::Span>,
    /// What was looked at last: a line, and all its bytes that were looked at since another line was.
    looked_at: Option<Looked>,
    /// Looks in a row at one line that L1 has answered, with nothing else in between.
    old_looks: u32,
    /// What it copies, it hands on as it is.
    hands_on: bool,
    /// Where its program has cached memory.
    maps: Vec<(Bytes, SharedAddress)>,
    /// Lines of it that its program has come to since its last flush.
    visited: FxHashSet<u64>,
    /// Those that it comes to now, and bytes of them that it does not store to.
    visits: Vec<(SharedAddress, u32)>,
}

/// The checker of one run.
pub(super) struct Checker {
    layout: Layout,
    cores: Vec<Core>,
    /// What the cores of each domain have cached in common.
    caches: Vec<Cache>,
    lines: FxHashMap<u64, Line>,
    /// Private memory that is exposed: its lines, and the store that stands for what it had in it.
    exposed: Vec<(Region<kind::Cached>, Store)>,
    registers: FxHashMap<CoreId, Learnt>,
    counters: FxHashMap<usize, Learnt>,
    interrupts: FxHashMap<CoreId, Learnt>,
    /// Counts what happens on all cores.
    moment: u64,
    one_sided: OneSided,
    upkeeps: Option<Upkeeps>,
    left_out: Option<LeftOut>,
    /// How often it was.
    times_left_out: Cell<u64>,
    raw: Vec<Raw>,
    known: FxHashSet<(Mistake, Id, Option<Id>)>,
    alike: FxHashMap<(Mistake, u16, Option<u16>), usize>,
    /// Accesses of which is to be found out where they are in the program.
    wanted: FxHashSet<Id>,
    captured: FxHashMap<Id, Captured>,
    /// What is noted for the run's story, if it is to be told.
    notes: Option<Box<Notes>>,
    is_silent: bool,
}

impl Checker {
    pub(super) fn new(layout: &Layout) -> Self {
        let cores = layout.cores();
        let core = |index| Core {
            clock: Clock::new(index, cores),
            events: 0,
            l1: FxHashMap::default(),
            combining: None,
            spans: Vec::new(),
            looked_at: None,
            old_looks: 0,
            hands_on: false,
            maps: Vec::new(),
            visited: FxHashSet::default(),
            visits: Vec::new(),
        };
        Self {
            layout: *layout,
            cores: (0..cores).map(core).collect(),
            caches: (0..layout.domains()).map(|_| Cache::default()).collect(),
            lines: FxHashMap::default(),
            exposed: Vec::new(),
            registers: FxHashMap::default(),
            counters: FxHashMap::default(),
            interrupts: FxHashMap::default(),
            moment: 0,
            one_sided: OneSided::new(cores),
            upkeeps: None,
            left_out: None,
            times_left_out: Cell::new(0),
            raw: Vec::new(),
            known: FxHashSet::default(),
            alike: FxHashMap::default(),
            wanted: FxHashSet::default(),
            captured: FxHashMap::default(),
            notes: None,
            is_silent: false,
        }
    }

    /// Lines that the program of a core has come to for the first time since its last flush, and bytes that it does not store to. Where it
    /// reaches cached memory by pointers, all of that is fetched at each flush; but that is too early for what others write back until then.
    pub(super) fn visits(&mut self, core: CoreId) -> Vec<(SharedAddress, u32)> {
        std::mem::take(&mut self.cores[core.index()].visits)
    }

    /// Keeps account of what drains, invalidations and flushes are good for, too.
    pub(super) fn with_upkeeps(mut self) -> Self {
        self.upkeeps = Some(Upkeeps::new(self.cores.len(), self.caches.len()));
        self
    }

    /// The checker of a run that leaves something out.
    pub(super) fn without(self, left_out: Option<LeftOut>) -> Self {
        Self { left_out, ..self }
    }

    /// Whether it leaves out what the running core asks for.
    pub(super) fn leaves_out(&self, upkeep: Upkeep) -> bool {
        let left_out = self.left_out.as_ref().filter(|left_out| left_out.upkeep == upkeep);
        let leaves_out = left_out.is_some_and(|left_out| Trace::now().comes_through(&left_out.addresses));
        self.times_left_out.set(self.times_left_out.get() + u64::from(leaves_out));
        leaves_out
    }

    /// How often something was left out.
    pub(super) fn times_left_out(&self) -> u64 {
        self.times_left_out.get()
    }

    /// What the program has asked for, if account was kept of it.
    pub(super) fn asked_for(&self) -> Vec<AskedFor> {
        self.upkeeps.as_ref().map_or_else(Vec::new, Upkeeps::all)
    }

    /// The checker of the same run made once more, which finds out where the accesses of these findings are.
    pub(super) fn again(&self) -> Self {
        let wanted = self.raw.iter().flat_map(|raw| [Some(raw.here), raw.other]).flatten().collect();
        Self { wanted, left_out: self.left_out.clone(), ..Self::new(&self.layout).silent() }
    }

    /// This checker, of a run of which nothing is said while it is made.
    pub(super) fn silent(self) -> Self {
        Self { is_silent: true, ..self }
    }

    /// Whether nothing is said of the run while it is made.
    pub(super) fn is_silent(&self) -> bool {
        self.is_silent
    }

    pub(super) fn has_findings(&self) -> bool {
        !self.raw.is_empty()
    }

    /// What was found, with the places that the second run has found out.
    pub(super) fn findings(&self, again: &Self) -> Vec<Finding> {
        finding::name(&self.raw, &again.captured)
    }

    /// Something happens on a core, at this time of its clock. Returns whether the core can be given up: it looks at what does
    /// not change any more, since L1 has it.
    pub(super) fn observe(&mut self, core: CoreId, now_ps: u64, event: Event) -> bool {
        let index = core.index();
        self.moment += 1;
        let state = &mut self.cores[index];
        state.events += 1;
        let id = Id { core: index as u16, number: state.events };
        if !self.wanted.is_empty() && self.wanted.contains(&id) {
            let captured = Captured::now(now_ps, &state.spans, &event);
            self.captured.insert(id, captured);
        }
        if self.notes.is_some() {
            self.note(index, now_ps, &event);
        }
        if !matches!(event, Event::Load { what_for: LoadedFor::Look | LoadedFor::Poll, .. }) {
            self.cores[index].old_looks = 0;
        }
        match event {
            Event::Load { at, mask, what_for: LoadedFor::Look } => {
                self.meet_released(index, at.key(), mask, id);
                self.look(index, at, mask, id);
            }
            Event::Load { at, mask, what_for: LoadedFor::Poll } => self.look(index, at, mask, id),
            Event::Load { what_for: LoadedFor::Copy, .. } if self.cores[index].hands_on => {}
            Event::Load { at, mask, what_for } => {
                self.copy(index, at.key(), mask, Mapping::Lines, what_for == LoadedFor::Copy, id);
            }
            Event::Fill(at) => _ = self.cores[index].l1.entry(at.key()).or_insert(self.moment),
            Event::Invalidate => self.cores[index].l1.clear(),
            Event::Store { at, mask } => self.combine(index, at.key(), mask, id),
            Event::PushedOut => self.push_out(index),
            Event::LoadWord(at) => self.load_word(index, at, id),
            Event::StoreWord(at) => self.store_word(index, at, id),
            Event::View { access: ViewAccess::SliceMut, .. } if self.cores[index].hands_on => {}
            Event::View { start, len, access } => self.view(index, start, len, access, id),
            Event::Fetched(at) => {
                let moment = self.moment;
                self.cache(index).fetched.entry(LineAddress::Shared(at).key()).or_insert(moment);
            }
            Event::WrittenBack { at, changed } => self.write_back(index, LineAddress::Shared(at).key(), changed),
            Event::Flushed(region) => self.flush(index, region),
            Event::Exposed(region) => self.expose(index, region, id),
            Event::Concealed(region) => self.conceal(region),
            Event::Acquired(register) => {
                self.learn_of(index, Via::Register, |checker| checker.registers.get(&register))
            }
            Event::Freed(register) => {
                let told = self.cores[index].clock.tell();
                self.registers.insert(register, told);
            }
            Event::Counter(counter, access) => {
                self.learn_of(index, Via::Counter, |checker| checker.counters.get(&counter));
                if access != CounterAccess::Read {
                    let told = self.cores[index].clock.tell();
                    self.counters.insert(counter, told);
                }
            }
            Event::Raised(target) => {
                let told = self.cores[index].clock.tell();
                self.interrupts.entry(target).and_modify(|before| before.join(&told)).or_insert(told);
            }
            Event::Taken => self.learn_of(index, Via::Interrupt, |checker| checker.interrupts.get(&core)),
            Event::Begin(span) => self.cores[index].spans.push(span),
            Event::End => _ = self.cores[index].spans.pop(),
            Event::Asked(_) | Event::Done => {}
        }
        if self.upkeeps.is_some() {
            self.tally(index, now_ps, &event);
        }
        self.cores[index].old_looks == PATIENCE
    }

    /// The run has come to a standstill with these cores waiting for places: what they look at may be stuck in a write-combine
    /// buffer, or is in memory, and L1 has the line from before.
    pub(super) fn stand_still(&mut self, waiting: impl Iterator<Item = CoreId>) {
        for core in waiting {
            let Some(Looked { key, mask, id: look }) = self.cores[core.index()].looked_at else { continue };
            // What the core itself has stored there, L1 shows if it had the line before.
            let loaded = self.cores[core.index()].l1.get(&key).copied();
            let is_seen =
                |index: usize, store: &Store| index == core.index() && loaded.is_some_and(|at| at < store.moment);
            // Of a whole line nobody knows which bytes are awaited: hardly what the core itself has stored.
            let is_awaited = |index: usize| mask != u32::MAX || index != core.index();
            let stuck = self.cores.iter().enumerate().find_map(|(index, other)| {
                let (_, stores) = other.combining.as_ref().filter(|(line, _)| *line == key && is_awaited(index))?;
                stores.iter().rfind(|store| store.mask & mask != 0 && !is_seen(index, store)).copied()
            });
            if let Some(store) = stuck {
                self.report(Mistake::Stale, Remedy::DrainAtWriter, look, Some(store.id), key, store.mask);
            }
            if let Some(store) = self.newer_than_l1(core.index(), key, mask) {
                self.report(Mistake::Stale, Remedy::InvalidateAtReader, look, Some(store.id), key, store.mask);
            }
        }
    }

    fn learn_of(&mut self, core: usize, via: Via, from: impl FnOnce(&Self) -> Option<&Learnt>) {
        if let Some(learnt) = from(self).cloned() {
            self.cores[core].clock.learn(&learnt, via);
        }
    }

    /// A look: what it finds comes before what the core does from now on, as far as L1 did not hold it from earlier.
    fn look(&mut self, core: usize, at: LineAddress, mask: u32, id: Id) {
        let key = at.key();
        let before = self.cores[core].looked_at.filter(|before| before.key == key);
        let looked = Looked { key, mask: mask | before.map_or(0, |before| before.mask), id };
        self.cores[core].looked_at = Some(looked);
        let until = self.cores[core].l1.get(&key).copied().unwrap_or(u64::MAX);
        if until < self.moment {
            self.meet_outdated(core, key, mask, until, id);
        }
        self.learn_from_line(core, key, mask, until);
        let state = &mut self.cores[core];
        let is_again = before.is_some() && until < self.moment - 1;
        state.old_looks = if is_again { state.old_looks + 1 } else { 0 };
        if state.old_looks == PATIENCE {
            let newer = self.newer_than_l1(core, key, mask).map(|store| store.id);
            self.report(Mistake::Stale, Remedy::InvalidateAtReader, id, newer, key, mask);
        }
    }

    /// L1 answers a look with what it has had since a moment, though the core knows of what has come to memory since then.
    fn meet_outdated(&mut self, core: usize, key: u64, mask: u32, since: u64, id: Id) {
        if self.is_near(core, key) {
            return;
        }
        let Core { clock, combining, .. } = &self.cores[core];
        // What the core itself has stored since then, L1 shows.
        let own = combining.iter().filter(|(line, _)| *line == key).flat_map(|(_, stores)| stores);
        let mask = own.filter(|store| store.moment > since).fold(mask, |mask, store| mask & !store.mask);
        let is_known = |landed: &&Landed| {
            let by = landed.store.id.core;
            usize::from(by) != core && landed.moment > since && clock.knows(by, landed.told.until)
        };
        let Some(line) = self.lines.get(&key) else { return };
        let newer = line.landed.iter().filter(is_known).find(|landed| landed.store.mask & mask != 0);
        if let Some(store) = newer.map(|landed| landed.store) {
            self.report(Mistake::Stale, Remedy::InvalidateAtReader, id, Some(store.id), key, mask & store.mask);
        }
    }

    /// A core looks once, not until it sees something, and has learnt by a register of stores that had not come to memory by then, or have not yet: they were made under it.
    fn meet_released(&mut self, core: usize, key: u64, mask: u32, id: Id) {
        let Some(line) = self.lines.get(&key) else { return };
        let clock = &self.cores[core].clock;
        let is_told = |store: &Store| {
            let by = store.id.core;
            let is_other = usize::from(by) != core && store.mask & mask != 0;
            is_other && clock.via(by) == Via::Register && clock.knows(by, store.step)
        };
        let late = line.landed.iter().filter(|landed| !clock.knows(landed.store.id.core, landed.told.until));
        let pending = line.combining.iter().filter_map(|other| self.cores[usize::from(*other)].combining.as_ref());
        let pending = pending.filter(|(pending, _)| *pending == key).flat_map(|(_, stores)| stores);
        let store = late.map(|landed| &landed.store).chain(pending).find(|store| is_told(store)).copied();
        if let Some(store) = store {
            self.report(Mistake::ReleasedEarly, Remedy::DrainAtWriter, id, Some(store.id), key, mask & store.mask);
        }
    }

    /// A store of another core to bytes of a line that is in memory, and not in what L1 has of the line.
    fn newer_than_l1(&self, core: usize, key: u64, mask: u32) -> Option<Store> {
        let loaded = *self.cores[core].l1.get(&key)?;
        let landed = self.lines.get(&key)?.landed.iter();
        let newer = |landed: &&Landed| {
            let is_other = usize::from(landed.store.id.core) != core;
            landed.moment > loaded && is_other && landed.store.mask & mask != 0
        };
        landed.rev().find(newer).map(|landed| landed.store)
    }

    fn learn_from_line(&mut self, core: usize, key: u64, mask: u32, until: u64) {
        let Some(line) = self.lines.get(&key) else { return };
        for landed in line.landed.iter().filter(|landed| landed.store.mask & mask != 0) {
            if usize::from(landed.store.id.core) != core && landed.moment <= until {
                self.cores[core].clock.learn(&landed.told, Via::Store);
            }
        }
    }

    fn load_word(&mut self, core: usize, at: SharedAddress, id: Id) {
        let (key, mask) = (LineAddress::Shared(at).key(), mask_of(at.offset() % LINE_BYTES, 4));
        self.find_hidden(core, key, mask, Mapping::Word, id);
        self.learn_from_line(core, key, mask, u64::MAX);
    }

    fn view(&mut self, core: usize, start: SharedAddress, len: usize, access: ViewAccess, id: Id) {
        for (line, mask) in lines_of(start, len) {
            let key = LineAddress::Shared(line).key();
            match access {
                ViewAccess::Load | ViewAccess::Slice => self.copy(core, key, mask, Mapping::Cached, true, id),
                ViewAccess::Store => self.dirty(core, key, mask, true, id),
                ViewAccess::SliceMut => self.dirty(core, key, mask, false, id),
            }
        }
    }

    /// The line, which begins with what private memory had, if it is exposed.
    fn line(&mut self, key: u64) -> &mut Line {
        self.lines.entry(key).or_insert_with(|| {
            let LineAddress::Shared(at) = LineAddress::of_key(key) else { return Line::default() };
            let line = Region::<kind::Cached>::new(at, LINE_BYTES);
            let before = self.exposed.iter().find(|(region, _)| region.overlaps(&line));
            before.map_or_else(Line::default, |(_, store)| Line::exposed(*store, &self.cores))
        })
    }

    fn cache(&mut self, core: usize) -> &mut Cache {
        let domain = self.layout.domain(CoreId::new(core));
        &mut self.caches[domain]
    }

    fn domain(&self, core: impl Into<usize>) -> usize {
        self.layout.domain(CoreId::new(core.into()))
    }

    /// Whether the own domain is the home of a line and several cores: then it sees all that is in that memory.
    fn is_near(&self, core: usize, key: u64) -> bool {
        let home = match LineAddress::of_key(key) {
            LineAddress::Mpb(line) => Home::Core(line.core),
            LineAddress::Shared(at) => at.home(),
        };
        self.layout.cores_per_domain() > 1 && self.layout.home_domain(home) == Some(self.domain(core))
    }

    fn report(&mut self, mistake: Mistake, remedy: Remedy, here: Id, other: Option<Id>, key: u64, mask: u32) {
        self.report_at(mistake, remedy, here, other, Where::Line { key, mask });
    }

    fn report_at(&mut self, mistake: Mistake, remedy: Remedy, here: Id, other: Option<Id>, place: Where) {
        let alike = self.alike.entry((mistake, here.core, other.map(|other| other.core))).or_default();
        if *alike < MOST_ALIKE && self.known.insert((mistake, here, other)) {
            *alike += 1;
            self.raw.push(Raw { mistake, remedy, here, other, place });
        }
    }
}
