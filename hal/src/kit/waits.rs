//! Waits for places.

use crate::{
    Deadline, Line, LineAddress, MpbLine, Place, Poll, Reason, Region, TimedOut, Wait, kind, wait::PollSource,
};

use super::{
    HardwareCore,
    hardware::{CounterAccess, Expense, Hardware, Watch, Woken},
    tracer::Waited,
    tracing::NotingOperations,
};

impl<H: Hardware> PollSource for HardwareCore<H> {
    fn poll_line(&self, at: MpbLine) -> Line {
        self.hardware.load_line(LineAddress::Mpb(at))
    }

    fn poll_word(&self, region: Region<kind::Uncached>, index: usize) -> u32 {
        self.hardware.load_word(region, index)
    }

    fn poll_counter(&self, counter: usize) -> u32 {
        self.assert_counter(counter);
        self.hardware.access_counter(counter, CounterAccess::Read)
    }
}

impl<H: Hardware> Wait for HardwareCore<H> {
    fn is_dying(&self) -> bool {
        self.hardware.is_dying()
    }

    fn relax(&self) {
        let _operation = self.operation();
        self.hardware.relax();
    }

    fn wait_until<R>(
        &self,
        places: &[Place],
        deadline: Deadline,
        reason: Reason,
        mut check: impl FnMut(&Poll<'_>) -> Option<R>,
    ) -> Result<R, TimedOut> {
        let _operation = self.operation();
        if self.hardware.is_dying() {
            // Nothing that a poll would read means anything any more.
            return Err(TimedOut { reason });
        }
        let watch = Watch::Places(places);
        let mut waited = Waited { reason, failed_polls: 0, timed_out: false };
        self.hardware.trace_wait();
        let mut patience = self.hardware.begin_wait(deadline);
        let outcome = loop {
            self.hardware.explore();
            self.hardware.before_poll(watch);
            self.hardware.spend(Expense::InvalidateMpb);
            self.hardware.invalidate_lines();
            let poll = Poll::new(self, places);
            if let Some(value) = check(&poll) {
                self.hardware.account().count(|counters| {
                    counters.lines_polled += u64::from(poll.reads().lines);
                    counters.words_polled += u64::from(poll.reads().words);
                    counters.counters_polled += u64::from(poll.reads().counters);
                });
                break Ok(value);
            }
            if self.serve_within_wait(watch) {
                continue;
            }
            waited.reason = Reason { peer: poll.noted_missing().or(reason.peer), ..reason };
            let woken = self.hardware.park(&mut patience, watch, waited.reason);
            let missed_polls = if let Woken::Poll { missed_polls } = woken { missed_polls } else { 0 };
            waited.failed_polls += 1 + missed_polls;
            self.hardware.account().count(|counters| counters.failed_polls += 1 + missed_polls);
            if woken == Woken::TimedOut {
                waited.timed_out = true;
                break Err(TimedOut { reason: waited.reason });
            }
            self.serve_within_wait(watch);
        };
        self.hardware.end_wait(watch);
        self.hardware.trace_wait_end(watch, waited);
        outcome
    }
}
