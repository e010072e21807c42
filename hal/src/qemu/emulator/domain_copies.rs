//! The copies that the cores of one coherence domain share, and the account of them, at the same address on each core.

use core::{
    cell::UnsafeCell,
    mem::MaybeUninit,
    ptr::with_exposed_provenance_mut,
    sync::atomic::{AtomicBool, Ordering::SeqCst},
};

use crate::{
    emulated::Copies,
    kit::Slices,
    qemu::{
        emulator::{domain::exclude, mmu_window::MmuWindow},
        memory::addresses,
    },
};

/// Zero is a valid value, with which it begins.
struct Account {
    is_made: AtomicBool,
    copies: MaybeUninit<Copies<MmuWindow>>,
    slices: UnsafeCell<MaybeUninit<Slices>>,
}

const _: () = assert!(size_of::<Account>() <= addresses::DOMAIN_ACCOUNT_BYTES, "the account fits its pages");

/// The copies of this core's domain, which has several cores.
pub(crate) fn copies() -> &'static Copies<MmuWindow> {
    let account = with_exposed_provenance_mut::<Account>(addresses::DOMAIN_ACCOUNT_BASE);
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
pub(crate) fn with_slices<R>(change: impl FnOnce(&mut Slices) -> R) -> R {
    let account = with_exposed_provenance_mut::<Account>(addresses::DOMAIN_ACCOUNT_BASE);
    let _first = exclude();
    // SAFETY: `copies` was asked for, and has made the account; only used here, under the lock.
    change(unsafe { (*(*account).slices.get()).assume_init_mut() })
}
