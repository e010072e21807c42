//! Making a window together: the table in which ranks tell each other what they have, all to all (SCOSCo IV.B.1).
//!
//! It lies in uncached memory and lives only meanwhile. Each rank allocates its synchronisation data by itself, as in
//! the paper, or the [rank that allocates](Comm::allocating_rank) does for those that cannot reach the register; the parts are
//! allocated by that rank for all, in order, so that the heaps do not depend on who comes first.

use alloc::boxed::Box;

use hal::{Core, Region, SharedAddress, kind};

use crate::{Broadcast, Comm, Error, Placement};

use super::{class::Class, database, element_type::ElementType};

/// Where a rank's part of a window is, as all ranks know it.
#[derive(Clone, Copy)]
pub(super) struct Entry {
    /// The memory of the part; `None` if no memory was left.
    pub(super) memory: Option<SharedAddress>,
    /// The length of the part, in elements.
    pub(super) len: u32,
    /// The synchronisation data of the part; `None` if there was no room.
    pub(super) sync: Option<SharedAddress>,
}

/// What an exchange brought.
pub(super) struct Parts {
    pub(super) entries: Box<[Entry]>,
    /// Why this rank's own part is not complete.
    pub(super) own_failure: Option<Error>,
}

/// Words of a rank in the table.
const WORDS: usize = 8;
/// Word: length of the part, in elements.
const LEN: usize = 0;
/// Word: length of the part, in bytes.
const LEN_BYTES: usize = 1;
/// Two words: where the synchronisation data is, or [`NOTHING`].
const SYNC: usize = 2;
/// Two words: where the part's memory is, or [`NOTHING`].
const MEMORY: usize = 4;
/// Word: whether the rank has all it needs.
const READY: usize = 6;
/// Word: the class that the rank wants, and above it the [tag](ElementType::tag) of its elements' type.
const KIND: usize = 7;

/// Bits of the class in its word.
const CLASS_BITS: u32 = 32 - ElementType::TAG_BITS;
const _: () = assert!(Class::ALL.len() <= 1 << CLASS_BITS, "a class fits beside a tag");

/// In the place of an address, in its first word.
const NOTHING: u32 = u32::MAX;

/// The table.
pub(super) struct Table {
    words: Region<kind::Uncached>,
    /// The rank that allocates.
    owner: usize,
}

impl Table {
    /// Allocates the table and tells all ranks.
    pub(super) fn allocate<C: Core>(comm: &Comm<'_, C>) -> Result<Self, Error> {
        let len_bytes = comm.size() * WORDS * 4;
        let (owner, mut announcement) = (comm.allocating_rank()?, [NOTHING; 3]);
        // So that nobody frees or allocates for an earlier purpose while this one looks for room.
        comm.synchronise();
        if comm.rank() == owner
            && let Ok(words) = comm.allocator().allocate(len_bytes, Placement::Near(comm.hal().core()))
        {
            announcement = Region::<kind::Uncached>::to_words(&words);
        }
        Broadcast::Default.broadcast(comm, bytemuck::bytes_of_mut(&mut announcement), owner)?;
        if announcement[0] == NOTHING {
            return Err(Error::OutOfSharedMemory { len_bytes });
        }
        Ok(Self { words: comm.regions().from_words(announcement), owner })
    }

    /// Returns when all ranks have said which class they want, and elements of which type: to all of them the error that
    /// names the first that wants another one than rank 0, if any.
    pub(super) fn agree_on_kind<C: Core>(
        &self,
        comm: &Comm<'_, C>,
        window: u32,
        class: Class,
        element: ElementType,
    ) -> Result<(), Error> {
        let me = comm.rank();
        self.store(comm, me, KIND, element.tag() << CLASS_BITS | class as u32);
        comm.synchronise();
        let first = self.load(comm, 0, KIND);
        let other =
            (1..comm.size()).find_map(|rank| Some((rank, self.load(comm, rank, KIND))).filter(|of| of.1 != first));
        let Some((rank, kind)) = other else { return Ok(()) };
        if (kind ^ first) & ((1 << CLASS_BITS) - 1) != 0 {
            return Err(Error::ClassesDiffer { window, rank });
        }
        // Nothing is allocated yet, so the words of an allocation are free to say what a tag does not.
        self.store(comm, me, LEN_BYTES, element.len_bytes());
        comm.synchronise();
        let of =
            |rank| ElementType::from_parts(self.load(comm, rank, KIND) >> CLASS_BITS, self.load(comm, rank, LEN_BYTES));
        Err(Error::ElementsDiffer { window, rank, element: of(rank), first: of(0) })
    }

    /// Allocates what the ranks need, and tells all ranks of it. A rank that brings memory of its own needs none.
    pub(super) fn exchange<C: Core>(
        &self,
        comm: &Comm<'_, C>,
        len: usize,
        element_bytes: usize,
        sync_bytes: usize,
        memory: Option<SharedAddress>,
    ) -> Parts {
        let (me, len_bytes) = (comm.rank(), len.saturating_mul(element_bytes));
        let can_allocate = |rank| comm.allocator().can_allocate(comm.core_of(rank));
        let sync = can_allocate(me).then(|| database::allocate(comm, comm.core_of(me), sync_bytes)).transpose();
        self.store(comm, me, LEN, len as u32);
        self.store(comm, me, LEN_BYTES, u32::try_from(len_bytes).unwrap_or(u32::MAX));
        self.store_address(comm, me, SYNC, sync.ok().flatten());
        self.store_address(comm, me, MEMORY, memory);
        comm.synchronise();
        if comm.rank() == self.owner {
            for rank in 0..comm.size() {
                if !can_allocate(rank) {
                    let sync = database::allocate(comm, comm.core_of(rank), sync_bytes);
                    self.store_address(comm, rank, SYNC, sync.ok());
                }
                if self.load_address(comm, rank, MEMORY).is_none() {
                    let (len_bytes, near) = (self.load(comm, rank, LEN_BYTES), Placement::Near(comm.core_of(rank)));
                    let memory = comm.allocator().allocate::<kind::Cached>(len_bytes as usize, near);
                    self.store_address(comm, rank, MEMORY, memory.ok().map(|region| region.start()));
                }
            }
        }
        comm.synchronise();
        let entry = |rank| Entry {
            memory: self.load_address(comm, rank, MEMORY),
            len: self.load(comm, rank, LEN),
            sync: self.load_address(comm, rank, SYNC),
        };
        let entries: Box<[Entry]> = (0..comm.size()).map(entry).collect();
        let no_memory = entries[me].memory.is_none().then(|| comm.allocator().refusal(len_bytes));
        let controller = comm.hal().layout().nearest_controller(comm.hal().core());
        let no_sync = entries[me].sync.is_none().then_some(Error::DatabaseFull { controller });
        Parts { entries, own_failure: no_sync.or(no_memory) }
    }

    /// Returns when all ranks have said whether they are ready: the first that is not, if any.
    pub(super) fn agree<C: Core>(&self, comm: &Comm<'_, C>, ready: bool) -> Result<(), usize> {
        self.store(comm, comm.rank(), READY, u32::from(ready));
        comm.synchronise();
        (0..comm.size()).try_for_each(|rank| if self.load(comm, rank, READY) == 1 { Ok(()) } else { Err(rank) })
    }

    /// Frees the table. Ranks that still read it find it as it was: no rank of the communicator allocates before all have come here,
    /// and where there are other ranks, all have come here before it is freed.
    pub(super) fn free<C: Core>(self, comm: &Comm<'_, C>) -> Result<(), Error> {
        if comm.is_part() {
            comm.synchronise();
        }
        let freed = if comm.rank() == self.owner { comm.allocator().free(self.words) } else { Ok(()) };
        comm.synchronise();
        freed
    }

    fn load<C: Core>(&self, comm: &Comm<'_, C>, rank: usize, word: usize) -> u32 {
        comm.hal().load_word(self.words, rank * WORDS + word)
    }

    fn store<C: Core>(&self, comm: &Comm<'_, C>, rank: usize, word: usize, value: u32) {
        comm.hal().store_word(self.words, rank * WORDS + word, value);
    }

    fn load_address<C: Core>(&self, comm: &Comm<'_, C>, rank: usize, word: usize) -> Option<SharedAddress> {
        let first = self.load(comm, rank, word);
        (first != NOTHING).then(|| SharedAddress::from_words([first, self.load(comm, rank, word + 1)]))
    }

    fn store_address<C: Core>(&self, comm: &Comm<'_, C>, rank: usize, word: usize, address: Option<SharedAddress>) {
        let words = address.map_or([NOTHING; 2], SharedAddress::to_words);
        (0..2).for_each(|index| self.store(comm, rank, word + index, words[index]));
    }
}
