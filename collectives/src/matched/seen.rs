//! A line of bytes that count, of which each is another rank's: what was seen of it, and what of it is new.

use core::cell::Cell;

use hal::{LINE_BYTES, Line};

use crate::mpb::bytes::IN_WORD;

/// A line as it was seen last, or of which some bytes are known better: word by word, as most words of two lines are the same.
#[derive(Clone, Default)]
pub(super) struct Seen([[Cell<u8>; IN_WORD]; LINE_BYTES / IN_WORD]);

impl Seen {
    /// Takes all bytes from a line.
    pub(super) fn set(&self, line: &Line) {
        self.0.as_flattened().iter().zip(line.0).for_each(|(seen, byte)| seen.set(byte));
    }

    /// The byte with this number in the line.
    pub(super) fn byte(&self, index: usize) -> &Cell<u8> {
        &self.0.as_flattened()[index]
    }

    /// The bytes that differ from those of `other`, with their numbers in the line.
    #[inline]
    pub(super) fn differing_from(&self, other: &Self) -> impl Iterator<Item = (usize, u8)> {
        let bytes_of = |word: &[Cell<u8>; IN_WORD]| word.each_ref().map(Cell::get);
        let words = self.0.iter().zip(&other.0).map(move |(one, other)| (bytes_of(one), bytes_of(other))).enumerate();
        let differing = words.filter(|(_, (one, other))| u32::from_le_bytes(*one) != u32::from_le_bytes(*other));
        differing.flat_map(|(word, (one, other))| {
            let are_different = move |byte: &usize| one[*byte] != other[*byte];
            (0..IN_WORD).filter(are_different).map(move |byte| (IN_WORD * word + byte, one[byte]))
        })
    }
}
