//! The polls of a waiting core where accesses meet, which go on without the core.
//!
//! A check that has twice read the same, in the same way, will do so until somebody changes what it reads. So the core
//! is left out, and of its polls only the accesses are made: they ask for ports and controllers, wait there, take links and
//! keep others waiting as if the core had polled on. A *train* says when each of them is to start, which depends on when
//! the one before has taken effect, and where in its polls the core has to come back.
//!
//! The access after the last one that has taken effect is always on its way, or about to be. It asks later than the last one
//! takes effect. So when something changes, either the last one has not taken effect, and the next one has not asked and can
//! be called off; or the next one is the first to see it.

use prices::{Effect, Trip};

/// How a poll gets to one of the places that it reads.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Leg {
    /// From the access before, or from the beginning of the poll, to its start.
    pub(super) gap_ps: u64,
    /// From its start until the place is read, if nobody keeps the core waiting.
    pub(super) alone_ps: u64,
    /// The way to the port of an MPB or to a controller, if the access goes there.
    pub(super) trip: Option<Trip>,
    pub(super) effect: Effect,
}

impl Leg {
    /// From its start until it asks for what it reads, where that can be busy; else until it reads.
    pub(super) fn asks_after_ps(&self) -> u64 {
        self.trip.map_or(self.alone_ps, |trip| trip.to_port_ps)
    }
}

/// The polls of one core, the last of which was its own or one that it would have made.
#[derive(Default)]
pub(super) struct Train {
    /// The ways to what a poll reads.
    pub(super) legs: Vec<Leg>,
    /// The ways to what the poll before it read.
    pub(super) last_legs: Vec<Leg>,
    /// When the poll began.
    pub(super) start_ps: u64,
    /// When each of its accesses takes effect, of those for which it is known.
    pub(super) effects_ps: Vec<u64>,
    /// From the last access of a poll to its end.
    tail_ps: u64,
    /// A poll that ends then or later is the last one.
    deadline_ps: Option<u64>,
    /// Polls that have begun without the core.
    polls: u64,
    /// Whether its accesses may sleep, as they can only meet others at one port.
    can_sleep: bool,
    /// That port, if they go to one.
    port: Option<u16>,
    /// Its accesses are not made one by one, as they would meet nobody.
    pub(super) is_asleep: bool,
}

impl Train {
    /// Whether the next poll can be known from the last two, and so can the order of its accesses.
    pub(super) fn repeats_itself(&self) -> bool {
        self.legs == self.last_legs
            && self.effects_ps.len() == self.legs.len()
            && self.legs.iter().all(|leg| leg.gap_ps + leg.asks_after_ps() > 0)
    }

    /// The core is left out after a poll that has ended. Whether it passes no link on its way to a port is asked.
    pub(super) fn set_off(&mut self, end_ps: u64, deadline_ps: Option<u64>, is_beside: impl Fn(u16) -> bool) {
        self.tail_ps = end_ps - self.last_ps();
        self.deadline_ps = deadline_ps;
        self.polls = 0;
        let mut trips = self.legs.iter().filter_map(|leg| leg.trip);
        self.port = trips.next().and_then(|trip| trip.target.port());
        let is_at_port =
            |leg: &Leg| leg.trip.is_none_or(|trip| trip.target.port().is_some_and(|port| self.port == Some(port)));
        self.can_sleep = deadline_ps.is_none() && self.legs.iter().all(is_at_port) && self.port.is_none_or(is_beside);
    }

    /// At which port the polls can sleep, if they can, and go to one.
    pub(super) fn berth(&self) -> Option<Option<u16>> {
        (self.can_sleep && self.is_complete()).then_some(self.port)
    }

    /// The polls sleep no more. Returns at which port they have slept.
    pub(super) fn wakes(&mut self) -> Option<u16> {
        self.is_asleep = false;
        self.port
    }

    /// A new poll of the core itself begins.
    pub(super) fn begin_poll(&mut self, start_ps: u64, replays: usize) {
        std::mem::swap(&mut self.legs, &mut self.last_legs);
        self.legs.clear();
        self.effects_ps.truncate(replays);
        self.start_ps = start_ps;
    }

    /// When the access before the next one of this poll took effect, or the poll began.
    pub(super) fn last_ps(&self) -> u64 {
        self.effects_ps.last().copied().unwrap_or(self.start_ps)
    }

    /// Whether all accesses of the poll have taken effect, or it is known when they do.
    pub(super) fn is_complete(&self) -> bool {
        self.effects_ps.len() == self.legs.len()
    }

    /// When the poll ends, once it is complete.
    pub(super) fn end_ps(&self) -> u64 {
        self.last_ps() + self.tail_ps
    }

    /// Whether the core has to know how the poll ends.
    pub(super) fn is_last(&self) -> bool {
        self.is_complete() && self.deadline_ps.is_some_and(|deadline| deadline <= self.end_ps())
    }

    pub(super) fn has_deadline(&self) -> bool {
        self.deadline_ps.is_some()
    }

    /// The next access, and when it starts.
    pub(super) fn next(&self) -> (u64, Leg) {
        let (from_ps, leg) = if self.is_complete() {
            (self.end_ps(), self.legs[0])
        } else {
            (self.last_ps(), self.legs[self.effects_ps.len()])
        };
        (from_ps + leg.gap_ps, leg)
    }

    /// It is known when the next access takes effect.
    pub(super) fn passes(&mut self, effect_ps: u64) {
        if self.is_complete() {
            self.begin_next();
        }
        self.effects_ps.push(effect_ps);
    }

    fn begin_next(&mut self) {
        self.start_ps = self.end_ps();
        self.polls += 1;
        self.effects_ps.clear();
    }

    /// Passes over polls that nobody has kept waiting and that have ended before a time, but for one or two.
    pub(super) fn pass_before(&mut self, time_ps: u64) {
        let period_ps = self.legs.iter().map(|leg| leg.gap_ps + leg.alone_ps).sum::<u64>() + self.tail_ps;
        let polls = (time_ps.saturating_sub(self.end_ps()) / period_ps).saturating_sub(1);
        if polls > 0 {
            self.begin_next();
            self.polls += polls - 1;
            self.start_ps += (polls - 1) * period_ps;
            let mut time_ps = self.start_ps;
            self.effects_ps.extend(self.legs.iter().map(|leg| {
                time_ps += leg.gap_ps + leg.alone_ps;
                time_ps
            }));
        }
    }

    /// When the last access takes effect, if it sees what something does at a time.
    pub(super) fn sees(&self, time_ps: u64, effect: Effect) -> Option<u64> {
        let last = self.last_ps();
        let comes_later = last > time_ps || last == time_ps && effect == Effect::Write;
        // The core's own accesses have taken effect.
        (self.polls > 0 && comes_later).then_some(last)
    }

    /// The core comes back before its last access. Returns what that does.
    pub(super) fn take_back(&mut self) -> Effect {
        self.effects_ps.pop();
        self.legs[self.effects_ps.len()].effect
    }

    /// The core comes back in the poll of the next access, before which it has some to catch up with. Returns how many
    /// polls have ended without it.
    pub(super) fn stop(&mut self) -> u64 {
        if self.is_complete() {
            self.begin_next();
        }
        self.polls - 1
    }
}
