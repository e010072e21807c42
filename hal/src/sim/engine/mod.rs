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

use std::{
    cmp::Reverse,
    collections::{BTreeSet, BinaryHeap},
};

use prices::{Journey, Settled, Traffic, Trip};

use crate::{
    CoreId,
    emulated::{Choice, WaitInfo},
    kit::{Watch, Woken},
};

use super::{
    Deviation,
    access::{Access, Effect},
    asked::is_end_asked_for,
    choice::{Bounds, Chooser, DELAYS, Question, Schedule, Slow, delay_ps},
    cost::WriteCost,
    course::{Course, Does},
    free::{FreeSchedule, Next},
    interrupt_line::InterruptLine,
    lines::Lines,
    memory::Memory,
    network::Network,
    processor::processor_time,
    waiting::{CoreWait, Polling, Sample, WatchTable},
};

/// Events of one time from which the first is chosen; it bounds the work when all of 4096 cores start at once.
const MAX_TIES: usize = 16;

/// Turns after which it is looked whether there is processor time left, in a run with a limit.
const TURNS_OF_A_LOOK: u64 = 1 << 12;

/// What a core does next, and when.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Event {
    time_ps: u64,
    effect: Effect,
    core: u16,
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
    ready: BinaryHeap<Reverse<Event>>,
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
            ready: BinaryHeap::with_capacity(cores),
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

    /// `core` makes an access that takes effect in `cost_ps`. True if its turn has come already; else it is entered for
    /// later and has to give way.
    pub(super) fn reach(&mut self, core: usize, access: Access, cost_ps: u64) -> bool {
        self.work.accesses += 1;
        self.sets_off(core);
        // The polls of a wait have one period, so it is their beginning that is delayed.
        let delay = if self.waits[core].polling { 0 } else { self.delay() };
        let time = self.clocks[core].saturating_add(cost_ps).saturating_add(delay).max(self.now_ps);
        self.clocks[core] = time;
        if let Some(free) = &mut self.free {
            free.stops_before(core, access, self.waits[core].polling);
            return false;
        }
        if let Some(course) = &mut self.course {
            let event = Event { time_ps: time, effect: access.effect, core: core as u16 };
            let does = if access.effect == Effect::Write { Does::Store } else { Does::Look(access.key) };
            course.reaches(core, event, does, self.waits[core].polling);
            return false;
        }
        if self.traffic.is_some() {
            if self.has_arrived(core) {
                return true;
            }
            self.note_leg(core, time - cost_ps, cost_ps, access.effect, None);
            self.enter(core, time, access.effect);
            return self.goes_straight_on(core);
        }
        let ready = self.ready.peek().map_or(u64::MAX, |event| event.0.time_ps);
        let last_poll = self.last_polls.first().map_or(u64::MAX, |last| last.0);
        if time < ready.min(last_poll).min(self.next_alarm_ps()).min(self.next_of_network_ps()) && !self.stops_at(time)
        {
            self.now_ps = time;
            return true;
        }
        self.enter(core, time, access.effect);
        false
    }

    /// Explores every order of operations, also of those that touch different memory.
    pub(super) fn nothing_commutes(&mut self) {
        if let Some(free) = &mut self.free {
            free.nothing_commutes();
        }
    }

    /// As [`reach`](Self::reach), for an access that may meet others on its way.
    pub(super) fn travel(&mut self, core: usize, access: Access, trip: Trip) -> bool {
        self.work.accesses += 1;
        if self.has_arrived(core) {
            return true;
        }
        self.sets_off(core);
        let delay = if self.waits[core].polling { 0 } else { self.delay() };
        self.clocks[core] = self.clocks[core].saturating_add(delay);
        if let Some(traffic) = &self.traffic {
            let alone_ps = traffic.alone_ps(access.effect, trip);
            self.note_leg(core, self.clocks[core].max(self.now_ps), alone_ps, access.effect, Some(trip));
        }
        self.set_out(core, Journey { trip, effect: access.effect, more: 0 })
    }

    /// `core` goes on a journey that nobody else sees, but may meet on its way. True if it is back already; else it has
    /// to give way. The answer of its last access is left to be spent.
    pub(super) fn run_errand(&mut self, core: usize, journey: Journey) -> bool {
        self.waits[core].runs_errands |= self.waits[core].polling;
        self.sets_off(core);
        self.set_out(core, journey)
    }

    /// An access of `core` goes out, once its last store is answered.
    fn sets_off(&mut self, core: usize) {
        if self.posts_stores {
            self.clocks[core] = self.clocks[core].max(self.answered[core]);
            self.departed[core] = self.clocks[core];
        }
    }

    /// An access of `core` that nobody else sees or meets takes so long.
    pub(super) fn passes(&mut self, core: usize, cost_ps: u64) {
        self.sets_off(core);
        self.spend(core, cost_ps);
    }

    /// A store of `core` has taken effect, and its answer takes so long: what the core does meanwhile is its own matter.
    pub(super) fn posted(&mut self, core: usize, answer_ps: u64) {
        self.visible[core] = self.clocks[core];
        if self.posts_stores {
            self.answered[core] = self.clocks[core].saturating_add(answer_ps);
            self.clocks[core] = self.departed[core];
        } else {
            self.spend(core, answer_ps);
        }
    }

    /// `core` goes on a journey. True if it is back already; else it has to give way.
    fn set_out(&mut self, core: usize, journey: Journey) -> bool {
        let start = self.clocks[core].max(self.now_ps);
        let Some(traffic) = &mut self.traffic else {
            unreachable!("only where accesses can meet they are on their way")
        };
        traffic.depart(core, start, journey);
        self.goes_straight_on(core)
    }

    /// Whether the access of `core`, which runs and is entered already, comes before all others. Else it has to give
    /// way.
    fn goes_straight_on(&mut self, core: usize) -> bool {
        self.move_traffic();
        let Some(Reverse(first)) = self.ready.pop() else { return false };
        let is_alone = self.ready.peek().is_none_or(|second| first.time_ps < second.0.time_ps);
        let is_next = is_alone && first.time_ps < self.next_alarm_ps() && !self.stops_at(first.time_ps);
        if usize::from(first.core) == core && is_next {
            self.now_ps = first.time_ps;
            return true;
        }
        self.ready.push(Reverse(first));
        false
    }

    /// Whether the run stops before what takes effect at this time, which nothing precedes.
    pub(super) fn stops_at(&self, time_ps: u64) -> bool {
        time_ps >= self.stop_ps || self.work.accesses >= self.stop_access
    }

    fn next_alarm_ps(&self) -> u64 {
        self.alarms.first().map_or(u64::MAX, |alarm| alarm.0)
    }

    /// Lets accesses go on that are on their way, up to the first that takes effect. No core runs meanwhile that
    /// could begin another one earlier.
    fn move_traffic(&mut self) {
        if self.traffic.is_none() {
            return;
        }
        let alarm = self.next_alarm_ps();
        while !is_end_asked_for()
            && let Some(traffic) = &mut self.traffic
            && let Some(next) = traffic.next_ps()
            && self.ready.peek().map_or(alarm, |first| first.0.time_ps.min(alarm)) >= next
        {
            if let Some((sleeper, asking)) = traffic.disturbs() {
                self.rouse(sleeper.into(), next, Some(asking));
                self.depart(sleeper.into());
            } else if let Some(settled) = traffic.step() {
                self.settled(settled);
            }
        }
    }

    /// An access has been served; its core goes on when it takes effect, or its train does.
    fn settled(&mut self, Settled { core, time_ps, effect }: Settled) {
        if self.waits[usize::from(core)].parked {
            return self.train_passes(core.into(), time_ps);
        }
        self.clocks[usize::from(core)] = time_ps;
        self.ready.push(Reverse(Event { time_ps, effect, core }));
    }

    /// `core` has just made an access that may have changed something; the rest of its cost is its own.
    pub(super) fn written(&mut self, core: usize, access: Access, cost: WriteCost) {
        self.announce_change(access);
        self.posted(core, cost.complete_ps - cost.visible_ps);
    }

    /// Memory has changed: those who watch it look again.
    fn announce_change(&mut self, access: Access) {
        self.fruitless_rounds = 0;
        self.polling.something_changed();
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

    /// Who runs next.
    pub(super) fn next(&mut self) -> Next {
        if let Some(bounds) = self.bounds {
            self.turns += 1;
            let looks = self.turns.is_multiple_of(TURNS_OF_A_LOOK);
            if self.turns > bounds.turns || looks && processor_time() > bounds.processor {
                self.is_cut = true;
                return Next::Redundant;
            }
        }
        let next = match &mut self.free {
            Some(free) => match free.next(&mut self.chooser) {
                Next::Nobody => self.time_out().unwrap_or(Next::Nobody),
                next => next,
            },
            None if self.course.is_some() => self.next_of_course(),
            None => self.next_by_time(),
        };
        match next {
            Next::Nobody if self.another_round() => self.next(),
            next => next,
        }
    }

    fn next_by_time(&mut self) -> Next {
        // An interrupt that is on its way is not seen by looking, until it is there.
        if self.polling.is_over(self.waits.len()) && self.alarms.is_empty() && self.nothing_is_on_its_way() {
            return Next::Nobody;
        }
        self.move_traffic();
        if self.network.is_some()
            && let Some(stored) = self.move_network()
        {
            return Next::Store(stored);
        }
        let ready = self.ready.peek().map_or(u64::MAX, |event| event.0.time_ps);
        let last_poll = self.last_polls.first().map_or(u64::MAX, |last| last.0);
        if let Some(&(time, core)) = self.alarms.first().filter(|alarm| alarm.0 <= ready.min(last_poll)) {
            self.alarms.pop_first();
            self.polling.something_changed();
            self.now_ps = self.now_ps.max(time);
            // A core that waits is entered for its next poll instead.
            return if self.wake(usize::from(core)) { Next::Core(usize::from(core)) } else { self.next_by_time() };
        }
        if last_poll < ready {
            return self.time_out().unwrap_or(Next::Nobody);
        }
        let Some(Reverse(first)) = self.ready.pop() else { return Next::Nobody };
        let event = if self.chooser.freedom().ties { self.break_tie(first) } else { first };
        self.now_ps = event.time_ps;
        Next::Core(usize::from(event.core))
    }

    /// As [`next_by_time`](Self::next_by_time), where accesses do not meet and some cores may be slow.
    fn next_of_course(&mut self) -> Next {
        let soonest = self.course.as_ref().and_then(Course::soonest);
        let last_poll = self.last_polls.first().map_or(u64::MAX, |last| last.0);
        let ready = soonest.map_or(u64::MAX, |event| event.time_ps.max(self.now_ps));
        if let Some(&(time, core)) = self.alarms.first().filter(|alarm| alarm.0 <= ready.min(last_poll)) {
            self.alarms.pop_first();
            self.now_ps = self.now_ps.max(time);
            return if self.wake(usize::from(core)) { Next::Core(usize::from(core)) } else { self.next_of_course() };
        }
        if soonest.is_none_or(|event| last_poll < event.time_ps) {
            return self.time_out().unwrap_or(Next::Nobody);
        }
        let Some(event) = self.course.as_mut().and_then(Course::next) else { return Next::Nobody };
        let core = usize::from(event.core);
        self.now_ps = self.now_ps.max(event.time_ps);
        self.clocks[core] = self.clocks[core].max(self.now_ps);
        Next::Core(core)
    }

    /// Whether no store will change anything by itself, and no wait ends by itself.
    fn nothing_is_on_its_way(&self) -> bool {
        self.last_polls.is_empty()
            && self.polling.timed_trains == 0
            && self.network.as_ref().is_none_or(|network| !network.has_stores())
    }

    fn break_tie(&mut self, first: Event) -> Event {
        let mut ties = vec![first];
        while ties.len() < MAX_TIES
            && let Some(Reverse(event)) = self.ready.peek()
            && event.time_ps == first.time_ps
        {
            ties.push(*event);
            self.ready.pop();
        }
        let chosen = ties.swap_remove(self.chooser.choose(Question::Tie, ties.len()));
        self.ready.extend(ties.into_iter().map(Reverse));
        chosen
    }

    /// The core whose deadline comes first begins the last poll before it.
    fn time_out(&mut self) -> Option<Next> {
        let (time, core) = self.last_polls.pop_first()?;
        let core = usize::from(core);
        self.now_ps = self.now_ps.max(time);
        let wait = &mut self.waits[core];
        let period = (self.clocks[core] - wait.start_ps).max(1);
        self.clocks[core] = time;
        wait.parked = false;
        self.polling.parked -= 1;
        wait.last_poll_ps = None;
        wait.woken = Some(Woken::Poll { missed_polls: (time - wait.start_ps) / period - 1 });
        Some(Next::Core(core))
    }

    /// Before a machine is given up: a check that does not look at all its places in each poll may have last looked
    /// at one that has not changed. Let such cores poll on until each has had the time to look everywhere.
    fn another_round(&mut self) -> bool {
        let incomplete = |wait: &CoreWait| wait.parked && wait.samples.len() < wait.watched.len();
        let places = self.waits.iter().filter(|wait| incomplete(wait)).map(|wait| wait.watched.len()).max();
        if self.fruitless_rounds >= 2 * places.unwrap_or(0) {
            return false;
        }
        self.fruitless_rounds += 1;
        for core in 0..self.waits.len() {
            if incomplete(&self.waits[core]) {
                self.resume(core, Effect::Write);
            }
        }
        true
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
            None => self.ready.push(Reverse(event)),
        }
    }

    pub(super) fn delay(&mut self) -> u64 {
        delay_ps(self.chooser.choose(Question::Delay, DELAYS))
    }
}
