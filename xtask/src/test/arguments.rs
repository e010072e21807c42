//! What the user asks of tests.

use crate::{command_line, cores::List, machine};
use clap::{Args, ValueEnum};
use std::{num::NonZero, time::Duration};

/// What tests run on.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(super) enum Stage {
    /// Tests of the crates, and the examples in their documentation
    Host,
    /// In-kernel tests in the simulator, and all else about protocols
    Sim,
    /// QEMU: in-kernel tests, clusters, the main job, and comparisons with the simulator
    Qemu,
    /// Emulated boards
    Board,
    /// PCs that boot from a disk
    Pc,
}

/// Run all tests: on the host, in QEMU on 1 to 255 cores and in other schedules, QEMU against the simulator, and emulated
/// boards against QEMU
#[derive(Args)]
pub(crate) struct Arguments {
    /// Install what is missing without asking
    #[arg(long)]
    pub(super) yes: bool,

    /// Numbers of cores for the in-kernel tests, such as 1,2,5-8 [default: 1,2,5,48,255, and a few in other
    /// schedules and in coherence domains]
    #[arg(long, value_name = "LIST")]
    pub(super) cores: Option<List>,

    /// Coherence domains of neighbouring cores in the in-kernel tests
    #[arg(long, value_name = "D", value_parser = machine::domains)]
    pub(super) domains: Option<NonZero<u16>>,

    /// Only this stage; again for more than one. Nothing is set up or built that only others need
    #[arg(long, value_name = "STAGE")]
    pub(super) stage: Vec<Stage>,

    /// Only tests whose name contains this
    #[arg(long, value_name = "NAME")]
    pub(super) filter: Option<String>,

    /// Record the main job's operation counters as the expected ones
    #[arg(long)]
    pub(super) bless: bool,

    /// In-kernel tests with one host thread per core: real interleavings, slow beyond a few cores
    #[arg(long)]
    pub(super) thread_multi: bool,

    /// In-kernel tests with hand-overs to other cores at places that this seed chooses
    #[arg(long, value_name = "S", value_parser = command_line::seed())]
    pub(super) preempt: Option<u64>,

    /// Seconds of processor time that a guest, or a test on the host, may use for one test before it is given up
    #[arg(long, value_name = "SECONDS", default_value_t = command_line::TIMEOUT_S, value_parser = command_line::seconds())]
    pub(super) timeout: u64,
}

impl Arguments {
    pub(super) fn limit(&self) -> Duration {
        Duration::from_secs(self.timeout)
    }

    pub(super) fn stages(&self) -> Vec<Stage> {
        if self.stage.is_empty() { Stage::value_variants().to_vec() } else { self.stage.clone() }
    }

    pub(super) fn wants(&self, name: &str) -> bool {
        self.filter.as_deref().is_none_or(|filter| name.contains(filter))
    }
}
