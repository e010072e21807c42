//! RCKMPI's protocol: each rank has a section of every MPB, into which it alone puts packets.
//!
//! A sender puts a packet of a message into its section of the receiver's MPB, behind the message's length and tag, and then its
//! number. The receiver polls for that in its own MPB, gets the packet from there, and says which number it has taken, by a word of
//! its own section of the *sender's* MPB. So a section has one packet at a time, and the more ranks there are, the shorter it is.
//! This is all that there is: no queues, no request objects, no choice among sources, for which the real one spends some
//! microseconds on each packet.

use alloc::{vec, vec::Vec};
use core::cell::RefCell;

use collectives::{Comm, Error, ProgramLines};
use hal::{Core, LINE_BYTES, Reason, Span};

/// Lines of an MPB, which RCKMPI divides among all ranks.
const MPB_LINES: usize = 256;

/// Words of a section: the packet of the other rank's that was taken last, and the number of this one's; then length and tag.
const TAKEN: usize = 0;
const NUMBER: usize = 1;
const LENGTH_BYTE: usize = 8;
const HEADER_BYTES: usize = 16;

/// Bytes of a message in the first line of a section.
const FIRST_BYTES: usize = LINE_BYTES - HEADER_BYTES;

/// Messages by sections.
pub(crate) struct Sections<'l, 'c, C: Core> {
    lines: ProgramLines<'l, 'c, C>,
    section_bytes: usize,
    /// Packets to and from each rank so far.
    sent: RefCell<Vec<u32>>,
    received: RefCell<Vec<u32>>,
}

impl<'l, 'c, C: Core> Sections<'l, 'c, C> {
    /// Divides as many lines as there are, and not more than RCKMPI has. Collective.
    pub(crate) fn new(comm: &'l Comm<'c, C>) -> Result<Self, Error> {
        let size = comm.size();
        let mut lines = comm.reserve_lines(0)?;
        let of_each = (lines.limit_bytes() / LINE_BYTES).min(MPB_LINES) / size;
        lines.extend(of_each * size)?;
        let zeros = || RefCell::new(vec![0; size]);
        Ok(Self { lines, section_bytes: of_each * LINE_BYTES, sent: zeros(), received: zeros() })
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
            let mut head = [0; LINE_BYTES - LENGTH_BYTE];
            head[..4].copy_from_slice(&(message.len() as u32).to_le_bytes());
            head[4..8].copy_from_slice(&tag.to_le_bytes());
            head[8..8 + first.len()].copy_from_slice(first);
            let section = me * self.section_bytes;
            self.lines.put(&head[..8 + first.len()], to, section + LENGTH_BYTE)?;
            if !rest.is_empty() {
                self.lines.put(rest, to, section + LINE_BYTES)?;
            }
            self.lines.store_word(to, self.word(me, NUMBER), *number)?;
        }
        Ok(())
    }

    /// Receives a message of a length and a tag that are known.
    pub(crate) fn receive(&self, message: &mut [u8], from: usize, tag: u32) -> Result<(), Error> {
        let (comm, len) = (self.lines.comm(), message.len());
        let me = comm.rank();
        let _span = comm.hal().span(Span::new("receive by sections").of(len));
        let number = &mut self.received.borrow_mut()[from];
        for piece in message.chunks_mut(self.room()) {
            *number += 1;
            let (here, reason) = (self.word(from, NUMBER), Reason::new("a packet"));
            self.lines.wait_for_word(here, reason, |found| found == *number)?;
            let at_most = piece.len().min(FIRST_BYTES);
            let (first, rest) = piece.split_at_mut(at_most);
            let (section, mut head) = (from * self.section_bytes, [0; LINE_BYTES - LENGTH_BYTE]);
            let head = &mut head[..8 + first.len()];
            self.lines.get(me, section + LENGTH_BYTE, head)?;
            let (header, bytes) = head.split_at(8);
            let expected = [(len as u32).to_le_bytes(), tag.to_le_bytes()];
            assert_eq!(header, expected.as_flattened(), "another message of rank {from}");
            first.copy_from_slice(bytes);
            if !rest.is_empty() {
                self.lines.get(me, section + LINE_BYTES, rest)?;
            }
            self.lines.store_word(from, self.word(me, TAKEN), *number)?;
        }
        Ok(())
    }
}
