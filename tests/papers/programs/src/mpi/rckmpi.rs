//! RCKMPI's protocol: each rank has a section of every MPB, into which it alone puts packets.
//!
//! A sender puts a packet of a message into its section of the receiver's MPB, behind the message's length, context and tag, and then its
//! number. The receiver polls for that in its own MPB, gets the packet from there, and says which number it has taken, by a word of
//! its own section of the *sender's* MPB. So a section has one packet at a time, and the more ranks there are, the shorter it is.
//!
//! What MPI demands of whoever receives is there, and no more: a message is for a receive if context and tag are, it may be shorter than
//! the buffer, and if it is for another receive it is kept for that. There are no request objects, no choice among sources and no engine that
//! looks at all sections, for which the real one, a channel of MPICH, spends some microseconds on each packet.

use alloc::{collections::VecDeque, vec, vec::Vec};
use core::cell::RefCell;

use collectives::{Comm, Error, ProgramLines};
use hal::{Core, LINE_BYTES, Reason, Span};

/// Lines of an MPB, which RCKMPI divides among all ranks.
const MPB_LINES: usize = 256;

/// Words of a section: the packet of the other rank's that was taken last, and the number of this one's; then length, context and tag.
const TAKEN: usize = 0;
const NUMBER: usize = 1;
const LENGTH_BYTE: usize = 8;
const HEADER_BYTES: usize = 20;

/// The context of the communicator of all ranks.
const CONTEXT: u32 = 0;

/// What is got of a packet at first: its header, and what is in the line with that.
type Head = [u8; LINE_BYTES - LENGTH_BYTE];

/// Bytes of the header in it.
const OF_HEADER: usize = HEADER_BYTES - LENGTH_BYTE;

/// Bytes of a message in the first line of a section.
const FIRST_BYTES: usize = LINE_BYTES - HEADER_BYTES;

/// A message that has come before its receive: sender, context and tag, and bytes.
type Unexpected = (usize, [u32; 2], Vec<u8>);

/// Messages by sections.
pub(crate) struct Sections<'l, 'c, C: Core> {
    lines: ProgramLines<'l, 'c, C>,
    section_bytes: usize,
    /// Packets to and from each rank so far.
    sent: RefCell<Vec<u32>>,
    received: RefCell<Vec<u32>>,
    /// Messages that have come before their receive.
    unexpected: RefCell<VecDeque<Unexpected>>,
}

impl<'l, 'c, C: Core> Sections<'l, 'c, C> {
    /// Divides as many lines as there are, and not more than RCKMPI has. Collective.
    pub(crate) fn new(comm: &'l Comm<'c, C>) -> Result<Self, Error> {
        let size = comm.size();
        let mut lines = comm.reserve_lines(0)?;
        let of_each = (lines.limit_bytes() / LINE_BYTES).min(MPB_LINES) / size;
        lines.extend(of_each * size)?;
        let zeros = || RefCell::new(vec![0; size]);
        Ok(Self {
            lines,
            section_bytes: of_each * LINE_BYTES,
            sent: zeros(),
            received: zeros(),
            unexpected: RefCell::default(),
        })
    }

    /// Bytes of a message in a packet.
    fn room(&self) -> usize {
        self.section_bytes - HEADER_BYTES
    }

    /// The word of the section of a rank, in any MPB.
    fn word(&self, of: usize, word: usize) -> usize {
        of * self.section_bytes / size_of::<u32>() + word
    }

    /// Sends a message: it is under way when this returns.
    pub(crate) fn send(&self, message: &[u8], to: usize, tag: u32) -> Result<(), Error> {
        let comm = self.lines.comm();
        let me = comm.rank();
        let _span = comm.hal().span(Span::new("send by sections").with(comm.core_of(to)).of(message.len()));
        let number = &mut self.sent.borrow_mut()[to];
        for piece in message.chunks(self.room()) {
            let (free, reason) = (self.word(to, TAKEN), Reason::new("a packet being taken"));
            self.lines.wait_for_word(free, reason, |taken| taken == *number)?;
            *number += 1;
            let (first, rest) = piece.split_at(piece.len().min(FIRST_BYTES));
            let mut head: Head = [0; _];
            for (word, at) in [message.len() as u32, CONTEXT, tag].into_iter().zip([0, 4, 8]) {
                head[at..at + 4].copy_from_slice(&word.to_le_bytes());
            }
            head[OF_HEADER..OF_HEADER + first.len()].copy_from_slice(first);
            let section = me * self.section_bytes;
            self.lines.put(&head[..OF_HEADER + first.len()], to, section + LENGTH_BYTE)?;
            if !rest.is_empty() {
                self.lines.put(rest, to, section + LINE_BYTES)?;
            }
            self.lines.store_word(to, self.word(me, NUMBER), *number)?;
        }
        Ok(())
    }

    /// Receives the first message of a rank with a tag, which may be shorter than `message`. Returns how long it is.
    pub(crate) fn receive(&self, message: &mut [u8], from: usize, tag: u32) -> Result<usize, Error> {
        let _span = self.lines.comm().hal().span(Span::new("receive by sections").of(message.len()));
        let wanted = [CONTEXT, tag];
        let fitting = |len: usize, room: usize| {
            if len <= room { Ok(len) } else { Err(Error::Truncated { from, tag, sent: len, room }) }
        };
        if let Some(bytes) = self.take_unexpected(from, wanted) {
            let len = fitting(bytes.len(), message.len())?;
            message[..len].copy_from_slice(&bytes);
            return Ok(len);
        }
        loop {
            let head = self.await_packet(from)?;
            let word = |at: usize| head[at..].first_chunk().map_or(0, |word| u32::from_le_bytes(*word));
            let (len, label) = (word(0) as usize, [word(4), word(8)]);
            if label == wanted {
                let len = fitting(len, message.len())?;
                self.get_message(&mut message[..len], from, head)?;
                return Ok(len);
            }
            let mut bytes = vec![0; len];
            self.get_message(&mut bytes, from, head)?;
            self.unexpected.borrow_mut().push_back((from, label, bytes));
        }
    }

    /// The first message that has come before its receive and is for this one.
    fn take_unexpected(&self, from: usize, wanted: [u32; 2]) -> Option<Vec<u8>> {
        let mut unexpected = self.unexpected.borrow_mut();
        let at = unexpected.iter().position(|(of, label, _)| (*of, *label) == (from, wanted))?;
        unexpected.remove(at).map(|(.., bytes)| bytes)
    }

    /// Waits for the next packet of a rank, and gets its first line.
    fn await_packet(&self, from: usize) -> Result<Head, Error> {
        let next = self.received.borrow()[from] + 1;
        self.lines.wait_for_word(self.word(from, NUMBER), Reason::new("a packet"), |found| found == next)?;
        let mut head = [0; _];
        self.lines.get(self.lines.comm().rank(), from * self.section_bytes + LENGTH_BYTE, &mut head)?;
        Ok(head)
    }

    /// Gets a message of which the first packet has come, and says of each packet that it is taken.
    fn get_message(&self, message: &mut [u8], from: usize, mut head: Head) -> Result<(), Error> {
        let me = self.lines.comm().rank();
        for (number, piece) in message.chunks_mut(self.room()).enumerate() {
            if number > 0 {
                head = self.await_packet(from)?;
            }
            let (first, rest) = piece.split_at_mut(piece.len().min(FIRST_BYTES));
            first.copy_from_slice(&head[OF_HEADER..OF_HEADER + first.len()]);
            if !rest.is_empty() {
                self.lines.get(me, from * self.section_bytes + LINE_BYTES, rest)?;
            }
            let taken = &mut self.received.borrow_mut()[from];
            *taken += 1;
            self.lines.store_word(from, self.word(me, TAKEN), *taken)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use hal::sim::Machine;

    use super::*;

    /// Of several messages the first that fits is received, whatever came before it, and one that is too long is refused.
    #[test]
    fn messages_are_matched_by_tag() {
        let outcome = Machine::scc(2).run(|core| {
            let comm = Comm::world(core, regions::of_a_test()).unwrap();
            let sections = Sections::new(&comm).unwrap();
            if comm.rank() == 0 {
                [(3, 1), (9000, 2), (20, 1), (4, 3)]
                    .into_iter()
                    .for_each(|(len, tag)| sections.send(&vec![tag as u8; len], 1, tag).unwrap());
                return;
            }
            let mut message = vec![0; 10_000];
            let mut receive = |room: usize, tag| {
                let received = sections.receive(&mut message[..room], 0, tag);
                received.map(|len| (len, message[..len].iter().all(|byte| u32::from(*byte) == tag)))
            };
            assert_eq!(receive(10_000, 2), Ok((9000, true)));
            assert_eq!([receive(100, 1), receive(20, 1)], [Ok((3, true)), Ok((20, true))]);
            assert_eq!(receive(3, 3), Err(Error::Truncated { from: 0, tag: 3, sent: 4, room: 3 }));
        });
        outcome.unwrap();
    }
}
