//! What a core keeps account of.

use core::cell::{Cell, RefCell};

use crate::{
    Countable, Counters, Home, LineAddress, MpbLine, Region, SharedAddress, Topology,
    counters::Counting,
    kind::{self, Kind},
};

use super::{
    exposures::Exposures,
    mappings::{Mappings, Slot},
    runs::StoreRuns,
    views::Views,
};

/// What a core keeps account of: its views, what it exposes, the slots that it has mapped, its stores, and its counters.
pub struct Account {
    pub(super) views: Views,
    pub(super) exposures: RefCell<Exposures>,
    pub(super) mappings: RefCell<Mappings>,
    pub(super) runs: StoreRuns,
    pub(super) caches_taken: Cell<bool>,
    /// What a program counts now.
    pub(super) counted: Cell<Option<Countable>>,
    /// What of it stopping and going on again has taken.
    pub(super) counted_too_much: Cell<u64>,
    counting: Counting,
}

impl Account {
    /// The empty account of a core that can map `most_mappings` slots.
    pub fn new(most_mappings: usize) -> Self {
        Self {
            views: Views::default(),
            exposures: RefCell::default(),
            mappings: RefCell::new(Mappings::with_capacity(most_mappings)),
            runs: StoreRuns::default(),
            caches_taken: Cell::new(false),
            counted: Cell::new(None),
            counted_too_much: Cell::new(0),
            counting: Counting::default(),
        }
    }

    /// The core's counters.
    #[inline]
    pub fn counting(&self) -> &Counting {
        &self.counting
    }

    pub(super) fn counters(&self) -> Counters {
        self.counting.snapshot()
    }

    /// Counts a store to bytes of a line, `len` from `offset` on.
    #[inline]
    pub(super) fn count_store(&self, at: LineAddress, offset: usize, len: usize) {
        self.runs.count(&self.counting, at, offset, len);
    }

    /// Counts stores to `lines` whole lines of an MPB.
    #[inline]
    pub(super) fn count_line_stores(&self, first: MpbLine, lines: usize) {
        self.runs.count_lines(&self.counting, LineAddress::Mpb(first), lines);
    }

    /// The line that the core stored to last and has not pushed out since, as far as its program knows.
    pub fn stored_last(&self) -> Option<LineAddress> {
        self.runs.last()
    }

    /// The core's next store begins a new run: what it has stored was pushed out.
    #[inline]
    pub fn pushed_out(&self) {
        self.runs.end();
    }

    /// Whether the core exposes a line of its memory as part of one exposure.
    pub fn exposes(&self, offset: usize, len_bytes: usize) -> bool {
        self.exposures.borrow().contains(offset, len_bytes)
    }

    /// Calls `look` with all that the core exposes.
    pub fn with_exposures<R>(&self, look: impl FnOnce(&Exposures) -> R) -> R {
        look(&self.exposures.borrow())
    }

    /// Which of the slots for other cores' memory has been pointed at this one, as a number below
    /// [`most_mappings`](super::ExposedMemory::most_mappings).
    pub fn place_of(&self, slot: Slot) -> Option<usize> {
        self.mappings.borrow().place(slot)
    }

    /// The region, if it is another core's memory.
    pub(super) fn foreign<K: Kind>(core: &impl Topology, region: Region<K>) -> Option<Region<kind::Cached>> {
        matches!(region.start().home(), Home::Core(owner) if owner != core.core()).then(|| region.mapped())
    }

    /// Insists that bytes of a region are within reach of the core, and returns their lines if they are another core's.
    ///
    /// # Panics
    /// If one of them is not mapped.
    pub fn assert_mapped<K: Kind>(
        &self,
        core: &impl Topology,
        region: Region<K>,
        offset: usize,
        len: usize,
    ) -> Option<Region<kind::Cached>> {
        let foreign = Self::foreign(core, region)?.lines_around(offset, offset + len);
        let mappings = self.mappings.borrow();
        assert!(
            Slot::all_of(foreign).all(|slot| mappings.contains(slot)),
            "{} is not mapped on {}, as it has to be before each use",
            region.start(),
            core.core()
        );
        Some(foreign)
    }

    /// Where word `index` of a region is, in bytes from its start.
    ///
    /// # Panics
    /// If it has none.
    #[inline]
    pub fn word_offset(region: Region<kind::Uncached>, index: usize) -> usize {
        let words = region.len_bytes() / 4;
        if index >= words { no_such_word(index, words) } else { index * 4 }
    }

    /// The address of word `index` of a region.
    ///
    /// # Panics
    /// If it has none.
    #[inline]
    pub fn word_address(region: Region<kind::Uncached>, index: usize) -> SharedAddress {
        region.start().plus(Self::word_offset(region, index))
    }
}

#[cold]
fn no_such_word(index: usize, words: usize) -> ! {
    panic!("word {index} of a region of {words} words")
}
