//! Interrupts of an emulated core.

use crate::{
    CoreId, Interrupt, Shielded, TestAndSet,
    backend::deferral::{Deferral, Deferring},
};

use super::{
    super::{Expense, Platform, Watch, trace::Spot},
    EmulatedCore,
};

impl<P: Platform> Deferring for EmulatedCore<P> {
    fn deferral(&self) -> &Deferral<Self> {
        &self.deferral
    }

    fn open_interrupts(&self, open: bool) {
        self.platform.open_interrupts(open);
    }

    fn has_interrupt(&self) -> bool {
        !self.platform.is_dying() && self.platform.interrupt_is_due()
    }

    fn take_interrupt_for(&self, handler: impl FnOnce()) {
        if !self.platform.take_interrupt() {
            return;
        }
        let _span = self.hardware_span("interrupt", None, 0);
        self.platform.spend(Expense::TakeInterrupt);
        self.counting.count(|counters| counters.interrupts_taken += 1);
        handler();
    }
}

impl<P: Platform> EmulatedCore<P> {
    /// The processor was interrupted, because an interrupt was raised on this core; for interrupt handlers of backends.
    pub fn interrupted(&self) {
        drop(self.operation());
    }

    /// Calls the handler between two polls, if an interrupt has arrived. Returns whether it has: then the wait begins
    /// anew.
    pub(super) fn serve_within_wait(&self, watch: Watch<'_>) -> bool {
        let serves = self.is_interruptible() && self.is_due();
        if serves {
            self.platform.end_wait(watch);
            self.serve_what_is_due();
        }
        serves
    }
}

impl<P: Platform> Interrupt for EmulatedCore<P> {
    fn raise_interrupt(&self, target: CoreId) {
        let _operation = self.operation();
        self.acquire_register(target, "an interrupt to be raised");
        self.counting.count(|counters| counters.interrupts_raised += 1);
        self.trace_store(Spot::Interrupt(target), u32::MAX, || self.platform.raise_interrupt(target));
        self.free_register(target);
    }

    fn handle_interrupts<T: Send + 'static>(&self, state: T, handler: fn(&Self, &T)) -> Option<Shielded<'_, Self, T>> {
        let _operation = self.operation();
        self.set_handler(state, handler)
    }

    fn defer_interrupts<R>(&self, action: impl FnOnce() -> R) -> R {
        let _operation = self.operation();
        action()
    }

    fn ignore_interrupts(&self) {
        let _operation = self.operation();
        self.take_handler();
    }
}
