//! What simulated cores may allocate: as much as the heap of a core has on bare metal, and no more.
//!
//! All cores of a simulation share the host's heap, which would give a program whatever it asks for until the host
//! itself has no more. So each block is on the account of the core whose program asked for it. The simulator's own
//! blocks are on nobody's: whatever is allocated in the course of an operation of the HAL, or while no core runs.
//!
//! Accounts say how much is allocated, not where: a heap of bare metal may also refuse what fits its free bytes and
//! none of its gaps. What is made of pointers takes twice as much here as on a machine of 32 bits.

use std::{
    alloc::{GlobalAlloc, Layout, System},
    ptr,
    sync::Arc,
    thread,
};

use super::{account::Account, platform::Running};

/// Room in front of a block, where the account is noted that it is on.
const HEADER: usize = 16;

/// Does something that is on no account, such as handing on what a program prints.
pub fn off_account<R>(action: impl FnOnce() -> R) -> R {
    /// Lets the account go on, also when the action panics.
    struct GoOn(bool);
    impl Drop for GoOn {
        fn drop(&mut self) {
            Running::with(|core| core.platform().count(self.0));
        }
    }
    let _go_on = Running::with(|core| core.platform().count(false)).map(GoOn);
    action()
}

/// The host's heap, in which each simulated core has an account of
/// [`Options::heap_bytes`](super::Options::heap_bytes).
#[derive(Clone, Copy, Default, Debug)]
pub struct SimHeap;

/// Where the block begins behind its header, and the whole.
fn with_header(layout: Layout) -> Option<(usize, Layout)> {
    let offset = layout.align().max(HEADER);
    let whole = Layout::from_size_align(layout.size().checked_add(offset)?, offset).ok()?;
    Some((offset, whole))
}

/// Allocates a block for whom it may concern.
fn allocate(layout: Layout, from_host: impl Fn(Layout) -> *mut u8) -> *mut u8 {
    let Some((offset, whole)) = with_header(layout) else { return ptr::null_mut() };
    let mut holder = ptr::null();
    let fits = Running::with(|core| match core.platform().account() {
        // What is said of a panic needs room as well.
        Some(account) if core.is_in_program() && !thread::panicking() => {
            let fits = account.take(layout.size());
            if fits {
                holder = Arc::into_raw(account.clone());
            }
            fits
        }
        _ => true,
    });
    if fits == Some(false) {
        return ptr::null_mut();
    }
    let start = from_host(whole);
    if start.is_null() {
        if !holder.is_null() {
            // SAFETY: it was made by `into_raw` just now.
            unsafe { Arc::from_raw(holder) }.give_back(layout.size());
        }
        return start;
    }
    // SAFETY: the block is `offset` bytes longer than what was asked for, and `offset` is a multiple of `HEADER`, which
    // has room for a pointer right before it.
    let block = unsafe {
        let block = start.add(offset);
        block.cast::<*const Account>().sub(1).write(holder);
        block
    };
    // SAFETY: it was made by `into_raw` just now, and goes with the block.
    if let Some(account) = unsafe { holder.as_ref() } {
        off_account(|| account.begins(block.addr(), layout.size()));
    }
    block
}

// SAFETY: 1. blocks are the host's, each `offset` bytes behind the start of one that is that much longer and aligned
// to a multiple of the alignment asked for; 2. what is before a block is written here only; 3. nothing here panics; 4. what
// is allocated to note a block, and an account's own block, which goes with its last holder, is on no account: so nothing is
// noted of it.
unsafe impl GlobalAlloc for SimHeap {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the layout is longer than 0 bytes.
        allocate(layout, |whole| unsafe { System.alloc(whole) })
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the layout is longer than 0 bytes.
        allocate(layout, |whole| unsafe { System.alloc_zeroed(whole) })
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        let Some((offset, whole)) = with_header(layout) else { return };
        // SAFETY: the block came from `allocate` with the same layout, so its holder is before it, and its start is the
        // host's. The holder was made by `into_raw` for this block.
        unsafe {
            let holder = block.cast::<*const Account>().sub(1).read();
            if !holder.is_null() {
                let account = Arc::from_raw(holder);
                account.give_back(layout.size());
                // Before the host has it back: another thread might get the address and note its own block there.
                off_account(|| account.ends(block.addr()));
            }
            System.dealloc(block.sub(offset), whole);
        }
    }
}
