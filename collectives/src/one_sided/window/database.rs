//! The window database: synchronisation data of windows in uncached memory (SCOSCo IV.B.1).
//!
//! Behind each controller lies one database: a word with the number of bytes that are allocated, then the
//! allocations. They are made by reading and advancing that number under a test-and-set register. Each ends in a line
//! of its own that says whether it is free, so that the number goes back over all that is free at the end, whatever
//! order it was freed in.

use hal::{Core, CoreId, LINE_BYTES, Region, SharedAddress, kind};

use crate::{Comm, Error};

/// Bytes before the first allocation, so that no allocation shares a line with the number.
const FIRST: usize = LINE_BYTES;

/// Word of a database: bytes allocated behind [`FIRST`].
const USED: usize = 0;

/// In the last line of an allocation, first word: it is in use, or free. Its length is the second word.
const LIVE: u32 = 1;
const FREE: u32 = 2;

/// Allocates bytes, in whole lines, at the controller that is nearest to `owner`. They contain anything.
pub(super) fn allocate<C: Core>(comm: &Comm<'_, C>, owner: CoreId, data_bytes: usize) -> Result<SharedAddress, Error> {
    let hal = comm.hal();
    let controller = hal.layout().nearest_controller(owner);
    let database = comm.allocator().database(controller);
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
    Ok(SharedAddress::new(controller, offset))
}

/// Frees synchronisation data.
pub(super) fn free<C: Core>(comm: &Comm<'_, C>, data: Region<kind::Uncached>) -> Result<(), Error> {
    let hal = comm.hal();
    let start = data.start();
    let controller = start.controller().ok_or(Error::NotAllocated { start })?;
    let database = comm.allocator().database(controller);
    let _guard = hal.lock(comm.allocator().keeper(controller), "the window database");
    let end = (start.offset() + data.len_bytes()) / 4;
    if hal.load_word(database, end) != LIVE {
        return Err(Error::NotAllocated { start });
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
