//! The board's atomic counters.

use crate::{AtomicCounters, Topology, backend::deferral::Deferring};

use super::{
    super::{CounterAccess, Expense, Platform, trace::Spot},
    EmulatedCore,
};

impl<P: Platform> EmulatedCore<P> {
    /// Insists that there is such a counter.
    pub(super) fn assert_counter(&self, counter: usize) {
        let counters = self.layout().atomic_counters();
        assert!(counter < counters, "atomic counter {counter} of a machine that has {counters}");
    }

    fn access_counter(&self, counter: usize, access: CounterAccess) -> u32 {
        let _operation = self.operation();
        self.assert_counter(counter);
        self.explore();
        self.counting.count(|counters| counters.counter_accesses += 1);
        self.platform.spend(Expense::WordCall);
        if access == CounterAccess::Read {
            return self.platform.access_counter(counter, access);
        }
        self.trace_store(Spot::Counter(counter), u32::MAX, || self.platform.access_counter(counter, access))
    }
}

impl<P: Platform> AtomicCounters for EmulatedCore<P> {
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
