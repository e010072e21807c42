//! Disks that boot a PC.

use super::{Arguments, Job};
use anyhow::{Result, bail};

/// Writes an image of a disk, or a disk.
///
/// # Errors
///
/// When it cannot be written.
pub(super) fn main(_arguments: &Arguments, _job: &Job) -> Result<()> {
    bail!("disks for PCs are not written yet")
}
