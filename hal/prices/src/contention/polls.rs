//! Polls at the ports of MPBs that are not simulated.
//!
//! A core that polls a line of its own tile has a port to itself most of the time, and passes no link. Its polls occupy
//! the port at times that are known in advance, until somebody else asks for it. So they are skipped until then: a port
//! that is asked for first has its poller come back, with the access that would be on its way, which may keep the port
//! busy.

use super::{Journey, Reverse, Settled, Step, Target, Traffic, Trip, service_ps};
use crate::Effect;

impl Traffic {
    /// How long an access takes that meets no other.
    pub fn alone_ps(&self, effect: Effect, trip: Trip) -> u64 {
        trip.to_port_ps + service_ps(&self.contention, trip.target, effect) + trip.from_port_ps
    }

    /// Whether a core's way to a port leads over no link.
    pub fn is_beside(&self, core: usize, owner: u16) -> bool {
        self.mesh.tile(core as u16) == self.mesh.tile(owner)
    }

    /// Whether a port is idle, and nobody's polls of it are skipped.
    pub fn is_at_rest(&self, owner: u16, now_ps: u64) -> bool {
        let port = &self.ports[usize::from(owner)];
        port.is_idle(now_ps) && port.poller.is_none()
    }

    /// From now on the polls of `core` at a port that is at rest are skipped.
    pub fn expect_polls(&mut self, owner: u16, core: usize) {
        self.ports[usize::from(owner)].poller = Some(core as u16);
    }

    /// They are no more.
    pub fn expect_no_polls(&mut self, owner: u16) {
        self.ports[usize::from(owner)].poller = None;
    }

    /// Whose polls have been skipped at the port that the next step asks for, and who asks: the poller has to come back
    /// before that step.
    pub fn disturbs(&self) -> Option<(u16, u16)> {
        let Reverse((_, Step::Asks(core))) = self.steps.peek()? else { return None };
        let Target::Mpb(owner) = self.journeys[usize::from(*core)].trip.target else { return None };
        self.ports[usize::from(owner)].poller.map(|poller| (poller, *core))
    }

    /// `core` has asked for an idle port at `asked_ps`, for a read over no link.
    pub fn has_asked(&mut self, core: usize, port: u16, asked_ps: u64, trip: Trip) -> Option<Settled> {
        self.journeys[core] = Journey { trip, effect: Effect::Read, more: 0 };
        self.serve(usize::from(port), core as u16, asked_ps)
    }
}
