//! The marks of 32 ranks as eight words: what is done with all of them is done with four at a time.

use core::cell::Cell;

use bytemuck::cast;

use hal::LINE_BYTES;

use super::half::Told;
use crate::mpb::bytes::{IN_WORD, ONE, Words, gather, spread, words_of};

/// Ranks whose marks are in one line.
pub(super) const RANKS: usize = LINE_BYTES;

/// The two bits of a number, and what stands above them, in each of four halves.
const NUMBERS: u32 = 0x0303_0303;
const KEPT: u32 = 0x0404_0404;
const MANY: u32 = 0x0808_0808;
const HALVES: u32 = 0x0F0F_0F0F;

/// Words that have marks of some ranks, and which bytes of them, as a [group](crate::Group) has them.
pub(super) type Marked = [(usize, u32)];

/// A mark, or what is known of it, for each of 32 ranks; sets of them are bits of an `u32`.
#[derive(Default)]
pub(super) struct Bytes([Cell<u32>; RANKS / IN_WORD]);

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

    /// Whether the next marks of all ranks will be kept, or of none. Nothing if they differ.
    #[inline]
    pub(super) fn all_kept(&self, marked: &Marked, told: Told) -> Option<bool> {
        self.all_with(KEPT, marked, told)
    }

    /// Whether all ranks are ones of a large group, or none. Nothing if they differ.
    #[inline]
    pub(super) fn all_many(&self, marked: &Marked, told: Told) -> Option<bool> {
        self.all_with(MANY, marked, told)
    }

    #[inline]
    fn all_with(&self, bit: u32, marked: &Marked, told: Told) -> Option<bool> {
        let (mut with, mut without) = (0, 0);
        for &(word, bytes) in marked {
            let found = self.0[word].get() >> told.shift();
            with |= found & bytes;
            without |= !found & bytes;
        }
        match (with & bit, without & bit) {
            (0, _) => Some(false),
            (_, 0) => Some(true),
            _ => None,
        }
    }

    /// Whether all ranks have a number in a line that is one further than here.
    #[inline]
    pub(super) fn all_follow(&self, line: &Words, marked: &Marked, told: Told) -> bool {
        let mut others = 0;
        for &(word, bytes) in marked {
            // Four is no number, so that no byte borrows from the next.
            let numbers = line[word] >> told.shift() & NUMBERS | KEPT;
            let ahead = numbers - (self.0[word].get() >> told.shift() & NUMBERS);
            others |= (ahead ^ ONE) & bytes;
        }
        others & NUMBERS == 0
    }

    /// Takes over the halves of all ranks. Returns whether none of their next marks will be kept.
    #[inline]
    pub(super) fn take_all(&self, line: &Words, marked: &Marked, told: Told) -> bool {
        let mut taken = 0;
        for &(word, bytes) in marked {
            let halves = bytes & HALVES << told.shift();
            taken |= line[word] & halves;
            self.0[word].set(self.0[word].get() & !halves | line[word] & halves);
        }
        taken & KEPT << told.shift() == 0
    }

    /// Raises the numbers of all ranks, and says where their next marks will be and whether their group is large.
    #[inline]
    pub(super) fn raise_all(&self, marked: &Marked, told: Told, kept: bool, many: bool) {
        let flags = if kept { KEPT } else { 0 } | if many { MANY } else { 0 };
        for &(word, bytes) in marked {
            let (before, halves) = (self.0[word].get(), bytes & HALVES << told.shift());
            let raised = ((before >> told.shift() & NUMBERS) + ONE) & NUMBERS | flags;
            self.0[word].set(before & !halves | raised << told.shift() & halves);
        }
    }

    /// The marks of all 32 ranks.
    pub(super) fn line(&self) -> [u8; RANKS] {
        cast(self.0.each_ref().map(|word| word.get().to_le()))
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
    pub(super) fn behind(&self, sight: &Words, ranks: u32, told: Told) -> (u32, u32) {
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
    pub(super) fn take(&self, sight: &Words, ranks: u32, told: Told) {
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

    use hal::Line;

    use super::*;
    use crate::mpb::bytes::words;
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
        let bytes = Bytes(words(line).map(Cell::new));
        assert!((0..RANKS).all(|rank| bytes.byte(rank) == line.0[rank]));
        assert_eq!(bytes.word(1), u32::from_le_bytes([28, 35, 42, 49]));
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
    fn what_all_ranks_have_is_what_each_has() {
        for told in [Told::Posted, Told::Completed] {
            for ranks in SETS.into_iter().filter(|ranks| *ranks != 0) {
                let marked: Vec<_> = words_of(ranks).map(|(word, four)| (word, spread(four))).collect();
                let [one_by_one, together] = [7; 2].map(different);
                let kept = one_by_one.kept(ranks, told);
                let all = if kept == 0 { Some(false) } else { (kept == ranks).then_some(true) };
                assert_eq!(one_by_one.all_kept(&marked, told), all);
                for (flag, bits) in [(true, ranks), (false, 0)] {
                    one_by_one.raise(ranks, told, bits, flag);
                    together.raise_all(&marked, told, flag, flag);
                    assert_eq!((one_by_one.line(), together.all_kept(&marked, told)), (together.line(), Some(flag)));
                    assert_eq!(together.all_many(&marked, told), Some(flag));
                }
                let taken = different(7);
                let mut line = words(Line(together.line()));
                assert!(!taken.all_follow(&line, &marked, told), "they are two further");
                let next = different(7);
                next.raise(ranks, told, 0, false);
                line = words(Line(next.line()));
                assert!(taken.all_follow(&line, &marked, told));
                // The last byte of the last word.
                let last = RANKS - 1 - ranks.leading_zeros() as usize;
                line[last / IN_WORD] ^= 1 << (last % IN_WORD * 8 + usize::from(told.shift()));
                assert!(!taken.all_follow(&line, &marked, told), "rank {last} is not counted");
                assert!(taken.take_all(&words(Line(next.line())), &marked, told), "none will be kept");
                assert_eq!(taken.line(), next.line());
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
