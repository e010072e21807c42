//! Ending the machine.

use qemu_exit::{QEMUExit, X86};

use crate::{
    bare::{cpu, port},
    qemu::{
        boot::arrivals,
        cluster::notices::{self, Stage},
        console,
        exit::{ending, traces},
        handed::facts,
        pc::{fw_cfg, screen},
    },
};

/// Process status of QEMU after success; every other status is a failure (a triple fault gives 0).
pub const SUCCESS_STATUS: u32 = 33;
/// Process status of QEMU after a failure that the image noticed itself.
pub const FAILURE_STATUS: u32 = 35;

/// The word of the command line with which a machine that has failed does not end.
const HOLD: &str = "hold";

/// Port of QEMU's `isa-debug-exit` device.
const DEBUG_EXIT_PORT: u16 = 0xF4;

/// Ends QEMU with [`SUCCESS_STATUS`] or [`FAILURE_STATUS`]; on a machine without the exit device the screen shows
/// the result, and all cores stop.
pub fn exit(success: bool) -> ! {
    if !ending::begin() {
        cpu::park();
    }
    notices::note_end(Stage::Failed);
    let is_held = !success && facts::has_word(HOLD);
    if !success && !is_held {
        traces::tell_all();
    }
    console::seize();
    if is_held {
        // A debugger looks at the machine as it is.
        loop {
            cpu::pause();
        }
    }
    if !fw_cfg::is_used() {
        screen::show_verdict(success);
        arrivals::stop_others();
    }
    // SAFETY: the port is the exit device's in QEMU and unused on a PC.
    let device = unsafe { X86::new(DEBUG_EXIT_PORT, SUCCESS_STATUS) };
    // QEMU makes (code << 1) | 1 of what is written.
    let code = if success { SUCCESS_STATUS } else { FAILURE_STATUS } >> 1;
    // The crate's `exit` ends in a loop of `hlt`, which an interrupt could leave only to enter it again.
    let _interrupts = cpu::InterruptsOff::new();
    // On a PC the last bytes must have left the UART before the processor stops.
    port::short_delay();
    device.exit(code)
}
