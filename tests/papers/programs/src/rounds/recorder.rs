//! What each step of the program counted.

use alloc::{string::String, vec::Vec};
use core::fmt;

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
#[derive(Default)]
pub(super) struct Recorder(Vec<Step>);

impl Recorder {
    /// Does a step, and notes down what this rank has counted meanwhile.
    pub(super) fn step<C: Core, R>(
        &mut self,
        hal: &C,
        name: impl Into<String>,
        timing: Timing,
        work: impl FnOnce() -> Result<R, Failure>,
    ) -> Result<R, Failure> {
        let before = hal.counters();
        let result = work();
        self.0.push(Step { name: name.into(), timing, counters: hal.counters() - before });
        result
    }

    /// Tells the host about all steps. Counters that are 0 are not told.
    pub(super) fn tell<C: Core>(&self, rank: &Rank<'_, C>) {
        let me = rank.comm.rank();
        self.0.iter().for_each(|step| rank.tell_host(format_args!("step {me} {step}")));
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
