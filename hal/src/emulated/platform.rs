//! What an emulating backend has to provide.

use core::{
    ops::Deref,
    ptr::NonNull,
    sync::atomic::{
        AtomicU32,
        Ordering::{Relaxed, Release},
    },
};

use crate::{
    CoreId, Home, Line, LineAddress, Reason, Region, SharedAddress, Topology, kind,
    kit::{Hooks, Registers, Signals, Slices, Watch, Woken},
    wait::Deadline,
};

use super::{Copies, FetchUnit, PageWindow};

/// What is left open by the hardware and may be explored.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Choice {
    /// Whether the write-combine buffer drains by itself now.
    DrainEarly,
    /// Whether a line of cached memory is evicted now.
    Evict,
    /// Whether a store to a line that is not cached goes to memory at once, as without write-allocate.
    StoreThrough,
    /// Which of the resident pages is the victim.
    VictimPage,
    /// Which of the lines of a page is the victim.
    VictimLine,
}

/// Stores those bytes of a word whose bits in `mask` are set, and leaves the others, which views of a coherent machine may store
/// to meanwhile. A store of bytes would race with accesses to the word.
pub fn store_masked(word: &AtomicU32, new: u32, mask: u32) {
    let kept = u32::from_ne_bytes([0, 1, 2, 3].map(|byte| if mask >> byte & 1 == 1 { 0 } else { 0xFF }));
    let _ = word.fetch_update(Release, Relaxed, |word| Some(word & kept | new & !kept));
}

/// What to say of a core that waits, should the machine be stuck.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct WaitInfo {
    /// What the core waits for, and from whom.
    pub reason: Reason,
    /// The line that sits in its write-combine buffer, undrained: a likely culprit.
    pub undrained: Option<LineAddress>,
}

/// The machine under an [`EmulatedCore`](super::EmulatedCore), seen from one core. The core asks for registers only that exist and are
/// within its reach, and otherwise passes on what the platform says of them, of interrupts and of time.
///
/// All methods may hand over to other cores. Lines and words move atomically. Each access charges its own cost.
///
/// # Safety
/// 1. [`core`](Topology::core), [`machine`](Topology::machine), [`layout`](Topology::layout) and [`coherent`](Self::coherent)
///    are always the same; no other core has that number of that machine.
/// 2. [`shared_memory`](Self::shared_memory) is what it says.
/// 3. Lines and words are those of shared memory, of MPBs and of what is [exposed](Self::expose) now, and none of the
///    process.
/// 4. Where memory is coherent, an access to a line or a word asks the [slices](Self::with_slices) of the machine at the
///    moment at which it takes effect, and panics if one of them excludes it.
/// 5. [`with_slices`](Self::with_slices) leads all cores that share copies, or all of a coherent machine, to the same
///    account, one at a time.
/// 6. What is [exposed](Self::expose) is reached under its region, by other cores only, until
///    [`conceal`](Self::conceal) has returned `Ok`, and from then on by nobody.
pub unsafe trait Platform: Topology + Registers + Signals + Hooks + 'static {
    /// Where private copies of cached memory live.
    type Window: PageWindow;

    /// How the core has its copies, or the part in those of its coherence domain.
    type Copies: Deref<Target = Copies<Self::Window>>;

    /// Reads a line from memory.
    fn read_line(&self, at: LineAddress) -> Line;

    /// Writes the bytes of a line whose bits in `mask` are set.
    fn write_line(&self, at: LineAddress, data: &Line, mask: u32);

    /// Writes what `take` says at the moment of the write, which may be nothing: until then other cores may change it.
    fn write_back(&self, at: LineAddress, take: &mut dyn FnMut() -> Option<(Line, u32)>) {
        if let Some((data, mask)) = take() {
            self.write_line(at, &data, mask);
        }
    }

    /// Loads an uncached word, as one access.
    fn read_word(&self, at: SharedAddress) -> u32;

    /// Stores an uncached word, as one access.
    fn write_word(&self, at: SharedAddress, value: u32);

    /// Decides what the hardware leaves open, as a number below `options`; 0 is what nothing special means.
    fn choose(&self, choice: Choice, options: usize) -> usize;

    /// Called before each poll of a wait, so that a change between the poll and [`park`](Self::park) is not missed.
    fn before_poll(&self, watch: Watch<'_>);

    /// Hands over until a poll may succeed; the poll since [`before_poll`](Self::before_poll) has failed.
    fn park(&self, watch: Watch<'_>, deadline: Deadline, info: &WaitInfo) -> Woken;

    /// Called when a wait is over.
    fn end_wait(&self, watch: Watch<'_>);

    /// Called when a handler comes in the middle of a wait, which then begins anew.
    fn interrupt_wait(&self, watch: Watch<'_>) {
        self.end_wait(watch);
    }

    /// See [`Wait::relax`](crate::Wait::relax).
    fn relax(&self);

    /// See [`Wait::is_dying`](crate::Wait::is_dying).
    fn is_dying(&self) -> bool;

    /// Whether memory is to be coherent: no private copies, no stale lines, stores visible at once.
    fn coherent(&self) -> bool;

    /// See [`Layout::home_domain`](crate::Layout::home_domain).
    fn home_domain(&self, home: Home) -> Option<usize> {
        self.layout().home_domain(home)
    }

    /// The account of the slices of all cores that see the same bytes as this one: of the machine where it is coherent,
    /// else of the coherence domain. Where every core is a domain by itself and a page that is taken away is fetched by a
    /// [fault](PageWindow::faults), there need not be one.
    fn with_slices<R>(&self, change: impl FnOnce(&mut Slices) -> R) -> Option<R>;

    /// Called before each use of copies that the cores of a coherence domain share, which is visible to them all: to
    /// change them, or only to look. Nothing to do where no cores share copies.
    fn meet_domain(&self, changes: bool) {
        let _ = changes;
    }

    /// Returns when what other cores of the coherence domain have written back is in memory: of what this core has just
    /// flushed they may have written some.
    fn await_write_backs(&self) {}

    /// Called by drains and flushes: what this core has written is in memory before what it writes from now on.
    fn fence(&self) {}

    /// How much of cached memory is fetched at a time.
    fn fetch_unit(&self) -> FetchUnit {
        FetchUnit::Line
    }

    /// From now on, as many bytes of this core's private memory as `region` has are that region, which it exposes.
    ///
    /// # Safety
    /// The bytes are valid for reads and writes, and reached by nobody else, until they are
    /// [concealed](Self::conceal) or for ever.
    unsafe fn expose(&self, region: Region<kind::Cached>, memory: NonNull<u8>);

    /// Takes back what began with `expose`.
    ///
    /// # Errors
    /// A core that has [reached](Self::reach) it and not [let go](Self::let_go) of it: then it stays exposed.
    fn conceal(&self, region: Region<kind::Cached>) -> Result<(), CoreId>;

    /// This core is about to access a region of what another core exposes.
    fn reach(&self, region: Region<kind::Cached>);

    /// This core will not access what another core exposes, as far as it has bytes of the region.
    fn let_go(&self, region: Region<kind::Cached>);

    /// Memory of shared DRAM itself, which the [layout](Topology::layout) has, or what this core exposes, for a coherent
    /// machine's views.
    ///
    /// The pointer is valid for `region.len_bytes()` bytes for as long as the machine exists, or the region is exposed.
    fn shared_memory(&self, region: Region<kind::Cached>) -> *mut u8;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_outside_the_mask_stay() {
        for mask in 0..16 {
            let word = AtomicU32::new(u32::from_ne_bytes([1, 2, 3, 4]));
            store_masked(&word, u32::from_ne_bytes([0xFA, 0xFB, 0xFC, 0xFD]), mask);
            let expected = [0, 1, 2, 3].map(|byte| if mask >> byte & 1 == 1 { 0xFA + byte } else { 1 + byte } as u8);
            assert_eq!(word.into_inner().to_ne_bytes(), expected, "mask {mask:#b}");
        }
    }
}
