//! Messages that go on while the program does something else: iRCCE's requests.
//!
//! Each has a number, and those that are lower come first. A rank sends one message at a time, in the order of the
//! requests; of those from one rank it receives one at a time. A request for a message from anybody takes a sender that
//! no other request waits for. All that can be done at once is done whenever the program calls one of the functions of
//! requests, or waits in a send or receive.

use alloc::{collections::BTreeMap, vec::Vec};
use core::slice;

use kernel::{
    collectives::{Comm, Error, Receiving, Sending},
    hal::{Core, Deadline},
};

use super::code;

/// What a program wants.
pub(super) struct Wanted {
    pub(super) is_send: bool,
    /// The program's buffer, which is only read for a send.
    pub(super) bytes: *mut u8,
    /// Bytes to send, or at most to receive.
    pub(super) len: usize,
    /// Whether a received message may have any length.
    pub(super) any_len: bool,
    /// The other end; none for anybody.
    pub(super) peer: Option<usize>,
}

/// How a request ended.
#[derive(Clone, Copy)]
pub(super) struct Ended {
    pub(super) result: Result<(), Error>,
    pub(super) peer: usize,
    pub(super) len: usize,
}

enum State {
    Queued,
    Sending(Sending),
    Receiving(Receiving, usize),
    Ended(Ended),
}

struct Request {
    wanted: Wanted,
    state: State,
}

impl Request {
    fn is_over(&self) -> bool {
        matches!(self.state, State::Ended(_))
    }

    fn end(&mut self, result: Result<(), Error>, peer: usize, len: usize) {
        self.state = State::Ended(Ended { result, peer, len });
    }

    /// The message that is sent. It may be in memory that is only read.
    ///
    /// # Safety
    /// As for [`Requests::start`], of a request that sends.
    unsafe fn message<'b>(&self) -> &'b [u8] {
        if self.wanted.len == 0 {
            return &[];
        }
        // SAFETY: the caller of `start` has said that so many bytes are there and nobody writes to them until the request is
        // over; the slice is used for one step of it.
        unsafe { slice::from_raw_parts(self.wanted.bytes, self.wanted.len) }
    }

    /// The buffer that is received into, as far as `len`, which is not beyond its end.
    ///
    /// # Safety
    /// As for [`Requests::start`], of a request that receives.
    unsafe fn buffer<'b>(&self, len: usize) -> &'b mut [u8] {
        if len == 0 {
            return &mut [];
        }
        // SAFETY: the caller of `start` has said that so many bytes are there and nobody else reads or writes them until the
        // request is over; the slice is used for one step of it, and there is no other meanwhile.
        unsafe { slice::from_raw_parts_mut(self.wanted.bytes, len) }
    }
}

/// The requests of a rank.
#[derive(Default)]
pub(super) struct Requests {
    all: BTreeMap<u32, Request>,
    last: u32,
}

impl Requests {
    /// Whether nothing is outstanding.
    pub(super) fn are_over(&self) -> bool {
        self.all.values().all(Request::is_over)
    }

    /// Whether something is outstanding that is sent, or received.
    pub(super) fn go_on(&self, is_send: bool) -> bool {
        self.all.values().any(|request| request.wanted.is_send == is_send && !request.is_over())
    }

    /// Whether something is outstanding for which another rank waits: what is sent, what has begun to come, and `alike` what is
    /// to come from a certain rank.
    pub(super) fn hold_others_up(&self, alike: bool) -> bool {
        let has_begun = |request: &Request| request.wanted.is_send || matches!(request.state, State::Receiving(..));
        let holds = |request: &Request| has_begun(request) || alike && request.wanted.peer.is_some();
        self.all.values().any(|request| !request.is_over() && holds(request))
    }

    /// Begins a request, and returns its number. Nothing is done yet.
    ///
    /// # Safety
    /// Until the request is over, the buffer is there with `len` bytes (with as many as come where `any_len` is set); nobody
    /// writes to it, nor reads what is received there.
    pub(super) unsafe fn start(&mut self, wanted: Wanted) -> u32 {
        self.last += 1;
        self.all.insert(self.last, Request { wanted, state: State::Queued });
        self.last
    }

    /// Forgets a request that has not begun; false if it has.
    pub(super) fn cancel(&mut self, number: u32) -> bool {
        let is_queued = self.all.get(&number).is_some_and(|request| matches!(request.state, State::Queued));
        if is_queued {
            self.all.remove(&number);
        }
        is_queued
    }

    /// How a request ended, which is forgotten then; or how it goes on. A number that is unknown has ended before.
    pub(super) fn look(&mut self, number: u32) -> Result<Option<Ended>, i32> {
        let Some(request) = self.all.get(&number) else { return Ok(None) };
        match request.state {
            State::Ended(ended) => {
                self.all.remove(&number);
                Ok(Some(ended))
            }
            State::Queued if !self.is_next(number, request) => Err(code::RESERVED),
            _ => Err(code::PENDING),
        }
    }

    /// Whether a request has no other one before it.
    fn is_next(&self, number: u32, request: &Request) -> bool {
        let before = |other: &Request| {
            other.wanted.is_send == request.wanted.is_send
                && (request.wanted.is_send || other.wanted.peer == request.wanted.peer)
                && !other.is_over()
        };
        !self.all.range(..number).any(|(_, other)| before(other))
    }

    /// Whether a message from this rank is waited for by a request that names it.
    pub(super) fn expect_from(&self, rank: usize) -> bool {
        let is_it =
            |request: &Request| !request.wanted.is_send && request.wanted.peer == Some(rank) && !request.is_over();
        self.all.values().any(is_it)
    }

    /// Ranks from which a message can be received that no request names.
    pub(super) fn unnamed_senders<C: Core>(&self, comm: &Comm<'_, C>) -> Vec<usize> {
        (0..comm.size()).filter(|rank| *rank != comm.rank() && !self.expect_from(*rank)).collect()
    }

    /// Does all that can be done at once.
    pub(super) fn push<C: Core>(&mut self, comm: &Comm<'_, C>) {
        let outstanding = self.all.iter().filter(|(_, request)| !request.is_over());
        let numbers: Vec<_> = outstanding.map(|(number, _)| *number).collect();
        for number in numbers {
            self.bind(comm, number);
            let is_next = self.all.get(&number).is_some_and(|request| self.is_next(number, request));
            if let Some(request) = self.all.get_mut(&number).filter(|_| is_next) {
                // SAFETY: `start`'s caller has said that the buffer is there until the request is over.
                while unsafe { step(comm, request) } {}
            }
        }
    }

    /// Gives a request for anybody's message a sender, if there is one. The first such request takes the first message: what has come
    /// since it has looked is not for a later one.
    fn bind<C: Core>(&mut self, comm: &Comm<'_, C>, number: u32) {
        let is_for_anybody =
            |request: &Request| !request.wanted.is_send && request.wanted.peer.is_none() && !request.is_over();
        let mut unbound = self.all.iter().filter(|(_, request)| is_for_anybody(request));
        if unbound.next().is_none_or(|(first, _)| *first != number) {
            return;
        }
        let found = self.unnamed_senders(comm).into_iter().find(|rank| matches!(comm.incoming(*rank), Ok(Some(_))));
        if let Some(request) = self.all.get_mut(&number) {
            request.wanted.peer = found;
        }
    }

    /// Waits until a push finds something to do, or one of the ranks `also` sends.
    pub(super) fn wait<C: Core>(&self, comm: &Comm<'_, C>, also: &[usize]) -> Result<(), Error> {
        let mut senders = also.to_vec();
        let mut receiver = None;
        let is_next = |(number, request): &(&u32, &Request)| !request.is_over() && self.is_next(**number, request);
        for (_, request) in self.all.iter().filter(is_next) {
            match (request.wanted.is_send, request.wanted.peer) {
                (true, peer) => receiver = peer,
                (false, Some(peer)) => senders.push(peer),
                (false, None) => senders.extend(self.unnamed_senders(comm)),
            }
        }
        comm.await_step(&senders, receiver, Deadline::Never)
    }
}

/// Does one thing for a request that is next, and says whether there may be more to do at once.
///
/// # Safety
/// As for [`Requests::start`].
unsafe fn step<C: Core>(comm: &Comm<'_, C>, request: &mut Request) -> bool {
    let (len, any_len) = (request.wanted.len, request.wanted.any_len);
    let Some(peer) = request.wanted.peer else { return false };
    // SAFETY: the caller says so; this is called for requests that send.
    let message = |request: &Request| unsafe { request.message() };
    match core::mem::replace(&mut request.state, State::Queued) {
        State::Queued if request.wanted.is_send => match comm.start_sending(message(request), peer) {
            Ok(sending) => request.state = State::Sending(sending),
            Err(error) => request.end(Err(error), peer, len),
        },
        State::Queued => match comm.incoming(peer) {
            Ok(None) => return false,
            // What is longer than the buffer is refused; what is shorter comes as it is.
            Ok(Some(sent)) => {
                let len = if any_len || sent < len { sent } else { len };
                match comm.start_receiving(len, peer) {
                    Ok(receiving) => request.state = State::Receiving(receiving, len),
                    Err(error) => request.end(Err(error), peer, len),
                }
            }
            Err(error) => request.end(Err(error), peer, len),
        },
        State::Sending(mut sending) => match comm.step_sending(&mut sending, message(request)) {
            Ok(false) => {
                request.state = State::Sending(sending);
                return false;
            }
            result => request.end(result.map(|_| ()), peer, len),
        },
        State::Receiving(mut receiving, len) => {
            // SAFETY: the caller says so; the request receives, not more than there is room for.
            let buffer = unsafe { request.buffer(len) };
            match comm.step_receiving(&mut receiving, buffer) {
                Ok(false) => {
                    request.state = State::Receiving(receiving, len);
                    return false;
                }
                result => request.end(result.map(|_| ()), peer, len),
            }
        }
        ended @ State::Ended(_) => {
            request.state = ended;
            return false;
        }
    }
    !request.is_over()
}
