//! The bytes of a line, four at a time: what is asked of a byte for each rank is asked of words.

use core::iter;

use bytemuck::cast;
use hal::{LINE_BYTES, Line};

/// Bytes of a word.
pub(crate) const IN_WORD: usize = 4;

/// 1 in each byte of a word.
pub(crate) const ONE: u32 = 0x0101_0101;

/// A line as words. Their lowest byte is the first one.
pub(crate) type Words = [u32; LINE_BYTES / IN_WORD];

/// The words of a line.
#[inline]
pub(crate) fn words(line: Line) -> Words {
    cast::<[u8; LINE_BYTES], Words>(line.0).map(u32::from_le)
}

/// The word that has a byte in each of its four.
#[inline]
pub(crate) const fn repeated(byte: u8) -> u32 {
    byte as u32 * ONE
}

/// For each of four bits that are set, a byte of ones.
#[inline]
pub(crate) const fn spread(bits: u32) -> u32 {
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
#[inline]
pub(crate) const fn gather(word: u32) -> u32 {
    let lowest = word & ONE;
    (lowest | lowest >> 7 | lowest >> 14 | lowest >> 21) & 0xF
}

/// The words of a line that have bytes with a bit in `mask`, and the four bits of each.
#[inline]
pub(crate) fn words_of(mask: u32) -> impl Iterator<Item = (usize, u32)> + Clone {
    let (mut rest, mut word) = (mask, 0);
    iter::from_fn(move || {
        while rest != 0 && rest & 0xF == 0 {
            (rest, word) = (rest >> IN_WORD, word + 1);
        }
        let found = (rest != 0).then_some((word, rest & 0xF));
        (rest, word) = (rest >> IN_WORD, word + 1);
        found
    })
}

/// The first byte of a word that is 0.
#[inline]
pub(crate) const fn first_zero(word: u32) -> Option<usize> {
    // A borrow reaches the highest bit of a byte that was 0, or one that was 1 behind such a byte.
    let zeros = word.wrapping_sub(ONE) & !word & (ONE << 7);
    if zeros == 0 {
        return None;
    }
    // All bits below the lowest one that is set, compared: a P54C takes as many cycles to find that bit as there are bits below it.
    let below = zeros ^ zeros.wrapping_sub(1);
    Some((below > 0xFF) as usize + (below > 0xFFFF) as usize + (below > 0xFF_FFFF) as usize)
}

#[cfg(test)]
mod tests {
    use std::vec::Vec;

    use super::*;

    #[test]
    fn words_of_a_line_have_its_bytes_in_order() {
        let line = Line(core::array::from_fn(|byte| byte as u8 * 7));
        assert_eq!(words(line)[1], u32::from_le_bytes([28, 35, 42, 49]));
        assert_eq!((repeated(0xA5), spread(0b1001), gather(0x0100_0001)), (0xA5A5_A5A5, 0xFF00_00FF, 0b1001));
    }

    #[test]
    fn words_are_those_with_bits() {
        assert_eq!(words_of(0x8000_0110).collect::<Vec<_>>(), [(1, 1), (2, 1), (7, 8)]);
        assert_eq!((words_of(0).count(), words_of(u32::MAX).count()), (0, 8));
    }

    #[test]
    fn the_first_byte_that_is_0_is_found() {
        for bytes in [[0, 0, 0, 0], [1, 0, 1, 1], [1, 1, 0, 1], [0x80, 0x81, 0xFF, 0], [1, 0x80, 0x7F, 0xFF]] {
            assert_eq!(first_zero(u32::from_le_bytes(bytes)), bytes.iter().position(|byte| *byte == 0), "{bytes:?}");
        }
    }
}
