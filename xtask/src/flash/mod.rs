//! Writes a program for hardware: for a board what the loader on its host reads, for a PC the image of a disk that boots.
//!
//! Everything that can be known to be wrong is said before anything is built, and before a byte is written.

mod directory;
pub(crate) mod pc;
mod scc;

pub(crate) use scc::{Flash, Setup};

use crate::{
    cores,
    kernel_line::KernelLine,
    program::Program,
    wanted::{Given, Wanted},
};
use anyhow::{Result, bail, ensure};
use clap::Args;
use descriptions::boards::{Board, Kind};
use std::path::PathBuf;

/// Words that mean something to machines in QEMU or to the simulator only.
const EMULATED: [&str; 16] = [
    "check_coherence",
    "explore",
    "deviations",
    "domains",
    "machine",
    "preempt",
    "coherent",
    "heatmap",
    "hold",
    "accesses_only",
    "trace_kib",
    "failure_trace_kib",
    "node",
    "nodes",
    "shared_mib",
    "deadline",
];

/// Write a program and its input for hardware: an SCC board, a board like it, or a PC
///
/// For a board, DIR gets the files that its host loads, and FLASH.md, which says how. For a PC, FILE becomes the
/// image of a disk that boots, and the command that copies it to a disk is shown. Before anything is written, image and
/// input are checked against the board's memory. A directory that holds anything else than an earlier flash is left alone.
#[derive(Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    wanted: Wanted,

    /// Board: a name (`cargo xtask boards` shows them all), or a board file FILE.toml
    #[arg(long, value_name = "BOARD")]
    board: String,

    /// Directory for the files of a board, or file for the disk image of a PC
    #[arg(long, value_name = "DIR|FILE")]
    out: PathBuf,

    #[command(flatten)]
    choices: Choices,

    #[command(flatten)]
    given: Given,
}

/// What can be chosen of a board.
#[derive(Args)]
pub(crate) struct Choices {
    /// Number of cores that run the program [default: all of the board]
    #[arg(long, value_name = "N", value_parser = cores::number)]
    cores: Option<u16>,

    /// GiB of memory behind each memory controller of a board [default: as its file says]
    #[arg(long, value_name = "GIB")]
    memory_gib: Option<u64>,

    /// Load and start core 0 of a board only, which then loads and starts the others
    #[arg(long)]
    start_from_core_0: bool,
}

impl Choices {
    /// How a board like the SCC is set up by them.
    pub(crate) fn setup(&self) -> Setup {
        Setup { cores: self.cores.map(u32::from), memory_gib: self.memory_gib, starts_others: self.start_from_core_0 }
    }
}

/// What is to run on hardware, whichever it is.
struct Job {
    program: Program,
    /// Input files, as the program reads them.
    inputs: Vec<PathBuf>,
    /// The kernel's command line.
    words: KernelLine,
}

/// Carries out `cargo xtask flash`.
pub(crate) fn main(arguments: &Arguments) -> Result<()> {
    // What is wrong with the command line is said before anything is installed or built.
    let Some(program) = arguments.wanted.program()? else { return Ok(()) };
    let board = Board::find(&arguments.board)?;
    let words = words(&program, &arguments.given)?;
    let job = Job { inputs: arguments.given.inputs(&program)?, program, words };
    let Kind::Pc(pc) = board.kind else {
        let flash = Flash::new(board, &arguments.choices.setup(), &job.program, &job.words, &job.inputs)?;
        return scc::main(&flash, &job.program, arguments.given.counters, &arguments.out, arguments.wanted.yes);
    };
    let choices = &arguments.choices;
    for (option, is_given) in
        [("--memory-gib", choices.memory_gib.is_some()), ("--start-from-core-0", choices.start_from_core_0)]
    {
        ensure!(!is_given, "{option} is for boards, and {} is a PC", board.name);
    }
    let cores = choices.cores.map_or(1, u32::from);
    ensure!(cores <= pc.most_cores, "{cores} cores are too many: {} has at most {}", board.name, pc.most_cores);
    pc::main(arguments, &job)
}

/// The kernel's command line on hardware, with these words of the user's.
///
/// # Errors
/// When one of them means nothing there, or cannot pass.
pub(crate) fn words(program: &Program, given: &Given) -> Result<KernelLine> {
    for word in given.words.iter().filter(|_| program.c.is_none()) {
        if EMULATED.contains(&word.split('=').next().unwrap_or_default()) {
            bail!("`{word}` is not for hardware: `run`, `sim` and `cluster` have an option for it");
        }
    }
    given.kernel_line(program)
}
