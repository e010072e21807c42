//! Messages in steps, for ranks that go on with something else before a message is over.
//!
//! They are the messages of [`send`](Comm::send) and [`receive`](Comm::receive): either end may be one of these, and the
//! other one in steps. A step waits for nobody. It does what can be done at once: it puts the next chunk if the last one
//! was answered, or gets the one that is there. What a rank has begun it has to step on with, or its peer waits for
//! ever; [`await_step`](Comm::await_step) waits until there is something to do.
//!
//! A rank sends one message at a time, since all go through the same lines of its MPB.

use alloc::vec::Vec;
use core::cell::Cell;

use hal::{Deadline, Line, Messenger, Place, Reason};

use super::{Answer, chunks::length_in};
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
        self.peer(to)?;
        if self.world_of().state::<Taken>().0.replace(true) {
            return Err(Error::RequestsOutstanding);
        }
        self.begin_sending(&self.chunks(message.len()), message, to);
        Ok(Sending { to, len: message.len(), chunk: 0, is_over: false })
    }

    /// That no message in steps is in the lines of this rank's MPB, which may therefore move.
    pub(crate) fn check_nothing_in_steps(&self) -> Result<(), Error> {
        if self.state::<Taken>().0.get() { Err(Error::RequestsOutstanding) } else { Ok(()) }
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
        let chunks = self.chunks(sending.len);
        // It is there.
        let answer = self
            .take_answer((sending.to, self.signals().pair(sending.to)), (sending.chunk == 0).then_some(chunks.len32()));
        sending.chunk += 1;
        sending.is_over = answer != Answer::Taken || !self.send_next_chunk(&chunks, sending.chunk, message, sending.to);
        if sending.is_over {
            self.world_of().state::<Taken>().0.set(false);
        }
        match answer {
            Answer::Taken => Ok(sending.is_over),
            Answer::Refused { wanted } => Err(self.refused(sending.to, sending.len, wanted)),
        }
    }

    /// The length of the message that rank `from` has begun to send to this rank, which has received nothing of it yet;
    /// none if there is no message.
    ///
    /// # Errors
    /// [`Error::NoSuchRank`], [`Error::SelfMessage`].
    pub fn incoming(&self, from: usize) -> Result<Option<usize>, Error> {
        self.peer(from)?;
        let is_announced = self.has_chunk_from(from);
        Ok(self.head_from(from).filter(|_| is_announced).map(|head| length_in(&head) as usize))
    }

    /// Whether rank `from` has announced a chunk of a message for this rank.
    ///
    /// An answer to this rank's own message comes first: with it, the bit may be part of a refusal.
    fn has_chunk_from(&self, from: usize) -> bool {
        self.turned_now(from) & (CHUNK | ANSWER) == CHUNK
    }

    /// The head of the next message from `from`, if it is there: the bit of its first chunk may be that of a message which was
    /// [received](Self::receive) before the bit turned.
    fn head_from(&self, from: usize) -> Option<Line> {
        let head = self.hal().load_line(self.head_of(from));
        (self.profile_in_force() || self.is_head_from(from, &head)).then_some(head)
    }

    /// The message of `len` bytes that rank `from` sends next, or has begun to send, to be received in steps.
    ///
    /// # Errors
    /// [`Error::NoSuchRank`], [`Error::SelfMessage`].
    pub fn start_receiving(&self, len: usize, from: usize) -> Result<Receiving, Error> {
        self.peer(from)?;
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
        let head = match receiving.chunk {
            0 => self.head_from(from),
            _ if self.chunks(receiving.sent.unwrap_or(0)).is_in_heads() => {
                Some(self.hal().load_line(self.head_of(from)))
            }
            _ => Some(Line::default()),
        };
        let Some(head) = head else { return Ok(false) };
        let sent = *receiving.sent.get_or_insert(length_in(&head) as usize);
        let (chunks, number) = (self.chunks(sent), receiving.chunk);
        self.signals().take_turned(from, CHUNK);
        if number == 0 {
            self.signals().pair(from).count_from();
        }
        if sent == receiving.len {
            self.receive_chunk(&chunks, number, &head, message, from);
        } else {
            self.turn_signal(ANSWER, from);
        }
        receiving.chunk += 1;
        receiving.is_over = receiving.chunk == chunks.count();
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
        wanted.iter().try_for_each(|(rank, _)| self.peer(*rank).map(|_| ()))?;
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
