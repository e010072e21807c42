//! What a waiting core looks at, and how it is found when somebody writes there.
//!
//! **Skipping ahead.** A core that waits polls back to back, each poll as long as the one before. Instead of letting
//! it do so, the engine remembers what its last poll read, parks it, and lets the write that ends the pause resume it
//! *in the middle of the poll that would have been under way*: what that poll would have read before the write is
//! answered from memory of the last poll (nothing has changed since), what it reads after the write is read for real.
//! So the clock, the result and the number of failed polls are those of a core that never paused, to the picosecond,
//! also when a poll reads several places.
//!
//! Where accesses meet, a poll keeps others waiting and is kept waiting. There the accesses of skipped polls go on
//! without the core, see [`Train`]; `Engine::may_skip` says which polls those are.
//!
//! **Nothing is missed** between a poll and the pause, since parking first compares what the poll read with what is
//! there now.

use rustc_hash::FxHashMap;

use crate::{
    CoreId, Line, LineAddress, Place, Reason, SharedAddress,
    emulated::WaitInfo,
    kit::{CounterAccess, Watch, Woken},
};

use super::{
    access::{Access, Effect},
    memory::Memory,
    train::Train,
};

/// What a poll read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Sample {
    Line(LineAddress, Line),
    Word(SharedAddress, u32),
    Counter(usize, u32),
    /// A register that was taken; a poll that finds it free is the last one.
    Taken(CoreId),
}

impl Sample {
    /// How it was read.
    pub(super) fn access(&self) -> Access {
        match *self {
            Sample::Line(at, _) => Access::line(at, u32::MAX, Effect::Read),
            Sample::Word(at, _) => Access::word(at, Effect::Read),
            Sample::Counter(counter, _) => Access::counter(counter, Effect::Read),
            Sample::Taken(register) => Access::register(register, Effect::TestAndSet),
        }
    }

    /// Whether a poll would find something else now.
    pub(super) fn is_outdated(&self, memory: &Memory) -> bool {
        match *self {
            Sample::Line(at, line) => memory.read_line(at) != line,
            Sample::Word(at, word) => memory.read_word(at) != word,
            Sample::Counter(counter, value) => memory.access_counter(counter, CounterAccess::Read) != value,
            Sample::Taken(register) => memory.holder(register).is_none(),
        }
    }
}

/// The wait of one core.
#[derive(Default)]
pub(super) struct CoreWait {
    /// Between the first poll and the end of the wait.
    pub(super) active: bool,
    /// Its first poll has failed.
    pub(super) goes_on: bool,
    /// Between a poll's begin and its end.
    pub(super) polling: bool,
    /// The last poll went over the network, where it may have kept others waiting.
    pub(super) polls_network: bool,
    /// The last poll went to private memory, where it may have kept others waiting.
    pub(super) runs_errands: bool,
    /// The last poll fetched a line that stays in the cache.
    pub(super) polls_memory: bool,
    /// Out of the schedule.
    pub(super) parked: bool,
    pub(super) since_ps: u64,
    /// When the last poll began.
    pub(super) start_ps: u64,
    /// What a poll reads before this time is what the last one read.
    pub(super) replay_before_ps: u64,
    pub(super) samples: Vec<Sample>,
    pub(super) last_samples: Vec<Sample>,
    /// Where accesses meet, the polls of this core that go on without it while it is parked.
    pub(super) train: Train,
    /// What the first accesses of the next poll read is what the last one did, at the times that the train says.
    pub(super) replays: usize,
    /// The access after those was on its way already, and takes effect when the core goes on.
    pub(super) is_under_way: bool,
    /// When the last poll before its deadline begins.
    pub(super) last_poll_ps: Option<u64>,
    pub(super) woken: Option<Woken>,
    pub(super) info: Option<WaitInfo>,
    /// The register that is awaited, if it is one.
    pub(super) register: Option<CoreId>,
    /// What is being watched for this core.
    pub(super) watched: Vec<Access>,
    /// Polls in vain, where none is skipped.
    pub(super) vain: Vain,
}

/// How often a core has looked in vain since something changed.
#[derive(Clone, Copy, Default)]
pub(super) struct Vain {
    polls: usize,
    /// Whether it has looked everywhere.
    hopeless: bool,
    /// After which change.
    change: u64,
}

/// Finds out that nothing will ever happen any more where waiting cores poll on: all look in vain, and nothing changes.
#[derive(Default)]
pub(super) struct Polling {
    /// Counts what changes.
    change: u64,
    /// Cores that have looked everywhere since, in vain.
    hopeless: usize,
    pub(super) finished: usize,
    /// Cores that are out of the schedule until something changes.
    pub(super) parked: usize,
    /// Those of them whose trains have a deadline.
    pub(super) timed_trains: usize,
}

impl Polling {
    /// A core has written something, or has stopped waiting.
    pub(super) fn something_changed(&mut self) {
        self.change += 1;
        self.hopeless = 0;
    }

    /// A poll of `places` places has failed. Returns whether its core has looked at all of them since something
    /// changed: the first poll may have begun before, and a check need not look at more than one place in a poll.
    pub(super) fn looked_in_vain(&mut self, vain: &mut Vain, places: usize) -> bool {
        self.renew(vain);
        vain.polls += 1;
        self.set_hopeless(vain, vain.polls >= 2 * places)
    }

    /// A wait may name other places in its next poll, and a core counts once.
    fn set_hopeless(&mut self, vain: &mut Vain, hopeless: bool) -> bool {
        self.hopeless -= usize::from(std::mem::replace(&mut vain.hopeless, hopeless));
        self.hopeless += usize::from(hopeless);
        hopeless
    }

    /// A core that waits is taken out of the schedule.
    pub(super) fn parks(&mut self, vain: &mut Vain) {
        self.renew(vain);
        self.set_hopeless(vain, false);
        vain.polls = 0;
        self.parked += 1;
    }

    fn renew(&self, vain: &mut Vain) {
        if vain.change != self.change {
            *vain = Vain { change: self.change, ..Vain::default() };
        }
    }

    /// Whether none of `cores` cores will ever go on.
    pub(super) fn is_over(&self, cores: usize) -> bool {
        self.hopeless + self.parked > 0 && self.hopeless + self.finished + self.parked == cores
    }
}

impl CoreWait {
    /// What is awaited, if the last poll found nothing.
    pub(super) fn awaited(&self) -> Option<Reason> {
        self.info.filter(|_| self.active).map(|info| info.reason)
    }

    /// What the last poll read where this one is about to make `access`. A check that looks elsewhere each time gets
    /// nothing, and reads for real.
    pub(super) fn last_sample(&self, access: Access) -> Option<Sample> {
        self.last_samples.get(self.samples.len()).copied().filter(|sample| sample.access() == access)
    }

    /// Whether the last poll was like the one before: then so will be the next one. A check may remember what it has found,
    /// and so the first poll may have looked at more.
    pub(super) fn repeats_itself(&self) -> bool {
        !self.samples.is_empty()
            && !self.runs_errands
            && self.samples == self.last_samples
            && self.train.legs.len() == self.samples.len()
            && self.train.repeats_itself()
    }

    /// When the poll begins that is the first to end at `deadline_ps` or later; the last one ended at `clock_ps`.
    pub(super) fn last_poll_ps(&self, clock_ps: u64, deadline_ps: u64) -> u64 {
        let period = (clock_ps - self.start_ps).max(1);
        self.start_ps + (deadline_ps - self.start_ps - 1) / period * period
    }

    /// The poll that would be under way just before `seen_from_ps`, from when on reads see a change, had the core polled on
    /// since its last poll, which ended at `clock_ps`: how many polls would have ended since then, and when this one would
    /// have begun.
    pub(super) fn under_way(&self, clock_ps: u64, seen_from_ps: u64) -> (u64, u64) {
        let period = (clock_ps - self.start_ps).max(1);
        // A read at that very moment sees the change, so the poll that ends then is not yet over.
        let polls = (seen_from_ps.saturating_sub(self.start_ps + 1) / period).max(1);
        (polls - 1, self.start_ps + polls * period)
    }
}

#[derive(Clone, Copy)]
struct Watcher {
    core: u16,
    mask: u32,
}

/// Who watches what. Costs a comparison for each write when nobody watches anything, and one lookup otherwise.
#[derive(Default)]
pub(super) struct WatchTable {
    watchers: FxHashMap<u64, Vec<Watcher>>,
    entries: usize,
}

impl WatchTable {
    /// The accesses that a watch is about.
    pub(super) fn accesses(watch: Watch<'_>, into: &mut Vec<Access>) {
        match watch {
            Watch::Register(register) => into.push(Access::register(register, Effect::TestAndSet)),
            Watch::Places(places) => into.extend(places.iter().map(|place| match *place {
                Place::Line(line) => Access::line(LineAddress::Mpb(line), u32::MAX, Effect::Read),
                Place::Word(region, index) => Access::word(region.start().plus(index * 4), Effect::Read),
                Place::Counter(counter) => Access::counter(counter, Effect::Read),
            })),
        }
    }

    pub(super) fn enter(&mut self, core: usize, accesses: &[Access]) {
        for access in accesses {
            self.watchers.entry(access.key).or_default().push(Watcher { core: core as u16, mask: access.mask });
        }
        self.entries += accesses.len();
    }

    pub(super) fn remove(&mut self, core: usize, accesses: &[Access]) {
        for access in accesses {
            if let Some(watchers) = self.watchers.get_mut(&access.key) {
                let before = watchers.len();
                // Empty lists stay, since most lines that were awaited once are awaited again.
                watchers.retain(|watcher| usize::from(watcher.core) != core || watcher.mask != access.mask);
                self.entries -= before - watchers.len();
            }
        }
    }

    /// The cores that watch any of the bytes.
    pub(super) fn of(&self, access: Access) -> impl Iterator<Item = usize> {
        let watchers = if self.entries == 0 { None } else { self.watchers.get(&access.key) };
        watchers
            .into_iter()
            .flatten()
            .filter(move |watcher| watcher.mask & access.mask != 0)
            .map(|w| usize::from(w.core))
    }
}
