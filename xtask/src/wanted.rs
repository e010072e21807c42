//! What all commands are told that build a program and run it, or flash it: all but `cluster`, which runs no programs in C.

use crate::{
    c, catalogue, command_line,
    kernel_line::KernelLine,
    program::{DEFAULT_PROGRAM, Program},
    signal, workspace,
};
use anyhow::{Context, Result, ensure};
use clap::Args;
use std::path::PathBuf;

/// The elevation map that the default program computes on.
const DEFAULT_INPUT: &str = "tests/data/jacksboro-elevation.pgm";

/// Which program, and how it is built.
#[derive(Args)]
pub(crate) struct Wanted {
    /// Name of a program (`list` shows them all), directory of your own crate that depends on `kernel`, or files in C
    #[arg(default_value = DEFAULT_PROGRAM)]
    program: Vec<String>,

    #[command(flatten)]
    c: c::CompilerOptions,

    /// Install what is missing without asking
    #[arg(long)]
    pub(crate) yes: bool,
}

impl Wanted {
    /// The program, or nothing where the user wanted a list of them, which has been shown.
    pub(crate) fn program(&self) -> Result<Option<Program>> {
        let program = Program::of_words(&self.program, &self.c)?;
        Ok((!catalogue::listed(&program)?).then_some(program))
    }
}

/// What a program is given.
#[derive(Args, Default)]
pub(crate) struct Given {
    /// Input file; again for more than one [default for terrain and fft: tests/data/jacksboro-elevation.pgm]
    #[arg(long, value_name = "FILE")]
    input: Vec<PathBuf>,

    /// Give the program no input file, not even its default one
    #[arg(long, conflicts_with = "input")]
    no_input: bool,

    /// Seed of everything that is left to chance
    #[arg(long, value_name = "S", value_parser = command_line::seed())]
    pub(crate) seed: Option<u64>,

    /// Count every rank's operations, and show the counters that do not depend on timing
    #[arg(long)]
    pub(crate) counters: bool,

    /// Options of the program
    #[arg(last = true, value_name = "key=value")]
    pub(crate) words: Vec<String>,
}

impl Given {
    /// These words, and nothing else.
    pub(crate) fn of_words(words: &[String]) -> Self {
        Self { words: words.to_vec(), ..Self::default() }
    }

    /// The input files, as [`inputs`] finds them.
    pub(crate) fn inputs(&self, program: &Program) -> Result<Vec<PathBuf>> {
        if self.no_input { Ok(Vec::new()) } else { inputs(&self.input, program) }
    }

    /// The kernel's command line for a program.
    pub(crate) fn kernel_line(&self, program: &Program) -> Result<KernelLine> {
        let words = KernelLine::default().value("program", program.chosen()).value("seed", self.seed);
        words.free(&program.words(&self.words))
    }
}

/// The input files: those given, or the default of programs that have one, as the program reads them.
fn inputs(given: &[PathBuf], program: &Program) -> Result<Vec<PathBuf>> {
    let mut inputs = given.to_vec();
    let is = |name: &str| !program.is_own && program.name == name;
    if is(DEFAULT_PROGRAM) || is(signal::PROGRAM) {
        ensure!(inputs.len() <= 1, "{} reads one input, and {} are given", program.name, inputs.len());
        if inputs.is_empty() {
            inputs.push(default_input());
        }
    }
    for input in &mut inputs {
        let shown = workspace::display(input);
        *input = input.canonicalize().with_context(|| format!("cannot read {shown}"))?;
        ensure!(input.is_file(), "{shown} is not a file");
        std::fs::File::open(&input).with_context(|| format!("cannot read {shown}"))?;
        if is(signal::PROGRAM) {
            *input = signal::convert(input)?;
        }
    }
    Ok(inputs)
}

/// The default program's input.
pub(crate) fn default_input() -> PathBuf {
    workspace::root().join(DEFAULT_INPUT)
}
