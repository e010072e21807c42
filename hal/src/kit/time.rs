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
    #[inline(always)]
    fn count_this<R>(&self, what: Countable, action: impl FnOnce() -> R) -> (R, Option<u64>) {
        let before = self.hardware.count(what, true);
        let result = action();
        let after = self.hardware.count(what, false);
        let account = self.hardware.account();
        let interruptions = account.count_interruptions.take();
        // What was stopped and went on again is counted with what that takes.
        let of_one = if interruptions > 0 { self.count_of_interruption(what) } else { 0 };
        account.counted.set(None);
        let counted = after.zip(before).map(|(after, before)| after - before);
        (result, counted.map(|counted| counted.saturating_sub(u64::from(interruptions) * of_one)))
    }

    /// What is counted too much where counting is stopped and goes on again.
    #[cold]
    fn count_of_interruption(&self, what: Countable) -> u64 {
        let count = |is_interrupted: bool| {
            let before = self.hardware.count(what, true)?;
            if is_interrupted {
                let counted = self.stop_counting();
                self.go_on_counting(counted);
            }
            Some(self.hardware.count(what, false)? - before)
        };
        // The second time, when L1 has the code.
        let [_, interrupted] = [(); 2].map(|()| count(true));
        let [_, plain] = [(); 2].map(|()| count(false));
        self.hardware.account().count_interruptions.set(0);
        interrupted.zip(plain).map_or(0, |(interrupted, plain)| interrupted.saturating_sub(plain))
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
            let interruptions = &self.hardware.account().count_interruptions;
            interruptions.set(interruptions.get() + 1);
            self.hardware.count(what, true);
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
        // What is counted is known in each, so that counting takes next to nothing, and always the same.
        match what {
            Countable::Instructions => self.count_this(Countable::Instructions, action),
            Countable::Cycles => self.count_this(Countable::Cycles, action),
            Countable::Operations => self.count_this(Countable::Operations, action),
        }
    }
}
