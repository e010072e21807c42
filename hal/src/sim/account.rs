//! What one core may allocate, and has allocated.

use std::sync::{
    Arc, Mutex, MutexGuard, PoisonError,
    atomic::{AtomicUsize, Ordering::Relaxed},
};

use super::blocks::{BlockPlace, Blocks};
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
    /// Where the blocks are, if somebody wants to know.
    blocks: Option<Mutex<Blocks>>,
}

impl Account {
    pub(super) fn new(limit: usize, knows_blocks: bool) -> Arc<Self> {
        let blocks = knows_blocks.then(Mutex::default);
        Arc::new(Self { limit, used: AtomicUsize::new(0), refused: AtomicUsize::new(0), blocks })
    }

    fn blocks(&self) -> Option<MutexGuard<'_, Blocks>> {
        self.blocks.as_ref().map(|blocks| blocks.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// A block of the account was allocated. What is noted of it is on no account: the caller has suspended this one.
    pub(super) fn begins(&self, address: usize, bytes: usize) {
        if let Some(mut blocks) = self.blocks() {
            blocks.begins(address, bytes);
        }
    }

    /// A block of the account is freed, likewise.
    pub(super) fn ends(&self, address: usize) {
        if let Some(mut blocks) = self.blocks() {
            blocks.ends(address);
        }
    }

    /// In which block an address is, and where, if it is in one.
    pub(super) fn place(&self, address: usize) -> Option<BlockPlace> {
        self.blocks()?.place(address)
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
