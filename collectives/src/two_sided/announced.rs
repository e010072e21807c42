//! The chunks of a message that was announced in another way: for [messages with tags](crate::matched).
//!
//! They are those of a message without a tag, but for the head: whoever announces a message has put the first part of its first
//! chunk before, and puts the rest, if there is one, and announces that, after it. The sender waits for its message, and nothing else
//! goes through its lines meanwhile. All this is between ranks of the world.

use core::ops::Range;

use hal::{Line, Messenger, Place, Poll, Reason, Span, TimedOut};

use super::chunks::Chunks;
use crate::{
    Comm, Error,
    mpb::{
        bytes::IN_WORD,
        signals::{ANSWER, CHUNK},
    },
};

/// Looks for what the other end does next, before all else that may come is looked at: it is busy with a copy. That leaves the code of the
/// copies in L1, from where what engines do would push it: with 8 looks 1 KB takes 15 µs on the emulated board, with 64 it takes 11.
const LOOKS_AT_A_CHUNK: usize = 64;

/// What a sender waits for.
const SENT: Reason = Reason::new("a message with a tag being received");

/// What sends chunks, and what receives them: they take what those of messages without tags take, and not what packets take.
const SENDING: Span = Span::new("send chunks");
const RECEIVING: Span = Span::new("receive chunks");

impl<C: Messenger> Comm<'_, C> {
    /// The chunks of a message of `len` bytes: few, as each takes a wait at both ends beside all that may come meanwhile.
    #[inline(never)]
    pub(crate) fn announced_chunks(&self, len: usize) -> Chunks {
        Chunks::fewest(len, self.mpb_layout().message_lines())
    }

    /// Puts the beginning of a message. It is to be announced next.
    pub(crate) fn begin_announced(&self, message: &[u8]) {
        let chunks = self.announced_chunks(message.len());
        self.put_bytes(&chunks, 0, 0..chunks.first_part(), message);
    }

    /// Sends the rest of a message, until rank `to` has received all of it; or until it `is_refused`.
    ///
    /// # Errors
    /// [`Error::TimedOut`] on a dying machine.
    pub(crate) fn send_announced(&self, message: &[u8], to: usize, is_refused: impl Fn() -> bool) -> Result<(), Error> {
        let _span = self.hal().span(SENDING.with(self.core_of(to)).of(message.len()));
        let chunks = self.announced_chunks(message.len());
        if !chunks.is_first_with_the_head() {
            self.put_bytes(&chunks, 0, chunks.first_part()..chunks.len_of(0), message);
            self.announce_chunk(to);
            self.alert(self.core_of(to));
        }
        if chunks.is_put_early(1) {
            self.put_whole(&chunks, 1, message);
        }
        for number in 1..=chunks.count() {
            if !self.take_when_turned(to, ANSWER, SENT, &is_refused)? {
                return Ok(());
            }
            if number < chunks.count() {
                if !chunks.is_put_early(number) {
                    self.put_whole(&chunks, number, message);
                }
                self.announce_chunk(to);
                self.alert(self.core_of(to));
            }
        }
        Ok(())
    }

    /// Receives all chunks of a message that was announced.
    ///
    /// # Errors
    /// [`Error::TimedOut`] on a dying machine.
    pub(crate) fn receive_announced(&self, message: &mut [u8], from: usize) -> Result<(), Error> {
        let _span = self.hal().span(RECEIVING.with(self.core_of(from)).of(message.len()));
        let chunks = self.announced_chunks(message.len());
        // The look that found the announcement has emptied L1, and nobody has read of these lines since: their owner waits.
        let first = chunks.first_part();
        self.get_part((&chunks, 0, 0..first), &Line::default(), message, from);
        for number in 0..chunks.count() {
            if number > 0 || !chunks.is_first_with_the_head() {
                self.take_when_turned(from, CHUNK, Reason::new("a message with a tag"), &|| false)?;
            }
            if number == 0 {
                self.get_part((&chunks, 0, first..chunks.len_of(0)), &Line::default(), message, from);
                self.turn_signal(ANSWER, from);
            } else {
                self.receive_chunk(&chunks, number, &Line::default(), message, from);
            }
        }
        Ok(())
    }

    /// Receives nothing of a message that was announced, whose sender is told so in another way. It has turned the bit of the first
    /// chunk, or will have when it learns that.
    pub(crate) fn refuse_announced(&self, len: usize, from: usize) {
        if !self.is_there_when_announced(len) {
            self.signals().take_turned(from, CHUNK);
        }
    }

    /// Whether the first chunk of a message is there when it is announced.
    pub(crate) fn is_there_when_announced(&self, len: usize) -> bool {
        self.announced_chunks(len).is_first_with_the_head()
    }

    /// The bytes of a message of `len` bytes that are in chunk `number`.
    pub(crate) fn announced_bytes(&self, len: usize, number: usize) -> Range<usize> {
        self.announced_chunks(len).bytes(number)
    }

    /// Receives a chunk that is there as a whole, of a message of `len` bytes, to where its bytes belong.
    pub(crate) fn receive_announced_chunk(&self, (len, number): (usize, usize), bytes: &mut [u8], from: usize) {
        let _span = self.hal().span(RECEIVING.with(self.core_of(from)).of(bytes.len()));
        let chunks = self.announced_chunks(len);
        if number > 0 || !chunks.is_first_with_the_head() {
            self.signals().take_turned(from, CHUNK);
        }
        // The poll that saw the packet, or the turned bit of a later chunk, has emptied L1, and nobody has read of these lines since.
        let is_early = chunks.is_answered_early(number);
        if is_early {
            self.turn_signal(ANSWER, from);
        }
        self.get_whole(&chunks, number, bytes, from);
        if !is_early {
            self.turn_signal(ANSWER, from);
        }
    }

    /// Where it shows that rank `from` has announced a further chunk.
    pub(crate) fn announced_place(&self, from: usize) -> Place {
        Place::Line(self.mpb_line(self.rank(), self.mpb_layout().signal_from(from).0))
    }

    /// Whether it has, by a poll of that place.
    pub(crate) fn is_announced(&self, poll: &Poll<'_>, place: usize, from: usize) -> bool {
        self.has_turned(poll, place, CHUNK, from)
    }

    /// Waits until a rank has turned a bit, and takes it; or until the message `is_refused`. Says whether it has. One copy of it, for both
    /// ends: together they then stay in L1.
    #[inline(never)]
    fn take_when_turned(
        &self,
        of: usize,
        bit: u8,
        reason: Reason,
        is_refused: &dyn Fn() -> bool,
    ) -> Result<bool, Error> {
        let pair = self.signals().pair(of);
        let turned = self.wait_soon_until(&pair.here(), LOOKS_AT_A_CHUNK, reason.from(pair.core()), |poll| {
            let has_turned = pair.has_turned(poll, bit);
            (has_turned || is_refused()).then_some(has_turned)
        });
        let has_turned = turned.map_err(|TimedOut { reason }| Error::TimedOut { reason })?;
        if has_turned {
            pair.take(bit);
        }
        Ok(has_turned)
    }

    fn has_turned(&self, poll: &Poll<'_>, place: usize, bit: u8, from: usize) -> bool {
        let byte = self.mpb_layout().signal_from(from).1;
        let found = (poll.line_word(place, byte / IN_WORD) >> (byte % IN_WORD * 8)) as u8;
        (found ^ self.signals().taken_from(from)) & bit != 0
    }
}
