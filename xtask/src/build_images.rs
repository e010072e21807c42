//! Builds images without running them, for those who run them by themselves, or many times.

use crate::{
    catalogue,
    image::{self, Profile},
    program::{DEFAULT_PROGRAM, Program},
    setup, sim, workspace,
};
use anyhow::Result;
use clap::{Args, ValueEnum};

/// Build and check the images of programs, and say where they are
///
/// `run` and `sim` take them as they are with --no-build.
#[derive(Args)]
pub(crate) struct Arguments {
    /// Names of programs, or directories of your own crates that depend on `kernel`
    #[arg(value_name = "PROGRAM", default_value = DEFAULT_PROGRAM)]
    programs: Vec<String>,

    /// Where they are to run
    #[arg(long = "for", value_name = "BACKEND", default_value = "qemu")]
    backend: Backend,

    /// Install what is missing without asking
    #[arg(long)]
    yes: bool,
}

/// What an image is built for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Backend {
    /// QEMU and PCs
    Qemu,
    /// The simulator, on the host
    Sim,
    /// Boards like the SCC
    Board,
    /// Threads of the host
    Threads,
}

/// Carries out `cargo xtask build`.
pub(crate) fn main(arguments: &Arguments) -> Result<()> {
    let mut programs = arguments.programs.iter().map(|name| Program::resolve(name)).collect::<Result<Vec<_>>>()?;
    let tools = match arguments.backend {
        Backend::Sim | Backend::Threads => None,
        Backend::Qemu | Backend::Board => Some(setup::ensure::<setup::Tools>(arguments.yes)?),
    };
    // What is built for threads says by itself which programs it has; that of the simulator would be one more build.
    if arguments.backend != Backend::Threads {
        programs.iter().try_for_each(catalogue::check)?;
    }
    // One image may hold several of them.
    programs.sort_by(|one, other| (&one.directory, &one.binary).cmp(&(&other.directory, &other.binary)));
    programs.dedup_by(|one, other| (&one.directory, &one.binary) == (&other.directory, &other.binary));
    for program in &programs {
        let executable = match (&tools, arguments.backend) {
            (None, Backend::Threads) => image::on_threads(program)?.executable,
            (None, _) => sim::build(program, Profile::Release)?,
            (Some(tools), Backend::Board) => image::board(program, tools, image::Besides::default())?.executable,
            (Some(tools), _) => image::bare_metal(program, tools)?.executable,
        };
        println!("{}", workspace::display(&executable));
    }
    Ok(())
}
