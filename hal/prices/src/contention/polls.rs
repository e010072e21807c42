//! For machines that leave out cores which wait, and make only the accesses of their polls.
//!
//! A core that polls a line of its own tile has a port to itself most of the time, and passes no link. Its polls occupy
//! the port at times that are known in advance, until somebody else asks for it: so they *sleep* until then. A port
//! that is asked for first has its sleeper's accesses made again, one of which may have made the port busy.

use super::{Step, Target, Traffic, Trip, service_ps};
use crate::Effect;

impl Traffic {
    /// How long an access takes that meets no other.
    #[inline]
    pub fn alone_ps(&self, effect: Effect, trip: Trip) -> u64 {
        trip.to_port_ps + service_ps(&self.contention, trip.target, effect) + trip.from_port_ps
    }

    /// Whether a core's way to a port leads over no link.
    pub fn is_beside(&self, core: usize, owner: u16) -> bool {
        self.tiles[core] == self.tiles[usize::from(owner)]
    }

    /// From now on the polls of `core` at a port sleep, if it is idle from `time_ps` on and nobody else's sleep there. Returns
    /// whether they do.
    pub fn sleeps(&mut self, core: usize, owner: u16, time_ps: u64) -> bool {
        let port = &mut self.ports[usize::from(owner)];
        let is_at_rest = port.is_idle(time_ps) && port.sleeper.is_none();
        if is_at_rest {
            port.sleeper = Some(core as u16);
        }
        is_at_rest
    }

    /// The polls at a port sleep no more.
    pub fn wakes(&mut self, owner: u16) {
        self.ports[usize::from(owner)].sleeper = None;
    }

    /// Whose polls sleep at the port that the next step asks for, and who asks: they have to be made again before that
    /// step.
    #[inline]
    pub fn disturbs(&self) -> Option<(u16, u16)> {
        let Step::Asks(core) = Step::of_rank(self.steps.first()?.1) else { return None };
        let Target::Mpb(owner) = self.journeys[usize::from(core)].trip.target else { return None };
        self.ports[usize::from(owner)].sleeper.map(|sleeper| (sleeper, core))
    }

    /// A read has asked for a port at `asked_ps`, where it met nobody.
    pub fn has_asked(&mut self, owner: u16, asked_ps: u64, trip: Trip) {
        let port = &mut self.ports[usize::from(owner)];
        let served_ps = asked_ps + service_ps(&self.contention, trip.target, Effect::Read);
        port.busy_until_ps = port.busy_until_ps.max(served_ps);
    }

    /// An access of `core` that meets nobody takes effect at `time_ps`.
    pub fn pass(&mut self, core: usize, time_ps: u64, effect: Effect) {
        self.journeys[core].effect = effect;
        self.steps.enter(core, time_ps, Step::Passes(core as u16).rank());
    }

    /// The read of `core` that was to ask for its target, or to pass if it has none, is not made.
    pub fn call_off(&mut self, core: usize) {
        self.steps.strike(core);
    }
}
