//! What a rank knows of the other ranks of a window: where their parts and their synchronisation data are.

use alloc::boxed::Box;
use core::cell::Cell;

use hal::{Core, LINE_BYTES, Region, SharedAddress, kind};

use crate::{Comm, Group, comm::group::OfLine};

use super::table::Entry;

/// The parts of a window and the ranks that they belong to.
pub(super) struct Peers<'c, C> {
    pub(super) comm: &'c Comm<'c, C>,
    pub(super) number: u32,
    parts: Box<[Part]>,
    /// This rank's own part, and the words of its synchronisation data that belong to the window's class.
    own: Region<kind::Cached>,
    own_words: Region<kind::Uncached>,
}

/// The part of a rank, and its synchronisation data. Each access to it needs one of these.
struct Part {
    /// Its memory; without bytes in a window that fails to be made, which nobody gets to see.
    memory: Region<kind::Cached>,
    has_memory: bool,
    /// Elements.
    len: usize,
    sync: Region<kind::Uncached>,
    has_sync: bool,
    class_words: Region<kind::Uncached>,
}

impl<'c, C: Core> Peers<'c, C> {
    /// The peers that are at these places. The class of the window has some words of synchronisation data.
    pub(super) fn new(
        comm: &'c Comm<'c, C>,
        number: u32,
        entries: &[Entry],
        element_bytes: usize,
        class_words: usize,
    ) -> Self {
        let (regions, nowhere) = (comm.regions(), SharedAddress::from_flat(0));
        let parts = entries.iter().map(|entry| {
            let len = entry.len as usize;
            let len_bytes = (len * element_bytes).next_multiple_of(LINE_BYTES);
            let sync = regions.region(entry.sync.unwrap_or(nowhere), sync_bytes(class_words));
            Part {
                memory: regions
                    .region(entry.memory.unwrap_or(nowhere), if entry.memory.is_some() { len_bytes } else { 0 }),
                has_memory: entry.memory.is_some(),
                len,
                sync,
                has_sync: entry.sync.is_some(),
                class_words: sync.lines_around(COMMON_BYTES, sync.len_bytes()),
            }
        });
        let parts: Box<[_]> = parts.collect();
        let (own, own_words) = (parts[comm.rank()].memory, parts[comm.rank()].class_words);
        Self { comm, number, parts, own, own_words }
    }

    /// The memory of this rank's part.
    #[inline]
    pub(super) fn own(&self) -> Region<kind::Cached> {
        self.own
    }

    /// The memory of `rank`'s part.
    pub(super) fn part(&self, rank: usize) -> Region<kind::Cached> {
        self.parts[rank].memory
    }

    /// Whether `rank`'s part has memory, and whether that is the rank's own private memory.
    pub(super) fn memory_of(&self, rank: usize) -> (bool, bool) {
        let part = &self.parts[rank];
        (part.has_memory, part.has_memory && part.memory.start().controller().is_none())
    }

    /// Elements of `rank`'s part.
    pub(super) fn len(&self, rank: usize) -> usize {
        self.parts[rank].len
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
        self.parts[rank].sync
    }

    /// Whether there was room for the synchronisation data of `rank`.
    pub(super) fn has_sync(&self, rank: usize) -> bool {
        self.parts[rank].has_sync
    }

    /// The words of this rank's synchronisation data that belong to the window's class.
    #[inline]
    pub(super) fn own_words(&self) -> Region<kind::Uncached> {
        self.own_words
    }

    /// The words of `rank`'s synchronisation data that belong to the window's class.
    pub(super) fn class_words(&self, rank: usize) -> Region<kind::Uncached> {
        self.parts[rank].class_words
    }
}

/// Bytes of synchronisation data that all classes have: the lock and the notification counters, a line each.
pub(super) const COMMON_BYTES: usize = 2 * LINE_BYTES;

/// Bytes of a rank's synchronisation data.
pub(super) const fn sync_bytes(class_words: usize) -> usize {
    COMMON_BYTES + (class_words * 4).next_multiple_of(LINE_BYTES)
}

/// A set of ranks of a communicator that changes while it is looked at.
pub(super) struct Seen {
    words: Box<[Cell<u32>]>,
    /// Whether one was entered since it was cleared: most of them are empty, and this is all that is looked at then.
    was_entered: Cell<bool>,
}

impl Seen {
    pub(super) fn new(ranks: usize) -> Self {
        let words = core::iter::repeat_with(|| Cell::new(0)).take(ranks.div_ceil(32)).collect();
        Self { words, was_entered: Cell::new(false) }
    }

    pub(super) fn contains(&self, rank: usize) -> bool {
        self.words[rank / 32].get() >> (rank % 32) & 1 == 1
    }

    /// Ranks 32 `index` to 32 `index` + 31, as bits.
    pub(super) fn word(&self, index: usize) -> u32 {
        self.words[index].get()
    }

    /// Enters those of 32 ranks whose bits are set.
    #[inline]
    pub(super) fn insert_word(&self, index: usize, ranks: u32) {
        self.was_entered.set(true);
        self.words[index].set(self.words[index].get() | ranks);
    }

    /// Enters the members of these lines.
    pub(super) fn insert_lines(&self, lines: &[OfLine]) {
        lines.iter().for_each(|line| self.insert_word(line.index, line.ranks));
    }

    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        !self.was_entered.get() || self.words.iter().all(|word| word.get() == 0)
    }

    /// The lowest rank in it.
    pub(super) fn first(&self) -> Option<usize> {
        let (index, word) = self.words.iter().map(Cell::get).enumerate().find(|(_, word)| *word != 0)?;
        Some(index * 32 + word.trailing_zeros() as usize)
    }

    #[inline]
    pub(super) fn insert(&self, rank: usize) {
        self.insert_word(rank / 32, 1 << (rank % 32));
    }

    pub(super) fn remove(&self, rank: usize) {
        let word = &self.words[rank / 32];
        word.set(word.get() & !(1 << (rank % 32)));
    }

    #[inline]
    pub(super) fn clear(&self) {
        if self.was_entered.replace(false) {
            // A call that sets memory takes longer than to look.
            self.words.iter().filter(|word| word.get() != 0).for_each(|word| word.set(0));
        }
    }

    /// The members of a group that are not in the set, in ascending order.
    pub(super) fn missing<'s>(&'s self, group: &'s Group) -> impl Iterator<Item = usize> + Clone + 's {
        group.iter().filter(|rank| !self.contains(*rank))
    }
}
