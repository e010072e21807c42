//! The check of an image, as a command.

use crate::{image, p54c, program::Program, setup};
use anyhow::Result;
use clap::Args;
use std::path::PathBuf;

/// Check that an image has only instructions of a Pentium P54C
#[derive(Args)]
pub(crate) struct Arguments {
    /// An ELF file; without it the image with the in-tree programs is built and checked
    image: Option<PathBuf>,

    /// Install what is missing without asking
    #[arg(long)]
    yes: bool,
}

/// Carries out `cargo xtask image-check`.
pub(crate) fn main(arguments: &Arguments) -> Result<()> {
    let path = match &arguments.image {
        Some(path) => path.clone(),
        None => image::bare_metal(&Program::resolve("terrain")?, &setup::ensure(arguments.yes)?)?.executable,
    };
    let checked = p54c::check_image(&path, p54c::Processor::P54c)?;
    println!("{}: {checked} instructions, all of them a P54C's", crate::workspace::display(&path));
    Ok(())
}
