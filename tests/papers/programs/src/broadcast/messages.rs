//! Messages that no cache holds, and that can be told from each other.

use alloc::{format, vec, vec::Vec};
use core::hint::black_box;

use hal::LINE_BYTES;

use kernel::Failure;

/// Twice what the second-level cache of an SCC's core holds.
pub(crate) const FLUSHING_BYTES: usize = 512 << 10;

/// A large array, in which every message has another place, as section 6.1 of the paper demands: a place comes again
/// only after more bytes than any cache holds were written or broadcast.
pub(super) struct Messages {
    memory: Vec<u64>,
    next: usize,
    number: u64,
}

/// Where some messages of one length are.
pub(super) struct Places {
    first: usize,
    bytes: usize,
    number: u64,
}

const WORD_BYTES: usize = size_of::<u64>();

/// From the beginning of one message to the next one's, in bytes. Messages of no bytes have a place, too.
fn stride(bytes: usize) -> usize {
    bytes.max(1).next_multiple_of(LINE_BYTES)
}

/// Bytes that up to `count` messages of up to `bytes` bytes take, if there can be so many.
pub(super) fn room(bytes: usize, count: usize) -> Option<usize> {
    bytes.max(1).checked_next_multiple_of(LINE_BYTES)?.checked_mul(count)
}

impl Messages {
    /// Room for up to `count` messages of up to `bytes` bytes at a time.
    pub(super) fn new(bytes: usize, count: usize) -> Self {
        let room = (stride(bytes) * count).max(FLUSHING_BYTES);
        let memory = vec![0; room / WORD_BYTES];
        // Read once: what caches still have of it is as memory has it then, and need not be written back for messages to come.
        black_box(memory.iter().fold(0, |seen, word| seen | word));
        Self { memory, next: 0, number: 0 }
    }

    /// New places for `count` messages of `bytes` bytes. They hold other messages than those that belong there.
    pub(super) fn places(&mut self, bytes: usize, count: usize) -> Places {
        let words = stride(bytes) * count / WORD_BYTES;
        if self.next + words > self.memory.len() {
            self.next = 0;
        }
        let places = Places { first: self.next, bytes, number: self.number };
        self.next += words;
        self.number += count as u64;
        places
    }

    /// The bytes at one of these places.
    pub(super) fn at(&mut self, places: &Places, index: usize) -> &mut [u8] {
        let first = places.first * WORD_BYTES + index * stride(places.bytes);
        &mut bytemuck::cast_slice_mut(&mut self.memory)[first..first + places.bytes]
    }

    /// Writes the message that belongs there.
    pub(super) fn write(&mut self, places: &Places, index: usize) {
        let number = places.number + index as u64;
        for (word, bytes) in self.at(places, index).chunks_mut(WORD_BYTES).enumerate() {
            bytes.copy_from_slice(&word_of(number, word)[..bytes.len()]);
        }
    }

    /// Reads all that is not there, so that no cache has what was written there. What is too long to leave enough for that goes through
    /// caches as it is written.
    pub(super) fn displace(&self, places: &Places, count: usize) {
        black_box(self.others(places, count).fold(0, |seen, word| seen | word));
    }

    /// A word of each line that is not there.
    fn others(&self, places: &Places, count: usize) -> impl Iterator<Item = &u64> {
        let end = places.first + stride(places.bytes) * count / WORD_BYTES;
        let parts = [&self.memory[end..], &self.memory[..places.first]];
        parts.into_iter().flat_map(|part| part.iter().step_by(LINE_BYTES / WORD_BYTES))
    }

    /// Looks whether the message that belongs there is there.
    ///
    /// # Errors
    /// If not.
    pub(super) fn check(&mut self, places: &Places, index: usize) -> Result<(), Failure> {
        let number = places.number + index as u64;
        let mut words = self.at(places, index).chunks(WORD_BYTES).enumerate();
        match words.find(|(word, bytes)| word_of(number, *word)[..bytes.len()] != **bytes) {
            None => Ok(()),
            Some((word, _)) => Err(Failure::new(format!(
                "message {number} of {} bytes is wrong in bytes {} and following",
                places.bytes,
                word * WORD_BYTES
            ))),
        }
    }
}

/// Part of a message. The first byte, which may be the only one, is never that of untouched memory, nor that of one of
/// the 255 messages before.
fn word_of(number: u64, word: usize) -> [u8; WORD_BYTES] {
    let mut bytes = (word as u64).wrapping_add(number << 32).wrapping_mul(0x9E37_79B9_7F4A_7C15).to_le_bytes();
    bytes[0] = (number % 255) as u8 + 1;
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_not_received_is_seen() {
        for bytes in [0, 1, 7, 8, 31, 32, 33, 1000] {
            let (mut sent, mut received) = (Messages::new(1000, 3), Messages::new(1000, 3));
            for _ in 0..700 {
                let (from, to) = (sent.places(bytes, 3), received.places(bytes, 3));
                for index in 0..3 {
                    sent.write(&from, index);
                    assert!(sent.check(&from, index).is_ok());
                    assert_eq!(received.check(&to, index).is_ok(), bytes == 0, "{bytes}");
                    received.at(&to, index).copy_from_slice(sent.at(&from, index));
                    assert!(received.check(&to, index).is_ok());
                    if let Some(last) = received.at(&to, index).last_mut() {
                        *last ^= 1;
                        assert!(received.check(&to, index).is_err());
                        *received.at(&to, index).last_mut().unwrap() ^= 1;
                    }
                }
            }
        }
    }

    #[test]
    fn lines_of_other_places_are_read_to_displace_those_of_one() {
        let mut messages = Messages::new(3072, 4);
        let all = FLUSHING_BYTES / LINE_BYTES;
        for _ in 0..2 * FLUSHING_BYTES / (4 * 3072) {
            let places = messages.places(3072, 4);
            messages.memory.fill(1);
            (0..4).for_each(|index| messages.at(&places, index).fill(0));
            let others: Vec<_> = messages.others(&places, 4).collect();
            assert!(others.len() == all - 4 * 96 && others.iter().all(|word| **word == 1));
        }
    }

    #[test]
    fn a_place_comes_again_after_more_than_caches_hold() {
        let mut messages = Messages::new(32 << 10, 2);
        let mut places = || messages.places(32 << 10, 2).first;
        let first = places();
        assert!((1..8).all(|_| places() != first));
        assert_eq!(places(), first);
    }
}
