//! The marks of 32 ranks as eight words: what is done with all of them is done with four at a time.

use core::{cell::Cell, iter};

use bytemuck::cast;
use hal::{LINE_BYTES, Line};

use super::half::Told;

/// Ranks whose marks are in one line.
pub(super) const RANKS: usize = LINE_BYTES;

/// Marks in a word.
const IN_WORD: usize = 4;

/// The two bits of a number, and what stands above them, in each of four halves.
const NUMBERS: u32 = 0x0303_0303;
const ONE: u32 = 0x0101_0101;
const KEPT: u32 = 0x0404_0404;
const MANY: u32 = 0x0808_0808;
const HALVES: u32 = 0x0F0F_0F0F;

/// The marks of 32 ranks, as they are in a line of an MPB.
pub(super) type Sight = [u32; RANKS / IN_WORD];

/// A mark, or what is known of it, for each of 32 ranks; sets of them are bits of an `u32`.
#[derive(Default)]
pub(super) struct Bytes([Cell<u32>; RANKS / IN_WORD]);

/// For each of four bits that are set, a byte of ones.
const fn spread(bits: u32) -> u32 {
    const SPREAD: [u32; 16] = {
        let mut spread = [0; 16];
        let mut bits = 0;
        while bits < 16 {
            let mut byte = 0;
            while byte < IN_WORD {
                spread[bits] |= (bits as u32 >> byte & 1) * (0xFF << (8 * byte));
                byte += 1;
            }
            bits += 1;
        }
        spread
    };
    SPREAD[(bits & 0xF) as usize]
}

/// The lowest bits of four bytes, side by side.
const fn gather(word: u32) -> u32 {
    let lowest = word & ONE;
    (lowest | lowest >> 7 | lowest >> 14 | lowest >> 21) & 0xF
}

/// The words that have marks of some ranks, and which four bytes of each.
fn words_of(ranks: u32) -> impl Iterator<Item = (usize, u32)> {
    let (mut rest, mut word) = (ranks, 0);
    iter::from_fn(move || {
        while rest != 0 && rest & 0xF == 0 {
            (rest, word) = (rest >> IN_WORD, word + 1);
        }
        let found = (rest != 0).then_some((word, rest & 0xF));
        (rest, word) = (rest >> IN_WORD, word + 1);
        found
    })
}

/// The marks in a line.
pub(super) fn sight(line: Line) -> Sight {
    // Where numbers have their lowest byte first, words of a line have the marks of its ranks in order.
    cast::<[u8; LINE_BYTES], Sight>(line.0).map(u32::from_le)
}

impl Bytes {
    pub(super) fn word(&self, index: usize) -> u32 {
        self.0[index].get()
    }

    pub(super) fn byte(&self, rank: usize) -> u8 {
        (self.0[rank / IN_WORD].get() >> (rank % IN_WORD * 8)) as u8
    }

    pub(super) fn set_byte(&self, rank: usize, byte: u8) {
        let (word, shift) = (&self.0[rank / IN_WORD], rank % IN_WORD * 8);
        word.set(word.get() & !(0xFF << shift) | u32::from(byte) << shift);
    }

    /// Whose next mark will be kept, of these ranks.
    pub(super) fn kept(&self, ranks: u32, told: Told) -> u32 {
        self.with(KEPT, ranks, told)
    }

    /// Who is one of a large group, of these ranks.
    pub(super) fn many(&self, ranks: u32, told: Told) -> u32 {
        self.with(MANY, ranks, told)
    }

    fn with(&self, bit: u32, ranks: u32, told: Told) -> u32 {
        let shift = u32::from(told.shift()) + bit.trailing_zeros();
        let mut found = 0;
        for (word, _) in words_of(ranks) {
            found |= gather(self.0[word].get() >> shift) << (word * IN_WORD);
        }
        found & ranks
    }

    /// Which of these ranks have a number in a sight that is one further than here, and which have one that is further
    /// than that.
    pub(super) fn behind(&self, sight: &Sight, ranks: u32, told: Told) -> (u32, u32) {
        let (mut one, mut more) = (0, 0);
        for (word, _) in words_of(ranks) {
            // Four is no number, so that no byte borrows from the next.
            let numbers = sight[word] >> told.shift() & NUMBERS | KEPT;
            let ahead = numbers - (self.0[word].get() >> told.shift() & NUMBERS);
            one |= gather(ahead & !(ahead >> 1)) << (word * IN_WORD);
            more |= gather(ahead >> 1) << (word * IN_WORD);
        }
        (one & ranks, more & ranks)
    }

    /// Takes over the halves of some ranks.
    pub(super) fn take(&self, sight: &Sight, ranks: u32, told: Told) {
        for (word, four) in words_of(ranks) {
            let halves = spread(four) & HALVES << told.shift();
            self.0[word].set(self.0[word].get() & !halves | sight[word] & halves);
        }
    }

    /// Raises the numbers of some ranks, and says where their next marks will be and whether their group is large.
    pub(super) fn raise(&self, ranks: u32, told: Told, kept: u32, many: bool) {
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

#[cfg(test)]
mod tests {
    use std::vec::Vec;

    use super::*;
    use crate::one_sided::window::marks::half::Half;

    /// A mark for each rank that says something else.
    fn different(seed: usize) -> Bytes {
        let bytes = Bytes::default();
        (0..RANKS).for_each(|rank| bytes.set_byte(rank, (rank * 37 + seed * 101) as u8));
        bytes
    }

    const SETS: [u32; 6] = [0, 1, 1 << 31, 0x8000_0001, 0x0F0F_1234, u32::MAX];

    #[test]
    fn bytes_are_those_of_a_line() {
        let line = Line(core::array::from_fn(|byte| byte as u8 * 7));
        let bytes = Bytes(sight(line).map(Cell::new));
        assert!((0..RANKS).all(|rank| bytes.byte(rank) == line.0[rank]));
        assert_eq!(bytes.word(1), u32::from_le_bytes([28, 35, 42, 49]));
    }

    #[test]
    fn words_are_those_with_ranks() {
        assert_eq!(words_of(0x8000_0110).collect::<Vec<_>>(), [(1, 1), (2, 1), (7, 8)]);
        assert_eq!((words_of(0).count(), words_of(u32::MAX).count()), (0, 8));
    }

    #[test]
    fn flags_are_those_of_halves() {
        for (told, seed) in [(Told::Posted, 1), (Told::Completed, 2)] {
            let bytes = different(seed);
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
                let (line, taken) = (different(3), different(4));
                let (one, more) = taken.behind(&line.0.each_ref().map(Cell::get), wanted, told);
                for rank in 0..RANKS {
                    let [seen, known] = [&line, &taken].map(|bytes| Half::of(bytes.byte(rank), told).number());
                    let (is_wanted, ahead) = (wanted >> rank & 1 == 1, (4 + seen - known) % 4);
                    assert_eq!(one >> rank & 1 == 1, is_wanted && ahead == 1, "rank {rank}: {ahead}");
                    assert_eq!(more >> rank & 1 == 1, is_wanted && ahead > 1, "rank {rank}: {ahead}");
                }
            }
        }
    }

    #[test]
    fn halves_of_others_stay() {
        for told in [Told::Posted, Told::Completed] {
            for (ranks, kept) in SETS.into_iter().zip(SETS.into_iter().rev()) {
                let [before, taken, raised] = [5; 3].map(different);
                let from = different(6);
                taken.take(&from.0.each_ref().map(Cell::get), ranks, told);
                raised.raise(ranks, told, kept, rank_is_odd(ranks));
                for rank in 0..RANKS {
                    let (mark, number) = (before.byte(rank), Half::of(before.byte(rank), told).number());
                    let (theirs, next_is_kept) = (Half::of(from.byte(rank), told), kept >> rank & 1 == 1);
                    let next = Half::new(number + 1, next_is_kept, rank_is_odd(ranks));
                    let expected = if ranks >> rank & 1 == 1 {
                        [theirs, next].map(|half| half.into(mark, told))
                    } else {
                        [mark; 2]
                    };
                    assert_eq!([&taken, &raised].map(|bytes| bytes.byte(rank)), expected, "rank {rank}");
                }
            }
        }
    }

    fn rank_is_odd(ranks: u32) -> bool {
        ranks.count_ones() % 2 == 1
    }
}
