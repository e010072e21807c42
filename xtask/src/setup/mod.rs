//! Finds the tools that images need, and installs what is missing.

mod find;
mod install;

pub(crate) use find::{Toolchain, Tools};

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
}

/// The command.
///
/// # Errors
///
/// When something is missing and cannot be installed.
pub(crate) fn main(arguments: &Arguments) -> Result<()> {
    let tools = ensure(arguments.yes)?;
    println!("emulator   {}", tools.qemu.display());
    println!("binutils   {}", tools.objdump.display());
    println!("compiler   {}", tools.toolchain);
    println!("All is set up; `cargo xtask run` boots 48 cores.");
    Ok(())
}

/// Returns the tools, after installing what is missing with the user's consent.
///
/// # Errors
///
/// When the user does not want it, or it does not work.
pub(crate) fn ensure(yes: bool) -> Result<Tools> {
    let finder = Finder::new();
    let missing = match finder.tools() {
        Ok(tools) => return Ok(tools),
        Err(missing) => missing,
    };
    let plan = Plan::new(&missing, &finder)?;
    install::consent(&plan, yes)?;
    install::execute(&plan, missing, &finder)?;
    finder.tools().map_err(|missing| {
        let names: Vec<_> = missing.iter().map(Missing::name).collect();
        anyhow::anyhow!("still missing after the installation: {}", names.join(", "))
    })
}

/// GNU objdump, when it is there.
pub(crate) fn objdump() -> Option<std::path::PathBuf> {
    Finder::new().objdump()
}
