//! Ending a start that has failed.

use core::fmt;

use crate::{
    bare::options,
    scc::{
        console,
        exit::machine::exit,
        handed::{command_line, handed, option},
    },
};

/// How long a wait may last, unless the command line says otherwise.
const STUCK_SECONDS: u64 = 60;

/// Prints why the start failed, and stops.
pub(crate) fn fail(message: fmt::Arguments<'_>) -> ! {
    console::write_urgent(format_args!("boot: {message}\n@done failed boot: {message}\n"));
    exit(false)
}

/// A number from the command line within limits, if it is there.
pub(crate) fn number(key: &str, max: usize) -> Option<usize> {
    options::number(command_line(), key, max, fail)
}

/// Cycles of a core after which a wait takes the machine to be stuck (`stuck_s=`); nothing if it never does.
pub(crate) fn stuck_cycles() -> Option<u64> {
    let seconds = match option("stuck_s") {
        None => STUCK_SECONDS,
        Some("0") => return None,
        Some(_) => number("stuck_s", 1_000_000).map_or(STUCK_SECONDS, |seconds| seconds as u64),
    };
    Some(seconds * u64::from(handed().geometry.costs.core_mhz) * 1_000_000)
}
