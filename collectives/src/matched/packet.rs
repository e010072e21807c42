//! What ranks tell each other, and what it looks like on the way: four words, and bytes behind them.

use alloc::vec::Vec;

use hal::LINE_BYTES;

/// Bytes of the words.
const HEADER_BYTES: usize = 16;

/// The bit beside the kind of a packet that acknowledges another one.
const ACKNOWLEDGES: u8 = 0x80;

/// Lines of a packet at most.
pub(super) const MOST_LINES: usize = 8;

/// Bytes of payload of a packet at most: those of a message that goes at once.
pub(super) const SHORT_BYTES: usize = MOST_LINES * LINE_BYTES - HEADER_BYTES;

/// Lines of memory that `len` bytes take, and those of a copy of them: what is short stays in registers and L1.
pub(super) fn lines_of(len: usize) -> (usize, usize) {
    let lines = len.div_ceil(LINE_BYTES);
    (lines, if len <= SHORT_BYTES { 0 } else { lines })
}

/// What a packet is about.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    /// A message that comes at once.
    Eager,
    /// A message of `number` bytes that waits for a receive; the payload is the sender's number of it, or nothing if the sender waits,
    /// with the first bytes in its MPB.
    Announce,
    /// The message that the sender has given this number is received; the tag says how.
    Clear,
    /// The next `number` bytes of the message that is being received are where the tag says.
    Data,
    /// The bytes of the last [`Data`](Self::Data) were taken from there.
    Taken,
    /// `number` messages that were sent at once have been received.
    Credit,
}

impl Kind {
    const ALL: [Self; 6] = [Self::Eager, Self::Announce, Self::Clear, Self::Data, Self::Taken, Self::Credit];
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

    /// What is in line `index` of it, with its doorbell, and that of another packet that it acknowledges, if it does.
    pub(super) fn line(&self, index: usize, rung: u8, answered: Option<u8>) -> [u8; LINE_BYTES] {
        let mut line = [0; LINE_BYTES];
        let rest = if index == 0 {
            let kind = self.kind as u8 | if answered.is_some() { ACKNOWLEDGES } else { 0 };
            line[..4].copy_from_slice(&[kind, self.payload.len() as u8, rung, answered.unwrap_or(0)]);
            for (word, at) in [self.context, self.number, self.tag].into_iter().zip([4, 8, 12]) {
                line[at..at + 4].copy_from_slice(&word.to_le_bytes());
            }
            &mut line[HEADER_BYTES..]
        } else {
            &mut line[..]
        };
        let from = (index * LINE_BYTES).saturating_sub(HEADER_BYTES);
        let payload = &self.payload[from..self.payload.len().min(from + rest.len())];
        rest[..payload.len()].copy_from_slice(payload);
        line
    }
}

impl Packet {
    /// This packet, with a borrowed payload.
    pub(super) fn borrowed(&self) -> Packet<&[u8]> {
        let Self { kind, context, number, tag, ref payload } = *self;
        Packet { kind, context, number, tag, payload }
    }

    /// The doorbell of the packet with this first line.
    pub(super) fn rung(line: &[u8; LINE_BYTES]) -> u8 {
        line[2]
    }

    /// The packet with this first line, its doorbell, the one that it acknowledges, and how many bytes of payload are missing. The
    /// memory of the payload is what is spare of another one's.
    pub(super) fn from_line(line: &[u8; LINE_BYTES], mut payload: Vec<u8>) -> (Self, u8, Option<u8>, usize) {
        let word = |at: usize| u32::from_le_bytes(core::array::from_fn(|byte| line[at + byte]));
        let len = usize::from(line[1]);
        let here = len.min(LINE_BYTES - HEADER_BYTES);
        payload.clear();
        payload.reserve_exact(len);
        payload.extend_from_slice(&line[HEADER_BYTES..HEADER_BYTES + here]);
        let kind = Kind::ALL[usize::from(line[0] & !ACKNOWLEDGES)];
        (
            Self { kind, context: word(4), number: word(8), tag: word(12), payload },
            Self::rung(line),
            (line[0] & ACKNOWLEDGES != 0).then_some(line[3]),
            len - here,
        )
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
            let (mut found, rung, acknowledged, missing) = Packet::from_line(&packet.line(0, 5, answered), vec![7; 3]);
            assert_eq!((rung, acknowledged), (5, answered));
            let lines: Vec<_> = (1..packet.lines()).flat_map(|index| packet.line(index, 5, None)).collect();
            assert_eq!(lines.len(), missing.next_multiple_of(LINE_BYTES));
            found.payload.extend_from_slice(&lines[..missing]);
            assert_eq!(found, packet.to_owned());
            assert_eq!(found.borrowed(), packet);
        }
    }
}
