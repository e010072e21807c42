//! The window database: synchronisation data of windows in uncached memory (SCOSCo IV.B.1).
//!
//! Behind each controller lies one database: a word with the number of bytes that are allocated, then the allocations. They are made by reading
//! and advancing that number under a test-and-set register. Each ends in a line of its own that says whether it is free, so
//! that the number goes back over all that is free at the end, whatever order it was freed in.

use hal::{Core, LINE_BYTES, Region, SharedAddress, kind};

use crate::{Comm, Error, shared_alloc::database_region};

/// Bytes before the first allocation, so that no allocation shares a line with the number.
const FIRST: usize = LINE_BYTES;

/// Word of a database: bytes allocated behind [`FIRST`].
const USED: usize = 0;

/// In the last line of an allocation, first word: it is in use, or free. Its length is the second word.
const LIVE: u32 = 1;
const FREE: u32 = 2;

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
        let bytes = ((match_vector_words + 1) * 4).next_multiple_of(LINE_BYTES);
        Self { words: Region::new(start, bytes), match_vector_words }
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

/// Allocates zeroed synchronisation data at this core's nearest controller.
pub(super) fn allocate<C: Core>(comm: &Comm<'_, C>) -> Result<SharedAddress, Error> {
    let hal = comm.hal();
    let controller = hal.layout().nearest_controller(hal.core());
    let database = database_region(controller, comm.size());
    let data_bytes = SyncData::at(SharedAddress::new(controller, 0), comm.size()).region().len_bytes();
    let bytes = data_bytes + LINE_BYTES;
    let offset = {
        let _guard = hal.lock(comm.allocator().keeper(controller), "the window database");
        let used = hal.load_word(database, USED) as usize;
        if FIRST + used + bytes > database.len_bytes() {
            return Err(Error::DatabaseFull { controller });
        }
        let end = (FIRST + used + data_bytes) / 4;
        hal.store_word(database, end, LIVE);
        hal.store_word(database, end + 1, bytes as u32);
        hal.store_word(database, USED, (used + bytes) as u32);
        FIRST + used
    };
    let data = SyncData::at(SharedAddress::new(controller, offset), comm.size());
    for word in 0..=data.completion_counter() {
        hal.store_word(data.region(), word, 0);
    }
    Ok(data.region().start())
}

/// Frees synchronisation data.
pub(super) fn free<C: Core>(comm: &Comm<'_, C>, data: SyncData) -> Result<(), Error> {
    let hal = comm.hal();
    let start = data.region().start();
    let controller = start.controller();
    let database = database_region(controller, comm.size());
    let _guard = hal.lock(comm.allocator().keeper(controller), "the window database");
    let end = (start.offset() + data.region().len_bytes()) / 4;
    if hal.load_word(database, end) != LIVE {
        return Err(Error::NotAllocated { controller, offset: start.offset() });
    }
    hal.store_word(database, end, FREE);
    let mut used = hal.load_word(database, USED) as usize;
    while used > 0 {
        let last = (FIRST + used - LINE_BYTES) / 4;
        if hal.load_word(database, last) != FREE {
            break;
        }
        used -= hal.load_word(database, last + 1) as usize;
    }
    hal.store_word(database, USED, used as u32);
    Ok(())
}
