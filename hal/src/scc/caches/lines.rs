//! Loads and stores of lines, as the accesses that the chip is to see.
//!
//! A line is loaded by eight words in a row: the first brings it into L1, and the others come from there, since a line
//! that was just used is the last to be replaced. So a line is read as one, unless the core is interrupted in between
//! and its handler invalidates L1, which it does not do within an operation. Stores are words where whole words are
//! stored, and bytes elsewhere: those of others in the same word are theirs.

use crate::{LINE_BYTES, Line};

const WORD_BYTES: usize = size_of::<u32>();

/// Loads a line.
///
/// # Safety
/// `line` is aligned to lines and valid for reads, also while other cores write to it: it is shared memory, of which
/// nobody has a reference.
#[inline]
pub(crate) unsafe fn load(line: *const Line) -> Line {
    let words = line.cast::<u32>();
    // SAFETY: `index` is below the number of words, and the caller says the rest.
    let loaded: [u32; LINE_BYTES / WORD_BYTES] =
        core::array::from_fn(|index| unsafe { words.add(index).read_volatile() });
    bytemuck::cast(loaded.map(u32::to_le))
}

/// Stores bytes of a line from byte `offset` on, in ascending order.
///
/// # Safety
/// `line` is aligned to lines and valid for writes, of shared memory as above.
///
/// # Panics
/// If the bytes do not fit the line.
#[inline]
pub(crate) unsafe fn store(line: *mut Line, offset: usize, bytes: &[u8]) {
    assert!(offset + bytes.len() <= LINE_BYTES, "a store stays within a line");
    let target = line.cast::<u8>().wrapping_add(offset);
    let to_word = (offset.next_multiple_of(WORD_BYTES) - offset).min(bytes.len());
    let (before, rest) = bytes.split_at(to_word);
    let (words, after) = rest.as_chunks::<WORD_BYTES>();
    for (index, byte) in before.iter().enumerate() {
        // SAFETY: within the line, as was checked.
        unsafe { target.add(index).write_volatile(*byte) };
    }
    for (index, word) in words.iter().enumerate() {
        // SAFETY: as above, and `to_word` bytes after `offset` words are aligned.
        unsafe { target.add(to_word).cast::<u32>().add(index).write_volatile(u32::from_ne_bytes(*word)) };
    }
    let done = to_word + words.len() * WORD_BYTES;
    for (index, byte) in after.iter().enumerate() {
        // SAFETY: as above.
        unsafe { target.add(done + index).write_volatile(*byte) };
    }
}

/// Reads a byte of each line of private memory that is about to be written. A store that misses goes to memory by
/// itself, word for word, since no cache of the chip allocates a line for it; one that hits is cheap.
#[inline]
pub(crate) fn bring_in(target: &[u8]) {
    let mut offset = 0;
    while let Some(byte) = target.get(offset) {
        // SAFETY: a reference is valid for reads.
        unsafe { (&raw const *byte).read_volatile() };
        offset += LINE_BYTES - (&raw const *byte).addr() % LINE_BYTES;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_arrive_wherever_they_are() {
        let source: [u8; LINE_BYTES] = core::array::from_fn(|index| index as u8 + 1);
        for offset in 0..LINE_BYTES {
            for len in 0..=LINE_BYTES - offset {
                let mut line = Line([0xEE; LINE_BYTES]);
                // SAFETY: the line is this function's own.
                let loaded = unsafe {
                    store(&raw mut line, offset, &source[..len]);
                    load(&raw const line)
                };
                let expected = core::array::from_fn(|index| match index.checked_sub(offset) {
                    Some(within) if within < len => source[within],
                    _ => 0xEE,
                });
                assert_eq!(loaded, Line(expected), "{len} bytes at {offset}");
            }
        }
    }

    #[test]
    #[should_panic(expected = "within a line")]
    fn a_store_ends_with_its_line() {
        let mut line = Line::default();
        // SAFETY: the line is this function's own.
        unsafe { store(&raw mut line, 30, &[0; 3]) };
    }

    #[test]
    fn memory_of_any_length_is_brought_in() {
        let bytes = [0; 100];
        (0..100).for_each(|len| bring_in(&bytes[100 - len..]));
    }
}
