//! What each step of the program counted.

use alloc::{string::String, vec::Vec};
use core::fmt;

use collectives::Comm;
use hal::{Core, Counters};

use kernel::{Failure, Rank};

/// What of a step's counters depends on timing.
#[derive(Clone, Copy)]
pub(super) enum Timing {
    /// Nothing: each rank's counters are the same on every backend.
    Nothing,
    /// Who does it: the counters of all ranks are the same together.
    Who,
    /// How often these are raised.
    HowOften(&'static [&'static str]),
}

struct Step {
    name: String,
    timing: Timing,
    counters: Counters,
}

/// The steps so far.
pub(super) struct Recorder<'c, C: Core> {
    comm: &'c Comm<'c, C>,
    steps: Vec<Step>,
}

impl<'c, C: Core> Recorder<'c, C> {
    /// None yet.
    pub(super) fn new(comm: &'c Comm<'c, C>) -> Self {
        Self { comm, steps: Vec::new() }
    }

    /// Does a step whose counters do not depend on timing.
    pub(super) fn step<R>(
        &mut self,
        name: impl Into<String>,
        work: impl FnOnce() -> Result<R, Failure>,
    ) -> Result<R, Failure> {
        self.timed_step(name, Timing::Nothing, work)
    }

    /// Does a step, and notes down what this rank has counted meanwhile. The next one begins when all ranks are done.
    pub(super) fn timed_step<R>(
        &mut self,
        name: impl Into<String>,
        timing: Timing,
        work: impl FnOnce() -> Result<R, Failure>,
    ) -> Result<R, Failure> {
        let before = self.comm.hal().counters();
        let result = work()?;
        self.steps.push(Step { name: name.into(), timing, counters: self.comm.hal().counters() - before });
        self.comm.barrier();
        Ok(result)
    }

    /// Tells the host about all steps. Counters that are 0 are not told.
    pub(super) fn tell(&self, rank: &Rank<'_, C>) {
        let me = self.comm.rank();
        self.steps.iter().for_each(|step| rank.tell_host(format_args!("step {me} {step}")));
    }
}

impl fmt::Display for Step {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (all, left_out): (&str, &[&str]) = match self.timing {
            Timing::Nothing => ("", &[]),
            Timing::Who => (" together", &[]),
            Timing::HowOften(counters) => ("", counters),
        };
        write!(out, "{}{all}", self.name)?;
        let told = self.counters.compared().filter(|(name, value)| *value > 0 && !left_out.contains(name));
        for (name, value) in told {
            write!(out, " {name}={value}")?;
        }
        Ok(())
    }
}
