//! What cores have noted, told at the end of a machine on which something has failed.
//!
//! What a core notes lies in its private memory, so each tells its own. The core that ends the machine tells first. Then it
//! interrupts one core after the other, each of which tells and stops. A core that cannot be interrupted is left out: it
//! has failed in the middle of a report of its own.

use core::{
    fmt,
    sync::atomic::{AtomicBool, Ordering},
};

use crate::{
    bare::{private::PrivateOnce, this_core::this_core},
    qemu::{
        boot::arrivals,
        console,
        handed::facts::{self, MAX_CORES},
        pc::lapic,
    },
};

/// Shows all that this core has noted, as lines for the host.
pub(crate) type Teller = fn(&mut dyn FnMut(fmt::Arguments<'_>));

static TELLER: PrivateOnce<Teller> = PrivateOnce::new();

/// Whether cores that are interrupted while the machine ends are to tell what they have noted.
#[unsafe(link_section = ".emulator")]
static IS_WANTED: AtomicBool = AtomicBool::new(false);

/// Which cores have told.
#[unsafe(link_section = ".emulator")]
static TOLD: [AtomicBool; MAX_CORES] = [const { AtomicBool::new(false) }; MAX_CORES];

/// From now on this core has something to tell.
pub(crate) fn set_teller(teller: Teller) {
    TELLER.set(teller);
}

/// Tells what this core has noted so far, and what is under way, if it is traced.
pub(crate) fn tell() {
    if let Some(tell) = TELLER.get() {
        tell(&mut |line| console::write_last(line));
    }
}

/// What a core does that is interrupted while the machine ends.
pub(crate) fn tell_if_wanted() {
    if IS_WANTED.load(Ordering::Acquire) {
        tell_once();
    }
}

fn tell_once() {
    let told = &TOLD[this_core()];
    if !told.load(Ordering::Acquire) {
        tell();
        told.store(true, Ordering::Release);
    }
}

/// Tells what all cores of this node have noted, if the command line asks for traces. They stop meanwhile: the machine is
/// ending.
pub(crate) fn tell_all() {
    // Whatever this core has to tell itself: it may not have come so far.
    if facts::known_information().is_none_or(|known| known.trace_bytes == 0) {
        return;
    }
    tell_once();
    IS_WANTED.store(true, Ordering::Release);
    let me = this_core();
    let has_come = |core: &usize| *core == 0 || arrivals::has_arrived(*core);
    for core in (0..facts::core_count()).filter(|core| *core != me).filter(has_come) {
        lapic::send_nmi(core);
        console::await_while_printing(|| TOLD[core].load(Ordering::Acquire));
    }
}
