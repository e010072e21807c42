//! Which lines of its private memory a core's caches have.
//!
//! A program's buffers lie somewhere on the host, at addresses that differ from run to run and mean nothing on the chip. What
//! is the same in every run is the order in which a program allocates: a line of a block is told by the block's [number and its
//! place in it](super::blocks). Of other memory (stacks, statics, what is only [accounted for](crate::Clock::account_memory)) it is
//! what the core is told: how many bytes an operation is about, and that lines of private
//! memory are read or written in its course. There *operations of one length are taken to be about the same memory*, from its
//! front on. Of operations within operations the
//! outermost one with a length counts, so that the chunks of a long message are memory one behind the other.
//!
//! Lines of MPBs pass through L1, where they take the places of what is oldest until they are invalidated.
//!
//! A cache has as many lines as it holds, those that the core came by last. Sets and ways are left out, as addresses would be
//! needed for these. What L1 has is not looked for in L2, where it ages. What is stored to is brought in first, as protocols
//! see to it by [`bring_in`](crate::MpbCopy::bring_in); lines that are written back on the way out take nothing.

use super::{
    blocks::BlockPlace,
    recency::{Found, Memory, Recency},
};
use crate::LINE_BYTES;

/// Bytes of the P54C's L1 of data on the SCC.
const L1_BYTES: u64 = 16 << 10;

/// Lines of a block that are read or written next.
#[derive(Clone, Copy)]
struct Next {
    block: u32,
    line: u32,
    left: usize,
}

/// What the outermost operation with a length is about.
#[derive(Clone, Copy, Default)]
struct About {
    /// Its depth; 0 if there is none.
    outermost: u32,
    /// Lines that it is about.
    lines: u32,
    /// Lines of them that were read and written.
    passed: [u32; 2],
}

/// The caches of one core.
pub(super) struct Caches {
    held: Recency,
    /// Operations that are under way, one within the other.
    depth: u32,
    about: About,
    /// What of a block comes next, if that is known.
    next: Option<Next>,
    /// What the operations are about that a handler of interrupts came in the middle of, and what came next there.
    interrupted: Vec<(About, Option<Next>)>,
}

impl Caches {
    /// Empty ones, with an L2 of `l2_bytes` bytes.
    pub(super) fn new(l2_bytes: u64) -> Self {
        Self {
            held: Recency::new(L1_BYTES / LINE_BYTES as u64, l2_bytes / LINE_BYTES as u64),
            depth: 0,
            about: About::default(),
            next: None,
            interrupted: Vec::new(),
        }
    }

    /// An operation about `bytes` bytes begins.
    pub(super) fn enter(&mut self, bytes: usize) {
        self.depth += 1;
        if self.about.outermost == 0 && bytes > 0 {
            let lines = u32::try_from(bytes.div_ceil(LINE_BYTES)).unwrap_or(u32::MAX);
            self.about = About { outermost: self.depth, lines, passed: [0; 2] };
        }
    }

    /// The operation ends that began last.
    pub(super) fn leave(&mut self) {
        if self.about.outermost == self.depth {
            self.about.outermost = 0;
        }
        self.depth = self.depth.saturating_sub(1);
    }

    /// A handler of interrupts begins in the middle of what is under way. Its operations are about memory of its own.
    pub(super) fn enter_handler(&mut self) {
        self.interrupted.push((std::mem::take(&mut self.about), self.next.take()));
    }

    /// The handler ends that began last: what it interrupted goes on where it was.
    pub(super) fn leave_handler(&mut self) {
        (self.about, self.next) = self.interrupted.pop().unwrap_or_default();
    }

    /// The lines that are read or written next are those of `bytes` bytes from a place of a block on, or of other memory.
    pub(super) fn goes_to(&mut self, place: Option<BlockPlace>, bytes: usize) {
        self.next = place.map(|place| Next {
            block: place.block,
            line: u32::try_from(place.offset / LINE_BYTES).unwrap_or(u32::MAX),
            left: bytes.div_ceil(LINE_BYTES),
        });
    }

    /// Reads or writes `lines` lines, and tells `found` of each where it was.
    pub(super) fn pass(&mut self, lines: u32, writes: bool, mut found: impl FnMut(Found)) {
        let in_block = self.pass_block(lines, &mut found);
        let lines = lines - in_block;
        if self.about.outermost == 0 {
            (0..lines).for_each(|line| found(self.held.come_by((Memory::Of(lines), line))));
            return;
        }
        for _ in 0..lines {
            let About { lines, passed, .. } = &mut self.about;
            let passed = &mut passed[usize::from(writes)];
            let line = *passed % *lines;
            *passed = line + 1;
            let place = (Memory::Of(*lines), line);
            found(self.held.come_by(place));
        }
    }

    /// Reads or writes those of `lines` lines that are known to be a block's; returns how many.
    fn pass_block(&mut self, lines: u32, found: &mut impl FnMut(Found)) -> u32 {
        for passed in 0..lines {
            let Some(next) = self.next.as_mut().filter(|next| next.left > 0) else { return passed };
            let place = (Memory::Block(next.block), next.line);
            next.line = next.line.wrapping_add(1);
            next.left -= 1;
            found(self.held.come_by(place));
        }
        lines
    }

    /// A line of an MPB is loaded.
    #[inline]
    pub(super) fn load_mpb(&mut self) {
        self.held.take_other();
    }

    /// Lines of MPBs are invalidated.
    pub(super) fn invalidate_mpb(&mut self) {
        self.held.give_up_others();
    }

    /// Empties L1, and fills `lines` lines of L2 with what nobody wants, which pushes older lines out.
    pub(super) fn displace(&mut self, lines: u64) {
        self.held.displace(lines);
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
        assert_eq!(caches.held.held().map(|(lines, _)| lines), [512, 8192]);
        assert_eq!(operation(caches, 8 << 10, false), [0, 0, 256]);
    }

    /// Coming by a line makes it young, and all others older: 384 and 383 lines are more than L1 holds.
    #[test]
    fn what_is_found_ages_what_is_not() {
        let caches = &mut Caches::new(L2_BYTES as u64);
        let (longer, shorter) = (384 * LINE_BYTES, 383 * LINE_BYTES);
        assert_eq!(operation(caches, longer, false), [0, 0, 384]);
        assert_eq!(operation(caches, longer, false), [384, 0, 0]);
        assert_eq!(operation(caches, shorter, false), [0, 0, 383]);
        // Each line that is brought in takes the place of the oldest one, which would be needed next.
        assert_eq!(operation(caches, longer, false), [0, 384, 0]);
        assert_eq!(operation(caches, shorter, false), [0, 383, 0]);
        // 128 lines fit beside 383.
        assert_eq!(operation(caches, 128 * LINE_BYTES, false), [0, 0, 128]);
        assert_eq!(operation(caches, shorter, false), [383, 0, 0]);
    }

    #[test]
    fn what_a_handler_reads_is_its_own() {
        let caches = &mut Caches::new(L2_BYTES as u64);
        let half = |caches: &mut Caches| {
            let mut cold = 0;
            caches.pass(2, false, |found| cold += u32::from(found != Found::InL1));
            cold
        };
        let interrupted = |caches: &mut Caches, bytes: usize| {
            caches.enter(4 * LINE_BYTES);
            let first = half(caches);
            caches.enter_handler();
            caches.enter(bytes);
            let handler = half(caches);
            caches.leave();
            caches.leave_handler();
            let second = half(caches);
            caches.leave();
            [first, handler, second]
        };
        // Each line of the four is read once, whatever the handler reads.
        assert_eq!(interrupted(caches, 2 * LINE_BYTES), [2, 2, 2]);
        assert_eq!(interrupted(caches, 2 * LINE_BYTES), [0, 0, 0]);
        assert_eq!(interrupted(caches, 0), [0, 0, 0]);
        assert_eq!((caches.depth, caches.about.outermost, caches.interrupted.len()), (0, 0, 0));
    }

    #[test]
    fn a_flush_takes_all_of_l1_and_of_l2_what_it_displaces() {
        let caches = &mut Caches::new(L2_BYTES as u64);
        operation(caches, 4 << 10, false);
        caches.displace(100);
        assert_eq!(operation(caches, 4 << 10, false), [0, 128, 0]);
        caches.displace(8192);
        assert_eq!(operation(caches, 4 << 10, false), [0, 0, 128]);
        // What is left of a part goes on aging: it is older than what was in the way.
        caches.displace(8192 - 28);
        assert_eq!(caches.held.held()[1].0, 8192);
        assert_eq!(operation(caches, 28 * LINE_BYTES, false), [0, 0, 28]);
        assert_eq!(caches.held.held()[1].1, Some((Memory::Nothing, 3)));
    }

    #[test]
    fn lines_of_mpbs_take_places_of_l1() {
        let caches = &mut Caches::new(L2_BYTES as u64);
        let both = 384 * LINE_BYTES;
        let load = |caches: &mut Caches, lines| (0..lines).for_each(|_| caches.load_mpb());
        assert_eq!(operation(caches, both, false), [0, 0, 384]);
        load(caches, 128);
        assert_eq!(operation(caches, both, false), [384, 0, 0]);
        // One more takes the place of the oldest, which is needed next.
        load(caches, 1);
        assert_eq!(operation(caches, both, false), [0, 384, 0]);
        load(caches, 1_000);
        assert_eq!(caches.held.held()[0], (0, None));
        caches.invalidate_mpb();
        assert_eq!(operation(caches, both, false), [0, 384, 0]);
        assert_eq!(operation(caches, both, false), [384, 0, 0]);
    }

    #[test]
    fn places_of_blocks_are_memory_of_their_own() {
        let caches = &mut Caches::new(L2_BYTES as u64);
        let mut pass = |block, offset, lines: u32| {
            let mut counts = [0; 3];
            caches.enter(4 * LINE_BYTES);
            caches.goes_to(Some(BlockPlace { block, offset }), 4 * LINE_BYTES);
            caches.pass(1, false, |found| counts[found as usize] += 1);
            caches.pass(lines - 1, false, |found| counts[found as usize] += 1);
            caches.leave();
            counts
        };
        // Two buffers of one length, one that begins in the middle of the first, and what is beyond what was told.
        assert_eq!([pass(1, 0, 4), pass(2, 0, 4), pass(1, 31, 4)], [[0, 0, 4], [0, 0, 4], [4, 0, 0]]);
        assert_eq!([pass(1, 2 * LINE_BYTES, 4), pass(2, 0, 6)], [[2, 0, 2], [4, 0, 2]]);
        assert_eq!([pass(1, 2 * LINE_BYTES, 4), pass(2, 0, 6)], [[4, 0, 0], [6, 0, 0]]);
    }

    /// What was told of a block is not true of memory that is told of later.
    #[test]
    fn what_is_left_of_a_block_is_forgotten() {
        let caches = &mut Caches::new(L2_BYTES as u64);
        let place = BlockPlace { block: 1, offset: 0 };
        let mut pass = |place, lines| {
            let mut cold = 0;
            caches.goes_to(place, 4 * LINE_BYTES);
            caches.pass(lines, false, |found| cold += u32::from(found != Found::InL1));
            cold
        };
        assert_eq!([pass(Some(place), 4), pass(Some(place), 1), pass(None, 3)], [4, 0, 3]);
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
        assert_eq!((cold, caches.depth, caches.about.outermost), (0, 0, 0));
    }
}
