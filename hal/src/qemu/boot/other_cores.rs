//! Starting the other cores: INIT, start-up message, and a bounded wait for their arrival.
//!
//! A core that has arrived waits at a gate until all are there. So a message that is sent again can hit no core that is
//! already running the program, and every program starts on a complete machine.

use crate::{
    bare::{cpu, port},
    qemu::{
        boot::{
            arrivals::{has_arrived, missing},
            trampoline,
        },
        exit::failure::fail,
        pc::lapic,
    },
};

/// Processors want 10 ms between INIT and the start-up message; a delay step is about a microsecond.
const INIT_DELAY_STEPS: u32 = 10_000;
/// Looks for missing cores per attempt, each at least a microsecond: 0.2 s on a PC, more in QEMU.
const LOOKS_PER_ATTEMPT: u32 = 200_000;
const ATTEMPTS: u32 = 10;

/// Starts all cores but the calling one, and waits until they have arrived.
pub(crate) fn start_others(cores: usize) {
    if cores > 1 {
        // SAFETY: the page is below 1 MiB, where nothing is allocated, and the loader's information has been copied.
        unsafe { trampoline::place_trampoline() }
        for _ in 0..ATTEMPTS {
            attempt(cores);
            if missing(cores).next().is_none() {
                break;
            }
        }
        if let Some(first) = missing(cores).next() {
            fail(format_args!(
                "{} of {cores} cores did not start, the first of them core {first}",
                missing(cores).count()
            ));
        }
    }
}

fn attempt(cores: usize) {
    // SAFETY: a core that has not arrived does nothing that anybody relies on.
    missing(cores).for_each(|core| unsafe { lapic::send_init(core) });
    (0..INIT_DELAY_STEPS).for_each(|_| port::short_delay());
    // SAFETY: `start_others` has placed the code, and a core that has not arrived either waits for the message, or ignores it.
    missing(cores).for_each(|core| unsafe { lapic::send_start_up(core, trampoline::TRAMPOLINE) });
    let mut next = 1;
    for look in 0..LOOKS_PER_ATTEMPT {
        // Cores before `next` have arrived; each look goes on where the last one stopped.
        while next < cores && has_arrived(next) {
            next += 1;
        }
        if next == cores {
            return;
        }
        if look == LOOKS_PER_ATTEMPT / 100 {
            // The second message, for processors that missed the first.
            // SAFETY: a core that has not arrived either waits for it, or ignores it; the code is where it was placed.
            missing(cores).for_each(|core| unsafe { lapic::send_start_up(core, trampoline::TRAMPOLINE) });
        }
        port::short_delay();
        cpu::pause();
    }
}
