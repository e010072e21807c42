//! Loads and stores of lines, as the accesses that the chip is to see.
//!
//! A line is loaded by eight words in a row: the first brings it into L1, and the others come from there, since a line
//! that was just used is the last to be replaced. So a line is read as one, unless the core is interrupted in between
//! and its handler invalidates L1, which it does not do within an operation. Stores between those loads change nothing of that, since L1
//! has no lines for them. Stores are words where whole words are
//! stored, and bytes elsewhere: those of others in the same word are theirs.

use core::mem::MaybeUninit;

use crate::{LINE_BYTES, Line};

const WORD_BYTES: usize = size_of::<u32>();

/// Loads a line.
///
/// # Safety
/// `line` is aligned to lines and valid for reads, also while other cores write to it: it is shared memory, of which
/// nobody has a reference.
#[inline]
pub(crate) unsafe fn load(line: *const Line) -> Line {
    let mut loaded = MaybeUninit::<Line>::uninit();
    // SAFETY: there is room for a line, all words of it are written, and any bytes are one.
    unsafe {
        load_to(line, loaded.as_mut_ptr().cast());
        loaded.assume_init()
    }
}

/// Loads a line to private memory.
///
/// # Safety
/// As for [`load`], and `target` is valid for writes.
#[inline]
pub(crate) unsafe fn load_to(line: *const Line, target: *mut [u8; LINE_BYTES]) {
    for index in 0..LINE_BYTES / WORD_BYTES {
        // SAFETY: `index` is below the number of words of both, and the caller says the rest. Bytes stay in their order.
        unsafe { target.cast::<u32>().add(index).write_unaligned(line.cast::<u32>().add(index).read_volatile()) };
    }
}

/// Loads words of a line, from word `first` on.
///
/// # Safety
/// As for [`load`].
///
/// # Panics
/// If a line has no such words.
#[inline]
pub(crate) unsafe fn load_words(line: *const Line, first: usize, words: &mut [u32]) {
    const WORDS: usize = LINE_BYTES / WORD_BYTES;
    assert!(words.len() <= WORDS && first <= WORDS - words.len(), "a line has 8 words");
    for (index, word) in (first..).zip(words) {
        // SAFETY: the indices were checked, and the caller says the rest.
        *word = u32::from_le(unsafe { line.cast::<u32>().add(index).read_volatile() });
    }
}

/// Stores what private memory has to a line, in ascending order of words, one by one: as many registers as a line has words
/// there are not.
///
/// # Safety
/// As for [`store`].
#[inline]
pub(crate) unsafe fn put(source: &[u8; LINE_BYTES], line: *mut Line) {
    for index in 0..LINE_BYTES / WORD_BYTES {
        // SAFETY: `index` is below the number of words; a reference is valid for reads, and the caller says the rest.
        unsafe {
            let word = source.as_ptr().cast::<u32>().add(index).read_unaligned();
            line.cast::<u32>().add(index).write_volatile(word);
        }
    }
}

/// Stores what a line has to another one, through registers, of which there are not as many as a line has words: half of it, then
/// the other half, which the first load has brought into L1.
///
/// # Safety
/// As for [`load`] and [`store`].
#[inline]
pub(crate) unsafe fn copy(from: *const Line, to: *mut Line) {
    const HALF: usize = LINE_BYTES / WORD_BYTES / 2;
    for first in [0, HALF] {
        // SAFETY: all indices are below the number of words, and the caller says the rest.
        unsafe {
            let (from, to) = (from.cast::<u32>().add(first), to.cast::<u32>().add(first));
            let words: [u32; HALF] = core::array::from_fn(|index| from.add(index).read_volatile());
            for (index, word) in words.into_iter().enumerate() {
                to.add(index).write_volatile(word);
            }
        }
    }
}

/// Loads a line to private memory, word by word, after that was [brought in](bring_in).
///
/// # Safety
/// As for [`load`].
#[inline]
pub(crate) unsafe fn get(line: *const Line, target: &mut [u8; LINE_BYTES]) {
    bring_in(target);
    for index in 0..LINE_BYTES / WORD_BYTES {
        // SAFETY: the caller says that the line is there; a mutable reference is valid for writes.
        unsafe {
            let word = line.cast::<u32>().add(index).read_volatile();
            target.as_mut_ptr().cast::<u32>().add(index).write_unaligned(word);
        }
    }
}

/// Stores words of a line from word `first` on, in ascending order.
///
/// # Safety
/// As for [`store`].
///
/// # Panics
/// If they do not fit the line.
#[inline]
pub(crate) unsafe fn store_words(line: *mut Line, first: usize, words: impl Iterator<Item = u32>) {
    for (index, word) in (first..).zip(words) {
        assert!(index < LINE_BYTES / WORD_BYTES, "a store stays within a line");
        // SAFETY: the index was checked, and the caller says the rest.
        unsafe { line.cast::<u32>().add(index).write_volatile(word.to_le()) };
    }
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
    assert!(offset <= LINE_BYTES && bytes.len() <= LINE_BYTES - offset, "a store stays within a line");
    let target = line.cast::<u8>().wrapping_add(offset);
    if let [flag] = bytes {
        // SAFETY: within the line, as was checked.
        unsafe { target.write_volatile(*flag) };
        return;
    }
    if let (0, (words, [])) = (offset % WORD_BYTES, bytes.as_chunks::<WORD_BYTES>()) {
        for (index, word) in words.iter().enumerate() {
            // SAFETY: within the line, as was checked, and aligned.
            unsafe { target.cast::<u32>().add(index).write_volatile(u32::from_ne_bytes(*word)) };
        }
        return;
    }
    let to_word = (offset.next_multiple_of(WORD_BYTES) - offset).min(bytes.len());
    let (before, rest) = bytes.split_at(to_word);
    let (words, after) = rest.as_chunks::<WORD_BYTES>();
    for (index, byte) in before.iter().enumerate() {
        // SAFETY: within the line, as was checked.
        unsafe { target.add(index).write_volatile(*byte) };
    }
    for (index, word) in words.iter().enumerate() {
        // SAFETY: within the line, as was checked, and `to_word` bytes after `offset` words are aligned.
        unsafe { target.add(to_word).cast::<u32>().add(index).write_volatile(u32::from_ne_bytes(*word)) };
    }
    let done = to_word + words.len() * WORD_BYTES;
    for (index, byte) in after.iter().enumerate() {
        // SAFETY: within the line, as was checked.
        unsafe { target.add(done + index).write_volatile(*byte) };
    }
}

/// Reads a byte of each line of private memory that is about to be written. A store that misses goes to memory by
/// itself, word for word, since no cache of the chip allocates a line for it; one that hits is cheap.
#[inline]
pub(crate) fn bring_in(target: &[u8]) {
    if let ([first, .., last], 2..=LINE_BYTES) = (target, target.len()) {
        // As many bytes as that lie in two lines at most.
        for byte in [first, last] {
            // SAFETY: a reference is valid for reads.
            unsafe { (&raw const *byte).read_volatile() };
        }
        return;
    }
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
                assert!((0..8).all(|first| {
                    let mut words = [0; 3];
                    let words = &mut words[..3.min(8 - first)];
                    // SAFETY: the line is this function's own, and three words from `first` on at most end with it.
                    unsafe { load_words(&raw const line, first, words) };
                    words.iter().enumerate().all(|(index, word)| *word == loaded.word(first + index))
                }));
            }
        }
    }

    #[test]
    fn words_arrive_where_they_are_to_be() {
        for (first, len) in (0..8).flat_map(|first| (0..=8 - first).map(move |len| (first, len))) {
            let mut line = Line([0xEE; LINE_BYTES]);
            // SAFETY: the line is this function's own.
            unsafe { store_words(&raw mut line, first, (0..len as u32).map(|word| word * 0x0101_0101)) };
            for word in 0..8 {
                let expected = if (first..first + len).contains(&word) { (word - first) as u8 } else { 0xEE };
                assert_eq!(line.0[word * 4..][..4], [expected; 4], "word {word} of {len} at {first}");
            }
        }
    }

    #[test]
    fn lines_come_and_go_wherever_memory_is() {
        let source: [u8; 2 * LINE_BYTES] = core::array::from_fn(|index| index as u8);
        for offset in 0..LINE_BYTES {
            let mut line = Line::default();
            let mut target = [0; 2 * LINE_BYTES];
            let from = source[offset..].first_chunk().expect("there are two lines");
            let to = target[offset..].first_chunk_mut().expect("there are two lines");
            // SAFETY: the line is this function's own.
            unsafe {
                put(from, &raw mut line);
                get(&raw const line, to);
            }
            assert_eq!((&line.0, &*to), (from, from), "memory {offset} bytes from a line's start");
        }
    }

    #[test]
    fn a_whole_line_arrives() {
        let source = Line(core::array::from_fn(|index| index as u8 + 1));
        let [mut put_there, mut copied] = [Line::default(); 2];
        // SAFETY: the lines are this function's own.
        unsafe {
            put(&source.0, &raw mut put_there);
            copy(&raw const source, &raw mut copied);
        }
        assert_eq!([put_there, copied], [source; 2]);
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
