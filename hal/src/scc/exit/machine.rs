//! Ending the machine, or this core's part in it.

use core::sync::atomic::{AtomicBool, Ordering::Relaxed};

use crate::{
    bare::cpu,
    scc::status::status_page::{self, State},
};

static IS_ENDING: AtomicBool = AtomicBool::new(false);

/// Whether this core or another one has ended the machine before its time. Takes an access to the memory of core 0.
pub fn is_ending() -> bool {
    IS_ENDING.load(Relaxed) || status_page::has_alarm()
}

/// Stops this core for ever. Without success it is an alarm: other cores stop as soon as they notice.
pub fn exit(success: bool) -> ! {
    if !success && !IS_ENDING.swap(true, Relaxed) {
        status_page::set(State::Died);
        status_page::raise_alarm();
    }
    cpu::park()
}

/// Stops this core if another one has ended the machine.
pub fn stop_if_ending() {
    if is_ending() {
        cpu::park();
    }
}
