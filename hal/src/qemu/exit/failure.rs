//! Ending a start that has failed.

use core::fmt;

use crate::{
    bare::options,
    qemu::{console, exit::machine::exit},
};

/// Prints why the start failed and ends the machine.
pub(crate) fn fail(message: fmt::Arguments<'_>) -> ! {
    console::write_urgent(format_args!("boot: {message}\n@done failed boot: {message}\n"));
    exit(false)
}

/// A number from the command line within limits.
pub(crate) fn number(line: &str, key: &str, default: usize, max: usize) -> usize {
    options::number(line, key, max, fail).unwrap_or(default)
}
