//! What the vCPUs of one coherence domain share, and how one of them takes pages away from the others.
//!
//! The copies of the emulated shared DRAM are in frames, twins and page tables that only the domain's cores have; the
//! account of them lies beside them, at the same address on each core, and is used under a lock.
//!
//! Every processor remembers translations. So that a page is really gone, its entry is changed first, then each of the
//! other cores is told to forget all translations, and only when all have done so the frame is compared and written
//! back: until then they may store to it. They are told by NMI, since programs run with interrupts off, and so does
//! whoever waits for a lock that this core holds.

use core::{
    cell::UnsafeCell,
    mem::MaybeUninit,
    ptr::with_exposed_provenance_mut,
    sync::atomic::{AtomicBool, AtomicU32, Ordering::SeqCst},
};

use crate::emulated::{Copies, Slices};

use super::{
    MmuWindow, boot, cpu, lapic,
    lock::{EmulatorGuard, EmulatorLock},
    memory,
    smp::MAX_CORES,
    this_core,
};

/// Zero is a valid value, with which it begins.
struct Account {
    is_made: AtomicBool,
    copies: MaybeUninit<Copies<MmuWindow>>,
    slices: UnsafeCell<MaybeUninit<Slices>>,
}

const _: () = assert!(size_of::<Account>() <= memory::DOMAIN_ACCOUNT_BYTES, "the account fits its pages");

/// The locks of the domains, by number.
#[unsafe(link_section = ".emulator")]
static LOCKS: [EmulatorLock<()>; MAX_CORES] = [const { EmulatorLock::new(()) }; MAX_CORES];

/// Whether a core has been told to forget translations.
#[unsafe(link_section = ".emulator")]
static TOLD: [AtomicBool; MAX_CORES] = [const { AtomicBool::new(false) }; MAX_CORES];

/// Of each domain, the cores that have been told and have not forgotten yet.
#[unsafe(link_section = ".emulator")]
static MISSING: [AtomicU32; MAX_CORES] = [const { AtomicU32::new(0) }; MAX_CORES];

fn domain() -> usize {
    this_core() / boot::information().cores_per_domain
}

/// The copies of this core's domain, which has several cores.
pub(super) fn copies() -> &'static Copies<MmuWindow> {
    let account = with_exposed_provenance_mut::<Account>(memory::DOMAIN_ACCOUNT_BASE);
    let _first = exclude();
    // SAFETY: 1. all cores of a domain with several map these pages, zeroed, aligned to a page; 2. the value is written
    // once, under the lock, before anybody has a reference to it. The cell inside is used under the lock only, see
    // `exclude`.
    unsafe {
        if !(*account).is_made.swap(true, SeqCst) {
            (&raw mut (*account).copies).write(MaybeUninit::new(Copies::new(MmuWindow::domain(), true)));
            (&raw mut (*account).slices).write(UnsafeCell::new(MaybeUninit::new(Slices::new())));
        }
        (*account).copies.assume_init_ref()
    }
}

/// Gives `change` the account of the slices of this core's domain, which has several cores and whose [`copies`] this core
/// has asked for.
pub(super) fn with_slices<R>(change: impl FnOnce(&mut Slices) -> R) -> R {
    let account = with_exposed_provenance_mut::<Account>(memory::DOMAIN_ACCOUNT_BASE);
    let _first = exclude();
    // SAFETY: as above, 1 and 2; only used here, under the lock.
    change(unsafe { (*(*account).slices.get()).assume_init_mut() })
}

/// Keeps the other cores out of the copies of this core's domain.
pub(super) fn exclude() -> EmulatorGuard<'static, ()> {
    LOCKS[domain()].lock()
}

/// Makes all cores of this core's domain forget all translations, and returns when they have. The caller holds the
/// lock.
pub(super) fn forget_translations() {
    let per_domain = boot::information().cores_per_domain;
    let first = domain() * per_domain;
    let last = (first + per_domain).min(boot::core_count());
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
pub(super) fn told() -> bool {
    let told = TOLD[this_core()].swap(false, SeqCst);
    if told {
        cpu::forget_translations();
        MISSING[domain()].fetch_sub(1, SeqCst);
    }
    told
}
