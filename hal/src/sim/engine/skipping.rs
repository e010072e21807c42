//! Which polls are skipped; and where accesses meet, how a core comes back to them.

use prices::{Journey, Trip};

use super::{
    super::{choice::Freedom, train::Leg},
    Effect, Engine, Watch, Woken,
};

impl Engine {
    /// `core` polls again at once. One that has often looked in vain since anything changed gives way before, so that
    /// the machine can be given up when all do.
    pub(super) fn poll_on(&mut self, core: usize, watch: Watch<'_>, deadline_ps: Option<u64>) -> Option<Woken> {
        let again = Woken::Poll { missed_polls: 0 };
        let places = match watch {
            Watch::Register(_) => 1,
            Watch::Places(places) => places.len().max(1),
        };
        if deadline_ps.is_some() || !self.polling.looked_in_vain(&mut self.waits[core].vain, places) {
            return Some(again);
        }
        self.waits[core].woken = Some(again);
        self.enter(core, self.clocks[core], Effect::Read);
        None
    }

    /// `core` polls nothing and waits for its deadline alone, before which nothing ends its wait where it cannot be interrupted:
    /// it goes on with the last poll before that. False where each poll takes the next answer of chance.
    pub(super) fn sleeps(&mut self, core: usize, watch: Watch<'_>, deadline_ps: Option<u64>) -> bool {
        let wait = &mut self.waits[core];
        let looks_nowhere = matches!(watch, Watch::Places([]))
            && wait.samples.is_empty()
            && wait.train.legs.is_empty()
            && !wait.runs_errands;
        let Some(deadline_ps) = deadline_ps.filter(|_| self.skips && self.traffic.is_some() && looks_nowhere) else {
            return false;
        };
        if self.interrupts[core].is_open() || self.chooser.freedom() != Freedom::NONE {
            return false;
        }
        let clock = &mut self.clocks[core];
        let last_ps = wait.last_poll_ps(*clock, deadline_ps);
        let polls = (last_ps - wait.start_ps) / (*clock - wait.start_ps).max(1);
        wait.woken = Some(Woken::Poll { missed_polls: polls.saturating_sub(1) });
        *clock = last_ps;
        self.enter(core, last_ps, Effect::Read);
        true
    }

    /// Whether the polls of `core`, the last of which has just failed, can be skipped; those that look nowhere have
    /// [a rule of their own](Self::sleeps).
    ///
    /// Where accesses do not meet they can, unless they go over a network. Where they do, the accesses of those that are
    /// skipped are made by the core's train. Then these cannot be skipped:
    ///
    /// * of a core that looked elsewhere in its last poll than in the one before, or went to private memory besides;
    /// * of a core that can be interrupted;
    /// * those that chance delays, or whose ties it breaks: each poll takes the next answer from the list.
    pub(super) fn may_skip(&self, core: usize) -> bool {
        let wait = &self.waits[core];
        self.skips
            && if self.traffic.is_none() {
                !wait.polls_network
            } else {
                !self.interrupts[core].is_open() && self.chooser.freedom() == Freedom::NONE && wait.repeats_itself()
            }
    }

    /// If a poll goes on with an access that was on its way already, its time has come.
    pub(super) fn has_arrived(&mut self, core: usize) -> bool {
        let wait = &mut self.waits[core];
        if !std::mem::take(&mut wait.is_under_way) {
            return false;
        }
        wait.train.legs.extend(wait.train.last_legs.get(wait.samples.len()));
        self.clocks[core] = self.now_ps;
        true
    }

    /// Notes when an access of a poll starts.
    pub(super) fn note_leg(&mut self, core: usize, start_ps: u64, alone_ps: u64, effect: Effect, trip: Option<Trip>) {
        let wait = &mut self.waits[core];
        if wait.polling {
            let gap_ps = start_ps - wait.train.last_ps();
            wait.train.legs.push(Leg { gap_ps, alone_ps, trip, effect });
        }
    }

    /// From now on the polls of `core`, the last of which has just failed, are made by its train.
    pub(super) fn train_sets_off(&mut self, core: usize, deadline_ps: Option<u64>) {
        self.polling.timed_trains += usize::from(deadline_ps.is_some());
        let Some(traffic) = &self.traffic else { return };
        self.waits[core].train.set_off(self.clocks[core], deadline_ps, |port| traffic.is_beside(core, port));
        self.train_goes_on(core);
    }

    /// It is known when an access of a train takes effect.
    pub(super) fn train_passes(&mut self, core: usize, effect_ps: u64) {
        let train = &mut self.waits[core].train;
        train.passes(effect_ps);
        if train.is_last() {
            self.comes_back_before(core, effect_ps);
        } else {
            self.train_goes_on(core);
        }
    }

    /// The next access of a train begins, or its polls sleep.
    fn train_goes_on(&mut self, core: usize) {
        let (Some(traffic), train) = (&mut self.traffic, &mut self.waits[core].train) else { return };
        train.is_asleep = match train.berth() {
            Some(Some(port)) => traffic.sleeps(core, port, train.end_ps()),
            Some(None) => true,
            None => false,
        };
        if !train.is_asleep {
            self.depart(core);
        }
    }

    /// The next access of a train begins.
    pub(super) fn depart(&mut self, core: usize) {
        let Some(traffic) = &mut self.traffic else { return };
        let (start_ps, leg) = self.waits[core].train.next();
        match leg.trip {
            Some(trip) => traffic.depart(core, start_ps, Journey { trip, effect: leg.effect, more: 0 }),
            None => traffic.pass(core, start_ps + leg.alone_ps, leg.effect),
        }
    }

    /// The polls of `core`, which sleep, have come to where they are at `time_ps`: before the first access that has not asked
    /// for the port before, or, if it goes to none, taken effect until then. If this is because another core asks for the port,
    /// it is given as `asking`: of two that ask at a time the lower one comes first.
    pub(super) fn rouse(&mut self, core: usize, time_ps: u64, asking: Option<u16>) {
        let (Some(traffic), train) = (&mut self.traffic, &mut self.waits[core].train) else { return };
        if let Some(port) = train.wakes() {
            traffic.wakes(port);
        }
        train.pass_before(time_ps);
        loop {
            let (start_ps, leg) = train.next();
            let asks_ps = start_ps + leg.asks_after_ps();
            let comes_first = asking.is_none_or(|other| core < usize::from(other));
            if asks_ps > time_ps || asks_ps == time_ps && !comes_first {
                break;
            }
            if let Some((trip, port)) = leg.trip.and_then(|trip| Some((trip, trip.target.port()?))) {
                traffic.has_asked(port, asks_ps, trip);
            }
            train.passes(start_ps + leg.alone_ps);
        }
    }

    /// `core` comes back from where its polls were skipped, before the first access that sees what has been done now.
    pub(super) fn comes_back(&mut self, core: usize, effect: Effect) {
        let now = self.now_ps;
        let is_asleep = self.waits[core].train.is_asleep;
        if is_asleep {
            self.rouse(core, now, None);
        }
        if let Some(effect_ps) = self.waits[core].train.sees(now, effect) {
            if let (false, Some(traffic)) = (is_asleep, &mut self.traffic) {
                traffic.call_off(core);
            }
            return self.comes_back_before(core, effect_ps);
        }
        if is_asleep {
            self.depart(core);
        }
        self.comes_back_in_poll(core);
    }

    /// `core` comes back before the last access of its train, which takes effect at `effect_ps`.
    fn comes_back_before(&mut self, core: usize, effect_ps: u64) {
        let effect = self.waits[core].train.take_back();
        self.comes_back_in_poll(core);
        self.clocks[core] = effect_ps;
        self.enter(core, effect_ps, effect);
    }

    /// `core` comes back with the next access of its train, which is on its way.
    fn comes_back_in_poll(&mut self, core: usize) {
        let wait = &mut self.waits[core];
        wait.parked = false;
        self.polling.parked -= 1;
        self.polling.timed_trains -= usize::from(wait.train.has_deadline());
        wait.woken = Some(Woken::Poll { missed_polls: wait.train.stop() });
        wait.replays = wait.train.effects_ps.len();
        wait.is_under_way = true;
    }
}
