//! Numbers of communicators: which messages belong to which.
//!
//! A message with a tag of the communicator of all ranks (`collectives::matched`) has 32 bits of tag. The first ones say which
//! communicator of the program it belongs to, and whether to an operation of all there; the others are the program's tag, or
//! the number of the operation.

use alloc::vec::Vec;

use kernel::collectives::Tag;

/// Bits of a tag that are the program's.
const TAG_BITS: u32 = 20;

/// The largest tag.
pub(crate) const TAG_LIMIT: u32 = (1 << TAG_BITS) - 1;

/// Communicators that a rank can be in at one time.
const LIMIT: usize = 1 << (32 - TAG_BITS - 1);

/// Of operations, the first ones are those of a whole communicator, by their number; the others those of a group that makes
/// one, by the tag that the program names.
const OF_GROUPS: u32 = 1 << (TAG_BITS - 1);

/// Numbers of communicators that this rank does not use, as bits.
pub(crate) struct Contexts(Vec<u8>);

impl Contexts {
    /// The first ones are used.
    pub(crate) fn new(used: u32) -> Self {
        let mut all = Self(alloc::vec![0xFF; LIMIT / 8]);
        (0..used).for_each(|context| all.take(context));
        all
    }

    /// All that can be used, to be compared with those of others.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        self.0.clone()
    }

    /// Keeps what can be used on both sides.
    pub(crate) fn common(bytes: &mut [u8], other: &[u8]) {
        bytes.iter_mut().zip(other).for_each(|(byte, other)| *byte &= other);
    }

    /// The first number that can be used on all sides.
    pub(crate) fn first(bytes: &[u8]) -> Option<u32> {
        let at = bytes.iter().position(|byte| *byte != 0)?;
        Some(at as u32 * 8 + bytes[at].trailing_zeros())
    }

    pub(crate) fn take(&mut self, context: u32) {
        self.0[context as usize / 8] &= !(1 << (context % 8));
    }

    pub(crate) fn give_back(&mut self, context: u32) {
        self.0[context as usize / 8] |= 1 << (context % 8);
    }
}

/// The tag of a message of a program.
pub(crate) fn of_message(context: u32, tag: u32) -> u32 {
    context << (TAG_BITS + 1) | tag
}

/// The tag that a receive of a program wants; any without one.
pub(crate) fn wanted(context: u32, tag: Option<u32>) -> Tag {
    let first = of_message(context, 0);
    tag.map_or(Tag::Within(first, first + TAG_LIMIT), |tag| Tag::Is(first + tag))
}

/// The program's tag of a message.
pub(crate) fn tag_of(tag: u32) -> i32 {
    (tag & TAG_LIMIT) as i32
}

/// The tag of messages of an operation of all, by its number.
pub(crate) fn of_operation(context: u32, number: u32) -> u32 {
    context << (TAG_BITS + 1) | 1 << TAG_BITS | (number % OF_GROUPS)
}

/// The tag of messages by which a group makes a communicator.
pub(crate) fn of_group(context: u32, tag: u32) -> u32 {
    context << (TAG_BITS + 1) | 1 << TAG_BITS | OF_GROUPS | (tag % OF_GROUPS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_used_again() {
        let (mut one, mut other) = (Contexts::new(2), Contexts::new(2));
        let agree = |one: &Contexts, other: &Contexts| {
            let mut bytes = one.bytes();
            Contexts::common(&mut bytes, &other.bytes());
            Contexts::first(&bytes)
        };
        assert_eq!(agree(&one, &other), Some(2));
        one.take(2);
        (3..9).for_each(|context| other.take(context));
        assert_eq!(agree(&one, &other), Some(9));
        other.give_back(8);
        assert_eq!(agree(&one, &other), Some(8));
        (0..LIMIT as u32).for_each(|context| one.take(context));
        assert_eq!(agree(&one, &other), None);
    }

    #[test]
    fn tags_do_not_meet() {
        let Tag::Within(first, last) = wanted(7, None) else { panic!("a range") };
        assert_eq!((first, tag_of(last)), (of_message(7, 0), TAG_LIMIT as i32));
        assert!(of_operation(7, 0) > last && of_operation(7, OF_GROUPS) == of_operation(7, 0));
        assert!(of_group(7, 0) > of_operation(7, OF_GROUPS - 1) && of_group(7, u32::MAX) < of_message(8, 0));
        assert_eq!(wanted(LIMIT as u32 - 1, Some(TAG_LIMIT)), Tag::Is(0xFFEF_FFFF));
    }
}
