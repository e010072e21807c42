//! The scheduler: clocks, events, waits.
//!
//! Each core has a clock in picoseconds. What only concerns itself moves its own clock and nothing else. An operation
//! that others can see becomes an event at the time when it takes effect, and takes effect when all earlier events
//! have: the core gives way until then, or goes straight on if nothing comes before. A core has one event at most, as
//! it has one access outstanding at most.
//!
//! Of events at one time, writes come before reads and lower cores before higher ones. This order does not depend on
//! when an event was entered; therefore a wait that is skipped and one that is polled through end alike.

mod interrupts;
mod networking;
mod skipping;
mod travelling;
mod turns;

use std::collections::BTreeSet;

use prices::{Agenda, Traffic};

use crate::{
    CoreId,
    emulated::{Choice, WaitInfo},
    kit::{Watch, Woken},
};

use super::{
    Deviation,
    access::{Access, Effect},
    choice::{Bounds, Chooser, DELAYS, Question, Schedule, Slow, delay_ps},
    course::Course,
    free::FreeSchedule,
    interrupt_line::InterruptLine,
    lines::Lines,
    memory::Memory,
    network::Network,
    waiting::{CoreWait, Polling, Sample, WatchTable},
};

/// What a core does next, and when.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Event {
    time_ps: u64,
    effect: Effect,
    core: u16,
}

impl Event {
    /// Its place among those of one time.
    fn rank(self) -> u32 {
        (self.effect as u32) << u16::BITS | u32::from(self.core)
    }

    fn of_rank((time_ps, rank): (u64, u32)) -> Self {
        const EFFECTS: [Effect; 3] = [Effect::Write, Effect::Read, Effect::TestAndSet];
        Self { time_ps, effect: EFFECTS[(rank >> u16::BITS) as usize], core: rank as u16 }
    }
}

/// What a run has made the simulator do, which is the same in each run but not on each version of the simulator.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Work {
    /// Accesses to what cores share (a line, a word, a register, a counter), one by one, those of polls among them.
    /// What a core does by itself is not, such as computing, finding a line in L1, or draining an empty buffer.
    pub accesses: u64,
    /// Polls that would have been made in vain, and were counted and not simulated.
    pub skipped_polls: u64,
}

/// The state of a machine that is not memory.
pub(super) struct Engine {
    pub(super) chooser: Chooser,
    /// The time of the last event.
    pub(super) now_ps: u64,
    pub(super) clocks: Vec<u64>,
    /// When what each core has written last took effect.
    pub(super) visible: Vec<u64>,
    /// Whether a core goes on after a store, as on the chip, and only what goes out next waits for the answer.
    pub(super) posts_stores: bool,
    /// When the last access of each core set out, and when its last store is answered.
    departed: Vec<u64>,
    answered: Vec<u64>,
    /// What each core does next.
    ready: Agenda,
    /// When cores whose waits have deadlines make their last polls.
    last_polls: BTreeSet<(u64, u16)>,
    /// When cores that compute or wait are to be woken: interrupts that arrive, computations that end.
    pub(super) alarms: BTreeSet<(u64, u16)>,
    pub(super) interrupts: Vec<InterruptLine>,
    /// Instead of `ready`, in a schedule without time.
    pub(super) free: Option<FreeSchedule>,
    /// Instead of `ready`, in a run that deviates from the plain one.
    pub(super) course: Option<Course<Event>>,
    bounds: Option<Bounds>,
    turns: u64,
    /// Whether the run was broken off there.
    pub(super) is_cut: bool,
    pub(super) waits: Vec<CoreWait>,
    watches: WatchTable,
    pub(super) fruitless_rounds: usize,
    /// Whether waiting cores are taken out of the schedule where they can be, rather than polling on.
    pub(super) skips: bool,
    polling: Polling,
    pub(super) work: Work,
    /// Where the run stops: before what takes effect at this time, and before the access that has this number.
    pub(super) stop_ps: u64,
    pub(super) stop_access: u64,
    /// Accesses on their way, where they can meet.
    pub(super) traffic: Option<Traffic>,
    /// Accesses between the nodes of a cluster.
    pub(super) network: Option<Network>,
    /// What caches hold of their own nodes' memory, on a cluster.
    pub(super) lines: Lines,
}

impl Engine {
    pub(super) fn new(cores: usize, mut chooser: Chooser) -> Self {
        let free = (chooser.freedom().schedule == Schedule::Free).then(|| FreeSchedule::new(cores, !chooser.reduces()));
        let course = chooser.take_slow().map(|slow| match slow {
            Slow::Told(deviations) => Course::told(cores, &deviations),
            Slow::ByChance { seed, depth, accesses } => Course::by_chance(cores, seed, depth, accesses),
        });
        let mut engine = Self {
            bounds: chooser.bounds(),
            turns: 0,
            is_cut: false,
            chooser,
            now_ps: 0,
            clocks: vec![0; cores],
            visible: vec![0; cores],
            posts_stores: false,
            departed: vec![0; cores],
            answered: vec![0; cores],
            ready: Agenda::new(cores),
            last_polls: BTreeSet::new(),
            alarms: BTreeSet::new(),
            interrupts: vec![InterruptLine::default(); cores],
            free,
            course,
            waits: std::iter::repeat_with(CoreWait::default).take(cores).collect(),
            watches: WatchTable::default(),
            fruitless_rounds: 0,
            skips: true,
            polling: Polling::default(),
            work: Work::default(),
            stop_ps: u64::MAX,
            stop_access: u64::MAX,
            traffic: None,
            network: None,
            lines: Lines::default(),
        };
        (0..cores).for_each(|core| engine.enter(core, 0, Effect::Read));
        engine
    }

    pub(super) fn clock_ps(&self, core: usize) -> u64 {
        self.clocks[core]
    }

    /// Work that nobody else can see.
    pub(super) fn spend(&mut self, core: usize, cost_ps: u64) {
        self.clocks[core] = self.clocks[core].saturating_add(cost_ps);
    }

    pub(super) fn choose(&mut self, core: CoreId, choice: Choice, options: usize) -> usize {
        self.chooser.choose(Question::Hardware(core, choice), options)
    }

    /// What has begun to be different from the plain run, if nobody has asked since.
    pub(super) fn begun(&mut self) -> Option<Deviation> {
        self.course.as_mut().and_then(Course::begun).or_else(|| self.chooser.begun())
    }

    /// What is different from the plain run.
    pub(super) fn made(&self) -> Vec<Deviation> {
        let slow = self.course.as_ref().map_or(&[][..], Course::made);
        let by_itself = self.chooser.made().iter().filter(|made| !slow.contains(made));
        slow.iter().chain(by_itself).copied().collect()
    }

    /// Explores every order of operations, also of those that touch different memory.
    pub(super) fn nothing_commutes(&mut self) {
        if let Some(free) = &mut self.free {
            free.nothing_commutes();
        }
    }

    /// Whether the run stops before what takes effect at this time, which nothing precedes.
    pub(super) fn stops_at(&self, time_ps: u64) -> bool {
        time_ps >= self.stop_ps || self.work.accesses >= self.stop_access
    }

    fn next_alarm_ps(&self) -> u64 {
        self.alarms.first().map_or(u64::MAX, |alarm| alarm.0)
    }

    /// Memory has changed: those who watch it look again.
    fn announce_change(&mut self, access: Access) {
        self.fruitless_rounds = 0;
        self.polling.something_changed();
        if self.watches.of(access).next().is_none() {
            return;
        }
        let watches = std::mem::take(&mut self.watches);
        for watcher in watches.of(access) {
            if self.waits[watcher].parked {
                self.resume(watcher, access.effect);
            }
        }
        self.watches = watches;
    }

    /// A poll begins.
    pub(super) fn begin_poll(&mut self, core: usize) {
        let delay = self.delay();
        self.spend(core, delay);
        self.sets_off(core);
        let now = self.clocks[core];
        let wait = &mut self.waits[core];
        if !wait.active {
            wait.active = true;
            if let Some(course) = &mut self.course {
                course.begins_wait(core);
            }
            if let Some(free) = &mut self.free {
                free.begins_wait(core);
            }
            wait.info = None;
            wait.since_ps = now;
            wait.last_samples.clear();
            wait.train.legs.clear();
            wait.replay_before_ps = 0;
            wait.replays = 0;
        } else {
            std::mem::swap(&mut wait.samples, &mut wait.last_samples);
        }
        wait.samples.clear();
        wait.train.begin_poll(now, wait.replays);
        wait.polling = true;
        wait.polls_network = false;
        wait.polls_memory = false;
        wait.runs_errands = false;
        wait.start_ps = now;
    }

    /// What `core` reads in `cost_ps`, if that lies in the part of a poll that was skipped.
    pub(super) fn replay(&mut self, core: usize, access: Access, cost_ps: u64) -> Option<Sample> {
        let wait = &mut self.waits[core];
        let place = wait.samples.len();
        let is_of_train = place < wait.replays;
        let effect_ps = if is_of_train { wait.train.effects_ps[place] } else { self.clocks[core] + cost_ps };
        if !wait.polling || !is_of_train && effect_ps >= wait.replay_before_ps {
            return None;
        }
        let sample = wait.last_sample(access)?;
        wait.train.legs.extend(wait.train.last_legs.get(place));
        wait.samples.push(sample);
        self.clocks[core] = effect_ps;
        Some(sample)
    }

    /// Notes what a poll has read.
    pub(super) fn sampled(&mut self, core: usize, sample: Sample) {
        let wait = &mut self.waits[core];
        if wait.polling {
            wait.samples.push(sample);
            wait.train.effects_ps.push(self.clocks[core]);
        }
    }

    /// A poll has failed. Returns how the core goes on, or nothing if it has to give way until
    /// [`woken`](Self::woken) knows.
    pub(super) fn park(
        &mut self,
        core: usize,
        watch: Watch<'_>,
        deadline_ps: Option<u64>,
        info: &WaitInfo,
        memory: &Memory,
    ) -> Option<Woken> {
        let now = self.clocks[core];
        let wait = &mut self.waits[core];
        wait.polling = false;
        wait.replay_before_ps = 0;
        wait.replays = 0;
        if deadline_ps.is_some_and(|deadline| deadline <= now) {
            return Some(Woken::TimedOut);
        }
        wait.info = Some(*info);
        wait.register = match watch {
            Watch::Register(register) => Some(register),
            Watch::Places(_) => None,
        };
        if self.sleeps(core, watch, deadline_ps) {
            return None;
        }
        if !self.may_skip(core) {
            return self.poll_on(core, watch, deadline_ps);
        }
        let wait = &mut self.waits[core];
        if wait.polls_memory {
            // The next poll finds in the cache what this one has fetched, and is shorter.
            return Some(Woken::Poll { missed_polls: 0 });
        }
        if wait.samples.iter().any(|sample| sample.is_outdated(memory)) {
            return Some(Woken::Poll { missed_polls: 0 });
        }
        if wait.watched.is_empty() {
            WatchTable::accesses(watch, &mut wait.watched);
            self.watches.enter(core, &wait.watched);
        }
        wait.parked = true;
        self.polling.parks(&mut wait.vain);
        if self.traffic.is_some() {
            self.train_sets_off(core, deadline_ps);
            return None;
        }
        wait.last_poll_ps = deadline_ps.map(|deadline| wait.last_poll_ps(now, deadline));
        if let Some(last) = wait.last_poll_ps {
            self.last_polls.insert((last, core as u16));
        }
        None
    }

    /// A core has come to its end.
    pub(super) fn finished(&mut self, core: usize) {
        self.polling.finished += 1;
        if let Some(course) = &mut self.course {
            course.ends(core);
        }
    }

    /// What the last poll of a core read.
    pub(super) fn last_poll(&self, core: usize) -> &[Sample] {
        &self.waits[core].samples
    }

    /// How the parked core came back.
    pub(super) fn woken(&mut self, core: usize) -> Woken {
        let wait = &mut self.waits[core];
        if wait.is_under_way {
            self.clocks[core] = wait.train.start_ps;
        }
        let woken = wait.woken.take().expect("a core that runs has been woken");
        if let Woken::Poll { missed_polls } = woken {
            self.work.skipped_polls += missed_polls;
        }
        woken
    }

    /// A wait is over; returns whether it went on after its first poll.
    pub(super) fn end_wait(&mut self, core: usize) -> bool {
        self.fruitless_rounds = 0;
        self.polling.something_changed();
        let wait = &mut self.waits[core];
        wait.active = false;
        let went_on = std::mem::take(&mut wait.goes_on);
        wait.polling = false;
        if !wait.watched.is_empty() {
            self.watches.remove(core, &wait.watched);
            wait.watched.clear();
        }
        went_on
    }

    /// Puts a parked core back into the schedule, at the poll that would be under way now had it never paused, because of
    /// what something has done now.
    pub(super) fn resume(&mut self, core: usize, effect: Effect) {
        if self.traffic.is_some() {
            return self.comes_back(core, effect);
        }
        let wait = &mut self.waits[core];
        wait.parked = false;
        self.polling.parked -= 1;
        if let Some(last) = wait.last_poll_ps.take() {
            self.last_polls.remove(&(last, core as u16));
        }
        if let Some(free) = &mut self.free {
            wait.woken = Some(Woken::Poll { missed_polls: 0 });
            free.can_run(core);
            return;
        }
        let wait = &mut self.waits[core];
        // A read at the very moment of a write sees it, but not what a test-and-set does then, which comes after all reads.
        let seen_from_ps = self.now_ps + u64::from(effect > Effect::Read);
        let (missed_polls, start) = wait.under_way(self.clocks[core], seen_from_ps);
        wait.woken = Some(Woken::Poll { missed_polls });
        wait.replay_before_ps = seen_from_ps;
        self.clocks[core] = start;
        self.enter(core, start.max(self.now_ps), Effect::Read);
    }

    fn enter(&mut self, core: usize, time_ps: u64, effect: Effect) {
        if let Some(free) = &mut self.free {
            free.can_run(core);
            return;
        }
        let event = Event { time_ps, effect, core: core as u16 };
        match &mut self.course {
            Some(course) => course.can_run(core, event),
            None => self.make_ready(event),
        }
    }

    /// By time, a core does something next.
    fn make_ready(&mut self, event: Event) {
        self.ready.enter(event.core.into(), event.time_ps, event.rank());
    }

    /// Takes off what comes first of what cores do next.
    fn take_ready(&mut self) -> Option<Event> {
        let event = self.ready.first().map(Event::of_rank)?;
        self.ready.strike(event.core.into());
        Some(event)
    }

    pub(super) fn delay(&mut self) -> u64 {
        delay_ps(self.chooser.choose(Question::Delay, DELAYS))
    }
}
