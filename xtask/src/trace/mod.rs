//! Traces: what every core did and when, as a file that one can look at, and what made the run as long as it was.

mod chrome;
mod contention;
mod enders;
mod flows;
mod history;
mod path;

pub(crate) use history::{History, Stretch};
pub(crate) use path::Path as CriticalPath;
pub(crate) use transcript::trace::{Kind, Records, Span, Trace};

use crate::{command_line, guest::Outcome, kernel_line::KernelLine, memory::Plan, result_files, workspace};
use anyhow::{Result, ensure};
use clap::Args;
use std::{
    fs,
    path::{Path, PathBuf},
};

/// Memory for the trace of a rank in QEMU, unless the user says more.
const GUEST_KIB: u64 = 1024;

/// Memory for the trace of a rank in the simulator, where memory that is not used costs nothing; all ranks together
/// have at most [`ALL_SIMULATED_KIB`].
const SIMULATED_KIB: u64 = 64 << 10;
const ALL_SIMULATED_KIB: u64 = 4 << 20;

/// Memory for what a rank has noted last, of a run that nobody has asked to be traced, in case it fails: some hundred
/// operations. All simulated ranks together have at most [`ALL_UNASKED_KIB`].
pub(crate) const UNASKED_KIB: u64 = 16;
const ALL_UNASKED_KIB: u64 = 4 << 10;

/// Where the trace of a run that has failed goes, among its results.
const FAILURE_FILE: &str = "failure-trace.json";

/// What commands that run programs have in common about traces.
#[derive(Args, Default)]
pub(crate) struct Options {
    /// Write what every rank did and when to FILE, for ui.perfetto.dev or chrome://tracing, and say what made the run
    /// as long as it was. What ranks did last before a failure is written
    /// anyway, as far as they could still tell it
    #[arg(long = "trace", value_name = "FILE", value_parser = command_line::new_file())]
    file: Option<PathBuf>,

    /// Memory for the trace of each rank; where it is too little, the oldest is lost
    #[arg(long = "trace-kib", value_name = "KIB", value_parser = clap::value_parser!(u64).range(1..=1 << 20))]
    kib: Option<u64>,
}

/// What a trace is for, besides the file that the user may have named.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// A page about the run.
    Page,
    /// A failure of the run, if there is one.
    Failure,
    /// Nothing: lines of the run are for another tool, which has asked for nothing.
    Nothing,
}

/// The memory for each rank's trace, and whether it is told in any case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Memory {
    is_asked: bool,
    kib: u64,
}

impl Memory {
    /// Adds the word for it, if there is a trace.
    pub(crate) fn add(memory: Option<Self>, words: KernelLine) -> KernelLine {
        let Some(Self { is_asked, kib }) = memory else { return words };
        words.value(if is_asked { "trace_kib" } else { "failure_trace_kib" }, Some(kib))
    }

    /// The option of the emulator of boards for it.
    pub(crate) fn option(self) -> [String; 2] {
        let Self { is_asked, kib } = self;
        [if is_asked { "--trace-kib" } else { "--failure-trace-kib" }.into(), kib.to_string()]
    }
}

/// Why a run has failed, as its trace says last.
#[derive(Debug)]
struct Failure {
    message: String,
    /// The rank that the message names first.
    rank: Option<u32>,
}

impl Failure {
    fn new(message: String) -> Self {
        let number = |word: &str| {
            let (at, _) = message.match_indices(word).find(|(at, _)| message[at + word.len()..].starts_with(digit))?;
            let digits = &message[at + word.len()..];
            let end = digits.find(|letter| !digit(letter)).unwrap_or(digits.len());
            Some((at, digits[..end].parse().ok()?))
        };
        let rank = ["core ", "rank "].into_iter().filter_map(number).min().map(|(_, rank)| rank);
        Self { message, rank }
    }
}

fn digit(letter: char) -> bool {
    letter.is_ascii_digit()
}

/// The file of a run that has succeeded, whose waits know what ended them.
pub(crate) fn of_success(label: &str, trace: &Trace) -> Result<Vec<u8>> {
    chrome::json(label, trace, None)
}

/// The file of a run that has failed with this message: its last event says so.
pub(crate) fn of_failure(outcome: &Outcome, message: String) -> Result<Vec<u8>> {
    let trace = with_enders(outcome.transcript.trace.clone());
    chrome::json(&outcome.label, &trace, Some(&Failure::new(message)))
}

/// The trace with what ended each wait.
pub(crate) fn with_enders(trace: Trace) -> Trace {
    enders::find(trace)
}

impl Options {
    /// Whether a trace is wanted however the run ends.
    pub(crate) fn is_asked(&self, purpose: Purpose) -> bool {
        self.file.is_some() || purpose == Purpose::Page
    }

    /// Memory for traces of a machine in QEMU whose cores have the given memory, and that memory with them.
    pub(crate) fn in_guest(&self, plan: Plan, cores: u16, purpose: Purpose) -> Result<(Plan, Option<Memory>)> {
        if self.is_asked(purpose) {
            let kib = self.kib.unwrap_or(GUEST_KIB);
            return Ok((plan.with_traces(cores, Some(kib))?, Some(Memory { is_asked: true, kib })));
        }
        match plan.with_traces(cores, Some(UNASKED_KIB)) {
            Ok(plan) if purpose == Purpose::Failure => Ok((plan, Some(Memory { is_asked: false, kib: UNASKED_KIB }))),
            // What nobody has asked for is no reason to fail.
            _ => Ok((plan, None)),
        }
    }

    /// Memory for traces of `cores` cores on the host, where what is not used costs nothing.
    pub(crate) fn on_host(&self, cores: u32, purpose: Purpose) -> Option<Memory> {
        let cores = u64::from(cores.max(1));
        match purpose {
            _ if self.is_asked(purpose) => {
                let most = (ALL_SIMULATED_KIB / cores).min(SIMULATED_KIB);
                Some(Memory { is_asked: true, kib: self.kib.unwrap_or(most) })
            }
            Purpose::Nothing => None,
            _ => Some(Memory { is_asked: false, kib: (ALL_UNASKED_KIB / cores).clamp(1, UNASKED_KIB) }),
        }
    }

    /// Writes the file, if the user wants one, and shows the critical path. If the run was `judged` a failure, the trace ends
    /// with it, and is written to `directory` if the user has named no file; where no rank has told a trace, nothing is.
    ///
    /// # Errors
    /// What the run has failed with. When there is no trace that was asked for, or the file cannot be written.
    pub(crate) fn conclude(&self, outcome: &Outcome, directory: &Path, judged: Result<()>) -> Result<()> {
        let unasked = directory.join(FAILURE_FILE);
        let (label, trace) = (&outcome.label, outcome.transcript.trace.clone());
        let Err(error) = judged else {
            // Of an earlier run, which has nothing to do with the results that are there now.
            let _ = fs::remove_file(unasked);
            let Some(file) = &self.file else { return Ok(()) };
            ensure!(!trace.ranks.is_empty(), "{label} has sent no trace");
            let trace = with_enders(trace);
            result_files::put(file, &of_success(label, &trace)?)?;
            println!("wrote {}", workspace::display(file));
            for (rank, records) in &trace.ranks {
                if records.lost > 0 {
                    println!(
                        "the {} oldest records of rank {rank} are lost: give it more with --trace-kib",
                        records.lost
                    );
                }
            }
            print!("{}", CriticalPath::of(&trace));
            return Ok(());
        };
        if trace.ranks.is_empty() {
            // Of an earlier failure.
            let _ = fs::remove_file(unasked);
            return Err(error);
        }
        let file = self.file.as_ref().unwrap_or(&unasked);
        // The failure itself is what the user wants to know, whatever becomes of this.
        match of_failure(outcome, format!("{error:#}")).and_then(|json| result_files::put(file, &json)) {
            Ok(()) => {
                println!("wrote what ranks did before the failure to {}, for ui.perfetto.dev", workspace::display(file))
            }
            Err(error) => eprintln!("the trace of the failure could not be written: {error:#}"),
        }
        Err(error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_names_the_rank_that_its_message_names_first() {
        let rank = |message: &str| Failure::new(message.into()).rank;
        assert_eq!(rank("hello failed: core 3 panicked at x.rs:1: rank 2 is wrong"), Some(3));
        assert_eq!(rank("hello on 4 cores failed: rank 12 failed: core dumped"), Some(12));
        assert_eq!(rank("node 1 has disappeared; core 7: nobody"), Some(7));
        assert_eq!(rank("the core of it, or rank and file"), None);
    }

    #[test]
    fn what_nobody_has_asked_for_is_small_and_no_reason_to_fail() {
        let options = |file: Option<&str>, kib| Options { file: file.map(Into::into), kib };
        let unasked = |kib| Some(Memory { is_asked: false, kib });
        let plan = || Plan::new(48, 0, None, None).unwrap();
        let (traced, memory) = options(None, None).in_guest(plan(), 48, Purpose::Failure).unwrap();
        assert_eq!((traced, memory), (plan().with_traces(48, Some(16)).unwrap(), unasked(16)));
        assert_eq!(options(None, None).in_guest(plan(), 48, Purpose::Nothing).unwrap(), (plan(), None));
        let full = || Plan::new(255, 1 << 20, Some(10_490), None).unwrap();
        assert_eq!(options(None, None).in_guest(full(), 255, Purpose::Failure).unwrap(), (full(), None));
        assert!(options(Some("x"), None).in_guest(full(), 255, Purpose::Failure).is_err());
        assert_eq!(
            [1, 48, 1024, 60_000].map(|cores| options(None, None).on_host(cores, Purpose::Failure)),
            [16, 16, 4, 1].map(unasked)
        );
        assert_eq!(options(None, None).on_host(1, Purpose::Nothing), None);
        let asked = Some(Memory { is_asked: true, kib: 7 });
        assert_eq!(options(Some("x"), Some(7)).on_host(48, Purpose::Nothing), asked);
        assert_eq!(options(None, Some(7)).on_host(48, Purpose::Page), asked);
        let words = |memory| Memory::add(memory, KernelLine::default()).to_string();
        assert_eq!([words(None), words(unasked(3))], ["", "failure_trace_kib=3"]);
    }
}
