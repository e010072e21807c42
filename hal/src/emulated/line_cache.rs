//! The L1 cache and the write-combine buffer of one core, as far as MPB and combined lines can tell.

use crate::{LINE_BYTES, Line, LineAddress, kit::mask_of};

/// Lines that the 16 KB L1 of a core holds.
const L1_LINES: usize = 512;

/// Which line an entry holds, if it is of this generation.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Tag {
    key: u64,
    generation: u64,
}

/// A line that collects stores.
#[derive(Clone, Copy, Debug)]
pub struct Pending {
    /// Which line.
    pub at: LineAddress,
    /// The bytes of the line, of which only those in `mask` count.
    pub data: Line,
    /// One bit for each byte that was stored.
    pub mask: u32,
}

/// Tagged L1 lines and the write-combine buffer.
///
/// L1 is direct mapped: which lines it still holds is not for programs to rely on. `CL1INVMB` is a new generation.
pub struct LineCache {
    /// Apart from the lines, of which most lookups need none.
    tags: [Tag; L1_LINES],
    lines: [Line; L1_LINES],
    generation: u64,
    pending: Option<Pending>,
}

impl Default for LineCache {
    fn default() -> Self {
        Self::new()
    }
}

impl LineCache {
    /// Empty caches.
    pub const fn new() -> Self {
        let empty = Tag { key: 0, generation: 0 };
        Self { tags: [empty; L1_LINES], lines: [Line([0; LINE_BYTES]); L1_LINES], generation: 1, pending: None }
    }

    /// The line with this key, if L1 holds it.
    pub fn lookup(&self, key: u64) -> Option<Line> {
        let (entry, tag) = self.place(key);
        (self.tags[entry] == tag).then(|| self.lines[entry])
    }

    /// L1 holds the line with this key from now on.
    pub fn fill(&mut self, key: u64, data: Line) {
        let (entry, tag) = self.place(key);
        self.tags[entry] = tag;
        self.lines[entry] = data;
    }

    /// Forgets all lines. What sits in the write-combine buffer stays there.
    pub fn invalidate(&mut self) {
        // Nobody lives to see it wrap around.
        self.generation += 1;
    }

    /// Stores bytes of a line: in the buffer, and in L1 if it holds the line (write-through, no allocation).
    ///
    /// The buffer must be free or hold the same line: take a different line out first.
    pub fn store(&mut self, at: LineAddress, offset: usize, bytes: &[u8]) {
        let pending = self.pending.get_or_insert(Pending { at, data: Line::default(), mask: 0 });
        debug_assert_eq!(pending.at, at, "the write-combine buffer holds another line");
        pending.data.0[offset..offset + bytes.len()].copy_from_slice(bytes);
        pending.mask |= mask_of(offset, bytes.len());
        let (entry, tag) = self.place(at.key());
        if self.tags[entry] == tag {
            self.lines[entry].0[offset..offset + bytes.len()].copy_from_slice(bytes);
        }
    }

    /// Stores the whole line with this key, which leaves the buffer at once, and what the buffer holds of it with it: as
    /// [`store`](Self::store) and [`take_pending`](Self::take_pending).
    pub fn store_whole(&mut self, key: u64, data: &Line) {
        self.pending = None;
        let (entry, tag) = self.place(key);
        if self.tags[entry] == tag {
            self.lines[entry] = *data;
        }
    }

    /// The entry that can hold a line, and its tag if it does.
    fn place(&self, key: u64) -> (usize, Tag) {
        (key as usize % L1_LINES, Tag { key, generation: self.generation })
    }

    /// The line in the write-combine buffer.
    pub fn pending(&self) -> Option<&Pending> {
        self.pending.as_ref()
    }

    /// Empties the write-combine buffer.
    pub fn take_pending(&mut self) -> Option<Pending> {
        self.pending.take()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{CoreId, MpbLine};

    const AT: LineAddress = LineAddress::Mpb(MpbLine { core: CoreId::new(3), line: 7 });

    #[test]
    fn a_filled_line_stays_until_invalidated() {
        let mut cache = LineCache::new();
        assert_eq!(cache.lookup(AT.key()), None);
        cache.fill(AT.key(), Line([5; 32]));
        assert_eq!(cache.lookup(AT.key()), Some(Line([5; 32])));
        cache.invalidate();
        assert_eq!(cache.lookup(AT.key()), None);
    }

    #[test]
    fn stores_collect_and_write_through_to_l1() {
        let mut cache = LineCache::new();
        cache.fill(AT.key(), Line([0; 32]));
        cache.store(AT, 4, &[1, 2]);
        cache.store(AT, 31, &[9]);
        assert_eq!(cache.lookup(AT.key()).unwrap().0[5], 2);
        let pending = cache.take_pending().unwrap();
        assert_eq!(pending.mask, 1 << 31 | 0b11 << 4);
        assert_eq!((pending.data.0[4], pending.data.0[31]), (1, 9));
        assert!(cache.pending().is_none());
    }

    #[test]
    fn a_whole_line_is_in_l1_and_not_in_the_buffer() {
        let mut cache = LineCache::new();
        cache.fill(AT.key(), Line([0; 32]));
        cache.store(AT, 4, &[1]);
        cache.store_whole(AT.key(), &Line([7; 32]));
        assert_eq!((cache.lookup(AT.key()), cache.pending().is_none()), (Some(Line([7; 32])), true));
        // What L1 does not hold is not brought in.
        cache.invalidate();
        cache.store_whole(AT.key(), &Line([8; 32]));
        assert_eq!(cache.lookup(AT.key()), None);
    }
}
