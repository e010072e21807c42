//! Who is measured: threads with each kind of memory, and the implementations of MPI that the host has.

use super::OWN;
use crate::{
    bench::{Machine, Memory, Samples, Setting, processors},
    xtask,
};
use anyhow::{Context, Result, ensure};
use host::{
    interrupt,
    mpi::{MPICH, Mpi, OPEN_MPI},
    process, programs, workspace,
};
use std::{fmt, path::PathBuf};
use transcript::console::Transcript;

/// Batches of calls in a run, at most.
const BATCHES: u32 = 100;

/// Somebody who does what `bench-host` does.
pub(super) enum Contender {
    /// The program itself, on threads.
    Threads(Memory),
    /// `host.c`, built for this implementation, and started by the first of the two.
    Mpi(&'static Mpi, [PathBuf; 2]),
}

/// What a run has measured, and said besides.
pub(super) struct Outcome {
    pub(super) samples: Vec<Samples>,
    pub(super) said: Vec<String>,
}

impl Contender {
    /// All that this host has, after the installation of what is missing where the user has agreed to that.
    pub(super) fn all(setting: &Setting<'_>) -> Result<Vec<Self>> {
        let is_missing = || [&MPICH, &OPEN_MPI].into_iter().any(|mpi| mpi.find(&programs::directories()).is_none());
        if setting.yes && is_missing() {
            xtask::set_up_mpi()?;
        }
        let mut all = vec![Self::Threads(OWN), Self::Threads(Memory::WriteBack)];
        for mpi in [&MPICH, &OPEN_MPI] {
            match mpi.find(&programs::directories()) {
                Some((compiler, launcher)) => all.push(Self::Mpi(mpi, [launcher, build(mpi, compiler)?])),
                None => println!(
                    "{}: left out, it is not installed; --yes installs {}",
                    mpi.name,
                    mpi.packages.join(" and ")
                ),
            }
        }
        Ok(all)
    }

    /// What it is called in rows.
    pub(super) fn key(&self) -> String {
        match self {
            Self::Threads(memory) => Machine::Threads(*memory).to_string(),
            Self::Mpi(mpi, _) => mpi.key.to_owned(),
        }
    }

    /// What its rows have beside the machine of the bench.
    pub(super) fn variant(&self) -> String {
        if matches!(self, Self::Threads(OWN)) { String::new() } else { format!("@{}", self.key()) }
    }

    /// Runs it once.
    pub(super) fn run(&self, setting: &Setting<'_>) -> Result<Outcome> {
        let outcome = match self {
            Self::Threads(memory) => run_threads(*memory, setting)?,
            Self::Mpi(mpi, programs) => run_mpi(mpi, programs, setting)?,
        };
        ensure!(!outcome.samples.is_empty(), "{self} has measured nothing");
        Ok(outcome)
    }
}

impl fmt::Display for Contender {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Threads(_) => out.write_str(&self.key()),
            Self::Mpi(mpi, _) => out.write_str(mpi.name),
        }
    }
}

fn run_threads(memory: Memory, setting: &Setting<'_>) -> Result<Outcome> {
    let run = xtask::Run {
        program: "bench-host",
        machine: &Machine::Threads(memory),
        cores: setting.cores,
        words: [format!("repetitions={BATCHES}")].into_iter().chain(setting.words.iter().cloned()).collect(),
        has_input: false,
        heat_map: false,
        priced: false,
        flame: None,
        yes: setting.yes,
        limit: setting.limit,
    };
    let transcript = run.transcript()?;
    Ok(Outcome { samples: transcript.samples, said: transcript.text })
}

/// Builds `host.c`, and returns where it is then.
fn build(mpi: &Mpi, compiler: PathBuf) -> Result<PathBuf> {
    let source = workspace::root().join("tests/papers/src/papers/ours/host/host.c");
    let directory = workspace::target().join("bench");
    let executable = directory.join(format!("host-{}", mpi.key));
    std::fs::create_dir_all(&directory).with_context(|| format!("cannot make {}", workspace::display(&directory)))?;
    let mut command = workspace::command(compiler);
    command.args(["-O2", "-std=gnu11", "-o"]).args([&executable, &source]);
    let finished = process::finish(&mut command, |_| {})?;
    interrupt::check()?;
    ensure!(finished.status.success(), "host.c cannot be built for {}: {}", mpi.name, finished.messages.trim());
    Ok(executable)
}

fn run_mpi(mpi: &Mpi, [launcher, program]: &[PathBuf; 2], setting: &Setting<'_>) -> Result<Outcome> {
    let mut command = workspace::command(launcher);
    command.args(["-n", &setting.cores.to_string()]);
    // Open MPI starts nothing for root, and no more ranks than there are processors, unless it is told to.
    command.env("OMPI_ALLOW_RUN_AS_ROOT", "1").env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
    if setting.cores as usize > processors() {
        command.env("OMPI_MCA_rmaps_base_oversubscribe", "1");
    } else {
        // As cores that are threads have it.
        command.args(["-bind-to", "core"]);
    }
    command.arg(program).arg(BATCHES.to_string());
    let finished = process::finish_within(&mut command, setting.limit).with_context(|| mpi.name)?;
    interrupt::check()?;
    ensure!(finished.status.success(), "{} has failed: {}", mpi.name, finished.messages.trim());
    let transcript = Transcript::of(finished.output.lines());
    Ok(Outcome { samples: transcript.samples, said: transcript.text })
}
