//! Time, computation and counters.

use crate::{Clock, CoreId, Countable, Counted, Counters, Software};

use super::{
    HardwareCore,
    hardware::{Hardware, Hooks},
    terms::Expense,
    tracing::NotingOperations,
};

impl<H: Hardware> Clock for HardwareCore<H> {
    fn now(&self) -> u64 {
        let _operation = self.operation();
        self.hardware.now()
    }

    fn ticks_per_second(&self) -> u64 {
        self.hardware.ticks_per_second()
    }

    fn tells_time(&self) -> bool {
        self.hardware.tells_time()
    }

    fn compute(&self, cycles: u64) {
        if !H::TELLS_EXPENSES {
            return;
        }
        let _operation = self.operation();
        let _span = self.hardware.hardware_span("compute", None::<CoreId>, 0);
        let serve: &dyn Fn() = &|| self.serve_what_is_due();
        self.hardware.hooks().compute(cycles, self.is_interruptible().then_some(serve));
    }

    fn account_memory(&self, lines_read: usize, lines_written: usize) {
        if !H::TELLS_EXPENSES {
            return;
        }
        let _operation = self.operation();
        self.hardware.hooks().spend(Expense::PrivateRead { lines: lines_read as u32 });
        self.hardware.hooks().spend(Expense::PrivateWrite { lines: lines_written as u32 });
    }

    fn account(&self, software: Software) {
        if !H::TELLS_EXPENSES {
            return;
        }
        let _operation = self.operation();
        self.hardware.hooks().spend(Expense::Software(software));
    }
}

impl<H: Hardware> HardwareCore<H> {
    /// Lets this be counted, or no longer, and returns the number now. A call, so that it takes the same wherever something is counted.
    #[inline(never)]
    fn count_now(&self, what: Countable, runs: bool) -> Option<u64> {
        self.hardware.count(what, runs)
    }

    /// What is counted too much where counting was stopped and goes on again, with what finding that out is counted as.
    fn count_of_interruption(&self, what: Countable) -> Option<u64> {
        let count = |is_interrupted: bool| {
            let before = self.hardware.count(what, true)?;
            if is_interrupted {
                self.stop_counting();
                self.count_again(what);
            }
            Some((before, self.hardware.count(what, false)?))
        };
        // What is done a second time has its code in L1.
        let [first, interrupted, _, plain] = [true, true, false, false].map(count);
        let ((begin, _), (before, after), (plain_before, end)) = (first?, interrupted?, plain?);
        Some(end - begin + (after - before).saturating_sub(end - plain_before))
    }

    #[cold]
    #[inline(never)]
    fn count_again(&self, what: Countable) {
        self.hardware.count(what, true);
    }

    /// Nothing is counted from now on. Returns what was.
    #[cold]
    #[inline(never)]
    pub(super) fn stop_counting(&self) -> Option<Countable> {
        let counted = self.hardware.account().counted.get();
        if counted == Some(Countable::Instructions) {
            // The first that is asked for: until then its own instructions count.
            self.hardware.count(Countable::Instructions, false);
        } else if let Some(what) = counted {
            self.hardware.count(what, false);
        }
        counted
    }

    /// It is counted again, if it was.
    #[cold]
    #[inline(never)]
    pub(super) fn go_on_counting(&self, counted: Option<Countable>) {
        if let Some(what) = counted {
            let too_much = &self.hardware.account().counted_too_much;
            too_much.set(too_much.get() + self.count_of_interruption(what).unwrap_or_default());
            self.count_again(what);
        }
    }
}

impl<H: Hardware> Counted for HardwareCore<H> {
    fn counters(&self) -> Counters {
        let _operation = self.operation();
        self.hardware.account().counters()
    }

    #[inline]
    fn count<R>(&self, what: Countable, action: impl FnOnce() -> R) -> (R, Option<u64>) {
        let counted = &self.hardware.account().counted;
        if counted.get().is_some() {
            return (action(), None);
        }
        counted.set(Some(what));
        // The action is there once: another copy of it would miss other lines of L1.
        let before = self.count_now(what, true);
        let result = action();
        let after = self.count_now(what, false);
        let account = self.hardware.account();
        account.counted.set(None);
        let too_much = account.counted_too_much.take();
        (result, after.zip(before).map(|(after, before)| (after - before).saturating_sub(too_much)))
    }
}
