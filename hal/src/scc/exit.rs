//! The end of the machine. Nothing can switch it off: its cores stop, and the host's operator reads why.

use core::sync::atomic::{AtomicBool, Ordering::Relaxed};

use crate::bare::cpu;

use super::status::{self, State};

static IS_ENDING: AtomicBool = AtomicBool::new(false);

/// Whether this core or another one has ended the machine before its time. Takes an access to the memory of core 0.
pub fn is_ending() -> bool {
    IS_ENDING.load(Relaxed) || status::has_alarm()
}

/// Stops this core for ever. Without success it is an alarm: other cores stop as soon as they notice.
pub fn exit(success: bool) -> ! {
    if !success && !IS_ENDING.swap(true, Relaxed) {
        status::set(State::Died);
        status::raise_alarm();
    }
    cpu::park()
}

/// Stops this core if another one has ended the machine.
pub fn stop_if_ending() {
    if is_ending() {
        cpu::park();
    }
}
