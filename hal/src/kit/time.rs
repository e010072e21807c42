//! Time, computation and counters.

use crate::{Clock, CoreId, Counted, Counters, Software};

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
    /// Instructions are not counted from now on. Returns whether they were.
    #[cold]
    #[inline(never)]
    pub(super) fn stop_counting_instructions(&self) -> bool {
        let was_counted = self.hardware.account().instructions_counted.get();
        if was_counted {
            self.hardware.count_instructions(false);
        }
        was_counted
    }

    /// They are counted again, if they were.
    #[cold]
    #[inline(never)]
    pub(super) fn go_on_counting_instructions(&self, were_counted: bool) {
        if were_counted {
            self.hardware.count_instructions(true);
        }
    }
}

impl<H: Hardware> Counted for HardwareCore<H> {
    fn counters(&self) -> Counters {
        let _operation = self.operation();
        self.hardware.account().counters()
    }

    #[inline]
    fn count_instructions<R>(&self, action: impl FnOnce() -> R) -> (R, Option<u64>) {
        let counted = &self.hardware.account().instructions_counted;
        if counted.replace(true) {
            return (action(), None);
        }
        let before = self.hardware.count_instructions(true);
        let result = action();
        let after = self.hardware.count_instructions(false);
        counted.set(false);
        (result, after.zip(before).map(|(after, before)| after - before))
    }
}
