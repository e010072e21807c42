//! Accesses of cores: when they set out, what they meet on their way, and when they take effect.

use prices::{Journey, Settled, Trip};

use super::{
    super::{
        access::{Access, Effect},
        asked::is_end_asked_for,
        cost::WriteCost,
        course::Does,
    },
    Engine, Event,
};

impl Engine {
    /// `core` makes an access that takes effect in `cost_ps`. True if its turn has come already; else it is entered for
    /// later and has to give way.
    pub(in crate::sim) fn reach(&mut self, core: usize, access: Access, cost_ps: u64) -> bool {
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
        let ready = self.ready.first_ps();
        let last_poll = self.last_polls.first().map_or(u64::MAX, |last| last.0);
        if time < ready.min(last_poll).min(self.next_alarm_ps()).min(self.next_of_network_ps()) && !self.stops_at(time)
        {
            self.now_ps = time;
            return true;
        }
        self.enter(core, time, access.effect);
        false
    }

    /// As [`reach`](Self::reach), for an access that may meet others on its way.
    #[inline(always)]
    pub(in crate::sim) fn travel(&mut self, core: usize, access: Access, trip: Trip) -> bool {
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
    #[inline(always)]
    pub(in crate::sim) fn run_errand(&mut self, core: usize, journey: Journey) -> bool {
        self.waits[core].runs_errands |= self.waits[core].polling;
        self.sets_off(core);
        self.set_out(core, journey)
    }

    /// An access of `core` goes out, once its last store is answered.
    pub(super) fn sets_off(&mut self, core: usize) {
        if self.posts_stores {
            self.clocks[core] = self.clocks[core].max(self.answered[core]);
            self.departed[core] = self.clocks[core];
        }
    }

    /// `core` makes an access of `cost_ps` picoseconds that nobody else sees or meets.
    pub(in crate::sim) fn passes(&mut self, core: usize, cost_ps: u64) {
        self.sets_off(core);
        self.spend(core, cost_ps);
    }

    /// A store of `core` has taken effect, and its answer takes `answer_ps` picoseconds: what the core does meanwhile is its own matter.
    pub(in crate::sim) fn posted(&mut self, core: usize, answer_ps: u64) {
        self.visible[core] = self.clocks[core];
        if self.posts_stores {
            self.answered[core] = self.clocks[core].saturating_add(answer_ps);
            self.clocks[core] = self.departed[core];
        } else {
            self.spend(core, answer_ps);
        }
    }

    /// `core` goes on a journey. True if it is back already; else it has to give way.
    #[inline(always)]
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
    #[inline(never)]
    fn goes_straight_on(&mut self, core: usize) -> bool {
        self.move_traffic();
        let Some(first) = self.ready.first().map(Event::of_rank) else { return false };
        // Where chance breaks ties it is asked whether there is one.
        let is_next =
            !self.chooser.freedom().ties && first.time_ps < self.next_alarm_ps() && !self.stops_at(first.time_ps);
        if usize::from(first.core) != core || !is_next {
            return false;
        }
        self.ready.strike(core);
        self.now_ps = first.time_ps;
        true
    }

    /// Lets accesses go on that are on their way, up to the first that takes effect. No core runs meanwhile that
    /// could begin another one earlier.
    pub(super) fn move_traffic(&mut self) {
        if self.traffic.is_none() {
            return;
        }
        let alarm = self.next_alarm_ps();
        while !is_end_asked_for()
            && let Some(traffic) = &mut self.traffic
            && let Some(next) = traffic.next_ps()
            && self.ready.first_ps().min(alarm) >= next
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
        self.make_ready(Event { time_ps, effect, core });
    }

    /// `core` has just made an access that may have changed something; the rest of its cost is its own.
    pub(in crate::sim) fn written(&mut self, core: usize, access: Access, cost: WriteCost) {
        self.announce_change(access);
        self.posted(core, cost.complete_ps - cost.visible_ps);
    }
}
