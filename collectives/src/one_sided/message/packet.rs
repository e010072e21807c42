//! Packets: what ranks tell each other, and what it looks like on the way.

use alloc::vec::Vec;

use hal::{Region, kind};

/// Bytes of a packet's header, which the payload follows.
pub(super) const HEADER_BYTES: usize = 16;

/// Data that is longer than a packet is cut at multiples of this many bytes, so that elements whose size divides it stay
/// whole.
pub const GRANULE_BYTES: usize = 16;

/// What a packet is about.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    /// The sender exposes its part to the receiver.
    Post,
    /// The sender's epoch to the receiver is over; only where no other packet could say so.
    Complete,
    /// Bytes for the receiver's part.
    Put,
    /// A request for as many bytes of the receiver's part as the argument says.
    Get,
    /// Operands for the receiver's part; the argument is the operation's code.
    Accumulate,
    /// Operands as in `Accumulate`, and a request for what was there before.
    Fetch,
    /// An element that is expected and its replacement, and a request for what was there before.
    Swap,
    /// Bytes that were requested.
    Reply,
    /// A notification; the argument says which.
    Notify,
}

impl Kind {
    const ALL: [Self; 9] = [
        Self::Post,
        Self::Complete,
        Self::Put,
        Self::Get,
        Self::Accumulate,
        Self::Fetch,
        Self::Swap,
        Self::Reply,
        Self::Notify,
    ];
}

/// The header of a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Header {
    pub(super) kind: Kind,
    /// Whether the sender's access epoch is over with this packet.
    pub(super) last: bool,
    /// Bytes of payload.
    pub(super) len: u16,
    pub(super) window: u32,
    /// Where in the part, in bytes.
    pub(super) offset: u32,
    pub(super) argument: u32,
}

impl Header {
    pub(super) fn new(kind: Kind, window: u32) -> Self {
        Self { kind, last: false, len: 0, window, offset: 0, argument: 0 }
    }

    pub(super) fn at(self, offset: usize) -> Self {
        Self { offset: offset as u32, ..self }
    }

    pub(super) fn with(self, argument: u32) -> Self {
        Self { argument, ..self }
    }

    pub(super) fn to_words(self) -> [u32; HEADER_BYTES / 4] {
        let first = u32::from(self.len) << 16 | u32::from(self.last) << 8 | self.kind as u32;
        [first, self.window, self.offset, self.argument]
    }

    /// The header that these words were made of.
    pub(super) fn from_words([first, window, offset, argument]: [u32; HEADER_BYTES / 4]) -> Self {
        let kind = Kind::ALL[first as usize & 0xFF];
        Self { kind, last: first >> 8 & 1 == 1, len: (first >> 16) as u16, window, offset, argument }
    }

    /// The header that a packet begins with.
    pub(super) fn from_bytes(packet: &[u8]) -> Self {
        let word = |index: usize| core::array::from_fn(|byte| packet[index * 4 + byte]);
        Self::from_words(core::array::from_fn(|index| u32::from_le_bytes(word(index))))
    }

    /// Header and payload as bytes.
    pub(super) fn followed_by(self, payload: &[u8]) -> Vec<u8> {
        let mut packet = Vec::with_capacity(HEADER_BYTES + payload.len());
        self.to_words().iter().for_each(|word| packet.extend(word.to_le_bytes()));
        packet.extend(payload);
        packet
    }
}

/// Where the payload of a transfer comes from.
pub(super) enum Body {
    /// From a copy.
    Bytes(Vec<u8>),
    /// From this rank's part of a window at the header's offset, as it is when a packet has room for it; with its length in bytes.
    Part(Region<kind::Combined>, usize),
}

/// Something that goes to a rank in one packet or several.
pub(super) struct Transfer {
    /// The header of the packets, except for what depends on the piece.
    pub(super) header: Header,
    pub(super) body: Body,
    /// Bytes of the body that are on their way.
    pub(super) sent: usize,
}

impl Transfer {
    pub(super) fn new(header: Header, body: Body) -> Self {
        Self { header, body, sent: 0 }
    }

    /// One packet that is a header only.
    pub(super) fn bare(header: Header) -> Self {
        Self::new(header, Body::Bytes(Vec::new()))
    }

    pub(super) fn len(&self) -> usize {
        match &self.body {
            Body::Bytes(bytes) => bytes.len(),
            Body::Part(_, len) => *len,
        }
    }

    /// The header of the next packet, with at most `capacity` bytes of payload.
    pub(super) fn next_header(&self, capacity: usize) -> Header {
        let len = capacity.min(self.len() - self.sent);
        let last = self.header.last && self.sent + len == self.len();
        Header { last, len: len as u16, ..self.header }.at(self.header.offset as usize + self.sent)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_come_back_as_they_were() {
        for kind in Kind::ALL {
            let header = Header { kind, last: true, len: 5040, window: 7, offset: u32::MAX, argument: 9 };
            assert_eq!(Header::from_words(header.to_words()), header);
        }
    }

    #[test]
    fn only_the_last_piece_is_the_last_packet() {
        let header = Header { last: true, ..Header::new(Kind::Put, 0) }.at(100);
        let mut transfer = Transfer::new(header, Body::Bytes(Vec::from([0; 50])));
        let mut pieces = Vec::new();
        while transfer.sent < transfer.len() {
            let piece = transfer.next_header(32);
            transfer.sent += usize::from(piece.len);
            pieces.push((piece.offset, piece.len, piece.last));
        }
        assert_eq!(pieces, [(100, 32, false), (132, 18, true)]);
    }
}
