//! The end of the machine.
//!
//! The first core that ends the machine decides its result. Nothing is printed after that: the other cores stop as
//! soon as they reach the console, and this core keeps the console for ever.

use super::{board::Stage, console, cpu, fw_cfg, heartbeat, port, screen, smp};
use core::sync::atomic::{AtomicBool, Ordering};
use qemu_exit::{QEMUExit, X86};

/// Process status of QEMU after success; every other status is a failure (a triple fault gives 0).
pub const SUCCESS_STATUS: u32 = 33;
/// Process status of QEMU after a failure that the image noticed itself.
pub const FAILURE_STATUS: u32 = 35;

/// Port of QEMU's `isa-debug-exit` device.
const DEBUG_EXIT_PORT: u16 = 0xF4;

#[unsafe(link_section = ".emulator")]
static ENDING: AtomicBool = AtomicBool::new(false);

/// Whether a core has begun to end the machine.
pub fn is_ending() -> bool {
    ENDING.load(Ordering::Acquire)
}

/// Ends QEMU with [`SUCCESS_STATUS`] or [`FAILURE_STATUS`]; on a machine without the exit device the screen shows
/// the result, and all cores stop.
pub fn exit(success: bool) -> ! {
    if ENDING.swap(true, Ordering::AcqRel) {
        cpu::park();
    }
    heartbeat::note_end(Stage::Failed);
    console::seize();
    if !fw_cfg::is_used() {
        screen::show_verdict(success);
        smp::stop_others();
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
