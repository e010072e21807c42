//! What the vCPUs of one coherence domain share, and how one of them takes pages away from the others.
//!
//! The copies of the emulated shared DRAM are in frames, twins and page tables that only the domain's cores have; the
//! account of them lies beside them, at the same address on each core, and is used under a lock.
//!
//! Every processor remembers translations. So that a page is really gone, its entry is changed first, then each of the
//! other cores is told to forget all translations, and only when all have done so the frame is compared and written
//! back: until then they may store to it. They are told by NMI, since programs run with interrupts off, and so does
//! whoever waits for a lock that this core holds.

use core::sync::atomic::{AtomicBool, AtomicU32, Ordering::SeqCst};

use crate::{
    bare::{cpu, this_core::this_core},
    qemu::{
        handed::facts::{self, MAX_CORES},
        lock::{EmulatorGuard, EmulatorLock},
        pc::lapic,
    },
};

/// The locks of the domains, by number.
#[unsafe(link_section = ".emulator")]
static LOCKS: [EmulatorLock<()>; MAX_CORES] = [const { EmulatorLock::new(()) }; MAX_CORES];

/// Whether a core has been told to forget translations.
#[unsafe(link_section = ".emulator")]
static TOLD: [AtomicBool; MAX_CORES] = [const { AtomicBool::new(false) }; MAX_CORES];

/// The cores of each domain that have been told, and have not forgotten the page yet.
#[unsafe(link_section = ".emulator")]
static MISSING: [AtomicU32; MAX_CORES] = [const { AtomicU32::new(0) }; MAX_CORES];

fn domain() -> usize {
    this_core() / facts::information().cores_per_domain
}

/// Keeps the other cores out of the copies of this core's domain.
pub(crate) fn exclude() -> EmulatorGuard<'static, ()> {
    LOCKS[domain()].lock()
}

/// Makes all cores of this core's domain forget all translations, and returns when they have. The caller holds the
/// lock.
pub(crate) fn forget_translations() {
    let per_domain = facts::information().cores_per_domain;
    let first = domain() * per_domain;
    let last = (first + per_domain).min(facts::core_count());
    let missing = &MISSING[domain()];
    missing.store((last - first - 1) as u32, SeqCst);
    for core in (first..last).filter(|core| *core != this_core()) {
        TOLD[core].store(true, SeqCst);
        lapic::send_nmi(core);
    }
    cpu::forget_translations();
    while missing.load(SeqCst) > 0 {
        cpu::pause();
    }
}

/// Does what this core has been told, in an NMI. Returns whether it was told something.
pub(crate) fn told() -> bool {
    let told = TOLD[this_core()].swap(false, SeqCst);
    if told {
        cpu::forget_translations();
        MISSING[domain()].fetch_sub(1, SeqCst);
    }
    told
}
