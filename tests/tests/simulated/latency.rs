//! How long operations take in virtual time.

use std::cell::Cell;

use collectives::Barrier;
use hal::{
    Clock,
    sim::{Description, Machine, SimCore},
};
use tests::{Context, Failed};

use crate::common::run;

/// When the last rank began something, and when the last one returned from it.
#[derive(Default)]
struct Times(Cell<(u64, u64)>);

impl Times {
    fn note(&self, begin: u64, end: u64) {
        let (last_begin, last_end) = self.0.get();
        self.0.set((last_begin.max(begin), last_end.max(end)));
    }

    /// Nanoseconds from when the last rank begins until the last one returns.
    fn latency(&self) -> u64 {
        let (begin, end) = self.0.get();
        end - begin
    }
}

/// The latency of a call after a barrier and a first time.
pub(crate) fn latency(machine: &Machine, call: impl Fn(&mut Context<'_, '_, SimCore>) -> Result<(), Failed>) -> u64 {
    let times = Times::default();
    let outcome = run(machine, |context| {
        call(context)?;
        context.comm.barrier();
        let begin = context.hal().now();
        call(context)?;
        times.note(begin, context.hal().now());
        Ok(())
    });
    assert_eq!(outcome, Ok(()));
    times.latency()
}

/// The latency of a barrier after a first one.
pub(crate) fn barrier_latency(machine: &Machine, barrier: Barrier) -> u64 {
    let times = Times::default();
    let outcome = run(machine, |context| {
        let mut barrier = context.comm.barrier_of(&context.comm.group(), barrier)?;
        barrier.wait();
        let begin = context.hal().now();
        barrier.wait();
        times.note(begin, context.hal().now());
        Ok(())
    });
    assert_eq!(outcome, Ok(()));
    times.latency()
}

/// The SCC, and the same where accesses wait for each other.
pub(crate) fn machines() -> [Machine; 2] {
    ["scc+ideal", "scc"].map(|name| Machine::new(Description::parse(name).expect("the machine exists")))
}
