//! Waits for places.

use crate::{Deadline, Line, MpbLine, Place, Poll, Reason, Region, TimedOut, Wait, kind, wait::PollSource};

use super::{
    HardwareCore,
    hardware::{CounterAccess, Expense, Hardware, Watch, Woken},
    tracer::Waited,
    tracing::NotingOperations,
};

impl<H: Hardware> PollSource for HardwareCore<H> {
    #[inline]
    fn poll_line(&self, at: MpbLine) -> Line {
        self.hardware.load_mpb_line(at)
    }

    #[inline]
    fn poll_line_word(&self, at: MpbLine, word: usize) -> u32 {
        self.hardware.load_mpb_word(at, word)
    }

    #[inline]
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

    // What a wait looks at is known where it is called, and most end with their first poll.
    #[inline(always)]
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
        self.hardware.trace_wait();
        let mut waiting = None;
        let outcome = loop {
            self.hardware.explore();
            self.hardware.before_poll(watch);
            self.hardware.spend(Expense::InvalidateMpb);
            self.hardware.invalidate_lines();
            let poll = Poll::new(self, places);
            if let Some(value) = check(&poll) {
                let (counting, reads) = (self.hardware.account().counting(), poll.reads());
                counting.lines_polled.add(reads.lines.into());
                counting.words_polled.add(reads.words.into());
                counting.counters_polled.add(reads.counters.into());
                break Ok(value);
            }
            let missing = Reason { peer: poll.noted_missing().or(reason.peer), ..reason };
            if let Err(timed_out) = self.go_on_waiting(&mut waiting, watch, deadline, missing) {
                break Err(timed_out);
            }
        };
        self.hardware.end_wait(watch);
        self.end_waiting(waiting, watch, reason, outcome.is_err());
        outcome
    }
}

/// A wait whose first poll has failed. Most waits of a program that is in step never need one.
pub(super) struct Waiting<H: Hardware> {
    patience: H::Patience,
    /// Whether instructions were counted, and are not as long as polls fail.
    was_counted: bool,
    waited: Waited,
}

impl<H: Hardware> HardwareCore<H> {
    /// A poll has failed: lets time pass until another one may succeed.
    #[cold]
    #[inline(never)]
    fn go_on_waiting(
        &self,
        waiting: &mut Option<Waiting<H>>,
        watch: Watch<'_>,
        deadline: Deadline,
        reason: Reason,
    ) -> Result<(), TimedOut> {
        let waiting = waiting.get_or_insert_with(|| self.begin_waiting(deadline, reason));
        if self.serve_within_wait(watch) {
            return Ok(());
        }
        if self.pause_wait(waiting, watch, reason) == Woken::TimedOut {
            return Err(TimedOut { reason });
        }
        self.serve_within_wait(watch);
        Ok(())
    }

    /// A first poll has failed. From here on it depends on others what this core executes.
    pub(super) fn begin_waiting(&self, deadline: Deadline, reason: Reason) -> Waiting<H> {
        Waiting {
            was_counted: self.stop_counting_instructions(),
            patience: self.hardware.begin_wait(deadline),
            waited: Waited { reason, failed_polls: 0, timed_out: false },
        }
    }

    /// Lets time pass, and counts what failed meanwhile.
    pub(super) fn pause_wait(&self, waiting: &mut Waiting<H>, watch: Watch<'_>, reason: Reason) -> Woken {
        waiting.waited.reason = reason;
        let woken = self.hardware.park(&mut waiting.patience, watch, reason);
        let missed_polls = if let Woken::Poll { missed_polls } = woken { missed_polls } else { 0 };
        waiting.waited.failed_polls += 1 + missed_polls;
        let counting = self.hardware.account().counting();
        match watch {
            Watch::Places(_) => counting.failed_polls.add(1 + missed_polls),
            // The attempt itself was counted when it was made.
            Watch::Register(_) => counting.failed_acquires.add(missed_polls),
        }
        woken
    }

    /// A wait is over, and the machine knows.
    #[inline]
    pub(super) fn end_waiting(&self, waiting: Option<Waiting<H>>, watch: Watch<'_>, reason: Reason, timed_out: bool) {
        let waited = match waiting {
            None => Waited { reason, failed_polls: 0, timed_out },
            Some(Waiting { patience, was_counted, waited }) => {
                drop(patience);
                if was_counted {
                    self.go_on_counting_instructions();
                }
                Waited { timed_out, ..waited }
            }
        };
        self.hardware.trace_wait_end(watch, waited);
    }
}
