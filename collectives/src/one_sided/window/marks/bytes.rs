//! The marks of 32 ranks as eight words: what is done with all of them is done with four at a time.

use core::{array, cell::Cell};

use hal::LINE_BYTES;

use super::half::Told;
use crate::{
    comm::group::OfLine,
    mpb::bytes::{IN_WORD, ONE, Words, gather, spread, words_of},
};

/// Ranks whose marks are in one line.
pub(super) const RANKS: usize = LINE_BYTES;

/// The two bits of a number, and what stands above them, in each of four halves.
const NUMBERS: u32 = 0x0303_0303;
const KEPT: u32 = 0x0404_0404;
const MANY: u32 = 0x0808_0808;
const HALVES: u32 = 0x0F0F_0F0F;

/// A mark, or what is expected of it, for each of 32 ranks, four in a word.
pub(super) type Cells = [Cell<u32>; RANKS / IN_WORD];

/// What is expected of marks that were never raised: their first numbers.
pub(super) fn first() -> Cells {
    array::from_fn(|_| Cell::new(ONE | ONE << 4))
}

/// The marks of 32 ranks; sets of them are bits of an `u32`.
#[derive(Clone, Copy)]
pub(super) struct Bytes<'m>(pub(super) &'m Cells);

impl Bytes<'_> {
    pub(super) fn word(self, index: usize) -> u32 {
        self.0[index % (RANKS / IN_WORD)].get()
    }

    pub(super) fn byte(self, rank: usize) -> u8 {
        (self.0[rank / IN_WORD].get() >> (rank % IN_WORD * 8)) as u8
    }

    #[cfg(test)]
    fn set_byte(self, rank: usize, byte: u8) {
        let (word, shift) = (&self.0[rank / IN_WORD], rank % IN_WORD * 8);
        word.set(word.get() & !(0xFF << shift) | u32::from(byte) << shift);
    }

    /// Whether a line has for all members what is here.
    #[inline]
    pub(super) fn all_are(self, line: &Words, members: &OfLine, told: Told) -> bool {
        let mut others = 0;
        // One after the other without a loop: words without members take less than to leave them out.
        for (word, bytes) in members.bytes.iter().enumerate() {
            others |= (line[word] ^ self.0[word].get()) & bytes;
        }
        others & HALVES << told.shift() == 0
    }

    /// Raises the numbers of members.
    #[inline]
    pub(super) fn raise_numbers(self, members: &OfLine, told: Told) {
        let words = members.range();
        for (word, bytes) in self.0[words.clone()].iter().zip(&members.bytes[words]) {
            word.set(raised(word.get(), *bytes, told));
        }
    }

    /// Raises the number of a rank, whose byte begins `shift` bits above the lowest bit of its word, and returns it.
    #[inline]
    pub(super) fn raise_number(self, word: usize, shift: u32, told: Told) -> u8 {
        let word = &self.0[word % (RANKS / IN_WORD)];
        let raised = raised(word.get(), 0xFF << shift, told);
        word.set(raised);
        (raised >> shift) as u8
    }

    /// Whose next mark will be kept, of these ranks.
    pub(super) fn kept(self, ranks: u32, told: Told) -> u32 {
        self.with(KEPT, ranks, told)
    }

    /// Who is one of a large group, of these ranks.
    pub(super) fn many(self, ranks: u32, told: Told) -> u32 {
        self.with(MANY, ranks, told)
    }

    fn with(self, bit: u32, ranks: u32, told: Told) -> u32 {
        let shift = u32::from(told.shift()) + bit.trailing_zeros();
        let mut found = 0;
        for (word, _) in words_of(ranks) {
            found |= gather(self.0[word].get() >> shift) << (word * IN_WORD);
        }
        found & ranks
    }

    /// Which of these ranks have the number in a sight that is here, and which have one that is neither this nor the one
    /// before.
    pub(super) fn reached(self, sight: &Words, ranks: u32, told: Told) -> (u32, u32) {
        let (mut these, mut others) = (0, 0);
        for (word, _) in words_of(ranks) {
            // Four is no number, so that no byte borrows from the next.
            let numbers = sight[word] >> told.shift() & NUMBERS | KEPT;
            let ahead = (numbers - (self.0[word].get() >> told.shift() & NUMBERS)) & NUMBERS;
            let (low, high) = (ahead, ahead >> 1);
            these |= gather(!(low | high)) << (word * IN_WORD);
            others |= gather(low ^ high) << (word * IN_WORD);
        }
        (these & ranks, others & ranks)
    }

    /// Expects, of some ranks, what is in a sight with the next numbers. Returns whether one of them says something else
    /// than was expected, besides its number.
    pub(super) fn expect_next(self, sight: &Words, ranks: u32, told: Told) -> bool {
        let mut changed = 0;
        for (word, four) in words_of(ranks) {
            let (before, halves) = (self.0[word].get(), spread(four) & HALVES << told.shift());
            changed |= (before ^ sight[word]) & halves;
            self.0[word].set(before & !halves | raised(sight[word], halves, told) & halves);
        }
        changed & (KEPT | MANY) << told.shift() != 0
    }

    /// Raises the numbers of some ranks, and says where their next marks will be and whether their group is large.
    pub(super) fn raise(self, ranks: u32, told: Told, kept: u32, many: bool) {
        let many = if many { MANY } else { 0 };
        for (index, four) in words_of(ranks) {
            let word = self.0[index].get();
            let halves = spread(four) & HALVES << told.shift();
            let numbers = ((word >> told.shift() & NUMBERS) + ONE) & NUMBERS;
            let raised = numbers | spread(kept >> (index * IN_WORD)) & KEPT | many;
            self.0[index].set(word & !halves | raised << told.shift() & halves);
        }
    }
}

/// A word with the numbers raised of those ranks whose bytes are all ones. Of two bits the lower one turns over, and the
/// higher one where the lower one was set.
#[inline]
const fn raised(word: u32, bytes: u32, told: Told) -> u32 {
    let lower = bytes & ONE << told.shift();
    word ^ (lower | (word & lower) << 1)
}

#[cfg(test)]
mod tests {
    use hal::Line;

    use super::*;
    use crate::mpb::bytes::words;
    use crate::one_sided::window::marks::half::Half;

    /// A mark for each rank that says something else.
    fn different(seed: usize) -> Cells {
        let cells = Cells::default();
        (0..RANKS).for_each(|rank| Bytes(&cells).set_byte(rank, (rank * 37 + seed * 101) as u8));
        cells
    }

    const SETS: [u32; 6] = [0, 1, 1 << 31, 0x8000_0001, 0x0F0F_1234, u32::MAX];
    /// Those with members.
    const SOME: [u32; 8] = [1, 1 << 31, 0x8000_0001, 0x0F0F_1234, 0x7FFF_FFFF, 0x00F0_0FF0, 0xFFFF_FFFE, u32::MAX];

    #[test]
    fn bytes_are_those_of_a_line() {
        let line = Line(core::array::from_fn(|byte| byte as u8 * 7));
        let cells = words(line).map(Cell::new);
        let bytes = Bytes(&cells);
        assert!((0..RANKS).all(|rank| bytes.byte(rank) == line.0[rank]));
        assert_eq!(bytes.word(1), u32::from_le_bytes([28, 35, 42, 49]));
    }

    #[test]
    fn flags_are_those_of_halves() {
        for (told, seed) in [(Told::Posted, 1), (Told::Completed, 2)] {
            let cells = different(seed);
            let bytes = Bytes(&cells);
            for (rank, ranks) in (0..RANKS).flat_map(|rank| SETS.map(|ranks| (rank, ranks))) {
                let (half, is_one) = (Half::of(bytes.byte(rank), told), ranks >> rank & 1 == 1);
                assert_eq!(bytes.kept(ranks, told) >> rank & 1 == 1, is_one && half.next_is_kept());
                assert_eq!(bytes.many(ranks, told) >> rank & 1 == 1, is_one && half.many());
            }
        }
    }

    #[test]
    fn numbers_are_compared_rank_by_rank() {
        for told in [Told::Posted, Told::Completed] {
            for wanted in SETS {
                let (line, expected) = (different(3), different(4));
                let (these, others) = Bytes(&expected).reached(&line.each_ref().map(Cell::get), wanted, told);
                for rank in 0..RANKS {
                    let [seen, next] = [&line, &expected].map(|cells| Half::of(Bytes(cells).byte(rank), told).number());
                    let (is_wanted, ahead) = (wanted >> rank & 1 == 1, (4 + seen - next) % 4);
                    assert_eq!(these >> rank & 1 == 1, is_wanted && ahead == 0, "rank {rank}: {ahead}");
                    assert_eq!(others >> rank & 1 == 1, is_wanted && [1, 2].contains(&ahead), "rank {rank}: {ahead}");
                }
            }
        }
    }

    #[test]
    fn what_all_ranks_have_is_what_each_has() {
        for (told, ranks) in
            [Told::Posted, Told::Completed].into_iter().flat_map(|told| SOME.map(|ranks| (told, ranks)))
        {
            let (members, cells) = (OfLine::new(0, ranks), different(7));
            let expected = Bytes(&cells);
            // What ranks have that are not asked for does not matter.
            let mut line: Words = array::from_fn(|word| expected.word(word) ^ 0xA5A5_A5A5 & !members.bytes[word]);
            let all_are = |line: &Words| expected.all_are(line, &members, told);
            assert!(all_are(&line));
            for rank in (0..RANKS).filter(|rank| ranks >> rank & 1 == 1) {
                for bit in 0..8 {
                    let mask = 1 << (rank % IN_WORD * 8 + bit);
                    line[rank / IN_WORD] ^= mask;
                    let is_others = (bit >= 4) != (told == Told::Completed);
                    assert_eq!(all_are(&line), is_others, "bit {bit} of rank {rank}");
                    line[rank / IN_WORD] ^= mask;
                }
            }
        }
    }

    #[test]
    fn numbers_are_raised_and_nothing_else() {
        for (told, ranks) in
            [Told::Posted, Told::Completed].into_iter().flat_map(|told| SOME.map(|ranks| (told, ranks)))
        {
            let cells = [5; 4].map(different);
            let [before, together, one_by_one, expected] = cells.each_ref().map(Bytes);
            for round in 1..6 {
                together.raise_numbers(&OfLine::new(0, ranks), told);
                let sight = expected.0.each_ref().map(Cell::get);
                assert!(!expected.expect_next(&sight, ranks, told), "nothing but numbers has changed");
                for rank in 0..RANKS {
                    let (mark, is_one) = (before.byte(rank), ranks >> rank & 1 == 1);
                    if is_one {
                        let byte = one_by_one.raise_number(rank / IN_WORD, (rank % IN_WORD * 8) as u32, told);
                        assert_eq!(byte, one_by_one.byte(rank));
                    }
                    let half = Half::of(mark, told);
                    let number = (half.number() + if is_one { round } else { 0 }) % 4;
                    let wanted = Half::new(number, half.next_is_kept(), half.many()).into(mark, told);
                    let found = [together, one_by_one, expected].map(|bytes| bytes.byte(rank));
                    assert_eq!(found, [wanted; 3], "rank {rank} after {round}");
                }
            }
        }
    }

    #[test]
    fn halves_of_others_stay() {
        for told in [Told::Posted, Told::Completed] {
            for (ranks, kept) in SETS.into_iter().zip(SETS.into_iter().rev()) {
                let cells = [5, 5, 5, 6].map(different);
                let [before, taken, raised, from] = cells.each_ref().map(Bytes);
                taken.expect_next(&from.0.each_ref().map(Cell::get), ranks, told);
                raised.raise(ranks, told, kept, rank_is_odd(ranks));
                for rank in 0..RANKS {
                    let (mark, number) = (before.byte(rank), Half::of(before.byte(rank), told).number());
                    let (theirs, next_is_kept) = (Half::of(from.byte(rank), told), kept >> rank & 1 == 1);
                    let theirs = Half::new(theirs.number() + 1, theirs.next_is_kept(), theirs.many());
                    let next = Half::new(number + 1, next_is_kept, rank_is_odd(ranks));
                    let expected = if ranks >> rank & 1 == 1 {
                        [theirs, next].map(|half| half.into(mark, told))
                    } else {
                        [mark; 2]
                    };
                    assert_eq!([taken, raised].map(|bytes| bytes.byte(rank)), expected, "rank {rank}");
                }
            }
        }
    }

    fn rank_is_odd(ranks: u32) -> bool {
        ranks.count_ones() % 2 == 1
    }
}
