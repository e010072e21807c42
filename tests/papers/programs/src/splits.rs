//! A watch that is read before and after each call: its time and what it did.

use alloc::vec::Vec;

use hal::{Core, Counters};

use kernel::{Rank, Series, Unit};

/// The counters that are sent for each call: every access to memory that other cores see, and what pushes it out.
const SENT: [&str; 6] =
    ["mpb_lines_read", "mpb_lines_written", "words_read", "words_written", "tsr_acquired", "drains"];

/// What one call took, each time that it was made.
pub(super) struct Splits {
    call: &'static str,
    ticks: Vec<u64>,
    counters: Vec<Counters>,
}

impl Splits {
    /// No call of this name was made yet.
    pub(super) fn new(call: &'static str) -> Self {
        Self { call, ticks: Vec::new(), counters: Vec::new() }
    }

    /// Makes the call, and takes note of it if it `counts`; warming up does not.
    pub(super) fn take<C: Core, R>(&mut self, hal: &C, counts: bool, call: impl FnOnce() -> R) -> R {
        let (counters, begin) = (hal.counters(), hal.now());
        let result = call();
        let (end, did) = (hal.now(), hal.counters() - counters);
        if counts {
            self.ticks.push(end - begin);
            self.counters.push(did);
        }
        result
    }

    /// Sends the times in a series of the call's name, and the counters in series `call.counter`.
    pub(super) fn send<C: Core>(&self, rank: &Rank<'_, C>, algorithm: &str, param: u64) {
        let series = Series { algorithm, param, bytes: 0, metric: self.call, unit: Unit::Ticks };
        rank.samples(&series, self.ticks());
        self.send_counters(rank, &series, &SENT);
    }

    /// The name of the call.
    pub(super) fn call(&self) -> &'static str {
        self.call
    }

    /// What each call took.
    pub(super) fn ticks(&self) -> impl Iterator<Item = u64> + '_ {
        self.ticks.iter().copied()
    }

    /// Sends the counters of these names in series `call.counter` that are like `series` otherwise.
    pub(super) fn send_counters<C: Core>(&self, rank: &Rank<'_, C>, series: &Series<'_>, names: &[&str]) {
        for (place, name) in Counters::NAMES.iter().enumerate().filter(|(_, name)| names.contains(name)) {
            let metric = alloc::format!("{}.{name}", self.call);
            let values = self.counters.iter().filter_map(|counters| counters.values().nth(place));
            rank.samples(&Series { metric: &metric, unit: Unit::Count, ..*series }, values);
        }
    }
}
