//! Starting the other cores: INIT, start-up message, and a bounded wait for their arrival.
//!
//! A core that has arrived waits at a gate until all are there. So a message that is sent again can hit no core that is
//! already running the program, and every program starts on a complete machine.

use super::{boot, console, cpu, entry, exit, lapic, port, this_core};
use core::sync::atomic::{AtomicBool, AtomicU32, Ordering};

/// Largest number of cores: numbers of local APICs are 8 bits and the last one means "all".
pub(super) const MAX_CORES: usize = 255;

/// Physical address of each core's page directory by number, read by the start code; 0 for no such core.
#[unsafe(link_section = ".emulator")]
pub(super) static DIRECTORIES: [AtomicU32; MAX_CORES + 1] = [const { AtomicU32::new(0) }; MAX_CORES + 1];

#[unsafe(link_section = ".emulator")]
static ARRIVED: [AtomicBool; MAX_CORES] = [const { AtomicBool::new(false) }; MAX_CORES];

#[unsafe(link_section = ".emulator")]
static GATE: AtomicBool = AtomicBool::new(false);

/// Processors want 10 ms between INIT and the start-up message; a delay step is about a microsecond.
const INIT_DELAY_STEPS: u32 = 10_000;
/// Looks for missing cores per attempt, each at least a microsecond: 0.2 s on a PC, more in QEMU.
const LOOKS_PER_ATTEMPT: u32 = 200_000;
const ATTEMPTS: u32 = 10;

fn missing(cores: usize) -> impl Iterator<Item = usize> {
    (1..cores).filter(|&core| !ARRIVED[core].load(Ordering::Acquire))
}

/// Starts all cores but the calling one, and waits until they have arrived.
pub(super) fn start_others(cores: usize) {
    if cores > 1 {
        // SAFETY: the page is below 1 MiB, where nothing is allocated, and the loader's information has been copied.
        unsafe { entry::place_trampoline() }
        for _ in 0..ATTEMPTS {
            attempt(cores);
            if missing(cores).next().is_none() {
                break;
            }
        }
        if let Some(first) = missing(cores).next() {
            boot::fail(format_args!(
                "{} of {cores} cores did not start, the first of them core {first}",
                missing(cores).count()
            ));
        }
    }
}

/// Lets the cores that have arrived begin.
pub(super) fn open_gate() {
    GATE.store(true, Ordering::Release);
}

fn attempt(cores: usize) {
    // SAFETY: a core that has not arrived does nothing that anybody relies on.
    missing(cores).for_each(|core| unsafe { lapic::send_init(core) });
    (0..INIT_DELAY_STEPS).for_each(|_| port::short_delay());
    // SAFETY: `start_others` has placed the code, and a core that has not arrived either waits for the message, or ignores it.
    missing(cores).for_each(|core| unsafe { lapic::send_start_up(core, entry::TRAMPOLINE) });
    let mut next = 1;
    for look in 0..LOOKS_PER_ATTEMPT {
        // Cores before `next` have arrived; each look goes on where the last one stopped.
        while next < cores && ARRIVED[next].load(Ordering::Acquire) {
            next += 1;
        }
        if next == cores {
            return;
        }
        if look == LOOKS_PER_ATTEMPT / 100 {
            // The second message, for processors that missed the first. SAFETY: as above.
            missing(cores).for_each(|core| unsafe { lapic::send_start_up(core, entry::TRAMPOLINE) });
        }
        port::short_delay();
        cpu::pause();
    }
}

/// Stops all other cores for good, wherever they are. The machine is ending.
pub(super) fn stop_others() {
    // Those that have not arrived would not survive the message, and do nothing by themselves.
    let has_arrived = |core: &usize| *core == 0 || ARRIVED[*core].load(Ordering::Acquire);
    let me = this_core();
    let cores = boot::known_information().map_or(0, |information| information.core_count);
    (0..cores).filter(|core| *core != me).filter(has_arrived).for_each(lapic::send_nmi);
}

/// Says that this core is ready and waits for the gate.
pub(super) fn arrive(core: usize) {
    ARRIVED[core].store(true, Ordering::Release);
    while !GATE.load(Ordering::Acquire) {
        if exit::is_ending() {
            cpu::park();
        }
        cpu::pause();
    }
}

/// Prints a message of the start and ends the machine as a failure.
pub(super) fn report_failure(message: core::fmt::Arguments<'_>) -> ! {
    console::write_urgent(format_args!("boot: {message}\n@done failed boot: {message}\n"));
    exit::exit(false)
}
