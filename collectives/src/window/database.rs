//! The window database: synchronisation data of windows in uncached memory (SCOSCo IV.B.1).
//!
//! Behind each controller lies one database: a word with the offset up to which it is allocated, a word with the number of live
//! allocations, then the allocations themselves. They are made by reading and advancing the offset under a
//! test-and-set register. Freed ones are reused when they were the last, or when none is left.

use alloc::boxed::Box;

use hal::{Core, Region, SharedAddress, kind};

use crate::{Comm, Error, Placement, shared_alloc::database_region};

/// Bytes before the first allocation, so that no allocation shares a line with the offset.
const FIRST: usize = hal::LINE_BYTES;

/// Word of a database: bytes allocated behind [`FIRST`].
const USED: usize = 0;
/// Word of a database: live allocations.
const LIVE: usize = 1;

/// The synchronisation data of one rank for one window: match vector, then completion counter.
#[derive(Clone, Copy)]
pub(super) struct SyncData {
    words: Region<kind::Uncached>,
    match_vector_words: usize,
}

impl SyncData {
    /// The data that starts at `start`, for `ranks` ranks: the position of the counter follows from their number.
    pub(super) fn at(start: SharedAddress, ranks: usize) -> Self {
        let match_vector_words = ranks.div_ceil(32);
        let bytes = ((match_vector_words + 1) * 4).next_multiple_of(hal::LINE_BYTES);
        Self { words: Region::new(start, bytes), match_vector_words }
    }

    pub(super) fn start(&self) -> SharedAddress {
        self.words.start()
    }

    pub(super) fn region(&self) -> Region<kind::Uncached> {
        self.words
    }

    /// Word and bit of `target` in the match vector.
    pub(super) fn match_bit(target: usize) -> (usize, u32) {
        (target / 32, 1 << (target % 32))
    }

    /// Word of the completion counter.
    pub(super) fn completion_counter(&self) -> usize {
        self.match_vector_words
    }
}

/// Where a rank's part of a window is, as all ranks know it.
#[derive(Clone, Copy)]
pub(super) struct Entry {
    pub(super) memory: SharedAddress,
    pub(super) len: u32,
    pub(super) sync: SharedAddress,
}

/// In the place of a rank's entry: it has no memory.
const FAILED: u32 = u32::MAX;
/// What had no room, as the second word of such an entry: the window database, or the heap.
const DATABASE: u32 = 0;
const HEAP: u32 = 1;
/// Words that an entry is exchanged as.
const ENTRY_WORDS: usize = 3;

/// Allocates zeroed synchronisation data at this core's nearest controller.
pub(super) fn allocate<C: Core>(comm: &Comm<'_, C>) -> Result<SyncData, Error> {
    let hal = comm.hal();
    let controller = hal.layout().nearest_controller(hal.core());
    let database = database_region(controller, comm.size());
    let bytes = SyncData::at(SharedAddress::new(controller, 0), comm.size()).region().len_bytes();
    let offset = {
        let _guard = hal.lock(comm.allocator().keeper(controller), "the window database");
        let used = hal.load_word(database, USED) as usize;
        if FIRST + used + bytes > database.len_bytes() {
            return Err(Error::DatabaseFull { controller });
        }
        hal.store_word(database, USED, (used + bytes) as u32);
        hal.store_word(database, LIVE, hal.load_word(database, LIVE) + 1);
        FIRST + used
    };
    let data = SyncData::at(SharedAddress::new(controller, offset), comm.size());
    for word in 0..=data.completion_counter() {
        hal.store_word(data.region(), word, 0);
    }
    Ok(data)
}

/// Frees synchronisation data.
pub(super) fn free<C: Core>(comm: &Comm<'_, C>, data: SyncData) -> Result<(), Error> {
    let hal = comm.hal();
    let controller = data.start().controller();
    let database = database_region(controller, comm.size());
    let _guard = hal.lock(comm.allocator().keeper(controller), "the window database");
    let (used, live) = (hal.load_word(database, USED) as usize, hal.load_word(database, LIVE));
    let Some(live) = live.checked_sub(1) else {
        return Err(Error::NotAllocated { controller, offset: data.start().offset() });
    };
    hal.store_word(database, LIVE, live);
    let is_last = data.start().offset() + data.region().len_bytes() == FIRST + used;
    if live == 0 {
        hal.store_word(database, USED, 0);
    } else if is_last {
        hal.store_word(database, USED, (used - data.region().len_bytes()) as u32);
    }
    Ok(())
}

/// Exchanges the entries of all ranks, all to all, through a table in uncached memory that lives only meanwhile.
///
/// If any rank comes without an entry, all get an error: its own reason, or that another had no memory.
pub(super) fn exchange<C: Core>(
    comm: &Comm<'_, C>,
    own: Result<Entry, Error>,
    len_bytes: usize,
) -> Result<Box<[Entry]>, Error> {
    let hal = comm.hal();
    // When all have their memory, so that what the table's allocation costs does not depend on who came first.
    comm.barrier();
    let table_bytes = comm.size() * ENTRY_WORDS * 4;
    let mut announcement = [FAILED; 2];
    if comm.rank() == 0
        && let Ok(table) = comm.allocator().allocate::<kind::Uncached>(table_bytes, Placement::Near(hal.core()))
    {
        announcement = table.to_words();
    }
    comm.broadcast(bytemuck::bytes_of_mut(&mut announcement), 0)?;
    if announcement[0] == FAILED {
        return Err(own.err().unwrap_or(Error::OutOfSharedMemory { len_bytes: table_bytes }));
    }
    let table = Region::<kind::Uncached>::from_words(announcement);

    let words = match own {
        Ok(entry) => [entry.memory.flat() as u32, entry.len, entry.sync.flat() as u32],
        Err(Error::DatabaseFull { controller }) => [FAILED, DATABASE, controller as u32],
        Err(_) => [FAILED, HEAP, len_bytes as u32],
    };
    for (index, word) in words.into_iter().enumerate() {
        hal.store_word(table, comm.rank() * ENTRY_WORDS + index, word);
    }
    comm.barrier();
    let entries: Result<Box<[Entry]>, Error> = (0..comm.size())
        .map(|rank| {
            let word = |index| hal.load_word(table, rank * ENTRY_WORDS + index);
            match word(0) {
                FAILED if word(1) == DATABASE => Err(Error::DatabaseFull { controller: word(2) as usize }),
                FAILED => Err(Error::OutOfSharedMemory { len_bytes: word(2) as usize }),
                memory => Ok(Entry {
                    memory: SharedAddress::from_flat(memory as usize),
                    len: word(1),
                    sync: SharedAddress::from_flat(word(2) as usize),
                }),
            }
        })
        .collect();
    comm.barrier();
    if comm.rank() == 0 {
        comm.allocator().free(table)?;
    }
    entries.map_err(|of_another| own.err().unwrap_or(of_another))
}
