//! How long a guest may take: by what it uses itself, never by the clock of a host that may be busy with others.

use crate::process::Running;
use std::{
    fmt,
    time::{Duration, Instant},
};

/// How often a guest is looked at.
pub(crate) const GLANCE: Duration = Duration::from_millis(100);

/// A guest that has used this much since the last look is not asleep: to find that out otherwise takes a look at all processes.
const BUSY: Duration = Duration::from_millis(50);

/// Looks at a guest that sleeps and says nothing until it will never do anything again: at least a minute.
const PATIENCE: u32 = if cfg!(test) { 10 } else { 600 };

/// No limit at all: whoever has a debugger may sleep.
pub(crate) const FOREVER: Duration = Duration::MAX;

/// What a guest has used up.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Spent {
    /// All of its processor time, which was this much.
    Processor(Duration),
    /// It slept whenever somebody looked, and said nothing.
    Patience,
}

impl fmt::Display for Spent {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Processor(limit) => {
                write!(out, "has not ended after {} s of its own processor time", limit.as_secs())
            }
            Self::Patience => out.write_str("has not ended and does nothing any more, all its cores are halted"),
        }
    }
}

/// A guest's account. A guest that the host lets wait pays nothing: it uses no processor time, and is not asleep.
pub(crate) struct Meter {
    limit: Duration,
    /// Processor time that it had used when the account was opened.
    before: Duration,
    patience: u32,
    /// Looks at which it slept, less those at which it did not.
    asleep: u32,
    looked: Instant,
    /// What it had used then.
    used: Duration,
}

impl Meter {
    /// An account with `limit` of processor time, or [`FOREVER`].
    pub(crate) fn open(limit: Duration, running: &Running) -> Self {
        let before = running.processor_time().unwrap_or_default();
        let patience = if limit == FOREVER { u32::MAX } else { PATIENCE };
        Self { limit, before, patience, asleep: 0, looked: Instant::now(), used: Duration::ZERO }
    }

    /// An account for a last errand: no more than `limit`, computed or slept.
    pub(crate) fn errand(limit: Duration, running: &Running) -> Self {
        let looks = limit.as_millis().div_ceil(GLANCE.as_millis());
        Self { patience: PATIENCE.min(looks as u32), ..Self::open(limit, running) }
    }

    /// The guest has said something.
    pub(crate) fn heard(&mut self) {
        self.asleep = 0;
    }

    /// Looks at the guest, if it is time to, and tells what it has used up.
    pub(crate) fn look(&mut self, running: &Running) -> Option<Spent> {
        if self.looked.elapsed() < GLANCE {
            return None;
        }
        self.looked = Instant::now();
        let used = running.processor_time().unwrap_or_default().saturating_sub(self.before);
        let has_computed = used.saturating_sub(self.used) >= BUSY;
        self.used = used;
        // A timer that interrupts halted cores lets them run for a moment.
        let is_asleep = !has_computed && running.is_asleep();
        self.asleep = if is_asleep { self.asleep + 1 } else { self.asleep.saturating_sub(1) };
        if used >= self.limit {
            Some(Spent::Processor(self.limit))
        } else {
            (self.asleep >= self.patience).then_some(Spent::Patience)
        }
    }
}
