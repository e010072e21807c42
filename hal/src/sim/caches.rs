//! Which lines of its private memory a core's caches have.
//!
//! A program's buffers lie somewhere on the host, at addresses that differ from run to run and mean nothing on the chip. What
//! is the same in every run is what the core is told: how many bytes an operation is about, and that lines of private
//! memory are read or written in its course. So *operations of one length are taken to be about the same memory*, from its
//! front on: who sends and receives messages of 8 KB has one buffer of 8 KB. Of operations within operations the
//! outermost one with a length counts, so that the chunks of a long message are memory one behind the other.
//!
//! How long a line stays is measured in bytes: a cache has what was brought into it, until as much as it holds was brought in
//! since the core came by it last. Sets and ways are left out, as addresses would be needed for these. What is stored to
//! is brought in first, as protocols see to it by [`bring_in`](crate::MpbCopy::bring_in); lines that are written back on the
//! way out take nothing.

use rustc_hash::FxHashMap;

use crate::LINE_BYTES;

/// Bytes of the P54C's L1 of data on the SCC.
const L1_BYTES: u64 = 16 << 10;

/// Where a line was found.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Found {
    /// In L1, where it costs what the copy itself costs.
    InL1,
    /// In L2.
    InL2,
    /// In memory.
    InMemory,
}

/// One cache.
struct Level {
    /// Lines that it holds.
    lines: u64,
    /// Lines that were ever brought in, and as many more as it holds: what it never had was brought in at 0, too long ago.
    brought_in: u64,
}

impl Level {
    const fn of(bytes: u64) -> Self {
        let lines = bytes / LINE_BYTES as u64;
        Self { lines, brought_in: lines }
    }

    const fn has(&self, brought_in: u64) -> bool {
        self.brought_in - brought_in < self.lines
    }
}

/// A line: of the memory of operations about so many lines, the one with this number.
type Place = (u32, u32);

/// The caches of one core.
pub(super) struct Caches {
    l1: Level,
    l2: Level,
    /// When the core came by a line: what had been brought into L1 and L2 until then.
    seen: FxHashMap<Place, (u64, u64)>,
    /// Operations that are under way, one within the other.
    depth: u32,
    /// The depth of the outermost one with a length; 0 if there is none.
    outermost: u32,
    /// Lines that it is about.
    lines: u32,
    /// Lines of them that were read and written.
    passed: [u32; 2],
}

impl Caches {
    /// Empty ones, with an L2 of so many bytes.
    pub(super) fn new(l2_bytes: u64) -> Self {
        Self {
            l1: Level::of(L1_BYTES),
            l2: Level::of(l2_bytes),
            seen: FxHashMap::default(),
            depth: 0,
            outermost: 0,
            lines: 0,
            passed: [0; 2],
        }
    }

    /// An operation about so many bytes begins.
    pub(super) fn enter(&mut self, bytes: usize) {
        self.depth += 1;
        if self.outermost == 0 && bytes > 0 {
            self.outermost = self.depth;
            self.lines = u32::try_from(bytes.div_ceil(LINE_BYTES)).unwrap_or(u32::MAX);
            self.passed = [0; 2];
        }
    }

    /// The operation ends that began last.
    pub(super) fn leave(&mut self) {
        if self.outermost == self.depth {
            self.outermost = 0;
        }
        self.depth = self.depth.saturating_sub(1);
    }

    /// So many lines are read or written; says of each where it is found.
    pub(super) fn pass(&mut self, lines: u32, writes: bool, mut found: impl FnMut(Found)) {
        if self.outermost == 0 {
            (0..lines).for_each(|line| found(self.come_by((lines, line))));
            return;
        }
        for _ in 0..lines {
            let passed = &mut self.passed[usize::from(writes)];
            let line = *passed % self.lines;
            *passed = line + 1;
            found(self.come_by((self.lines, line)));
        }
    }

    /// So many lines are read that are nothing but in the way, after L1 was emptied.
    pub(super) fn displace(&mut self, lines: u64) {
        self.l1.brought_in += self.l1.lines;
        self.l2.brought_in += lines;
    }

    fn come_by(&mut self, place: Place) -> Found {
        let (in_l1, in_l2) = self.seen.get(&place).copied().unwrap_or_default();
        let found = if self.l1.has(in_l1) {
            self.seen.insert(place, (self.l1.brought_in, in_l2));
            return Found::InL1;
        } else if self.l2.has(in_l2) {
            Found::InL2
        } else {
            self.l2.brought_in += 1;
            Found::InMemory
        };
        self.l1.brought_in += 1;
        self.seen.insert(place, (self.l1.brought_in, self.l2.brought_in));
        self.forget();
        found
    }

    /// Forgets what no cache has any more, now and then.
    fn forget(&mut self) {
        if self.seen.len() as u64 > 4 * self.l2.lines {
            let Self { l1, l2, seen, .. } = self;
            seen.retain(|_, (in_l1, in_l2)| l1.has(*in_l1) || l2.has(*in_l2));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const L2_BYTES: usize = 256 << 10;

    /// Where the lines of an operation are found: in L1, in L2, in memory.
    fn operation(caches: &mut Caches, bytes: usize, writes: bool) -> [usize; 3] {
        let mut counts = [0; 3];
        caches.enter(bytes);
        // As many calls, each within its own operation.
        for _ in 0..bytes.div_ceil(LINE_BYTES) {
            caches.enter(LINE_BYTES);
            caches.pass(1, writes, |found| counts[found as usize] += 1);
            caches.leave();
        }
        caches.leave();
        counts
    }

    #[test]
    fn what_was_seen_lately_is_found_by_bytes_since_then() {
        let caches = &mut Caches::new(L2_BYTES as u64);
        assert_eq!(operation(caches, 8 << 10, false), [0, 0, 256]);
        // Written or read, it is the same memory.
        assert_eq!(operation(caches, 8 << 10, true), [256, 0, 0]);
        // 8 KB fit beside others of 8 KB, and not beside 16 KB.
        assert_eq!(operation(caches, (8 << 10) - 32, false), [0, 0, 255]);
        assert_eq!(operation(caches, 8 << 10, false), [256, 0, 0]);
        assert_eq!(operation(caches, 16 << 10, false), [0, 0, 512]);
        assert_eq!(operation(caches, 8 << 10, false), [0, 256, 0]);
        // L2 has 256 KB, and no more.
        assert_eq!(operation(caches, L2_BYTES, false), [0, 0, 8192]);
        assert_eq!(operation(caches, L2_BYTES, false), [0, 8192, 0]);
        for _ in 0..5 {
            assert_eq!(operation(caches, L2_BYTES + 32, false), [0, 0, 8193]);
        }
        assert!(caches.seen.len() <= 4 * 8192 + 1);
        assert_eq!(operation(caches, 8 << 10, false), [0, 0, 256]);
    }

    #[test]
    fn a_flush_takes_all_of_l1_and_of_l2_what_it_displaces() {
        let caches = &mut Caches::new(L2_BYTES as u64);
        operation(caches, 4 << 10, false);
        caches.displace(100);
        assert_eq!(operation(caches, 4 << 10, false), [0, 128, 0]);
        caches.displace(8192);
        assert_eq!(operation(caches, 4 << 10, false), [0, 0, 128]);
    }

    #[test]
    fn what_no_operation_is_about_is_memory_of_its_own_length() {
        let caches = &mut Caches::new(L2_BYTES as u64);
        let mut pass = |lines| {
            let mut counts = [0; 3];
            caches.pass(lines, false, |found| counts[found as usize] += 1);
            counts
        };
        assert_eq!([pass(3), pass(3), pass(4)], [[0, 0, 3], [3, 0, 0], [0, 0, 4]]);
        // A barrier, in which flags are written, is about nothing either.
        caches.enter(0);
        let mut cold = 0;
        caches.pass(3, true, |found| cold += u32::from(found != Found::InL1));
        caches.leave();
        assert_eq!((cold, caches.depth, caches.outermost), (0, 0, 0));
    }
}
