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

use core::ops::Range;

use hal::{Deadline, LINE_BYTES, Messenger, Mpb, MpbLine, Place, Reason, Span, TimedOut, Wait};

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
        let total = HEADER + message.len();
        let mut next = 0;
        while next < total {
            let (start, end) = (next, total.min(next + lines.len() * LINE_BYTES));
            next = end;
            hal.account_memory(memory_lines(start, end), 0);
            // Whole lines, which take no more accesses than parts of them.
            hal.put_made((end - start).next_multiple_of(LINE_BYTES), staging, |index, line| {
                match (start + index * LINE_BYTES, line.split_first_chunk_mut()) {
                    (0, Some((length, data))) => {
                        *length = header;
                        copy(message, data);
                    }
                    (from, _) => copy(&message[from - HEADER..], line),
                }
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
        let total = HEADER + message.len();
        let mut next = 0;
        while next < total {
            let (start, end) = (next, total.min(next + lines.len() * LINE_BYTES));
            next = end;
            let _ = self.await_turned(from, CHUNK, Reason::new("a message"));
            self.signals().take_turned(from, CHUNK);
            hal.bring_in(&mut message[start.saturating_sub(HEADER)..end - HEADER]);
            hal.get_used(staging, (end - start).next_multiple_of(LINE_BYTES), |index, line| {
                match (start + index * LINE_BYTES, line.split_first_chunk()) {
                    (0, Some((length, data))) => {
                        sent = u32::from_le_bytes(*length);
                        if sent == wanted {
                            copy(data, message);
                        }
                    }
                    (to, _) if sent == wanted => copy(line, &mut message[to - HEADER..]),
                    _ => {}
                }
            });
            if sent != wanted {
                return Err(self.refuse(from, staging, sent, wanted));
            }
            hal.account_memory(0, memory_lines(start, end));
            self.turn_signal(ANSWER, from);
        }
        Ok(())
    }

    /// Tells a sender that a message of another length is wanted.
    #[cold]
    fn refuse(&self, from: usize, staging: MpbLine, sent: u32, wanted: u32) -> Error {
        self.hal().store(staging, 0, &wanted.to_le_bytes());
        self.turn_signal(CHUNK | ANSWER, from);
        self.take_answer(from, None);
        Error::MessageLength { from, to: self.rank(), sent: sent as usize, wanted: wanted as usize }
    }

    /// Waits for the answer to a chunk. The first one says where in the own MPB the length is, and what it was when it
    /// was put there.
    #[inline]
    fn take_answer(&self, from: usize, length: Option<(MpbLine, [u8; HEADER])>) -> Answer {
        let turned = self.await_turned(from, ANSWER, Reason::new("a message being received"));
        self.signals().take_turned(from, ANSWER);
        match (turned, length) {
            (Ok(turned), Some((at, put))) if turned & CHUNK != 0 => self.look_for_refusal(from, at, put),
            _ => Answer::Taken,
        }
    }

    /// Both bits have turned: the receiver has refused, or it has answered and sends something.
    #[cold]
    fn look_for_refusal(&self, from: usize, at: MpbLine, put: [u8; HEADER]) -> Answer {
        let reason = Reason::new("the length of a message");
        let found = self.wait_until(&[Place::Line(at)], Deadline::Never, reason, |poll| Some(poll.line_word(0, 0)));
        match found {
            Ok(wanted) if wanted.to_le_bytes() != put => {
                self.signals().take_turned(from, CHUNK);
                self.turn_signal(ANSWER, from);
                Answer::Refused { wanted }
            }
            _ => Answer::Taken,
        }
    }

    /// Waits until rank `from` has turned a bit since it was taken, and returns all that it has turned.
    #[inline]
    fn await_turned(&self, from: usize, bit: u8, reason: Reason) -> Result<u8, TimedOut> {
        let taken = self.signals().taken_from(from);
        if self.elsewhere().is_some() {
            let turned = |found: u8| ((found ^ taken) & bit != 0).then_some(found ^ taken);
            return self.await_signal_elsewhere(from, reason, turned).ok_or(TimedOut { reason });
        }
        let (line, byte) = self.mpb_layout().signal_from(from);
        let place = [Place::Line(self.mpb_line(self.rank(), line))];
        // It does not time out, unless the machine is dying.
        self.wait_until(&place, Deadline::Never, reason.from(self.core_of(from)), move |poll| {
            let turned = (poll.line_word(0, byte / IN_WORD) >> (byte % IN_WORD * 8)) as u8 ^ taken;
            (turned & bit != 0).then_some(turned)
        })
    }

    /// The lines that a message goes through, as often as it takes.
    fn message_lines(&self) -> Range<usize> {
        // Those of all ranks, whatever the communicator is: nobody reads them any more when a message has been received.
        let layout = self.world_of().mpb_layout();
        if self.profile_in_force() { layout.rcce_payload() } else { layout.message_lines() }
    }
}

impl<C: Mpb + Wait> Comm<'_, C> {
    fn check_peer(&self, rank: usize) -> Result<(), Error> {
        self.check_rank(rank)?;
        if rank == self.rank() { Err(Error::SelfMessage { rank }) } else { Ok(()) }
    }
}

/// Copies as much as both have room for. Whole lines, whose length is known where they are copied, are moved by words.
#[inline(always)]
fn copy(from: &[u8], to: &mut [u8]) {
    if let (true, Some(from)) = (from.len() >= to.len(), from.get(..to.len())) {
        to.copy_from_slice(from);
    } else if let Some(to) = to.get_mut(..from.len()) {
        to.copy_from_slice(from);
    }
}

/// Lines of the message's memory that begin between two places, which are counted from the first byte of the length.
fn memory_lines(start: usize, end: usize) -> usize {
    let begun = |end: usize| end.saturating_sub(HEADER).div_ceil(LINE_BYTES);
    begun(end) - begun(start)
}
