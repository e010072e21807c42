//! Skipped polls where accesses meet: how a core comes back to them.

use super::{
    super::{contention::{Journey, Trip}, waiting::Leg},
    Effect, Engine, Woken,
};

impl Engine {
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

    /// `core`, whose polls are skipped, is from `time_ps` on where it would be had it polled on: before the first access
    /// that takes effect then or later, which may have been served already. If this is because another core asks for the
    /// port then, it is given as `asking`: of two that ask at a time the lower one comes first.
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
