//! The end of a program, on all cores.

use core::fmt;

use crate::{
    CoreId,
    bare::this_core::this_core,
    scc::{
        console,
        core_hardware::start,
        exit::machine::exit,
        handed::core_count,
        status::{
            meeting,
            status_page::{self, State},
        },
        this::this_core_id,
    },
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
    status_page::set_undrained(start::undrained());
    status_page::set(if is_success { State::Finished } else { State::Failed });
    if let Some(last_words) = last_words {
        meeting::await_all(|state| state >= State::Finished);
        last_words();
        status_page::set(if is_success { State::FinishedAndSaid } else { State::FailedAndSaid });
    }
    if this_core() == 0 {
        let least = if last_words.is_some() { State::FinishedAndSaid } else { State::Finished };
        meeting::await_all(|state| state >= least);
        let cores = core_count();
        match (0..cores).filter(|&core| status_page::of(CoreId::new(core)).has_failed()).count() {
            0 => console::write_line("@done ok"),
            failed => console::write_fmt(format_args!("@done failed on {failed} of {cores} ranks\n")),
        }
    }
    exit(true)
}
