//! Waiting.
//!
//! A core that waits spins; nobody else needs its processor. Now and then it looks whether another one has ended the
//! machine, and it gives up after `stuck_s=` seconds, since nobody on the chip can see that all of them wait.

use descriptions::boards::POLLS_PER_LOOK;

use crate::{
    CoreId, Deadline, Place, Reason,
    bare::cpu,
    kit::{Ticks, Turns, Watch, Woken, deadlock::Deadlock},
    scc::{
        console,
        exit::machine::{exit, stop_if_ending},
        handed::core_count,
        status::{
            backoff::{Backoff, pause, pause_between_polls},
            meeting, status_page,
        },
    },
};

use super::Scc;

/// Looks that a wait goes on for when its time is up, so that all who wait have said so by then: a core that has just begun
/// to wait has not looked yet.
const LAST_LOOKS: u32 = 4;

/// A wait that goes on.
pub struct Patience {
    alarm: Alarm,
    backoff: Backoff,
    since: u64,
    polls: u32,
    /// Whether the others can see what this core waits for.
    is_told: bool,
    /// Looks that found the time up.
    late: u32,
}

impl Drop for Patience {
    fn drop(&mut self) {
        #[cfg(feature = "debugger")]
        crate::bare::notebook::wait(None);
        if self.is_told {
            status_page::set_wait(None);
            status_page::set_undrained(None);
        }
    }
}

impl Patience {
    fn new(hardware: &Scc, deadline: Deadline) -> Self {
        let alarm = Alarm::new(hardware, deadline);
        let since = cpu::rdtsc();
        let backoff = Backoff::new(hardware.core.index() as u32 ^ since as u32);
        Self { alarm, backoff, since, polls: 0, is_told: false, late: 0 }
    }

    /// Whether one more failed poll is neither the first nor one after which to [look](Self::look).
    fn is_between_looks(&self) -> bool {
        self.polls.wrapping_add(1) % POLLS_PER_LOOK > 1
    }

    /// A poll has failed. Does not return if the machine cannot come to its end any more.
    fn failed(&mut self, hardware: &Scc, reason: Reason) {
        // Again now and then: what interrupts a wait may wait itself.
        #[cfg(feature = "debugger")]
        if self.polls.is_multiple_of(POLLS_PER_LOOK) {
            crate::bare::notebook::wait(Some(reason));
        }
        self.polls = self.polls.wrapping_add(1);
        if self.polls.is_multiple_of(POLLS_PER_LOOK) {
            self.look(hardware, reason);
        }
    }

    fn look(&mut self, hardware: &Scc, reason: Reason) {
        stop_if_ending();
        if !self.is_told {
            self.is_told = true;
            status_page::set_wait(Some(reason));
            status_page::set_undrained(hardware.account.stored_last());
        }
        let waited = cpu::rdtsc().wrapping_sub(self.since);
        if hardware.stuck_cycles.is_some_and(|limit| waited > limit) {
            self.late += 1;
            if self.late <= LAST_LOOKS {
                return;
            }
            if !status_page::is_reporter() {
                cpu::park();
            }
            let core = hardware.core.index();
            let seconds = waited / (u64::from(hardware.geometry.costs.core_mhz) * 1_000_000);
            status_page::set_wait(Some(reason));
            console::write_urgent(format_args!("core {core} waits for {reason}, since {seconds} s\n"));
            meeting::tell_who_waits();
            // Whose patience is at its end first has waited longest. Since when the others wait is not known.
            let line = Deadlock {
                cores: core_count(),
                awaits: &|core| status_page::wait_of(core)?.peer.map(CoreId::index),
                since: &|other| (other == core).then_some(0),
                reason: &|_, out| write!(out, "{reason}"),
                undrained: &status_page::undrained_of,
            };
            console::write_urgent(format_args!("@done failed deadlock: a wait has not ended for {seconds} s{line}\n"));
            exit(false);
        }
    }
}

/// When a wait is over, by a clock that is cheap to read.
struct Alarm {
    deadline: Deadline,
    /// The time stamp counter then, at the earliest.
    cycles: u64,
}

impl Alarm {
    fn new(hardware: &Scc, deadline: Deadline) -> Self {
        let mut alarm = Self { deadline, cycles: u64::MAX };
        alarm.rings(hardware);
        alarm
    }

    /// Whether the time is up.
    fn is_over(&mut self, hardware: &Scc) -> bool {
        self.deadline != Deadline::Never && cpu::rdtsc() >= self.cycles && self.rings(hardware)
    }

    /// Looks at the clock, and says when to do so again.
    fn rings(&mut self, hardware: &Scc) -> bool {
        let Deadline::At(ticks) = self.deadline else { return false };
        let left = ticks.saturating_sub(hardware.now());
        let cycles =
            left.saturating_mul(u64::from(hardware.geometry.costs.core_mhz) * 1_000_000) / hardware.ticks_per_second();
        self.cycles = cpu::rdtsc().saturating_add(cycles);
        left == 0
    }
}

impl Scc {
    /// A poll has failed, after which there may be more to do than to poll again.
    #[cold]
    #[inline(never)]
    fn park_and_look(&self, patience: &mut Patience, is_near: bool, reason: Reason) -> Woken {
        if patience.alarm.is_over(self) {
            return Woken::TimedOut;
        }
        patience.failed(self, reason);
        pause(if is_near { 1 } else { patience.backoff.rounds() });
        Woken::Poll { missed_polls: 0 }
    }
}

impl Turns for Scc {
    type Patience = Patience;

    fn begin_wait(&self, deadline: Deadline) -> Patience {
        Patience::new(self, deadline)
    }

    // What a wait looks at is known where it is called, so most of this is decided there.
    #[inline]
    fn park(&self, patience: &mut Patience, watch: Watch<'_>, reason: Reason) -> Woken {
        // What leaves the chip is left alone for a while; polls of lines and words are answered nearby.
        let is_near = match watch {
            Watch::Register(_) => false,
            Watch::Places(places) => !places.iter().any(|place| matches!(place, Place::Counter(_))),
        };
        if is_near && patience.alarm.deadline == Deadline::Never && patience.is_between_looks() {
            patience.polls += 1;
            pause_between_polls();
            return Woken::Poll { missed_polls: 0 };
        }
        self.park_and_look(patience, is_near, reason)
    }

    fn relax(&self) {
        cpu::pause();
    }
}
