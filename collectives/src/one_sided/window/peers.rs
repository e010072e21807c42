//! What a rank knows of the other ranks of a window: where their parts and their synchronisation data are.

use alloc::boxed::Box;
use core::cell::Cell;

use hal::{Core, LINE_BYTES, Region, SharedAddress, kind};

use crate::{Comm, Group};

use super::table::Entry;

/// The parts of a window and the ranks that they belong to.
pub(super) struct Peers<'c, C> {
    pub(super) comm: &'c Comm<'c, C>,
    pub(super) number: u32,
    pub(super) parts: Box<[Entry]>,
    pub(super) element_bytes: usize,
    /// Words of synchronisation data behind those that all classes have.
    pub(super) class_word_count: usize,
}

impl<C: Core> Peers<'_, C> {
    /// The memory of `rank`'s part.
    pub(super) fn part(&self, rank: usize) -> Region<kind::Cached> {
        let (part, regions) = (&self.parts[rank], self.comm.regions());
        // Only a window that fails to be made has parts without memory, and nobody gets to see it.
        part.memory.map_or(regions.region(SharedAddress::from_flat(0), 0), |start| {
            regions.region(start, (part.len as usize * self.element_bytes).next_multiple_of(LINE_BYTES))
        })
    }

    /// The memory of `rank`'s part as this rank puts to it and gets from it. If it is private memory of another core,
    /// it is mapped: the first time costs something, later ones do not.
    pub(super) fn reach(&self, rank: usize) -> Region<kind::Combined> {
        let part = self.part(rank).mapped();
        self.comm.hal().map(part).expect("a part is the memory of a core that exists");
        part
    }

    /// The synchronisation data of `rank`.
    pub(super) fn sync(&self, rank: usize) -> Region<kind::Uncached> {
        let start = self.parts[rank].sync.unwrap_or(SharedAddress::from_flat(0));
        self.comm.regions().region(start, sync_bytes(self.class_word_count))
    }

    /// The words of `rank`'s synchronisation data that belong to the window's class.
    pub(super) fn class_words(&self, rank: usize) -> Region<kind::Uncached> {
        let sync = self.sync(rank);
        sync.lines_around(COMMON_BYTES, sync.len_bytes())
    }
}

/// Bytes of synchronisation data that all classes have: the lock and the notification counters, a line each.
pub(super) const COMMON_BYTES: usize = 2 * LINE_BYTES;

/// Bytes of a rank's synchronisation data.
pub(super) const fn sync_bytes(class_words: usize) -> usize {
    COMMON_BYTES + (class_words * 4).next_multiple_of(LINE_BYTES)
}

/// A set of ranks of a communicator that changes while it is looked at.
pub(super) struct Seen(Box<[Cell<u32>]>);

impl Seen {
    pub(super) fn new(ranks: usize) -> Self {
        Self(core::iter::repeat_with(|| Cell::new(0)).take(ranks.div_ceil(32)).collect())
    }

    pub(super) fn contains(&self, rank: usize) -> bool {
        self.0[rank / 32].get() >> (rank % 32) & 1 == 1
    }

    /// Ranks 32 `index` to 32 `index` + 31, as bits.
    pub(super) fn word(&self, index: usize) -> u32 {
        self.0[index].get()
    }

    /// Enters those of 32 ranks whose bits are set.
    pub(super) fn insert_word(&self, index: usize, ranks: u32) {
        self.0[index].set(self.0[index].get() | ranks);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.first().is_none()
    }

    /// The lowest rank in it.
    pub(super) fn first(&self) -> Option<usize> {
        let (index, word) = self.0.iter().map(Cell::get).enumerate().find(|(_, word)| *word != 0)?;
        Some(index * 32 + word.trailing_zeros() as usize)
    }

    pub(super) fn insert(&self, rank: usize) {
        let word = &self.0[rank / 32];
        word.set(word.get() | 1 << (rank % 32));
    }

    pub(super) fn remove(&self, rank: usize) {
        let word = &self.0[rank / 32];
        word.set(word.get() & !(1 << (rank % 32)));
    }

    pub(super) fn clear(&self) {
        self.0.iter().for_each(|word| word.set(0));
    }

    /// The members of a group that are not in the set, in ascending order.
    pub(super) fn missing<'s>(&'s self, group: &'s Group) -> impl Iterator<Item = usize> + Clone + 's {
        group.iter().filter(|rank| !self.contains(*rank))
    }
}
