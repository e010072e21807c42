//! Seeing that a machine is stuck: all cores wait, and nothing was written since they last looked.
//!
//! Every core counts its writes. A core whose polls have found nothing for a while notes the sum of all counts from before
//! its last poll. When every core has finished or noted the present sum, no poll can ever find anything. A core that
//! waits no longer takes its note back before it writes.

use std::{
    fmt,
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{
            AtomicBool, AtomicU64,
            Ordering::{Acquire, Relaxed, Release, SeqCst},
        },
    },
};

use hal::{CoreId, LineAddress, emulated::WaitInfo, kit::deadlock::Deadlock};

/// A count of writes, on a cache line of its own.
#[derive(Default)]
#[repr(align(128))]
struct Writes(AtomicU64);

/// What a core does.
#[derive(Clone, Copy)]
enum State {
    Runs,
    Waits { writes: u64, since: u64, info: WaitInfo, register: Option<CoreId> },
    Finished { undrained: Option<LineAddress> },
}

/// What is known of the cores of a machine.
pub(crate) struct Cores {
    writes: Vec<Writes>,
    states: Mutex<Vec<State>>,
    is_dying: AtomicBool,
    /// Why the machine ends, once it does.
    report: Mutex<Option<String>>,
}

impl Cores {
    pub(crate) fn new(cores: usize) -> Self {
        Self {
            writes: (0..cores).map(|_| Writes::default()).collect(),
            states: Mutex::new(vec![State::Runs; cores]),
            is_dying: AtomicBool::new(false),
            report: Mutex::new(None),
        }
    }

    fn states(&self) -> MutexGuard<'_, Vec<State>> {
        self.states.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A core has written what others may wait for.
    pub(crate) fn count_write(&self, core: CoreId) {
        let count = &self.writes[core.index()].0;
        // Nobody else stores there. Who sees the count sees what was written.
        count.store(count.load(Relaxed) + 1, Release);
    }

    /// Writes of all cores so far.
    pub(crate) fn writes(&self) -> u64 {
        self.writes.iter().map(|writes| writes.0.load(Acquire)).sum()
    }

    /// A core waits, and its last poll has found nothing, when there had been this many writes.
    pub(crate) fn waits(
        &self,
        core: CoreId,
        writes: u64,
        now: u64,
        info: WaitInfo,
        register: Option<CoreId>,
        is_taken: impl Fn(CoreId) -> bool,
    ) {
        let mut states = self.states();
        let since = if let State::Waits { since, .. } = states[core.index()] { since } else { now };
        states[core.index()] = State::Waits { writes, since, info, register };
        let present = self.writes();
        let is_stuck = states.iter().all(|state| match state {
            State::Runs => false,
            State::Waits { writes, register, .. } => *writes == present && register.is_none_or(&is_taken),
            State::Finished { .. } => true,
        });
        if is_stuck {
            let report = Stuck(&states).to_string();
            drop(states);
            self.end(report);
        }
    }

    /// A core goes on.
    pub(crate) fn goes_on(&self, core: CoreId) {
        self.states()[core.index()] = State::Runs;
    }

    /// A core's program has ended.
    pub(crate) fn finished(&self, core: CoreId, undrained: Option<LineAddress>) {
        self.states()[core.index()] = State::Finished { undrained };
    }

    /// The machine comes to its end. What is said first counts.
    pub(crate) fn end(&self, report: String) {
        self.report.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(report);
        self.is_dying.store(true, SeqCst);
    }

    /// Whether the machine is coming to its end.
    pub(crate) fn is_dying(&self) -> bool {
        self.is_dying.load(Relaxed)
    }

    /// Why it has come to its end before all programs had.
    pub(crate) fn into_report(self) -> Option<String> {
        self.report.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Cores that wait for ever.
struct Stuck<'a>(&'a [State]);

impl fmt::Display for Stuck<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let waiting = |core: usize| match self.0[core] {
            State::Waits { since, info, .. } => Some((since, info)),
            State::Runs | State::Finished { .. } => None,
        };
        let undrained = |core: usize| match self.0[core] {
            State::Waits { info: WaitInfo { undrained, .. }, .. } | State::Finished { undrained } => undrained,
            State::Runs => None,
        };
        let deadlock = Deadlock {
            cores: self.0.len(),
            awaits: &|core| waiting(core)?.1.reason.peer.map(CoreId::index),
            since: &|core| waiting(core).map(|(since, _)| since),
            reason: &|core, out| waiting(core).map_or(Ok(()), |(_, info)| fmt::Display::fmt(&info.reason, out)),
            undrained: &undrained,
        };
        deadlock.write_with_cores(out)
    }
}
