//! What all runs of a bench have in common.

use super::Machine;
use std::{path::Path, time::Duration};

/// What all runs of a bench have in common.
pub(crate) struct Setting<'s> {
    pub(crate) machine: &'s Machine,
    pub(crate) cores: u32,
    /// The user's words for the programs.
    pub(crate) words: &'s [String],
    pub(crate) limit: Duration,
    /// Whether runs of their own on the emulated board are among them.
    pub(crate) board: bool,
    /// Whether what is missing is installed without asking.
    pub(crate) yes: bool,
    /// Where folded stacks go, on a machine that has them.
    pub(crate) flame: Option<&'s Path>,
}
