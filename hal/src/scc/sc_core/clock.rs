//! Time, counters, and what this core does not trace.

use crate::{
    AtomicCounters, Clock, Counted, Counters, Software, Topology, Trace,
    backend::deferral::Deferring,
    bare::cpu,
    scc::{registers::board::Board, sc_core::ScCore},
};

impl ScCore {
    /// Insists that there is such a counter.
    fn counter(&self, counter: usize) -> Board<'static> {
        let counters = self.layout().atomic_counters();
        match self.board {
            Some(board) if counter < counters => board,
            _ => panic!("atomic counter {counter} of a machine that has {counters}"),
        }
    }

    /// What a counter is, not counted.
    pub(crate) fn read_counter_uncounted(&self, counter: usize) -> u32 {
        self.counter(counter).read(counter)
    }

    fn access_counter<R>(&self, counter: usize, access: impl FnOnce(Board<'static>) -> R) -> R {
        let _operation = self.operation();
        let board = self.counter(counter);
        self.counting.count(|counters| counters.counter_accesses += 1);
        access(board)
    }
}

/// The board's timestamp, which is one for all cores. Where a board has none it is the time stamp counter, and cores
/// that were started one after the other differ.
impl Clock for ScCore {
    fn now(&self) -> u64 {
        let _operation = self.operation();
        self.board.and_then(Board::timestamp).unwrap_or_else(cpu::rdtsc)
    }

    fn ticks_per_second(&self) -> u64 {
        let has_timestamp = self.board.is_some() && self.geometry.timestamp != 0;
        let mhz = if has_timestamp { self.geometry.timestamp_mhz } else { self.geometry.costs.core_mhz };
        u64::from(mhz) * 1_000_000
    }

    fn compute(&self, _cycles: u64) {}

    fn account_memory(&self, _lines_read: usize, _lines_written: usize) {}

    fn account(&self, _software: Software) {}
}

impl AtomicCounters for ScCore {
    fn increment_counter(&self, counter: usize) -> u32 {
        self.access_counter(counter, |board| board.increment(counter))
    }

    fn decrement_counter(&self, counter: usize) {
        self.access_counter(counter, |board| board.decrement(counter));
    }

    fn read_counter(&self, counter: usize) -> u32 {
        self.access_counter(counter, |board| board.read(counter))
    }

    fn set_counter(&self, counter: usize, value: u32) {
        self.access_counter(counter, |board| board.set(counter, value));
    }
}

impl Counted for ScCore {
    fn counters(&self) -> Counters {
        let _operation = self.operation();
        self.counting.snapshot()
    }
}

impl Trace for ScCore {}
