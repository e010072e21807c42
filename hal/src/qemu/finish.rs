//! The end of a program, on all cores.

use core::{
    fmt,
    sync::atomic::{AtomicU32, Ordering::SeqCst},
};

use super::{board::Stage, boot, console, exit, heartbeat, platform, stuck, this_core_id};

/// Cores whose program failed.
#[unsafe(link_section = ".emulator")]
static FAILED: AtomicU32 = AtomicU32::new(0);

/// Ends the program of this core. The last core to do so ends the machine, successfully if no core failed.
pub fn finish<F: fmt::Display>(result: Result<(), F>) -> ! {
    if let Err(failure) = result {
        FAILED.fetch_add(1, SeqCst);
        console::write_fmt(format_args!("rank {} failed: {failure}\n", this_core_id().index()));
    }
    if stuck::finish(platform::undrained()) {
        match FAILED.load(SeqCst) {
            0 => console::write_line("@done ok"),
            failed => {
                console::write_fmt(format_args!("@done failed on {failed} of {} ranks\n", boot::core_count()));
            }
        }
        heartbeat::note_end(Stage::Finished);
        exit::exit(FAILED.load(SeqCst) == 0);
    }
    heartbeat::rest()
}
