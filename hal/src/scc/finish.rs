//! The end of a program, on all cores.

use core::fmt;

use crate::CoreId;

use super::{
    boot, console, exit, sc_core,
    status::{self, State},
    this_core, this_core_id,
};

/// Ends the program of this core. When all have ended, core 0 says how.
///
/// If there are last words, all cores have some, and each says them when all have come to their ends: what takes so
/// long would hold those up that are not done.
pub fn finish<F: fmt::Display>(result: Result<(), F>, last_words: Option<&dyn Fn()>) -> ! {
    let is_success = result.is_ok();
    if let Err(failure) = result {
        console::write_fmt(format_args!("rank {} failed: {failure}\n", this_core_id().index()));
    }
    status::set_undrained(sc_core::undrained());
    status::set(if is_success { State::Finished } else { State::Failed });
    if let Some(last_words) = last_words {
        status::await_all(|state| state >= State::Finished);
        last_words();
        status::set(if is_success { State::FinishedAndSaid } else { State::FailedAndSaid });
    }
    if this_core() == 0 {
        let least = if last_words.is_some() { State::FinishedAndSaid } else { State::Finished };
        status::await_all(|state| state >= least);
        let cores = boot::core_count();
        match (0..cores).filter(|&core| status::of(CoreId::new(core)).has_failed()).count() {
            0 => console::write_line("@done ok"),
            failed => console::write_fmt(format_args!("@done failed on {failed} of {cores} ranks\n")),
        }
    }
    exit::exit(true)
}
