//! What it gets wrong of clocks, waits and interrupts.

use std::{thread, time::Duration};

use hal::{
    CoreId, Deadline, Place, Reason, Topology,
    kit::{Signals, Ticks, Turns, UncachedWords, Watch, Woken},
};

use super::{Defect, Defective, MAILBOX};

impl Ticks for Defective {
    fn now(&self) -> u64 {
        self.count.set(self.count.get() + 1);
        if self.is(Defect::ClockStandsStill) {
            return self.ahead();
        }
        let back = if self.is(Defect::ClockGoesBack) && self.count.get() == 9 { 1_000_000_000 } else { 0 };
        (self.inner.now() + self.ahead()) - back
    }

    fn ticks_per_second(&self) -> u64 {
        // What never comes is waited for, for so many seconds of the core's own.
        let waits = [
            Defect::LosesInterrupts,
            Defect::InterruptsItself,
            Defect::StaysAway,
            Defect::KeepsWholeLines,
            Defect::LosesWakeUps,
            Defect::TogglesInterrupts,
            Defect::NeverInterruptsItself,
            Defect::SleepsThroughInterrupts,
        ];
        self.inner.ticks_per_second() / if waits.contains(&self.defect) { self.haste } else { 1 }
    }
}

impl Turns for Defective {
    type Patience = Deadline;

    fn begin_wait(&self, deadline: Deadline) -> Deadline {
        match deadline {
            Deadline::At(ticks) if self.is(Defect::ForgetsDeadlines) => {
                Deadline::At(ticks.saturating_sub(2_500_000_000))
            }
            Deadline::At(ticks) => Deadline::At(ticks - self.ahead()),
            Deadline::Never => Deadline::Never,
        }
    }

    fn before_poll(&self, watch: Watch<'_>) {
        self.inner.before_poll(watch);
    }

    fn park(&self, patience: &mut Deadline, watch: Watch<'_>, reason: Reason) -> Woken {
        if self.is(Defect::RacesForRegisters) && matches!(watch, Watch::Places([])) {
            // A moment is long enough for another thread to run, however many there are.
            thread::sleep(Duration::from_millis(5));
        }
        if self.is(Defect::ClockStandsStill) || self.is(Defect::NeverTimesOut) {
            return Woken::Poll { missed_polls: 0 };
        }
        if let Watch::Places(&[place]) = watch
            && match place {
                Place::Line(_) => self.is(Defect::LosesWakeUps),
                _ => self.is(Defect::SleepsThroughInterrupts) && *patience == Deadline::Never,
            }
        {
            // Long enough for what is awaited to come unseen.
            thread::sleep(Duration::from_micros(200));
            let before = self.look(place);
            while self.look(place) == before {
                if matches!(*patience, Deadline::At(late) if self.inner.now() >= late) {
                    return Woken::TimedOut;
                }
                thread::yield_now();
            }
            return Woken::Poll { missed_polls: 0 };
        }
        self.inner.park(patience, watch, reason)
    }

    fn end_wait(&self, watch: Watch<'_>) {
        self.inner.end_wait(watch);
    }

    fn relax(&self) {
        self.inner.relax();
    }

    fn is_dying(&self) -> bool {
        self.inner.is_dying()
    }
}

impl Signals for Defective {
    fn raise_interrupt(&self, target: CoreId) {
        match self.defect {
            Defect::LosesInterrupts => {}
            Defect::InventsRegisters if target.index() >= self.layout().cores() => {}
            Defect::InterruptsItself => self.inner.raise_interrupt(self.core()),
            Defect::NeverInterruptsItself if target == self.core() => {}
            Defect::TogglesInterrupts => {
                let (words, mailbox) = (self.register_word(), MAILBOX + target.index());
                self.inner.store_word(words, mailbox, self.inner.load_word(words, mailbox) ^ 1);
            }
            Defect::SleepsThroughInterrupts => {
                // The target is in its wait by now.
                thread::sleep(Duration::from_millis(20));
                self.inner.raise_interrupt(target);
            }
            _ => self.inner.raise_interrupt(target),
        }
    }

    fn open_interrupts(&self, open: bool) {
        self.inner.open_interrupts(open);
    }

    fn interrupt_is_due(&self) -> bool {
        if self.is(Defect::TogglesInterrupts) {
            return self.inner.load_word(self.register_word(), MAILBOX + self.core().index()) == 1;
        }
        self.inner.interrupt_is_due()
            || self.is(Defect::TakesInterruptsTwice) && self.count.get() == u64::MAX
            || self.is(Defect::KeepsInterrupts) && self.was_interrupted.get()
    }

    fn take_interrupt(&self) -> bool {
        if self.is(Defect::TogglesInterrupts) {
            let is_due = self.interrupt_is_due();
            self.inner.store_word(self.register_word(), MAILBOX + self.core().index(), 0);
            return is_due;
        }
        let is_second = self.is(Defect::TakesInterruptsTwice) && self.count.get() == u64::MAX;
        let is_taken = self.inner.take_interrupt();
        self.count.set(if is_taken && self.is(Defect::TakesInterruptsTwice) { u64::MAX } else { 0 });
        self.was_interrupted.set(is_taken || self.was_interrupted.get());
        is_taken || is_second || self.is(Defect::KeepsInterrupts)
    }
}
