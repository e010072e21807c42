//! What a core waits for: places and registers.
//!
//! A core that waits spins; nobody else needs its processor. Now and then it looks whether another one has ended the
//! machine, and it gives up after `stuck_s=` seconds, since nobody on the chip can see that all of them wait.

use core::cell::Cell;

use crate::{
    Clock, CoreId, Deadline, Line, LineAddress, MpbLine, Place, Poll, Reason, Region, TestAndSet, TimedOut, Wait,
    backend::{deadlock::Deadlock, deferral::Deferring},
    bare::cpu,
    kind,
    scc::{
        caches::cache_operations,
        console,
        exit::machine::{exit, stop_if_ending},
        handed::core_count,
        registers::tile::TestAndSetValue,
        sc_core::ScCore,
        status::{
            backoff::{Backoff, pause},
            meeting, status_page,
        },
    },
    wait::PollSource,
};

/// Failed polls between two looks at the clock, and at what the other cores say: that is an access to memory, at a
/// place that all look at.
const POLLS_PER_LOOK: u32 = 256;

/// Looks that a wait goes on for when its time is up, so that all who wait have said so by then: a core that has just begun
/// to wait has not looked yet.
const LAST_LOOKS: u32 = 4;

/// A wait that goes on.
struct Patience<'c> {
    core: &'c ScCore,
    since: u64,
    polls: u32,
    /// Whether the others can see what this core waits for.
    is_told: Cell<bool>,
    /// Looks that found the time up.
    late: Cell<u32>,
}

impl Drop for Patience<'_> {
    fn drop(&mut self) {
        if self.is_told.get() {
            status_page::set_wait(None);
            status_page::set_undrained(None);
        }
    }
}

impl<'c> Patience<'c> {
    fn new(core: &'c ScCore) -> Self {
        Self { core, since: cpu::rdtsc(), polls: 0, is_told: Cell::new(false), late: Cell::new(0) }
    }

    /// A poll has failed. Does not return if the machine cannot come to its end any more.
    fn failed(&mut self, reason: Reason) {
        self.polls = self.polls.wrapping_add(1);
        if self.polls.is_multiple_of(POLLS_PER_LOOK) {
            self.look(reason);
        }
    }

    fn look(&self, reason: Reason) {
        stop_if_ending();
        if !self.is_told.replace(true) {
            status_page::set_wait(Some(reason));
            status_page::set_undrained(self.core.undrained());
        }
        let waited = cpu::rdtsc().wrapping_sub(self.since);
        if self.core.stuck_cycles.is_some_and(|limit| waited > limit) {
            self.late.set(self.late.get() + 1);
            if self.late.get() <= LAST_LOOKS {
                return;
            }
            let core = self.core.core.index();
            let seconds = waited / (u64::from(self.core.geometry.costs.core_mhz) * 1_000_000);
            status_page::set_wait(Some(reason));
            console::write_urgent(format_args!("core {core} waits for {reason}, since {seconds} s\n"));
            meeting::tell_who_waits();
            // Whose patience is at its end first has waited longest. Since when the others wait is not known.
            let line = Deadlock {
                cores: core_count(),
                awaits: &|core| status_page::wait_of(core)?.peer.map(CoreId::index),
                since: &|other| (other == core).then_some(0),
                reason: &|_, out| write!(out, "{reason}"),
                undrained: &status_page::undrained_of,
            };
            console::write_urgent(format_args!("@done failed deadlock: a wait has not ended for {seconds} s{line}\n"));
            exit(false);
        }
    }
}

/// When a wait is over, by a clock that is cheap to read.
struct Alarm {
    deadline: Deadline,
    /// The time stamp counter then, at the earliest.
    cycles: u64,
}

impl Alarm {
    fn new(core: &ScCore, deadline: Deadline) -> Self {
        let mut alarm = Self { deadline, cycles: u64::MAX };
        alarm.rings(core);
        alarm
    }

    /// Whether the time is up.
    fn is_over(&mut self, core: &ScCore) -> bool {
        self.deadline != Deadline::Never && cpu::rdtsc() >= self.cycles && self.rings(core)
    }

    /// Looks at the clock, and says when to do so again.
    fn rings(&mut self, core: &ScCore) -> bool {
        let Deadline::At(ticks) = self.deadline else { return false };
        let left = ticks.saturating_sub(core.now());
        let cycles = left.saturating_mul(u64::from(core.geometry.costs.core_mhz) * 1_000_000) / core.ticks_per_second();
        self.cycles = cpu::rdtsc().saturating_add(cycles);
        left == 0
    }
}

impl ScCore {
    /// Reads a register once.
    fn read_register(&self, core: CoreId) -> bool {
        let (registers, z) = self.registers_of(core);
        let acquired = registers.test_and_set(z).read().is_acquired();
        self.counting
            .count(|counters| if acquired { counters.tsr_acquired += 1 } else { counters.failed_acquires += 1 });
        acquired
    }

    fn backoff(&self) -> Backoff {
        Backoff::new(self.core.index() as u32 ^ cpu::rdtsc() as u32)
    }
}

impl TestAndSet for ScCore {
    fn try_acquire_register(&self, core: CoreId) -> bool {
        let _operation = self.operation();
        self.read_register(core)
    }

    fn acquire_register(&self, core: CoreId, purpose: &'static str) {
        let _operation = self.operation();
        let (mut patience, mut backoff) = (Patience::new(self), self.backoff());
        while !self.read_register(core) {
            patience.failed(Reason::new(purpose).from(core));
            backoff.wait();
        }
    }

    fn free_register(&self, core: CoreId) {
        let _operation = self.operation();
        let (registers, z) = self.registers_of(core);
        registers.test_and_set(z).write(TestAndSetValue::FREE);
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

impl PollSource for ScCore {
    fn poll_line(&self, at: MpbLine) -> Line {
        self.load_uncounted(LineAddress::Mpb(at))
    }

    fn poll_word(&self, region: Region<kind::Uncached>, index: usize) -> u32 {
        self.load_word_uncounted(region, index)
    }

    fn poll_counter(&self, counter: usize) -> u32 {
        self.read_counter_uncounted(counter)
    }
}

impl Wait for ScCore {
    /// A core of the chip that ends stops at once, without dropping anything, and all others stop in their next waits:
    /// no operation is ever on a machine that is dying.
    fn is_dying(&self) -> bool {
        false
    }

    fn relax(&self) {
        let _operation = self.operation();
        cpu::pause();
    }

    fn wait_until<R>(
        &self,
        places: &[Place],
        deadline: Deadline,
        reason: Reason,
        mut check: impl FnMut(&Poll<'_>) -> Option<R>,
    ) -> Result<R, TimedOut> {
        let _operation = self.operation();
        let mut alarm = Alarm::new(self, deadline);
        let (mut patience, mut backoff) = (Patience::new(self), self.backoff());
        loop {
            cache_operations::atoll_scc_invalidate_mpb();
            let poll = Poll::new(self, places);
            if let Some(value) = check(&poll) {
                self.counting.count(|counters| {
                    counters.lines_polled += u64::from(poll.reads().lines);
                    counters.words_polled += u64::from(poll.reads().words);
                    counters.counters_polled += u64::from(poll.reads().counters);
                });
                return Ok(value);
            }
            if self.serve_within_wait() {
                continue;
            }
            self.counting.count(|counters| counters.failed_polls += 1);
            let reason = Reason { peer: poll.noted_missing().or(reason.peer), ..reason };
            if alarm.is_over(self) {
                return Err(TimedOut { reason });
            }
            patience.failed(reason);
            // What leaves the chip is left alone for a while; polls of lines and words are answered nearby.
            pause(if poll.reads().counters > 0 { backoff.rounds() } else { 1 });
            self.serve_within_wait();
        }
    }
}
