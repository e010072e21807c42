//! What one core may allocate, and has allocated.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering::Relaxed},
};

use crate::HeapExhausted;

/// Blocks are counted in units of this many bytes, as bare metal's heaps divide themselves.
const GRAIN: usize = 8;

/// What one core has allocated. Blocks hold their account, so that they may outlive the core.
#[derive(Debug)]
pub(super) struct Account {
    limit: usize,
    used: AtomicUsize,
    /// Bytes of the last allocation, if there was no room for it.
    refused: AtomicUsize,
}

impl Account {
    pub(super) fn new(limit: usize) -> Arc<Self> {
        Arc::new(Self { limit, used: AtomicUsize::new(0), refused: AtomicUsize::new(0) })
    }

    /// If the last allocation was refused: what to say of it.
    pub(super) fn exhausted(&self, core: usize) -> Option<HeapExhausted> {
        let bytes = self.refused.load(Relaxed);
        (bytes > 0).then_some(HeapExhausted { core, bytes, heap_bytes: self.limit })
    }

    /// Puts bytes on the account, if there is room.
    pub(super) fn take(&self, bytes: usize) -> bool {
        let used = self.used.load(Relaxed).saturating_add(bytes.next_multiple_of(GRAIN));
        let fits = used <= self.limit;
        if fits {
            self.used.store(used, Relaxed);
        }
        // Whatever was refused before, the program has coped with it.
        self.refused.store(if fits { 0 } else { bytes }, Relaxed);
        fits
    }

    pub(super) fn give_back(&self, bytes: usize) {
        self.used.fetch_sub(bytes.next_multiple_of(GRAIN), Relaxed);
    }
}
