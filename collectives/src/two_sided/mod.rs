//! Two-sided messages through the MPB: a rendezvous, as RCCE's (local put, remote get).
//!
//! The sender puts a chunk into its own MPB and tells the receiver; the receiver gets it from there and answers; so
//! on, chunk by chunk. A send returns when the message has been received, which leaves the sender's staging quiescent;
//! that goes for messages of 0 bytes, too.
//!
//! **The length goes along**, in 4 bytes before the first byte of the message. Where the last line has no room for
//! these, they cost a line; staging has one more for them, so that they never cost a chunk. Lengths are compared
//! modulo 2³², more than any core's memory. A receiver that wants another length refuses: it puts that in place of the
//! length, and both ends return [`Error::MessageLength`].
//!
//! **Two bits** of the byte that a rank [signals](crate::mpb::signals) another with belong to messages: one turns over with
//! each chunk, one with each answer. More than one of either cannot be under way, and neither can be taken for the
//! other, or for a signal of a collective operation: ranks that send to each other and never receive wait for ever,
//! and are reported. A refusal turns both at once. So does a receiver that answers and then sends; therefore the
//! sender, when it sees both, looks whether the length in its own MPB is still the one that it has put there; and the
//! receiver waits until it has looked.
//!
//! Per chunk: its lines put once and read once, and two signals.

#[cfg(test)]
mod exploration;
pub mod stepwise;
mod within;

use core::{iter, ops::Range};

use hal::{Deadline, LINE_BYTES, Messenger, Mpb, MpbLine, Place, Poll, Reason, Span, TimedOut, Wait};

use crate::{
    Comm, Error,
    mpb::{
        bytes::IN_WORD,
        signals::{ANSWER, CHUNK},
    },
};

/// Bytes of the length before a message.
const HEADER: usize = 4;

/// What the receiver of a chunk says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Answer {
    Taken,
    /// The receiver wants a message of another length.
    Refused {
        wanted: u32,
    },
}

impl<C: Messenger> Comm<'_, C> {
    /// Sends `message` to rank `to`, which has to receive as many bytes. Returns when it has.
    ///
    /// # Errors
    /// [`Error::NoSuchRank`], [`Error::SelfMessage`]. [`Error::MessageLength`] if the receiver wants another length,
    /// at both ends, with nothing received.
    pub fn send(&self, message: &[u8], to: usize) -> Result<(), Error> {
        self.check_peer(to)?;
        let hal = self.hal();
        let _span = hal.span(Span::new("send").with(self.core_of(to)).of(message.len()));
        let (lines, header) = (self.message_lines(), (message.len() as u32).to_le_bytes());
        let staging = self.mpb_line(self.rank(), lines.start);
        for Chunk { start, len, memory_lines } in chunks(message.len(), lines.len()) {
            hal.account_memory(memory_lines, 0);
            hal.put_made(len, staging, |index, line| {
                let mut from = start + index * LINE_BYTES;
                let mut rest = line;
                if from == 0 {
                    rest[..HEADER].copy_from_slice(&header);
                    (from, rest) = (HEADER, &mut rest[HEADER..]);
                }
                rest.copy_from_slice(&message[from - HEADER..][..rest.len()]);
            });
            self.turn_signal(CHUNK, to);
            let length = (start == 0).then_some((staging, header));
            if let Answer::Refused { wanted } = self.take_answer(to, length) {
                return Err(Error::MessageLength {
                    from: self.rank(),
                    to,
                    sent: message.len(),
                    wanted: wanted as usize,
                });
            }
        }
        Ok(())
    }

    /// Receives a message of exactly `message.len()` bytes from rank `from`.
    ///
    /// # Errors
    /// [`Error::NoSuchRank`], [`Error::SelfMessage`]. [`Error::MessageLength`] if the message has another length, at
    /// both ends, with nothing received.
    pub fn receive(&self, message: &mut [u8], from: usize) -> Result<(), Error> {
        self.check_peer(from)?;
        let hal = self.hal();
        let _span = hal.span(Span::new("receive").with(self.core_of(from)).of(message.len()));
        let lines = self.message_lines();
        let staging = self.mpb_line(from, lines.start);
        let (wanted, mut sent) = (message.len() as u32, message.len() as u32);
        for Chunk { start, len, memory_lines } in chunks(message.len(), lines.len()) {
            let reason = Reason::new("a message");
            let _ = self.await_turned(from, None, reason, |_, turned| (turned & CHUNK != 0).then_some(()));
            self.signals().take_turned(from, CHUNK);
            hal.get_used(staging, len, |index, line| {
                let mut to = start + index * LINE_BYTES;
                let mut rest = line;
                if let (0, Some((length, data))) = (to, line.split_first_chunk()) {
                    sent = u32::from_le_bytes(*length);
                    (to, rest) = (HEADER, data);
                }
                if sent == wanted {
                    message[to - HEADER..][..rest.len()].copy_from_slice(rest);
                }
            });
            if sent != wanted {
                hal.store(staging, 0, &wanted.to_le_bytes());
                self.turn_signal(CHUNK | ANSWER, from);
                self.take_answer(from, None);
                return Err(Error::MessageLength { from, to: self.rank(), sent: sent as usize, wanted: message.len() });
            }
            hal.account_memory(0, memory_lines);
            self.turn_signal(ANSWER, from);
        }
        Ok(())
    }

    /// Waits for the answer to a chunk. The first one says where in the own MPB the length is, and what it was when it
    /// was put there.
    fn take_answer(&self, from: usize, length: Option<(MpbLine, [u8; HEADER])>) -> Answer {
        let at = length.map(|(at, _)| at);
        let answer = self.await_turned(from, at, Reason::new("a message being received"), |poll, turned| {
            let refusal = |(_, put): (MpbLine, [u8; HEADER])| {
                let found = poll.line_word(1, 0);
                (found.to_le_bytes() != put).then_some(Answer::Refused { wanted: found })
            };
            let refused = length.filter(|_| turned & CHUNK != 0).and_then(refusal);
            (turned & ANSWER != 0).then(|| refused.unwrap_or(Answer::Taken))
        });
        self.signals().take_turned(from, ANSWER);
        let answer = answer.unwrap_or(Answer::Taken);
        if answer != Answer::Taken {
            self.signals().take_turned(from, CHUNK);
            self.turn_signal(ANSWER, from);
        }
        answer
    }

    /// Waits until `check` returns a value for a poll, whose second place is `also`, and the bits that rank `from` has
    /// turned since they were taken.
    fn await_turned<R>(
        &self,
        from: usize,
        also: Option<MpbLine>,
        reason: Reason,
        check: impl Fn(&Poll<'_>, u8) -> Option<R>,
    ) -> Result<R, TimedOut> {
        let (line, byte) = self.mpb_layout().signal_from(from);
        let signal = self.mpb_line(self.rank(), line);
        let places = [signal, also.unwrap_or(signal)].map(Place::Line);
        let places = &places[..1 + usize::from(also.is_some())];
        // It does not time out, unless the machine is dying.
        self.wait_until(places, Deadline::Never, reason.from(self.core_of(from)), |poll| {
            let found = (poll.line_word(0, byte / IN_WORD) >> (byte % IN_WORD * 8)) as u8;
            check(poll, self.signals().turned(from, found))
        })
    }

    /// The lines that a message goes through, as often as it takes.
    fn message_lines(&self) -> Range<usize> {
        let layout = self.mpb_layout();
        if self.profile_in_force() { layout.rcce_payload() } else { layout.message_lines() }
    }
}

impl<C: Mpb + Wait> Comm<'_, C> {
    fn check_peer(&self, rank: usize) -> Result<(), Error> {
        self.check_rank(rank)?;
        if rank == self.rank() { Err(Error::SelfMessage { rank }) } else { Ok(()) }
    }
}

/// What goes at a time of a message with its length before it.
struct Chunk {
    /// The place of the chunk's first byte, counted from the first byte of the length.
    start: usize,
    len: usize,
    /// Lines of the message's memory that begin in it.
    memory_lines: usize,
}

/// The chunks of a message of `message_bytes` bytes, through so many lines.
fn chunks(message_bytes: usize, lines: usize) -> impl Iterator<Item = Chunk> {
    let total = HEADER + message_bytes;
    let begun = |end: usize| end.saturating_sub(HEADER).div_ceil(LINE_BYTES);
    let mut next = 0;
    iter::from_fn(move || {
        let (start, end) = (next, total.min(next + lines * LINE_BYTES));
        next = end;
        (start < end).then(|| Chunk { start, len: end - start, memory_lines: begun(end) - begun(start) })
    })
}
