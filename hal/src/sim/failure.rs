//! How a run can fail, told so that the mistake can be found.

use std::{error::Error, fmt};

use crate::{CoreId, LineAddress, Reason, kit::deadlock};

use super::Recording;

/// Waiting cores that [`Display`](fmt::Display) lists one by one; the [`Deadlock`] itself has them all.
const LISTED: usize = 64;

/// Why a run did not come to its end.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Failure {
    /// All cores that have not finished wait, and nothing that could end a wait is pending.
    Deadlock(Box<Deadlock>),
    /// A core panicked. The others were stopped where they were.
    Panic {
        /// Which core.
        core: CoreId,
        /// The message of the panic, and its place.
        message: String,
        /// When, in virtual time.
        time_ps: u64,
        /// The choices up to there, if they were recorded.
        recording: Option<Recording>,
    },
    /// A core did what its processor refuses, in a run that is made to be looked into: any other ends the process
    /// ([`end_on_faults`](super::end_on_faults)). The others were stopped where they were.
    Fault {
        /// Which core.
        core: CoreId,
        /// What it did.
        what: String,
        /// Where, as reports of faults tell it.
        place: usize,
        /// When, in virtual time.
        time_ps: u64,
        /// The choices up to there, if they were recorded.
        recording: Option<Recording>,
    },
    /// Nothing is wrong: the run was to [stop](super::Stop) there. The cores were stopped where they were.
    Stopped {
        /// When, in virtual time.
        time_ps: u64,
        /// Accesses to what cores share until then.
        accesses: u64,
    },
}

/// A machine on which nothing can move any more.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Deadlock {
    /// When the last core stopped, in virtual time.
    pub time_ps: u64,
    /// The cores that wait.
    pub waiting: Vec<Waiting>,
    /// The cores whose programs have ended.
    pub finished: Vec<Finished>,
    /// The choices up to there, if they were recorded.
    pub recording: Option<Recording>,
}

/// A core that waits for ever.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Waiting {
    /// Which core.
    pub core: CoreId,
    /// What the core waits for, and from whom.
    pub reason: Reason,
    /// Since when, in virtual time.
    pub since_ps: u64,
    /// A line in its write-combine buffer that nobody else has seen.
    pub undrained: Option<LineAddress>,
    /// If it waits for a test-and-set register: whose.
    pub register: Option<CoreId>,
    /// Who holds that register.
    pub holder: Option<CoreId>,
}

/// A core whose program has ended.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Finished {
    /// Which core.
    pub core: CoreId,
    /// When, in virtual time.
    pub time_ps: u64,
    /// A line in its write-combine buffer that nobody else has seen.
    pub undrained: Option<LineAddress>,
}

impl Failure {
    /// What happened, in one line. Of a fault it is the line with which the report of one ends the process, so that a run ends alike
    /// whether it is taken down or not; that has no time.
    pub fn summary(&self) -> String {
        match self {
            Failure::Deadlock(deadlock) => deadlock.summary(),
            Failure::Panic { core, message, time_ps, .. } => {
                format!("{core} panicked at {}: {}", Time(*time_ps), message.replace('\n', " / "))
            }
            Failure::Fault { core, what, .. } => format!("{core}: {what}"),
            Failure::Stopped { .. } => self.to_string(),
        }
    }

    /// The choices that led to it, if they were recorded.
    pub fn recording(&self) -> Option<&Recording> {
        match self {
            Failure::Deadlock(deadlock) => deadlock.recording.as_ref(),
            Failure::Panic { recording, .. } | Failure::Fault { recording, .. } => recording.as_ref(),
            Failure::Stopped { .. } => None,
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Deadlock(deadlock) => deadlock.fmt(out),
            Failure::Panic { core, message, time_ps, .. } => {
                write!(out, "{core} panicked at {}:\n{message}", Time(*time_ps))
            }
            Failure::Fault { core, what, time_ps, .. } => write!(out, "{core} failed at {}: {what}", Time(*time_ps)),
            Failure::Stopped { time_ps, accesses } => {
                write!(out, "stopped at {}, after {accesses} accesses to what cores share", Time(*time_ps))
            }
        }
    }
}

impl Error for Failure {}

impl Deadlock {
    /// How many cores wait, who waits for whom, and what was not drained, in one line.
    pub fn summary(&self) -> String {
        let line = deadlock::Deadlock {
            cores: self.waiting.len() + self.finished.len(),
            awaits: &|core| self.awaited_by(core),
            since: &|core| Some(self.waiting_core(core)?.since_ps),
            reason: &|core, out| self.waiting_core(core).map_or(Ok(()), |waiting| out.write_str(&waiting.awaited())),
            undrained: &|core| self.undrained().find_map(|(of, line)| (of.index() == core).then_some(line)),
        };
        format!("{}{line}", self.headline())
    }

    /// The core that has to act for another one to go on.
    fn awaited_by(&self, core: usize) -> Option<usize> {
        self.waiting_core(core)?.awaits().map(CoreId::index)
    }

    fn waiting_core(&self, core: usize) -> Option<&Waiting> {
        let at = self.waiting.binary_search_by_key(&core, |waiting| waiting.core.index()).ok()?;
        Some(&self.waiting[at])
    }

    /// Cores each of which waits for the next one, and the last one for the first, if there are such.
    pub fn cycle(&self) -> Option<Vec<CoreId>> {
        let cores = self.waiting.len() + self.finished.len();
        let awaits = |core| self.awaited_by(core);
        let start = (0..cores).find(|core| deadlock::in_circle(cores, &awaits, *core))?;
        let rest = std::iter::successors(awaits(start), |core| awaits(*core)).take_while(|core| *core != start);
        Some(std::iter::once(start).chain(rest).map(CoreId::new).collect())
    }

    fn headline(&self) -> String {
        let all = self.waiting.len() + self.finished.len();
        format!(
            "deadlock at {}: {} of {all} cores wait and nothing can wake them",
            Time(self.time_ps),
            self.waiting.len()
        )
    }

    fn undrained(&self) -> impl Iterator<Item = (CoreId, LineAddress)> {
        let waiting = self.waiting.iter().map(|waiting| (waiting.core, waiting.undrained));
        let finished = self.finished.iter().map(|finished| (finished.core, finished.undrained));
        waiting.chain(finished).filter_map(|(core, undrained)| Some((core, undrained?)))
    }
}

impl fmt::Display for Deadlock {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(out, "{}", self.headline())?;
        for waiting in self.waiting.iter().take(LISTED) {
            writeln!(out, "  {} has waited since {} for {}", waiting.core, Time(waiting.since_ps), waiting.awaited())?;
        }
        if let Some(more) = self.waiting.len().checked_sub(LISTED + 1) {
            writeln!(out, "  … and {} more", more + 1)?;
        }
        for (core, line) in self.undrained().take(LISTED) {
            writeln!(
                out,
                "  {core} has not drained its write-combine buffer: nobody has seen what it stored to {line}"
            )?;
        }
        match self.finished.as_slice() {
            [] => write!(out, "  no core has finished"),
            finished => write!(out, "  finished: {}", ranges(finished.iter().map(|finished| finished.core))),
        }
    }
}

impl Waiting {
    /// The core that has to act, where it is known: who holds the register, or who was named as the peer.
    pub fn awaits(&self) -> Option<CoreId> {
        if self.register.is_some() { self.holder } else { self.reason.peer }
    }

    fn awaited(&self) -> String {
        match (self.register, self.holder) {
            (Some(register), Some(holder)) => {
                format!("{}: the test-and-set register of {register}, held by {holder}", self.reason.what)
            }
            (Some(register), None) => format!("{}: the test-and-set register of {register}", self.reason.what),
            (None, _) => self.reason.to_string(),
        }
    }
}

/// A virtual time in words.
pub(super) struct Time(pub(super) u64);

impl fmt::Display for Time {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}.{:03} µs", self.0 / 1_000_000, self.0 / 1_000 % 1_000)
    }
}

/// "core 3", "cores 0–4, 7".
fn ranges(cores: impl Iterator<Item = CoreId>) -> String {
    let mut runs: Vec<(usize, usize)> = Vec::new();
    for core in cores.map(CoreId::index) {
        match runs.last_mut() {
            Some((_, last)) if *last + 1 == core => *last = core,
            _ => runs.push((core, core)),
        }
    }
    let one = matches!(runs.as_slice(), [(first, last)] if first == last);
    let runs: Vec<String> = runs
        .into_iter()
        .map(|(first, last)| if first == last { first.to_string() } else { format!("{first}–{last}") })
        .collect();
    format!("{} {}", if one { "core" } else { "cores" }, runs.join(", "))
}
