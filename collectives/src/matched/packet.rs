//! What ranks tell each other, and what it looks like on the way: four words, and bytes. The words are the last ones of the first line:
//! between nodes of a cluster whoever finds the last word of a line has the others, so that one tells whether a packet is there.

use alloc::vec::Vec;

use hal::{LINE_BYTES, Line};

/// Bytes of the words.
const HEADER_BYTES: usize = 16;

/// Bytes of payload in the line with them.
const HEAD_BYTES: usize = LINE_BYTES - HEADER_BYTES;

/// The bit beside the kind of a packet that acknowledges another one.
const ACKNOWLEDGES: u8 = 0x80;

/// Lines of a packet at most.
pub(super) const MOST_LINES: usize = 8;

/// Bytes of payload of an announcement whose sender waits: the credits.
pub(super) const WAITING_BYTES: usize = 1;

/// Bytes of payload of a packet at most: those of a message that goes at once.
pub(super) const SHORT_BYTES: usize = MOST_LINES * LINE_BYTES - HEADER_BYTES;

/// Lines of memory of a payload that are not paid for by the put or get of the lines behind the first one.
pub(super) fn lines_of_head(len: usize) -> usize {
    len.div_ceil(LINE_BYTES) - len.saturating_sub(HEAD_BYTES).div_ceil(LINE_BYTES)
}

/// Lines of memory that `len` bytes take, and those that a copy of them is written to: a short one stays in L1. What puts the copy pays
/// for the reads of it.
pub(super) fn lines_of(len: usize) -> (usize, usize) {
    let lines = len.div_ceil(LINE_BYTES);
    (lines, if len <= SHORT_BYTES { 0 } else { lines })
}

/// What a packet is about.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    /// A message that comes at once, with which so many credits go back as `number` says.
    Eager,
    /// A message of `number` bytes that waits for a receive. The payload is how many credits go back, in a byte, and the sender's number of
    /// the message, or nothing else if the sender waits, with the first bytes in its MPB.
    Announce,
    /// The message that the sender has given this number is received; the tag says how.
    Clear,
    /// The next `number` bytes of the message that is being received are where the tag says.
    Data,
    /// The bytes of the last [`Data`](Self::Data) were taken from there.
    Taken,
    /// `number` credits go back.
    Credit,
    /// The message that is number `number` of its sender's here is not to be received, if it still waits for a receive.
    Withdraw,
    /// The answer to [`Withdraw`](Self::Withdraw): the tag is 1 if the message waited, and is dropped now.
    Withdrawn,
}

impl Kind {
    const ALL: [Self; 8] = [
        Self::Eager,
        Self::Announce,
        Self::Clear,
        Self::Data,
        Self::Taken,
        Self::Credit,
        Self::Withdraw,
        Self::Withdrawn,
    ];
}

/// A packet, whose payload is its own or, as long as it is on its way out at once, somebody else's.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Packet<P = Vec<u8>> {
    pub(super) kind: Kind,
    pub(super) context: u32,
    pub(super) number: u32,
    pub(super) tag: u32,
    pub(super) payload: P,
}

impl<'p> Packet<&'p [u8]> {
    pub(super) fn new(kind: Kind, number: u32) -> Self {
        Self { kind, context: 0, number, tag: 0, payload: &[] }
    }

    pub(super) fn tagged(self, context: u32, tag: u32) -> Self {
        Self { context, tag, ..self }
    }

    /// With these bytes, of which there is room for [`SHORT_BYTES`].
    pub(super) fn carrying(self, payload: &'p [u8]) -> Self {
        debug_assert!(payload.len() <= SHORT_BYTES);
        Self { payload, ..self }
    }

    /// This packet with a payload of its own.
    pub(super) fn to_owned(&self) -> Packet {
        let Self { kind, context, number, tag, payload } = *self;
        Packet { kind, context, number, tag, payload: payload.to_vec() }
    }

    /// Lines that it takes.
    pub(super) fn lines(&self) -> usize {
        (HEADER_BYTES + self.payload.len()).div_ceil(LINE_BYTES)
    }

    /// Its first line, with its stamp, and the count of packets that it acknowledges, if it does.
    #[inline]
    pub(super) fn head(&self, stamp: u8, answered: Option<u8>) -> [u32; LINE_BYTES / 4] {
        let kind = self.kind as u8 | if answered.is_some() { ACKNOWLEDGES } else { 0 };
        let last = u32::from_le_bytes([kind, self.payload.len() as u8, stamp, answered.unwrap_or(0)]);
        // A word at a time, none of them in a loop: that is less than a call of memcpy for so few, which the compiler makes of a loop.
        let (whole, rest) = self.payload[..self.payload.len().min(HEAD_BYTES)].as_chunks();
        let word = |index| whole.get(index).map_or(0, |bytes| u32::from_le_bytes(*bytes));
        let mut head = [word(0), word(1), word(2), word(3), self.context, self.number, self.tag, last];
        if !rest.is_empty() {
            head[whole.len()] = rest.iter().rev().fold(0, |word, byte| word << 8 | u32::from(*byte));
        }
        head
    }

    /// What is in the lines behind the first one, if there are some.
    #[inline]
    pub(super) fn further(&self) -> Option<&[u8]> {
        self.payload.get(HEAD_BYTES..).filter(|further| !further.is_empty())
    }
}

impl Packet {
    /// This packet, with a borrowed payload.
    pub(super) fn borrowed(&self) -> Packet<&[u8]> {
        let Self { kind, context, number, tag, ref payload } = *self;
        Packet { kind, context, number, tag, payload }
    }

    /// The stamp of the packet with this first line.
    #[inline]
    pub(super) fn stamp(line: &Line) -> u8 {
        line.word(7).to_le_bytes()[2]
    }

    /// What the words of a packet say, and those of its bytes that are in the line with them. The memory of the payload is
    /// what is spare of another one's.
    #[inline]
    pub(super) fn from_line(line: &Line, mut payload: Vec<u8>) -> (Self, Words) {
        let words = Words::of(line);
        payload.clear();
        payload.reserve_exact(words.len);
        payload.extend_from_slice(words.with_head(line));
        (Self { kind: words.kind, context: words.context, number: words.number, tag: words.tag, payload }, words)
    }
}

/// What the words of a packet say.
pub(super) struct Words {
    pub(super) kind: Kind,
    pub(super) context: u32,
    pub(super) number: u32,
    pub(super) tag: u32,
    /// Bytes of the payload.
    pub(super) len: usize,
    pub(super) stamp: u8,
    /// The count of packets that it acknowledges, if it does.
    pub(super) answered: Option<u8>,
}

impl Words {
    #[inline]
    pub(super) fn of(line: &Line) -> Self {
        let [kind, len, stamp, count] = line.word(7).to_le_bytes();
        Self {
            kind: Kind::ALL[usize::from(kind & !ACKNOWLEDGES)],
            context: line.word(4),
            number: line.word(5),
            tag: line.word(6),
            len: len.into(),
            stamp,
            answered: (kind & ACKNOWLEDGES != 0).then_some(count),
        }
    }

    /// Copies the first bytes of the payload, those that are in the packet's first line, to as many. A word at a time, as they were put
    /// there: the compiler would call `memcpy` for them.
    #[inline]
    pub(super) fn copy_with_head(line: &Line, to: &mut [u8]) {
        let (whole, rest) = to.as_chunks_mut();
        let mut copy = |index| {
            if let Some(bytes) = whole.get_mut(index) {
                *bytes = line.word(index).to_le_bytes();
            }
        };
        copy(0);
        copy(1);
        copy(2);
        copy(3);
        if !rest.is_empty() {
            let first = whole.len() * size_of::<u32>();
            rest.copy_from_slice(&line.0[first..first + rest.len()]);
        }
    }

    /// Those of its bytes that are in the line with them.
    #[inline]
    pub(super) fn with_head<'l>(&self, line: &'l Line) -> &'l [u8] {
        &line.0[..self.len.min(HEAD_BYTES)]
    }
}

const _: () = assert!(SHORT_BYTES <= u8::MAX as usize, "a length fits its byte");

#[cfg(test)]
mod tests {
    use alloc::vec;

    use super::*;

    #[test]
    fn packets_come_back_as_they_were() {
        for (kind, len) in Kind::ALL.into_iter().cycle().zip([0, 1, 8, 15, 16, 17, 48, 49, 100, SHORT_BYTES]) {
            let payload: Vec<u8> = (0..len as u8).collect();
            let packet = Packet::new(kind, 0xFFFF_FFFE).tagged(3, u32::MAX).carrying(&payload);
            let answered = (len % 2 == 1).then_some(0xF0 | len as u8);
            let mut head = Line::default();
            head.0.copy_from_slice(bytemuck::cast_slice(&packet.head(5, answered)));
            let (mut found, words) = Packet::from_line(&head, vec![7; 3]);
            assert_eq!((words.stamp, words.answered, words.len), (5, answered, len));
            let mut copied = vec![0; len.min(HEAD_BYTES)];
            Words::copy_with_head(&head, &mut copied);
            assert_eq!(copied, words.with_head(&head));
            let further = packet.further().unwrap_or_default();
            assert_eq!(further.len().div_ceil(LINE_BYTES), packet.lines() - 1);
            found.payload.extend_from_slice(further);
            assert_eq!(found, packet.to_owned());
            assert_eq!(found.borrowed(), packet);
        }
    }
}
