//! The end of a program, on all cores.

use core::{
    fmt,
    sync::atomic::{AtomicU32, Ordering::SeqCst},
};

use crate::{
    bare::cpu,
    qemu::{
        cluster::{
            heartbeat,
            nodes::this_core_id,
            notices::{self, Stage},
        },
        console,
        emulator::{platform, stuck},
        exit::machine::exit,
        handed::facts,
    },
};

/// Cores whose program failed.
#[unsafe(link_section = ".emulator")]
static FAILED: AtomicU32 = AtomicU32::new(0);

/// Cores that have said their last words.
#[unsafe(link_section = ".emulator")]
static SAID: AtomicU32 = AtomicU32::new(0);

/// Ends the program of this core. The last core to do so ends the machine, successfully if no core failed.
///
/// If there are last words, all cores of the node have some, and each says them when all have come to their ends: what
/// takes so long would hold those up that are not done.
pub fn finish<F: fmt::Display>(result: Result<(), F>, last_words: Option<&dyn Fn()>) -> ! {
    if let Err(failure) = result {
        FAILED.fetch_add(1, SeqCst);
        console::write_fmt(format_args!("rank {} failed: {failure}\n", this_core_id().index()));
    }
    let is_last = stuck::finish(platform::undrained());
    if let Some(last_words) = last_words {
        stuck::await_finish_of_all();
        last_words();
        SAID.fetch_add(1, SeqCst);
        while is_last && (SAID.load(SeqCst) as usize) < facts::core_count() {
            cpu::pause();
        }
    }
    if is_last {
        match FAILED.load(SeqCst) {
            0 => console::write_line("@done ok"),
            failed => {
                console::write_fmt(format_args!("@done failed on {failed} of {} ranks\n", facts::core_count()));
            }
        }
        notices::note_end(Stage::Finished);
        exit(FAILED.load(SeqCst) == 0);
    }
    heartbeat::rest()
}
