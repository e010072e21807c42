//! What the scheduler does about interrupts.

use super::{super::interrupt_line::InterruptLine, Effect, Engine};

impl Engine {
    /// An interrupt is raised on `core` now. One that is pending stays as it is.
    pub(in super::super) fn raise_interrupt(&mut self, core: usize, delivery_ps: u64) {
        self.fruitless_rounds = 0;
        let delay = self.delay();
        if self.interrupts[core].arrives_ps.is_none() {
            self.interrupts[core].arrives_ps = Some(self.now_ps.saturating_add(delivery_ps).saturating_add(delay));
            self.announce(core);
        }
    }

    /// `core` is interrupted from now on, or no more.
    pub(in super::super) fn open_interrupts(&mut self, core: usize, open: bool) {
        self.interrupts[core].open = open;
        self.announce(core);
    }

    /// Sees to it that `core` finds what is raised on it, when it arrives.
    fn announce(&mut self, core: usize) {
        let InterruptLine { open: true, arrives_ps: Some(arrives), .. } = self.interrupts[core] else { return };
        if self.free.is_none() {
            self.alarms.insert((arrives, core as u16));
        } else if self.waits[core].parked {
            self.resume(core, Effect::Write);
        }
    }

    /// Whether an interrupt has arrived at `core`.
    pub(in super::super) fn interrupt_is_due(&self, core: usize) -> bool {
        self.interrupts[core].arrives_ps.is_some_and(|arrives| self.free.is_some() || arrives <= self.clocks[core])
    }

    /// Takes what has arrived.
    pub(in super::super) fn take_interrupt(&mut self, core: usize) -> bool {
        let due = self.interrupt_is_due(core);
        if due {
            self.interrupts[core].arrives_ps = None;
        }
        due
    }

    /// `core` computes until then, or until it is interrupted. Returns whether it has to give way.
    pub(in super::super) fn sleep(&mut self, core: usize, until_ps: u64) -> bool {
        if self.free.is_some() {
            self.clocks[core] = until_ps;
            return false;
        }
        if self.interrupt_is_due(core) {
            return false;
        }
        self.interrupts[core].sleeps_until_ps = Some(until_ps);
        self.alarms.insert((until_ps, core as u16));
        true
    }

    /// An alarm of `core` goes off. True if it was asleep and runs now; a core that waits polls again.
    pub(in super::super) fn wake(&mut self, core: usize) -> bool {
        if let Some(until) = self.interrupts[core].sleeps_until_ps.take() {
            self.alarms.remove(&(until, core as u16));
            self.clocks[core] = self.clocks[core].max(self.now_ps).min(until);
            return true;
        }
        if self.waits[core].parked && self.interrupts[core].open {
            self.resume(core, Effect::Write);
        }
        false
    }
}
