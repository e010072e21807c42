//! Waits for places.

use crate::{
    CoreId, Deadline, Line, LineAddress, MpbLine, Place, Places, Poll, Reason, Region, TimedOut, Wait, kind,
    wait::PollSource,
};

use super::{
    HardwareCore,
    event::{Event, LoadedFor},
    hardware::{Hardware, Hooks},
    runs::mask_of,
    terms::{CounterAccess, Expense, Watch, Woken},
    tracer::Waited,
    tracing::NotingOperations,
};

impl<H: Hardware> PollSource for HardwareCore<H> {
    #[inline]
    fn poll_line(&self, at: MpbLine) -> Line {
        let line = self.hardware.load_mpb_line(at);
        self.looked(at, || u32::MAX);
        line
    }

    #[inline]
    fn poll_anew(&self) {
        self.hardware.hooks().spend(Expense::InvalidateMpb);
        self.hardware.invalidate_lines();
    }

    #[inline]
    fn poll_line_words(&self, at: MpbLine, first: usize, words: &mut [u32]) {
        self.hardware.load_mpb_words(at, first, words);
        self.looked(at, || mask_of(first * 4, words.len() * 4));
    }

    #[inline(always)]
    unsafe fn poll_found_words(&self, at: MpbLine, first: usize, address: usize, words: &mut [u32]) {
        // SAFETY: the caller says so.
        unsafe { self.hardware.load_found_words(at, first, address, words) };
        self.looked(at, || mask_of(first * 4, words.len() * 4));
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

    // What a wait looks at is known where it is called, and most end with their first poll: only that is there. What
    // a wait needs that goes on is not made before, and comes to it in values that are not in memory.
    #[inline(always)]
    fn wait_until<R>(
        &self,
        places: impl Places,
        deadline: Deadline,
        reason: Reason,
        mut check: impl FnMut(&Poll<'_>) -> Option<R>,
    ) -> Result<R, TimedOut> {
        let operation = self.operation();
        if self.hardware.is_dying() {
            // Nothing that a poll would read means anything any more.
            return Err(TimedOut { reason });
        }
        self.hardware.trace_wait(reason);
        let list = places.list();
        let missing = match self.poll(list.as_ref(), &mut check) {
            Ok(value) => {
                let watch = Watch::Places(list.as_ref());
                self.hardware.end_wait(watch);
                self.hardware.trace_wait_end(watch, Waited { reason, failed_polls: 0, timed_out: false });
                // Here, and not where waits that went on end, too: what was found is known to be there.
                drop(operation);
                return Ok(value);
            }
            Err(missing) => missing,
        };
        let Reason { what, peer, detail } = reason;
        let was_counted = self.stop_counting();
        // It is moved here, so that what the check knows is in registers until then.
        let goes_on = check;
        let found = self.go_on_waiting(places, deadline, what, peer, detail, goes_on, missing);
        self.go_on_counting(was_counted);
        drop(operation);
        found.map_err(|peer| TimedOut { reason: Reason { what, peer, detail } })
    }
}

/// A wait whose first poll has failed. Most waits of a program that is in step never need one.
pub(super) struct Waiting<H: Hardware> {
    patience: H::Patience,
    waited: Waited,
}

impl<H: Hardware> HardwareCore<H> {
    /// A poll has looked at bytes of a line.
    #[inline(always)]
    fn looked(&self, at: MpbLine, mask: impl FnOnce() -> u32) {
        self.hardware.hooks().witness(|| Event::Load {
            at: LineAddress::Mpb(at),
            mask: mask(),
            what_for: LoadedFor::Poll,
        });
    }

    /// Looks once. Returns what the check has found, or whom it misses.
    #[inline(always)]
    fn poll<R>(&self, places: &[Place], check: &mut impl FnMut(&Poll<'_>) -> Option<R>) -> Result<R, Option<CoreId>> {
        self.hardware.explore();
        self.hardware.before_poll(Watch::Places(places));
        self.hardware.hooks().spend(Expense::InvalidateMpb);
        self.hardware.invalidate_lines();
        let poll = Poll::new(self, places);
        let Some(value) = check(&poll) else { return Err(poll.noted_missing()) };
        let (counting, reads) = (self.hardware.account().counting(), poll.reads());
        counting.lines_polled.add(reads.lines.into());
        counting.words_polled.add(reads.words.into());
        counting.counters_polled.add(reads.counters.into());
        Ok(value)
    }

    /// The first poll has failed, and has said whom it misses: polls again until one does not. The [`Reason`] comes in parts, and
    /// of a wait that times out the peer that was missing last is all that comes back.
    #[cold]
    #[inline(never)]
    #[expect(clippy::too_many_arguments, reason = "parts of one thing")]
    fn go_on_waiting<R>(
        &self,
        places: impl Places,
        deadline: Deadline,
        what: &'static str,
        peer: Option<CoreId>,
        detail: Option<u32>,
        mut check: impl FnMut(&Poll<'_>) -> Option<R>,
        mut missing: Option<CoreId>,
    ) -> Result<R, Option<CoreId>> {
        let list = places.list();
        let places = list.as_ref();
        let reason = |missing: Option<CoreId>| Reason { what, peer: missing.or(peer), detail };
        let mut waiting = self.begin_waiting(deadline, Reason { what, peer, detail });
        let outcome = loop {
            let reason = reason(missing);
            if !self.lets_time_pass(&mut waiting, places, reason) {
                break Err(reason.peer);
            }
            match self.poll(places, &mut check) {
                Ok(value) => break Ok(value),
                Err(core) => missing = core,
            }
        };
        let watch = Watch::Places(places);
        self.hardware.end_wait(watch);
        self.end_waiting(waiting, watch, outcome.is_err());
        outcome
    }

    /// A poll has failed: lets time pass until another one may succeed. False when none will.
    fn lets_time_pass(&self, waiting: &mut Waiting<H>, places: &[Place], reason: Reason) -> bool {
        let watch = Watch::Places(places);
        if self.serve_within_wait(watch) {
            return true;
        }
        if self.pause_wait(waiting, watch, reason) == Woken::TimedOut {
            return false;
        }
        self.serve_within_wait(watch);
        true
    }

    /// A first poll has failed. From here on it depends on others what this core does: nothing is counted any more.
    pub(super) fn begin_waiting(&self, deadline: Deadline, reason: Reason) -> Waiting<H> {
        Waiting {
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

    /// A wait that went on is over, and the machine knows.
    pub(super) fn end_waiting(&self, waiting: Waiting<H>, watch: Watch<'_>, timed_out: bool) {
        let Waiting { patience, waited } = waiting;
        drop(patience);
        self.hardware.trace_wait_end(watch, Waited { timed_out, ..waited });
    }
}
