//! What one core exposes of its private memory, and the addresses that it has given to it.
//!
//! Where addresses are emulated, they are given out first fit and by whole pages: wherever the memory itself lies,
//! others see the same addresses, cross the same slots, and count the same mappings. On a board an address is where
//! the memory lies in its owner's.

use heapless::Vec;

use crate::{LINE_BYTES, exposed::ExposeError, topology::EXPOSED_BYTES_PER_CORE};

/// Bytes of the pages that addresses are given out by.
pub const PAGE_BYTES: usize = 4096;

/// Pieces of memory that a core can expose at a time.
pub const MAX_EXPOSURES: usize = 32;

struct Exposed {
    offset: usize,
    len_bytes: usize,
}

impl Exposed {
    fn end_of_pages(&self) -> usize {
        self.offset + self.len_bytes.max(1).next_multiple_of(PAGE_BYTES)
    }
}

/// The exposures of a core, in the order of their offsets.
#[derive(Default)]
pub struct Exposures(Vec<Exposed, MAX_EXPOSURES>);

impl Exposures {
    /// Whether memory at this address consists of whole lines, as it has to.
    pub(super) fn whole_lines(address: usize, len_bytes: usize) -> Result<(), ExposeError> {
        let before = address % LINE_BYTES;
        if before == 0 && len_bytes.is_multiple_of(LINE_BYTES) {
            return Ok(());
        }
        Err(ExposeError::PartOfALine { before, len_bytes })
    }

    /// Finds an offset for `len_bytes` bytes.
    pub(super) fn place(&mut self, len_bytes: usize) -> Result<usize, ExposeError> {
        let mut exposed = Exposed { offset: 0, len_bytes };
        let fits = |exposed: &Exposed, next: &Exposed| len_bytes.max(1) <= next.offset - exposed.offset;
        let mut index = 0;
        while let Some(next) = self.0.get(index)
            && !fits(&exposed, next)
        {
            exposed.offset = next.end_of_pages();
            index += 1;
        }
        let offset = exposed.offset;
        if offset >= EXPOSED_BYTES_PER_CORE || len_bytes > EXPOSED_BYTES_PER_CORE - offset {
            return Err(ExposeError::NoRoom { len_bytes });
        }
        self.0.insert(index, exposed).map_err(|_| ExposeError::TooMany { limit: MAX_EXPOSURES })?;
        Ok(offset)
    }

    /// Notes an exposure of memory that has its offset already, and that nothing exposed has a byte of.
    pub(super) fn insert(&mut self, offset: usize, len_bytes: usize) -> Result<(), ExposeError> {
        if offset >= EXPOSED_BYTES_PER_CORE || len_bytes > EXPOSED_BYTES_PER_CORE - offset {
            return Err(ExposeError::NoRoom { len_bytes });
        }
        let index = self.0.iter().position(|exposed| exposed.offset > offset).unwrap_or(self.0.len());
        self.0.insert(index, Exposed { offset, len_bytes }).map_err(|_| ExposeError::TooMany { limit: MAX_EXPOSURES })
    }

    /// An exposure of `len_bytes` bytes at `offset` is over.
    pub(super) fn remove(&mut self, offset: usize, len_bytes: usize) {
        let is_it = |exposed: &Exposed| (exposed.offset, exposed.len_bytes) == (offset, len_bytes);
        if let Some(index) = self.0.iter().position(is_it) {
            self.0.remove(index);
        }
    }

    /// Whether bytes `offset..offset + len_bytes` are exposed, as one piece.
    pub fn contains(&self, offset: usize, len_bytes: usize) -> bool {
        self.0.iter().any(|exposed| {
            let end = exposed.offset + exposed.len_bytes;
            exposed.offset <= offset && offset <= end && len_bytes <= end - offset
        })
    }

    /// Lines that are exposed from the start of the page at `offset` on; 0 beyond the end.
    pub fn lines_from(&self, offset: usize) -> usize {
        let exposed = self.0.iter().find(|exposed| (exposed.offset..exposed.end_of_pages()).contains(&offset));
        exposed.map_or(0, |exposed| (exposed.offset + exposed.len_bytes).saturating_sub(offset) / LINE_BYTES)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_reused_and_never_share_a_page() {
        let mut exposures = Exposures::default();
        assert_eq!([32, 8192, 0, 64].map(|len| exposures.place(len)), [Ok(0), Ok(4096), Ok(12288), Ok(16384)]);
        exposures.remove(4096, 8192);
        assert!(!exposures.contains(4096, 32) && exposures.contains(16384, 64) && !exposures.contains(16384, 96));
        assert_eq!([8224, 4096, 96].map(|len| exposures.place(len)), [Ok(20480), Ok(4096), Ok(8192)]);
        assert_eq!((exposures.lines_from(8192), exposures.lines_from(20480 + 4096)), (3, 129));
    }

    #[test]
    fn memory_may_have_its_address_already() {
        let mut exposures = Exposures::default();
        for (offset, len_bytes) in [(8192, 64), (32, 0), (32, 0), (64, 96)] {
            assert_eq!(exposures.insert(offset, len_bytes), Ok(()));
        }
        exposures.remove(32, 0);
        assert!(exposures.contains(32, 0) && exposures.contains(8224, 32) && exposures.contains(64, 96));
        let beyond = exposures.insert(EXPOSED_BYTES_PER_CORE - 32, 64);
        assert_eq!(beyond, Err(ExposeError::NoRoom { len_bytes: 64 }));
        exposures.remove(64, 96);
        assert!(!exposures.contains(64, 32));
    }

    #[test]
    fn addresses_and_entries_are_finite() {
        let mut exposures = Exposures::default();
        assert_eq!(exposures.place(EXPOSED_BYTES_PER_CORE - PAGE_BYTES), Ok(0));
        let too_long = ExposeError::NoRoom { len_bytes: PAGE_BYTES + 32 };
        assert_eq!(exposures.place(PAGE_BYTES + 32), Err(too_long));
        assert_eq!(exposures.place(PAGE_BYTES), Ok(EXPOSED_BYTES_PER_CORE - PAGE_BYTES));
        assert_eq!(exposures.place(0), Err(ExposeError::NoRoom { len_bytes: 0 }));
        exposures = Exposures::default();
        assert!((0..MAX_EXPOSURES).all(|_| exposures.place(32).is_ok()));
        assert_eq!(exposures.place(32), Err(ExposeError::TooMany { limit: MAX_EXPOSURES }));
    }
}
