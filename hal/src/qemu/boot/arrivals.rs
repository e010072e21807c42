//! Which cores have arrived, and the gate at which they wait for all others.

use core::sync::atomic::{AtomicBool, Ordering};

use crate::{
    bare::{cpu, this_core::this_core},
    qemu::{
        exit::ending::is_ending,
        handed::facts::{self, MAX_CORES},
        pc::lapic,
    },
};

#[unsafe(link_section = ".emulator")]
static ARRIVED: [AtomicBool; MAX_CORES] = [const { AtomicBool::new(false) }; MAX_CORES];

#[unsafe(link_section = ".emulator")]
static GATE: AtomicBool = AtomicBool::new(false);

/// Whether a core other than the first has arrived.
pub(crate) fn has_arrived(core: usize) -> bool {
    ARRIVED[core].load(Ordering::Acquire)
}

/// Which of `cores` cores have not arrived yet.
pub(crate) fn missing(cores: usize) -> impl Iterator<Item = usize> {
    (1..cores).filter(|&core| !has_arrived(core))
}

/// Lets the cores that have arrived begin.
pub(crate) fn open_gate() {
    GATE.store(true, Ordering::Release);
}

/// Stops all other cores for good, wherever they are. The machine is ending.
pub(crate) fn stop_others() {
    // Those that have not arrived would not survive the message, and do nothing by themselves.
    let runs = |core: &usize| *core == 0 || has_arrived(*core);
    let me = this_core();
    let cores = facts::known_information().map_or(0, |information| information.core_count);
    (0..cores).filter(|core| *core != me).filter(runs).for_each(lapic::send_nmi);
}

/// Says that this core is ready and waits for the gate.
pub(crate) fn arrive(core: usize) {
    ARRIVED[core].store(true, Ordering::Release);
    while !GATE.load(Ordering::Acquire) {
        if is_ending() {
            cpu::park();
        }
        cpu::pause();
    }
}
