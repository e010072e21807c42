//! What ranks tell each other, and what it looks like on the way: four words, and up to 16 bytes.

use hal::LINE_BYTES;

/// Bytes of payload of a packet.
pub(super) const PAYLOAD_BYTES: usize = LINE_BYTES - 16;

/// What a packet is about.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    /// A message of `number` bytes that comes at once: in this packet, and in those that follow.
    Eager,
    /// More bytes of it.
    More,
    /// A message of `number` bytes that waits for a receive; the payload is the sender's number of it.
    Announce,
    /// The message that the sender has given this number is received; the tag says how.
    Clear,
    /// The next `number` bytes of the message that is being received are in a half of the sender's buffer, which the tag says.
    Data,
    /// They were taken from there.
    Taken,
    /// So many messages that came at once were received.
    Credit,
}

impl Kind {
    const ALL: [Self; 7] =
        [Self::Eager, Self::More, Self::Announce, Self::Clear, Self::Data, Self::Taken, Self::Credit];
}

/// A packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Packet {
    pub(super) kind: Kind,
    pub(super) context: u32,
    pub(super) number: u32,
    pub(super) tag: u32,
    len: u8,
    payload: [u8; PAYLOAD_BYTES],
}

impl Packet {
    pub(super) fn new(kind: Kind, number: u32) -> Self {
        Self { kind, context: 0, number, tag: 0, len: 0, payload: [0; PAYLOAD_BYTES] }
    }

    pub(super) fn tagged(self, context: u32, tag: u32) -> Self {
        Self { context, tag, ..self }
    }

    /// With the first of these bytes, as many as there is room for.
    pub(super) fn carrying(mut self, bytes: &[u8]) -> Self {
        let len = bytes.len().min(PAYLOAD_BYTES);
        self.payload[..len].copy_from_slice(&bytes[..len]);
        self.len = len as u8;
        self
    }

    pub(super) fn payload(&self) -> &[u8] {
        &self.payload[..usize::from(self.len)]
    }

    pub(super) fn to_bytes(self) -> [u8; LINE_BYTES] {
        let mut bytes = [0; LINE_BYTES];
        bytes[..4].copy_from_slice(&[self.kind as u8, self.len, 0, 0]);
        for (index, word) in [self.context, self.number, self.tag].into_iter().enumerate() {
            bytes[4 + index * 4..][..4].copy_from_slice(&word.to_le_bytes());
        }
        bytes[LINE_BYTES - PAYLOAD_BYTES..].copy_from_slice(&self.payload);
        bytes
    }

    pub(super) fn from_bytes(bytes: &[u8; LINE_BYTES]) -> Self {
        let word = |index: usize| u32::from_le_bytes(core::array::from_fn(|byte| bytes[4 + index * 4 + byte]));
        Self {
            kind: Kind::ALL[usize::from(bytes[0])],
            context: word(0),
            number: word(1),
            tag: word(2),
            len: bytes[1],
            payload: core::array::from_fn(|byte| bytes[LINE_BYTES - PAYLOAD_BYTES + byte]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_come_back_as_they_were() {
        for (kind, len) in Kind::ALL.into_iter().zip([0, 1, 8, 15, 16, 4, 3]) {
            let packet = Packet::new(kind, 0xFFFF_FFFE).tagged(3, u32::MAX).carrying(&[0xA5; PAYLOAD_BYTES][..len]);
            assert_eq!(Packet::from_bytes(&packet.to_bytes()), packet);
            assert_eq!(packet.payload().len(), len);
        }
        assert_eq!(Packet::new(Kind::More, 0).carrying(&[1; 40]).payload(), [1; PAYLOAD_BYTES]);
    }
}
