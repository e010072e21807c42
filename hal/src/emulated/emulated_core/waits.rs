//! What an emulated core waits for: places and registers.

use crate::{
    CoreId, Deadline, Line, LineAddress, MpbLine, Place, Poll, Reason, Region, TestAndSet, TimedOut, Wait,
    backend::deferral::Deferring, kind, wait::PollSource,
};

use super::{
    super::{
        CounterAccess, Expense, Platform, WaitInfo, Watch, Woken,
        trace::{Spot, Waited},
    },
    EmulatedCore, Omit,
};

impl<P: Platform> TestAndSet for EmulatedCore<P> {
    fn try_acquire_register(&self, core: CoreId) -> bool {
        let _operation = self.operation();
        self.platform.spend(Expense::WordCall);
        self.read_register(core)
    }

    fn acquire_register(&self, core: CoreId, purpose: &'static str) {
        let _operation = self.operation();
        self.platform.spend(Expense::WordCall);
        let watch = Watch::Register(core);
        let mut info = WaitInfo { reason: Reason::new(purpose).from(core), undrained: None };
        let mut failed_polls = 0;
        self.trace_wait();
        loop {
            self.platform.before_poll(watch);
            if self.read_register(core) {
                break;
            }
            info.undrained = self.undrained();
            if let Woken::Poll { missed_polls } = self.platform.park(watch, Deadline::Never, &info) {
                self.counting.count(|counters| counters.failed_acquires += missed_polls);
                failed_polls += 1 + missed_polls;
            }
        }
        self.platform.end_wait(watch);
        self.trace_wait_end(watch, Waited { reason: info.reason, failed_polls, timed_out: false });
    }

    fn free_register(&self, core: CoreId) {
        let _operation = self.operation();
        self.assert_register_reachable(core);
        self.platform.spend(Expense::WordCall);
        self.trace_store(Spot::Register(core), u32::MAX, || self.platform.free(core));
    }

    fn begin_exclusion(&self) {
        let _operation = self.operation();
        self.deferral.begin_exclusion();
    }

    fn end_exclusion(&self) {
        let _operation = self.operation();
        self.deferral.end_exclusion();
    }
}

impl<P: Platform> PollSource for EmulatedCore<P> {
    fn poll_line(&self, at: MpbLine) -> Line {
        self.load_uncounted(LineAddress::Mpb(at))
    }

    fn poll_word(&self, region: Region<kind::Uncached>, index: usize) -> u32 {
        self.platform.read_word(self.word_address(region, index))
    }

    fn poll_counter(&self, counter: usize) -> u32 {
        self.assert_counter(counter);
        self.platform.access_counter(counter, CounterAccess::Read)
    }
}

impl<P: Platform> Wait for EmulatedCore<P> {
    fn is_dying(&self) -> bool {
        self.platform.is_dying()
    }

    fn relax(&self) {
        let _operation = self.operation();
        self.platform.relax();
    }

    fn wait_until<R>(
        &self,
        places: &[Place],
        deadline: Deadline,
        reason: Reason,
        mut check: impl FnMut(&Poll<'_>) -> Option<R>,
    ) -> Result<R, TimedOut> {
        let _operation = self.operation();
        if self.platform.is_dying() {
            // Nothing that a poll would read means anything any more.
            return Err(TimedOut { reason });
        }
        let watch = Watch::Places(places);
        let mut waited = Waited { reason, failed_polls: 0, timed_out: false };
        self.trace_wait();
        let outcome = loop {
            self.explore();
            self.platform.before_poll(watch);
            self.platform.spend(Expense::InvalidateMpb);
            if !self.omits(Omit::INVALIDATE_MPB) {
                self.lines.borrow_mut().invalidate();
            }
            let poll = Poll::new(self, places);
            if let Some(value) = check(&poll) {
                self.counting.count(|counters| {
                    counters.lines_polled += u64::from(poll.reads().lines);
                    counters.words_polled += u64::from(poll.reads().words);
                    counters.counters_polled += u64::from(poll.reads().counters);
                });
                break Ok(value);
            }
            if self.serve_within_wait(watch) {
                continue;
            }
            let reason = Reason { peer: poll.noted_missing().or(reason.peer), ..reason };
            waited.reason = reason;
            waited.failed_polls += 1;
            let info = WaitInfo { reason, undrained: self.undrained() };
            match self.platform.park(watch, deadline, &info) {
                Woken::Poll { missed_polls } => {
                    self.counting.count(|counters| counters.failed_polls += 1 + missed_polls);
                    waited.failed_polls += missed_polls;
                }
                Woken::TimedOut => {
                    waited.timed_out = true;
                    self.counting.count(|counters| counters.failed_polls += 1);
                    break Err(TimedOut { reason });
                }
            }
            self.serve_within_wait(watch);
        };
        self.platform.end_wait(watch);
        self.trace_wait_end(watch, waited);
        outcome
    }
}
