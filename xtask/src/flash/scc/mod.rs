//! The files that the host of an SCC board loads.

mod elf;
mod object;
mod placement;

use super::{Arguments, Job};
use anyhow::{Result, bail};

/// Writes the directory.
///
/// # Errors
///
/// When image and input do not fit the board, or the directory cannot be written.
pub(super) fn main(_arguments: &Arguments, _job: &Job) -> Result<()> {
    bail!("boards are not written yet")
}
