//! Traces: what every core did and when, as a file that one can look at, and what made the run as long as it was.

mod chrome;
mod enders;
mod history;
mod path;

pub(crate) use history::{History, Stretch};
pub(crate) use path::Path as CriticalPath;
pub(crate) use transcript::trace::{Records, Span, Trace};

use crate::{result_files, workspace};
use anyhow::{Result, ensure};
use clap::Args;
use std::path::PathBuf;

/// Memory for the trace of a rank in QEMU, unless the user says more.
const GUEST_KIB: u64 = 1024;

/// Memory for the trace of a rank in the simulator, where memory that is not used costs nothing; all ranks together
/// have at most [`ALL_SIMULATED_KIB`].
const SIMULATED_KIB: u64 = 64 << 10;
const ALL_SIMULATED_KIB: u64 = 4 << 20;

/// What `run` and `sim` have in common about traces.
#[derive(Args)]
pub(crate) struct Options {
    /// Write what every rank did and when to FILE, for ui.perfetto.dev or chrome://tracing, and say what made the run
    /// as long as it was
    #[arg(long = "trace", value_name = "FILE")]
    file: Option<PathBuf>,

    /// Memory for the trace of each rank; where it is too little, the oldest is lost
    #[arg(long = "trace-kib", value_name = "KIB", value_parser = clap::value_parser!(u64).range(1..=1 << 20))]
    kib: Option<u64>,
}

/// The trace with what ended each wait.
pub(crate) fn with_enders(trace: Trace) -> Trace {
    enders::find(trace)
}

impl Options {
    /// The word for a guest that tells it to trace, for a file or because it `is_reported`; nothing if it need not.
    pub(crate) fn guest_kib(&self, is_reported: bool) -> Option<u64> {
        self.is_wanted(is_reported).then(|| self.kib.unwrap_or(GUEST_KIB))
    }

    fn is_wanted(&self, is_reported: bool) -> bool {
        is_reported || self.file.is_some()
    }

    /// The word for a simulation of `cores` cores that tells it to trace, as for a guest.
    pub(crate) fn simulated_kib(&self, cores: u32, is_reported: bool) -> Option<u64> {
        let most = (ALL_SIMULATED_KIB / u64::from(cores.max(1))).min(SIMULATED_KIB);
        self.is_wanted(is_reported).then(|| self.kib.unwrap_or(most))
    }

    /// Writes the file, if the user wants one, and shows the critical path.
    ///
    /// # Errors
    ///
    /// When there is no trace, or the file cannot be written.
    pub(crate) fn conclude(&self, label: &str, trace: Trace) -> Result<()> {
        let Some(file) = &self.file else { return Ok(()) };
        ensure!(!trace.ranks.is_empty(), "{label} has sent no trace");
        let trace = with_enders(trace);
        result_files::put(file, &chrome::json(label, &trace)?)?;
        println!("wrote {}", workspace::display(file));
        for (rank, records) in &trace.ranks {
            if records.lost > 0 {
                println!("the {} oldest records of rank {rank} are lost: give it more with --trace-kib", records.lost);
            }
        }
        print!("{}", CriticalPath::of(&trace));
        Ok(())
    }
}
