//! Messages in steps, for ranks that go on with something else before a message is over.
//!
//! They are the messages of [`send`](Comm::send) and [`receive`](Comm::receive): either end may be one of these, and the
//! other one in steps. A step waits for nobody. It does what can be done at once: it puts the next chunk if the last one
//! was answered, or gets the one that is there. What a rank has begun it has to step on with, or its peer waits for
//! ever; [`await_step`](Comm::await_step) waits until there is something to do.
//!
//! A rank sends one message at a time, since all go through the same lines of its MPB.

use alloc::vec::Vec;
use core::{cell::Cell, ops::Range};

use hal::{Deadline, LINE_BYTES, Messenger, Place, Reason};

use super::{Answer, HEADER, copy, memory_lines};
use crate::{
    Comm, Error,
    mpb::signals::{ANSWER, CHUNK},
};

/// A message that this rank sends in steps.
#[derive(PartialEq, Eq, Debug)]
#[must_use = "the receiver waits for all of it"]
pub struct Sending {
    to: usize,
    len: usize,
    /// Number of the chunk that is under way.
    chunk: usize,
    is_over: bool,
}

impl Sending {
    /// Who receives it.
    pub fn to(&self) -> usize {
        self.to
    }
}

/// A message that this rank receives in steps.
#[derive(PartialEq, Eq, Debug)]
#[must_use = "the sender waits until all of it is received"]
pub struct Receiving {
    from: usize,
    len: usize,
    /// How long the message is that comes, once it has begun.
    sent: Option<usize>,
    /// Number of the chunk that comes next.
    chunk: usize,
    is_over: bool,
}

impl Receiving {
    /// Who sends it.
    pub fn from(&self) -> usize {
        self.from
    }
}

/// Whether the lines for messages of the own MPB are taken by a message in steps. A state of the communicator of all ranks, whose
/// lines those of all communicators are.
#[derive(Default)]
struct Taken(Cell<bool>);

impl<C: Messenger> Comm<'_, C> {
    /// Begins to send `message` to rank `to`, and returns at once. The steps that follow are told the same message.
    ///
    /// Until they are over, this rank must not [send](Self::send) anything else, nor call an operation that all do, but
    /// for barriers: they share the lines that the message is in. From `to` it may receive in steps only.
    ///
    /// # Errors
    /// [`Error::NoSuchRank`], [`Error::SelfMessage`]; [`Error::RequestsOutstanding`] if a message in steps is
    /// under way, on whichever communicator.
    pub fn start_sending(&self, message: &[u8], to: usize) -> Result<Sending, Error> {
        self.check_peer(to)?;
        if self.world_of().state::<Taken>().0.replace(true) {
            return Err(Error::RequestsOutstanding);
        }
        let sending = Sending { to, len: message.len(), chunk: 0, is_over: false };
        self.put_next_chunk(&sending, message);
        Ok(sending)
    }

    /// That no message in steps is in the lines of this rank's MPB, which may therefore move.
    pub(crate) fn check_nothing_in_steps(&self) -> Result<(), Error> {
        if self.state::<Taken>().0.get() { Err(Error::RequestsOutstanding) } else { Ok(()) }
    }

    /// Puts the chunk that is next, if there is one.
    fn put_next_chunk(&self, sending: &Sending, message: &[u8]) -> bool {
        let lines = self.message_lines();
        if let Some(Range { start, end }) = chunk(sending.chunk, sending.len, lines.len()) {
            self.hal().account_memory(memory_lines(start, end), 0);
            let header = (sending.len as u32).to_le_bytes();
            let staging = self.mpb_line(self.rank(), lines.start);
            self.hal().put_made((end - start).next_multiple_of(LINE_BYTES), staging, |index, line| {
                match (start + index * LINE_BYTES, line.split_first_chunk_mut()) {
                    (0, Some((length, data))) => {
                        *length = header;
                        copy(message, data);
                    }
                    (from, _) => copy(&message[from - HEADER..], line),
                }
            });
            self.turn_signal(CHUNK, sending.to);
            return true;
        }
        false
    }

    /// Goes on with a message as far as possible without waiting, and says whether it is over: received as a whole.
    ///
    /// # Errors
    /// [`Error::MessageLength`] if the receiver wants another length, with nothing received; it is over then, too.
    /// [`Error::Length`] if `message` has not the length that it began with.
    pub fn step_sending(&self, sending: &mut Sending, message: &[u8]) -> Result<bool, Error> {
        check_same_len(message.len(), sending.len)?;
        if sending.is_over || self.turned_now(sending.to) & ANSWER == 0 {
            return Ok(sending.is_over);
        }
        let header = (sending.len as u32).to_le_bytes();
        let length = (sending.chunk == 0).then(|| (self.mpb_line(self.rank(), self.message_lines().start), header));
        // It is there.
        let answer = self.take_answer(sending.to, length);
        sending.chunk += 1;
        sending.is_over = answer != Answer::Taken || !self.put_next_chunk(sending, message);
        if sending.is_over {
            self.world_of().state::<Taken>().0.set(false);
        }
        match answer {
            Answer::Taken => Ok(sending.is_over),
            Answer::Refused { wanted } => Err(Error::MessageLength {
                from: self.rank(),
                to: sending.to,
                sent: sending.len,
                wanted: wanted as usize,
            }),
        }
    }

    /// The length of the message that rank `from` has begun to send to this rank, which has received nothing of it yet;
    /// none if there is no message.
    ///
    /// # Errors
    /// [`Error::NoSuchRank`], [`Error::SelfMessage`].
    pub fn incoming(&self, from: usize) -> Result<Option<usize>, Error> {
        self.check_peer(from)?;
        Ok(self.has_chunk_from(from).then(|| self.length_from(from)))
    }

    /// Whether rank `from` has put a chunk of a message for this rank.
    ///
    /// An answer to this rank's own message comes first: with it, the bit may be part of a refusal.
    fn has_chunk_from(&self, from: usize) -> bool {
        self.turned_now(from) & (CHUNK | ANSWER) == CHUNK
    }

    /// The length before the first chunk of rank `from`'s message, which is there.
    fn length_from(&self, from: usize) -> usize {
        let line = self.hal().load_line(self.mpb_line(from, self.message_lines().start));
        line.0.first_chunk().map_or(0, |length| u32::from_le_bytes(*length) as usize)
    }

    /// The message of `len` bytes that rank `from` sends next, or has begun to send, to be received in steps.
    ///
    /// # Errors
    /// [`Error::NoSuchRank`], [`Error::SelfMessage`].
    pub fn start_receiving(&self, len: usize, from: usize) -> Result<Receiving, Error> {
        self.check_peer(from)?;
        Ok(Receiving { from, len, sent: None, chunk: 0, is_over: false })
    }

    /// Receives what is there of a message, and says whether that was all. Nothing is received before this rank has
    /// [taken](Self::step_sending) the answer to a message of its own that it sends to the same rank.
    ///
    /// # Errors
    /// [`Error::MessageLength`] in place of the end of a message of another length, of which nothing is kept. Its sender
    /// learns nothing of that: both ends may be senders and receivers at once, and a refusal is no step.
    /// [`Error::Length`] if `message` has not the length that it began with.
    pub fn step_receiving(&self, receiving: &mut Receiving, message: &mut [u8]) -> Result<bool, Error> {
        check_same_len(message.len(), receiving.len)?;
        let from = receiving.from;
        if receiving.is_over || !self.has_chunk_from(from) {
            return Ok(receiving.is_over);
        }
        if receiving.chunk == 0 {
            receiving.sent = Some(self.length_from(from));
        }
        let (lines, sent) = (self.message_lines(), receiving.sent.unwrap_or(receiving.len));
        if let Some(Range { start, end }) = chunk(receiving.chunk, sent, lines.len()) {
            self.signals().take_turned(from, CHUNK);
            if sent == receiving.len {
                let (staging, len) = (self.mpb_line(from, lines.start), (end - start).next_multiple_of(LINE_BYTES));
                self.hal().bring_in(&mut message[start.saturating_sub(HEADER)..end - HEADER]);
                self.hal().get_used(staging, len, |index, line| match start + index * LINE_BYTES {
                    0 => copy(&line[HEADER..], message),
                    to => copy(line, &mut message[to - HEADER..]),
                });
                self.hal().account_memory(0, memory_lines(start, end));
            }
            self.turn_signal(ANSWER, from);
            receiving.chunk += 1;
        }
        receiving.is_over = chunk(receiving.chunk, sent, lines.len()).is_none();
        if receiving.is_over && sent != receiving.len {
            return Err(Error::MessageLength { from, to: self.rank(), sent, wanted: receiving.len });
        }
        Ok(receiving.is_over)
    }

    /// Waits until the deadline for something to do: until one of the ranks `senders` has put a chunk of a message for this
    /// rank, or `receiver` has answered to one of this rank's.
    ///
    /// # Errors
    /// [`Error::NoSuchRank`], [`Error::SelfMessage`], [`Error::TimedOut`].
    pub fn await_step(&self, senders: &[usize], receiver: Option<usize>, deadline: Deadline) -> Result<(), Error> {
        let wanted: Vec<_> =
            senders.iter().map(|rank| (*rank, CHUNK)).chain(receiver.map(|rank| (rank, ANSWER))).collect();
        wanted.iter().try_for_each(|(rank, _)| self.check_peer(*rank))?;
        let layout = self.mpb_layout();
        let line_of = |rank: usize| layout.signal_from(rank).0;
        let mut lines: Vec<_> = wanted.iter().map(|(rank, _)| line_of(*rank)).collect();
        lines.sort_unstable();
        lines.dedup();
        let places: Vec<_> = lines.iter().map(|line| Place::Line(self.mpb_line(self.rank(), *line))).collect();
        let reason = match (senders, receiver) {
            ([], Some(rank)) => Reason::new("a message being received").from(self.core_of(rank)),
            ([rank], None) => Reason::new("a message").from(self.core_of(*rank)),
            _ => Reason::new("any of its messages"),
        };
        if let Some(elsewhere) = self.elsewhere() {
            let places: Vec<_> = wanted.iter().map(|(rank, _)| elsewhere.place(self.rank(), *rank)).collect();
            let found = self.wait_until(&places, deadline, reason, |poll| {
                let mut all = wanted.iter().enumerate();
                let is_there = |(place, (rank, bits)): (usize, &(usize, u8))| {
                    (poll.word(place) as u8 ^ self.signals().taken_from(*rank)) & bits != 0
                };
                all.any(is_there).then_some(())
            });
            return found.map_err(|timed_out| Error::TimedOut { reason: timed_out.reason });
        }
        let found = self.wait_until(&places, deadline, reason, |poll| {
            lines.iter().enumerate().find_map(|(place, line)| {
                let bytes = poll.line(place).0;
                let is_there = |(rank, bits): &(usize, u8)| {
                    let (at, byte) = layout.signal_from(*rank);
                    at == *line && (bytes[byte] ^ self.signals().taken_from(*rank)) & bits != 0
                };
                wanted.iter().any(is_there).then_some(())
            })
        });
        found.map_err(|timed_out| Error::TimedOut { reason: timed_out.reason })
    }

    /// The bits of messages that rank `from` has turned by now.
    fn turned_now(&self, from: usize) -> u8 {
        let (line, byte) = self.mpb_layout().signal_from(from);
        let (place, taken) = ([Place::Line(self.mpb_line(self.rank(), line))], self.signals().taken_from(from));
        let reason = Reason::new("a look at messages").from(self.core_of(from));
        let turned = if self.elsewhere().is_some() {
            self.await_signal_elsewhere(from, reason, |found| Some(found ^ taken)).unwrap_or(0)
        } else {
            let now = self.wait_until(&place, Deadline::Never, reason, |poll| Some(poll.line(0).0[byte] ^ taken));
            now.unwrap_or(0)
        };
        if turned == 0 {
            // Whoever looks again and again lets the others run.
            self.hal().relax();
        }
        turned
    }
}

fn check_same_len(len: usize, wanted: usize) -> Result<(), Error> {
    if len == wanted { Ok(()) } else { Err(Error::Length { len, wanted }) }
}

/// Where a chunk of a message is, counted from the first byte of its length; none behind the last one.
fn chunk(number: usize, message_len: usize, lines: usize) -> Option<Range<usize>> {
    let (start, total) = (number * lines * LINE_BYTES, HEADER + message_len);
    (start < total).then(|| start..total.min(start + lines * LINE_BYTES))
}
