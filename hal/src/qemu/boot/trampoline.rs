//! Where the other cores begin: the start code in assembly ([`entry`](super::entry)) has what is copied there.

/// Page below 1 MiB where the other cores start.
pub(crate) const TRAMPOLINE: usize = 0x8000;

unsafe extern "C" {
    static ap_trampoline: u8;
    static ap_trampoline_end: u8;
}

/// Copies the start code of the other cores to its page below 1 MiB.
///
/// # Safety
/// The page must be free; called by the first core before it starts others.
pub(crate) unsafe fn place_trampoline() {
    let start = &raw const ap_trampoline;
    let bytes = (&raw const ap_trampoline_end).addr() - start.addr();
    // SAFETY: the symbols bound the code; the caller says that the page is free. Low memory is mapped one to one.
    unsafe { core::ptr::with_exposed_provenance_mut::<u8>(TRAMPOLINE).copy_from_nonoverlapping(start, bytes) }
}
