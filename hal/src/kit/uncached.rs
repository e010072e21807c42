//! Uncached words, test-and-set registers, and atomic counters.

use crate::{AtomicCounters, CoreId, Deadline, Reason, Region, TestAndSet, Topology, Uncached, kind};

use super::{
    Account, HardwareCore,
    hardware::{Hardware, Hooks},
    terms::{CounterAccess, Expense, Watch, WordCall},
    tracer::{Spot, Waited},
    tracing::{Noting, NotingOperations},
};

impl<H: Hardware> Uncached for HardwareCore<H> {
    #[inline]
    fn load_word(&self, region: Region<kind::Uncached>, index: usize) -> u32 {
        let _operation = self.operation();
        self.hardware.explore();
        self.hardware.account().counting().words_read.add(1);
        self.hardware.hooks().spend(Expense::WordCall(WordCall::Load));
        self.hardware.load_word(region, index)
    }

    #[inline]
    fn store_word(&self, region: Region<kind::Uncached>, index: usize, value: u32) {
        let _operation = self.operation();
        self.hardware.explore();
        self.hardware.account().counting().words_written.add(1);
        self.hardware.hooks().spend(Expense::WordCall(WordCall::Store));
        let spot = || Spot::Word(Account::word_address(region, index));
        self.hardware.trace_store(spot, u32::MAX, || self.hardware.store_word(region, index, value));
    }
}

impl<H: Hardware> HardwareCore<H> {
    /// Reads a register once.
    #[inline]
    fn read_register(&self, core: CoreId) -> bool {
        self.hardware.explore();
        let acquired = self.hardware.test_and_set(core);
        let counting = self.hardware.account().counting();
        if acquired {
            counting.tsr_acquired.add(1)
        } else {
            counting.failed_acquires.add(1)
        }
        acquired
    }

    /// A register was taken: reads it again until it is free.
    #[cold]
    #[inline(never)]
    fn go_on_acquiring(&self, core: CoreId, purpose: &'static str) {
        let (watch, reason) = (Watch::Register(core), Reason::new(purpose).from(core));
        let mut waiting = self.begin_waiting(Deadline::Never, reason);
        loop {
            self.pause_wait(&mut waiting, watch, reason);
            self.hardware.before_poll(watch);
            if self.read_register(core) {
                break;
            }
        }
        self.hardware.end_wait(watch);
        self.end_waiting(waiting, watch, false);
    }

    /// Insists that there is such a counter.
    pub(super) fn assert_counter(&self, counter: usize) {
        let counters = self.layout().atomic_counters();
        assert!(counter < counters, "atomic counter {counter} of a machine that has {counters}");
    }

    fn access_counter(&self, counter: usize, access: CounterAccess) -> u32 {
        let _operation = self.operation();
        self.assert_counter(counter);
        self.hardware.explore();
        self.hardware.account().counting().counter_accesses.add(1);
        self.hardware.hooks().spend(Expense::WordCall(if access == CounterAccess::Read {
            WordCall::Load
        } else {
            WordCall::Store
        }));
        let carry_out = || self.hardware.access_counter(counter, access);
        if access == CounterAccess::Read {
            carry_out()
        } else {
            self.hardware.trace_store(|| Spot::Counter(counter), u32::MAX, carry_out)
        }
    }
}

impl<H: Hardware> TestAndSet for HardwareCore<H> {
    fn try_acquire_register(&self, core: CoreId) -> bool {
        let _operation = self.operation();
        self.hardware.hooks().spend(Expense::WordCall(WordCall::Acquire));
        self.read_register(core)
    }

    #[inline]
    fn acquire_register(&self, core: CoreId, purpose: &'static str) {
        let _operation = self.operation();
        self.hardware.hooks().spend(Expense::WordCall(WordCall::Acquire));
        let watch = Watch::Register(core);
        let reason = Reason::new(purpose).from(core);
        self.hardware.trace_wait(reason);
        self.hardware.before_poll(watch);
        if !self.read_register(core) {
            let was_counted = self.stop_counting();
            self.go_on_acquiring(core, purpose);
            return self.go_on_counting(was_counted);
        }
        self.hardware.end_wait(watch);
        self.hardware.trace_wait_end(watch, Waited { reason, failed_polls: 0, timed_out: false });
    }

    #[inline]
    fn free_register(&self, core: CoreId) {
        let _operation = self.operation();
        self.hardware.hooks().spend(Expense::WordCall(WordCall::Free));
        self.hardware.trace_store(|| Spot::Register(core), u32::MAX, || self.hardware.free(core));
    }

    #[inline]
    fn begin_exclusion(&self) {
        self.count_exclusion();
    }

    #[inline]
    fn end_exclusion(&self) {
        self.discount_exclusion();
        self.serve_if_due();
    }
}

impl<H: Hardware> AtomicCounters for HardwareCore<H> {
    fn increment_counter(&self, counter: usize) -> u32 {
        self.access_counter(counter, CounterAccess::Increment)
    }

    fn decrement_counter(&self, counter: usize) {
        self.access_counter(counter, CounterAccess::Decrement);
    }

    fn read_counter(&self, counter: usize) -> u32 {
        self.access_counter(counter, CounterAccess::Read)
    }

    fn set_counter(&self, counter: usize, value: u32) {
        self.access_counter(counter, CounterAccess::Set(value));
    }
}
