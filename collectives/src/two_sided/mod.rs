//! Two-sided messages through the MPB: a rendezvous, as RCCE's (local put, remote get), with puts and gets at the same time.
//!
//! The sender puts chunks into its own MPB and tells the receiver, which gets them from there. A send returns when the
//! message has been received, which leaves the sender's staging quiescent; that goes for messages of 0 bytes, too.
//!
//! **The head** says how long a message is, and for whom. A receiver looks there for it, so
//! that nothing has to be told before it is got; up to 20 bytes are in the head itself. The head comes when half of the first
//! chunk is there, and the bit that turns says that the rest is, so that short messages are put and got at once, too. Longer ones
//! go through both halves of the staging lines: while one half is got, the other is put. Lengths are compared
//! modulo 2³², more than any core's memory. A receiver that wants another length refuses: it puts that in place of the
//! length, and both ends return [`Error::MessageLength`].
//!
//! **Two bits** of the byte that a rank [signals](crate::mpb::signals) another with belong to messages: one turns over with
//! each chunk, one with each answer. They take turns, so more than one of either cannot be under way, and neither can be taken
//! for the other, or for a signal of a collective operation: ranks that send to each other and never receive wait for ever,
//! and are reported. A message that is there with its head may be received before its bit turns. Answers say that a chunk was
//! received; between the first and the last one they come earlier, and say that the chunk *before* was: a half is put only
//! when nobody gets from it any more, and a receiver finds the next half full when it has emptied one.
//!
//! A refusal turns both bits at once. So does a receiver that answers and then sends; therefore the
//! sender, when it sees both, looks whether the length in its own MPB is still the one that it has put there; and the
//! receiver waits until it has looked.
//!
//! Per message: its lines put once and read once, and the head; per chunk two signals.

pub(crate) mod announced;
mod chunks;
#[cfg(test)]
mod exploration;
#[cfg(test)]
mod places;
#[cfg(test)]
mod ratios;
pub mod stepwise;
mod within;

use hal::{Deadline, Line, Messenger, Mpb, Place, Reason, Span, TimedOut, Wait};

use self::chunks::{Chunks, FIRST_WORD, length_in};
use crate::{
    Comm, Error,
    mpb::signals::{ANSWER, CHUNK, Pair, Signals},
};

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
    /// Sends `message` to rank `to`, which has to receive a message of that length. Returns when it has.
    ///
    /// # Errors
    /// [`Error::NoSuchRank`], [`Error::SelfMessage`]. [`Error::MessageLength`] if the receiver wants another length,
    /// at both ends, with nothing received.
    pub fn send(&self, message: &[u8], to: usize) -> Result<(), Error> {
        let pair = self.peer(to)?;
        let is_short = self.is_short(message.len());
        let price = if is_short { "send" } else { "send in chunks" };
        let _span = self.hal().span(Span::new("send").with(pair.core()).of(message.len()).priced_as(price));
        if !is_short {
            return self.send_in_chunks(message, to);
        }
        self.put_short(message, pair);
        self.signals().turn(self, CHUNK, (to, pair));
        pair.count_to();
        self.check_answer(self.take_answer((to, pair), Some(message.len() as u32)), message.len(), to)
    }

    #[inline(never)]
    fn send_in_chunks(&self, message: &[u8], to: usize) -> Result<(), Error> {
        let chunks = self.chunks(message.len());
        self.begin_sending(&chunks, message, to);
        self.check_answer(self.take_answer((to, self.signals().pair(to)), Some(chunks.len32())), message.len(), to)?;
        let mut answered = 1;
        while self.send_next_chunk(&chunks, answered, message, to) {
            self.take_answer((to, self.signals().pair(to)), None);
            answered += 1;
        }
        Ok(())
    }

    #[inline]
    fn check_answer(&self, answer: Answer, sent: usize, to: usize) -> Result<(), Error> {
        match answer {
            Answer::Taken => Ok(()),
            Answer::Refused { wanted } => Err(self.refused(to, sent, wanted)),
        }
    }

    /// Puts the first chunks of a message, and announces the first one.
    #[inline]
    fn begin_sending(&self, chunks: &Chunks, message: &[u8], to: usize) {
        self.put_chunk(chunks, 0, message, to);
        self.announce_chunk(to);
        if chunks.is_put_early(1) {
            self.put_chunk(chunks, 1, message, to);
        }
        self.signals().pair(to).count_to();
    }

    /// Goes on with chunk `number`, as those before are answered. Says whether there is one.
    #[inline]
    fn send_next_chunk(&self, chunks: &Chunks, number: usize, message: &[u8], to: usize) -> bool {
        if number == chunks.count() {
            return false;
        }
        if !chunks.is_put_early(number) {
            self.put_chunk(chunks, number, message, to);
        }
        self.announce_chunk(to);
        true
    }

    #[cold]
    fn refused(&self, to: usize, sent: usize, wanted: u32) -> Error {
        Error::MessageLength { from: self.rank(), to, sent, wanted: wanted as usize }
    }

    /// Receives a message of exactly `message.len()` bytes from rank `from`.
    ///
    /// # Errors
    /// [`Error::NoSuchRank`], [`Error::SelfMessage`]. [`Error::MessageLength`] if the message has another length, at
    /// both ends, with nothing received. [`Error::TimedOut`] on a dying machine.
    pub fn receive(&self, message: &mut [u8], from: usize) -> Result<(), Error> {
        let pair = self.peer(from)?;
        let is_short = self.is_short(message.len());
        let price = if is_short { "receive" } else { "receive in chunks" };
        let _span = self.hal().span(Span::new("receive").with(pair.core()).of(message.len()).priced_as(price));
        if !is_short {
            return self.receive_in_chunks(message, from);
        }
        let sent = self.get_short(message, pair).map_err(|TimedOut { reason }| Error::TimedOut { reason })?;
        pair.count_from();
        pair.take(CHUNK);
        if sent != message.len() {
            return Err(self.refuse(from, sent as u32, message.len() as u32));
        }
        self.signals().turn(self, ANSWER, (from, pair));
        Ok(())
    }

    #[inline(never)]
    fn receive_in_chunks(&self, message: &mut [u8], from: usize) -> Result<(), Error> {
        let chunks = self.chunks(message.len());
        let is_lent = self.profile_in_force();
        let head = if is_lent {
            // Other data may look like a head there.
            self.take_chunk(from).map(|_| self.hal().load_line(self.head_of(from)))
        } else {
            self.await_head(from)
        };
        let mut head = head.map_err(|TimedOut { reason }| Error::TimedOut { reason })?;
        let (sent, wanted) = (length_in(&head), chunks.len32());
        self.signals().pair(from).count_from();
        if sent != wanted {
            if !is_lent {
                self.signals().take_turned(from, CHUNK);
            }
            return Err(self.refuse(from, sent, wanted));
        }
        let first = chunks.first_part();
        self.get_part((&chunks, 0, 0..first), &head, message, from);
        if chunks.are_with_the_head() && !is_lent {
            self.signals().take_turned(from, CHUNK);
        } else if !is_lent {
            let _ = self.take_chunk(from);
        }
        self.get_part((&chunks, 0, first..chunks.len_of(0)), &head, message, from);
        self.turn_signal(ANSWER, from);
        for number in 1..chunks.count() {
            let _ = self.take_chunk(from);
            if chunks.is_in_heads() {
                head = self.hal().load_line(self.head_of(from));
            }
            self.receive_chunk(&chunks, number, &head, message, from);
        }
        Ok(())
    }

    /// Gets a chunk that is there as a whole, and answers when it is time.
    #[inline]
    fn receive_chunk(&self, chunks: &Chunks, number: usize, head: &Line, message: &mut [u8], from: usize) {
        let is_early = chunks.is_answered_early(number);
        if is_early {
            self.turn_signal(ANSWER, from);
        }
        self.get_part((chunks, number, 0..chunks.len_of(number)), head, message, from);
        if !is_early {
            self.turn_signal(ANSWER, from);
        }
    }

    /// Tells a sender that a message of another length is wanted.
    #[cold]
    fn refuse(&self, from: usize, sent: u32, wanted: u32) -> Error {
        self.hal().store(self.head_of(from), FIRST_WORD * size_of::<u32>(), &wanted.to_le_bytes());
        self.turn_signal(CHUNK | ANSWER, from);
        self.take_answer((from, self.signals().pair(from)), None);
        Error::MessageLength { from, to: self.rank(), sent: sent as usize, wanted: wanted as usize }
    }

    /// Waits for the answer to a chunk. To the first one it may be a refusal; then it says what length was put into the head.
    #[inline(always)]
    fn take_answer(&self, from: (usize, &Pair), length: Option<u32>) -> Answer {
        let turned = self.take_turned_by(from, ANSWER, Reason::new("a message being received"));
        match (turned, length) {
            (Ok(turned), Some(put)) if turned & CHUNK != 0 => self.look_for_refusal(from.0, put),
            _ => Answer::Taken,
        }
    }

    /// Both bits have turned: the receiver has refused, or it has answered and sends something.
    #[cold]
    fn look_for_refusal(&self, from: usize, put: u32) -> Answer {
        let (reason, at) = (Reason::new("the length of a message"), self.head_of(self.rank()));
        let found =
            self.wait_until(&[Place::Line(at)], Deadline::Never, reason, |poll| Some(poll.line_word(0, FIRST_WORD)));
        match found {
            Ok(wanted) if wanted != put => {
                self.signals().take_turned(from, CHUNK);
                self.turn_signal(ANSWER, from);
                Answer::Refused { wanted }
            }
            _ => Answer::Taken,
        }
    }

    /// Waits until a rank has turned a bit since it was taken, takes it, and returns all that it has turned.
    #[inline(always)]
    fn take_turned_by(&self, from: (usize, &Pair), bit: u8, reason: Reason) -> Result<u8, TimedOut> {
        if self.elsewhere().is_some() {
            return self.take_turned_elsewhere(from.0, bit, reason.what);
        }
        // It does not time out, unless the machine is dying.
        Signals::take_turned_by(self, bit, from.1, reason)
    }

    /// Takes what a rank has turned where signals do not go through MPBs.
    #[cold]
    fn take_turned_elsewhere(&self, from: usize, bit: u8, what: &'static str) -> Result<u8, TimedOut> {
        let (reason, taken) = (Reason::new(what), self.signals().taken_from(from));
        let turned = |found: u8| ((found ^ taken) & bit != 0).then_some(found ^ taken);
        let turned = self.await_signal_elsewhere(from, reason, turned).ok_or(TimedOut { reason })?;
        self.signals().take_turned(from, bit);
        Ok(turned)
    }

    /// Takes the signal of a rank that a chunk is there.
    fn take_chunk(&self, from: usize) -> Result<u8, TimedOut> {
        self.take_turned_by((from, self.signals().pair(from)), CHUNK, Reason::new("a message"))
    }
}

impl<C: Mpb + Wait> Comm<'_, C> {
    /// What is known of another rank. Refuses those that there are not, and this one.
    #[inline]
    fn peer(&self, rank: usize) -> Result<&Pair, Error> {
        match self.signals().pair_if_any(rank) {
            Some(pair) if rank != self.rank() => Ok(pair),
            found => Err(self.no_peer(rank, found.is_some())),
        }
    }

    #[cold]
    fn no_peer(&self, rank: usize, is_own: bool) -> Error {
        if is_own { Error::SelfMessage { rank } } else { Error::NoSuchRank { rank, size: self.size() } }
    }
}
