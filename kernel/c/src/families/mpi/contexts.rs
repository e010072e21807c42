//! Numbers of communicators: which messages belong to which.
//!
//! A message with a tag of the communicator of all ranks (`collectives::matched`) has 32 bits of tag. The first ones say which
//! communicator of the program it belongs to, and whether to an operation of all there; the others are the program's tag, or
//! the number of the operation.

use alloc::{rc::Rc, vec::Vec};
use core::cell::RefCell;

use kernel::collectives::Tag;

/// Bits of a tag that are the program's.
const TAG_BITS: u32 = 20;

/// The largest tag.
pub(crate) const TAG_LIMIT: u32 = (1 << TAG_BITS) - 1;

/// Numbers, one more than communicators that a rank can be in at one time.
const LIMIT: usize = 1 << (32 - TAG_BITS - 1);

/// The last number: of messages that belong to no communicator of the program. The others can be those of communicators.
pub(crate) const OF_NO_COMMUNICATOR: u32 = LIMIT as u32 - 1;

/// Of operations, the first ones are those of a whole communicator, by their number; then come persistent ones, which have theirs from
/// their making on: ranks may start them in different orders. The others are those of a group that makes a communicator, by
/// the tag that the program names. Numbers wrap after 2¹⁸: a persistent operation of a communicator has the same as one that was made
/// 2¹⁸ before it, also if that one is still there, and then messages of both may be taken for each other's.
const PERSISTENT: u32 = OF_GROUPS / 2;
const OF_GROUPS: u32 = 1 << (TAG_BITS - 1);

/// Numbers of communicators that this rank does not use, as bits. That of [`OF_NO_COMMUNICATOR`] says that it agrees to any.
pub(crate) struct Contexts(RefCell<Vec<u8>>);

/// A number that was taken; dropped, it is given back.
pub(crate) struct Context {
    number: u32,
    of: Rc<Contexts>,
}

impl Context {
    pub(crate) fn number(&self) -> u32 {
        self.number
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        self.of.0.borrow_mut()[self.number as usize / 8] |= 1 << (self.number % 8);
    }
}

impl Contexts {
    /// All that can be a communicator's can be used.
    pub(crate) fn new() -> Rc<Self> {
        Rc::new(Self(RefCell::new(alloc::vec![0xFF; LIMIT / 8])))
    }

    /// What a rank compares with others that wants no communicator to be made.
    pub(crate) fn refusal() -> Rc<Self> {
        Rc::new(Self(RefCell::new(alloc::vec![0; LIMIT / 8])))
    }

    /// All that can be used, to be compared with those of others.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        self.0.borrow().clone()
    }

    /// Keeps what can be used on both sides.
    pub(crate) fn common(bytes: &mut [u8], other: &[u8]) {
        bytes.iter_mut().zip(other).for_each(|(byte, other)| *byte &= other);
    }

    /// Whether no side has [refused](Self::refusal).
    pub(crate) fn are_agreed(bytes: &[u8]) -> bool {
        is_set(bytes, OF_NO_COMMUNICATOR)
    }

    /// A number that can be used on all sides, if there is one, by a place among them that is another one for most beginnings.
    pub(crate) fn first(bytes: &[u8], begin: u32) -> Option<u32> {
        /// Odd, so that each beginning has a number of its own while all are free.
        const SPREAD: u32 = 773;
        let limit = LIMIT as u32;
        let place = begin.wrapping_mul(SPREAD) % limit;
        let free = bytes.iter().map(|byte| byte.count_ones()).sum::<u32>() - u32::from(Self::are_agreed(bytes));
        (0..OF_NO_COMMUNICATOR).filter(|number| is_set(bytes, *number)).nth(place.checked_rem(free)? as usize)
    }

    /// Takes a number, if it can be used.
    pub(crate) fn take(self: &Rc<Self>, number: u32) -> Option<Context> {
        let byte = &mut self.0.borrow_mut()[number as usize / 8];
        let bit = 1 << (number % 8);
        (*byte & bit != 0).then(|| {
            *byte &= !bit;
            Context { number, of: self.clone() }
        })
    }
}

fn is_set(bits: &[u8], number: u32) -> bool {
    bits[number as usize / 8] & 1 << (number % 8) != 0
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
    context << (TAG_BITS + 1) | 1 << TAG_BITS | (number % PERSISTENT)
}

/// The tag of messages of a persistent operation of all, by its number among these.
pub(crate) fn of_persistent(context: u32, number: u32) -> u32 {
    of_operation(context, 0) | PERSISTENT | (number % PERSISTENT)
}

/// The tag of messages by which a group makes a communicator.
pub(crate) fn of_group(context: u32, tag: u32) -> u32 {
    context << (TAG_BITS + 1) | 1 << TAG_BITS | OF_GROUPS | (tag % OF_GROUPS)
}

/// The tag of offers of channels for partitioned messages.
pub(crate) fn of_offers() -> u32 {
    of_message(OF_NO_COMMUNICATOR, 0)
}

/// The tag of a channel of partitioned messages, from 1 to [`TAG_LIMIT`].
pub(crate) fn of_channel(channel: u32) -> u32 {
    of_message(OF_NO_COMMUNICATOR, channel)
}

/// A number that differs between operations of one communicator, and mostly between those of several: its last bits count.
pub(crate) fn mixed(tag: u32) -> u32 {
    tag.wrapping_add(61 * (tag >> (TAG_BITS + 1)))
}

/// Where to begin when a number was not to be had: what begins at different places goes on to different ones, not side by side.
pub(crate) fn another(begin: u32) -> u32 {
    /// Odd, and its bits are mixed (2³² by the golden ratio).
    const SPREAD: u32 = 0x9E37_79B1;
    begin.wrapping_add(1).wrapping_mul(SPREAD).rotate_left(16)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_used_again() {
        let (one, other) = (Contexts::new(), Contexts::new());
        let agree = |begin| {
            let mut bytes = one.bytes();
            Contexts::common(&mut bytes, &other.bytes());
            Contexts::first(&bytes, begin)
        };
        assert_eq!((agree(0), agree(1)), (Some(0), Some(773)));
        let first = one.take(0);
        assert!(first.is_some() && one.take(0).is_none());
        let others: Vec<_> = (1..9).map(|number| other.take(number)).collect();
        assert_eq!(agree(0), Some(9));
        drop(first);
        assert_eq!(agree(0), Some(0));
        let all: Vec<_> = (0..LIMIT as u32).map(|number| one.take(number)).collect();
        assert_eq!(agree(0), None);
        drop((all, others));
        assert_eq!(agree(0), Some(0));
    }

    #[test]
    fn one_refusal_is_enough() {
        let mut bytes = Contexts::new().bytes();
        assert!(Contexts::are_agreed(&bytes));
        Contexts::common(&mut bytes, &Contexts::refusal().bytes());
        assert!(!Contexts::are_agreed(&bytes));
    }

    /// What wants one of two numbers that are side by side soon finds one of its own.
    #[test]
    fn beginnings_part() {
        let mut bytes = alloc::vec![0; LIMIT / 8];
        bytes[40] = 0b11000;
        let begins = (0..8).flat_map(|comm| (0..8).map(move |number| mixed(of_operation(comm, number))));
        let begins: Vec<_> = begins.collect();
        for (at, one) in begins.iter().enumerate() {
            for other in &begins[..at] {
                let mut both = (*one, *other);
                let meet = |both: (u32, u32)| Contexts::first(&bytes, both.0) == Contexts::first(&bytes, both.1);
                let mut rounds = 0;
                while meet(both) {
                    both = (another(both.0), another(both.1));
                    rounds += 1;
                    assert!(rounds < 32, "{one:x} and {other:x}");
                }
            }
        }
    }

    #[test]
    fn tags_do_not_meet() {
        let Tag::Within(first, last) = wanted(7, None) else { panic!("a range") };
        assert_eq!((first, tag_of(last)), (of_message(7, 0), TAG_LIMIT as i32));
        assert!(of_operation(7, 0) > last && of_operation(7, PERSISTENT) == of_operation(7, 0));
        assert!(of_persistent(7, PERSISTENT) > of_operation(7, PERSISTENT - 1));
        assert!(of_group(7, 0) > of_persistent(7, PERSISTENT - 1) && of_group(7, u32::MAX) < of_message(8, 0));
        assert_eq!(wanted(LIMIT as u32 - 1, Some(TAG_LIMIT)), Tag::Is(0xFFEF_FFFF));
    }
}
