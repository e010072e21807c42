//! Finds the tools that a command needs, and installs what is missing.
//!
//! Tools come in groups ([`Group`]): images need some, the emulator of boards others. A command asks for what it needs.

mod find;
mod install;

pub(crate) use find::{
    BrowserTools, CTools, DebuggerTools, DiskTools, EmulatorTools, Group, MpiTools, PerfettoTools, Toolchain, Tools,
};

use crate::{c, program::Program};
use anyhow::Result;
use clap::Args;
use find::{Finder, Missing};
use install::Plan;

/// Find or install what is needed: QEMU, GNU binutils, and a compiler with the sources of its library
#[derive(Args)]
pub(crate) struct Arguments {
    /// Install without asking
    #[arg(long)]
    yes: bool,

    /// Also all that `test` needs: cmake and libclang, to build the emulator of boards, what `--c` brings, gdb, and what
    /// loads pages and traces: Chromium, Node.js, pip
    #[arg(long)]
    all: bool,

    /// Also what programs in C need: gcc, make, and newlib, which is built
    #[arg(long)]
    c: bool,

    /// What only `bench host` compares with, and nothing else: MPICH, Open MPI, and a compiler of C
    #[arg(long, conflicts_with_all = ["all", "c"])]
    mpi: bool,
}

/// What tests look at runs with.
type ForTests = (DebuggerTools, (BrowserTools, PerfettoTools));

/// Carries out `cargo xtask setup`.
pub(crate) fn main(arguments: &Arguments) -> Result<()> {
    if arguments.mpi {
        let tools: MpiTools = ensure(arguments.yes)?;
        println!("compiler   {}", tools.compiler.display());
        println!("MPICH      {}", tools.mpich.display());
        println!("Open MPI   {}", tools.open_mpi.display());
        return Ok(());
    }
    let (tools, emulator) = if arguments.all {
        let ((tools, emulator), _): ((Tools, EmulatorTools), ForTests) = ensure(arguments.yes)?;
        (tools, Some(emulator))
    } else {
        (ensure(arguments.yes)?, None)
    };
    let c_tools: Option<CTools> = if arguments.c || arguments.all { Some(ensure(arguments.yes)?) } else { None };
    println!("emulator   {}", tools.qemu.display());
    println!("binutils   {}", tools.linker.display());
    println!("compiler   {}", tools.toolchain);
    if let Some(emulator) = emulator {
        println!("cmake      {}", emulator.cmake.display());
        println!("libclang   {}", emulator.libclang.display());
    }
    if let Some(tools) = c_tools {
        c::prepare(&tools)?;
        println!("C          {}, {}", tools.compiler.display(), tools.newlib.display());
    }
    println!("All is set up; `cargo xtask run` boots 48 cores.");
    Ok(())
}

/// Returns the tools that a program's image and more need, after installing what is missing with the user's consent.
pub(crate) fn for_program<T: Group>(program: &Program, yes: bool) -> Result<T> {
    if program.c.is_none() {
        return ensure(yes);
    }
    ensure::<(T, CTools)>(yes).map(|(tools, _)| tools)
}

/// Returns the tools, after installing what is missing with the user's consent.
pub(crate) fn ensure<T: Group>(yes: bool) -> Result<T> {
    let finder = Finder::new();
    let missing = match T::find(&finder) {
        Ok(tools) => return Ok(tools),
        Err(missing) => missing,
    };
    let plan = Plan::new(&missing, &finder)?;
    install::consent(&plan, yes)?;
    install::execute(&plan, missing, &finder)?;
    T::find(&finder).map_err(|missing| {
        let names: Vec<_> = missing.iter().map(Missing::name).collect();
        anyhow::anyhow!("still missing after the installation: {}", names.join(", "))
    })
}
