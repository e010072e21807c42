//! Which polls are skipped; and where accesses meet, how a core comes back to them.

use prices::{Journey, Trip};

use crate::LineAddress;

use super::{
    super::{
        choice::Freedom,
        waiting::{Leg, Sample},
    },
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

    /// Whether the polls of `core`, the last of which has just failed, can be skipped: the one rule for that.
    ///
    /// Where accesses do not meet they can, unless they go over a network. Where they do, those can be skipped that
    /// meet nobody until somebody asks for the port of the MPB that they read: polls of lines of the own tile, which
    /// pass no link, and of registers and the board's counters, which have no queues. Not those
    ///
    /// * of lines farther away, which take turns on links, and of words, which go to memory controllers;
    /// * of lines at a port that is busy, or that another core's skipped polls go to;
    /// * of a core that was kept waiting, or looked elsewhere, in its last poll: the next one takes another time;
    /// * with a deadline, or of a core that can be interrupted;
    /// * that chance delays, or whose ties it breaks: each poll takes the next answer from the list.
    pub(super) fn may_skip(&self, core: usize, deadline_ps: Option<u64>) -> bool {
        let wait = &self.waits[core];
        let Some(traffic) = &self.traffic else { return self.skips && !wait.polls_network };
        let is_plain = |sample: &Sample| {
            matches!(sample, Sample::Line(LineAddress::Mpb(_), _) | Sample::Taken(_) | Sample::Counter(..))
        };
        self.skips
            && deadline_ps.is_none()
            && !self.interrupts[core].is_open()
            && self.chooser.freedom() == Freedom::NONE
            && wait.repeats_itself()
            && wait.samples.iter().all(is_plain)
            && wait.ports().all(|port| Some(port) == wait.port() && traffic.is_beside(core, port))
            && wait.port().is_none_or(|port| traffic.is_at_rest(port, self.clocks[core]))
            && !self.polling.is_chased(&wait.vain)
    }

    /// If a poll goes on with an access that was on its way already, its time has come.
    pub(super) fn has_arrived(&mut self, core: usize) -> bool {
        let wait = &mut self.waits[core];
        if !std::mem::take(&mut wait.is_under_way) {
            return false;
        }
        wait.legs.extend(wait.last_legs.get(wait.samples.len()));
        self.clocks[core] = self.now_ps;
        true
    }

    /// Notes when an access of a poll would take effect that nobody keeps waiting.
    pub(super) fn note_leg(&mut self, core: usize, start_ps: u64, alone_ps: u64, trip: Option<Trip>) {
        let wait = &mut self.waits[core];
        if wait.polling {
            let start_ps = start_ps - wait.start_ps;
            wait.legs.push(Leg { start_ps, effect_ps: start_ps + alone_ps, trip });
        }
    }

    /// `core`, whose polls are skipped, is from `time_ps` on where it would be had it polled on: before the first
    /// access that takes effect then or later, which may have been served already. If this is because another core asks
    /// for the port then, it is given as `asking`: of two that ask at a time the lower one comes first.
    pub(super) fn return_to_port(&mut self, core: usize, time_ps: u64, asking: Option<u16>) {
        let wait = &mut self.waits[core];
        let (start_ps, missed_polls, index) = wait.next_access(self.clocks[core], time_ps);
        let leg = wait.legs[index];
        let effect_ps = start_ps + leg.effect_ps;
        wait.woken = Some(Woken::Poll { missed_polls });
        wait.restart_ps = Some(start_ps);
        wait.replay_before_ps = effect_ps;
        wait.is_under_way = true;
        let effect = wait.samples[index].access().effect;
        let port = wait.port();
        if let (Some(traffic), Some(port)) = (&mut self.traffic, port) {
            traffic.expect_no_polls(port);
        }
        if wait.parked {
            wait.parked = false;
            self.polling.parked -= 1;
            self.polling.returns(&mut wait.vain);
        }
        let (Some(traffic), Some(trip), Some(port)) = (&mut self.traffic, leg.trip, port) else {
            return self.enter(core, effect_ps, effect);
        };
        let asks_ps = start_ps + leg.start_ps + trip.to_port_ps;
        if asks_ps < time_ps || asks_ps == time_ps && asking.is_none_or(|other| core < usize::from(other)) {
            if let Some(settled) = traffic.has_asked(core, port, asks_ps, trip) {
                self.settled(settled);
            }
        } else {
            traffic.depart(core, start_ps + leg.start_ps, Journey { trip, effect: Effect::Read, more: 0 });
        }
    }
}
