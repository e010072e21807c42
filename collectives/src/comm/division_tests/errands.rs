//! What is under way on communicators while others of their operations go on: non-blocking operations, and messages with tags.

use std::{vec, vec::Vec};

use hal::sim::SimCore;

use super::{Joined, Tested};
use crate::{
    Envelope, Request, Source, Tag,
    collective::nonblocking::oracle::{BETWEEN, Case, KINDS, WITHOUT_MESSAGES},
    testing::Random,
};

/// Something that all ranks of a communicator begin, and complete after other things.
pub(super) struct Errand<'t, 'c> {
    on: &'t Tested<'c>,
    /// Tells it from others of the communicator, and is the tag of its messages.
    number: u32,
    messages: Messages,
    /// The groups that it is between, if it is.
    joined: Option<&'t Joined<'c>>,
}

/// Several messages to a rank, and as many of another one, which come in their order. There are none in an operation.
#[derive(Default)]
struct Messages {
    to: usize,
    from: usize,
    is_from_any: bool,
    lens: Vec<usize>,
    is_synchronous: bool,
    /// Whether their receives begin when other things were done.
    is_late: bool,
}

/// Where what comes of an errand belongs.
pub(super) enum Room {
    Operation(Case),
    Messages(Vec<Vec<u8>>),
}

const LENS: [usize; 9] = [0, 1, 16, 17, 200, 240, 241, 1000, 9000];

impl<'t, 'c> Errand<'t, 'c> {
    /// One that `random` chooses, and room for what comes of it.
    pub(super) fn choose(on: &'t Tested<'c>, random: &mut Random, number: u32, has_messages: bool) -> (Self, Room) {
        let (me, size) = (on.comm.rank(), on.ranks.len());
        if has_messages && random.below(2) == 0 {
            let (shift, count) = (random.below(size), 1 + random.below(3));
            let messages = Messages {
                to: (me + shift) % size,
                from: (me + size - shift) % size,
                is_from_any: random.below(2) == 0,
                lens: (0..count).map(|_| random.of(&LENS)).collect(),
                is_synchronous: random.below(4) == 0,
                is_late: random.below(2) == 0,
            };
            let received =
                if messages.is_late { Vec::new() } else { messages.lens.iter().map(|len| vec![0; *len]).collect() };
            return (Self { on, number, messages, joined: None }, Room::Messages(received));
        }
        let kind = if has_messages { random.below(KINDS) } else { random.of(&WITHOUT_MESSAGES) };
        // What a rank works out for the oracle grows with the square of their number.
        let longest = if size > 100 { 3 } else { 200 };
        let case = Case::new(random, kind, (&on.ranks, me), number as usize, longest);
        (Self { on, number, messages: Messages::default(), joined: None }, Room::Operation(case))
    }

    /// An operation of two groups of a communicator.
    pub(super) fn between(
        on: &'t Tested<'c>,
        joined: &'t Joined<'c>,
        random: &mut Random,
        number: u32,
    ) -> (Self, Room) {
        let kind = random.of(&BETWEEN);
        let errand = Self { on, number, messages: Messages::default(), joined: Some(joined) };
        (errand, Room::Operation(joined.case(random, kind, number)))
    }

    /// What a rank sends.
    fn bytes(&self, rank: usize, which: usize) -> Vec<u8> {
        let salt = self.on.ranks[rank] as u32 * 31 + self.number * 7 + which as u32;
        let byte = |at: u32| (salt.wrapping_add(at).wrapping_mul(2_654_435_761) >> 17) as u8;
        (0..self.messages.lens[which] as u32).map(byte).collect()
    }

    fn source(&self) -> Source {
        if self.messages.is_from_any { Source::Any } else { Source::Rank(self.messages.from) }
    }

    /// Begins it.
    pub(super) fn begin<'r>(&'r self, room: &'r mut Room) -> Vec<Request<'r, 'c, SimCore>> {
        let (comm, tag) = (&self.on.comm, self.number);
        match room {
            Room::Operation(case) => vec![match self.joined {
                Some(joined) => case.begin_between(&joined.inter),
                None => case.begin(comm),
            }],
            Room::Messages(received) => {
                let send = |which| match (self.bytes(comm.rank(), which), self.messages.to) {
                    (message, to) if self.messages.is_synchronous => {
                        comm.start_send_tagged_synchronously(&message, to, tag).unwrap()
                    }
                    (message, to) => comm.start_send_tagged(&message, to, tag).unwrap(),
                };
                let mut requests: Vec<_> = (0..self.messages.lens.len()).map(send).collect();
                let receive = |buffer| comm.start_receive_tagged(buffer, self.source(), Tag::Is(tag)).unwrap();
                requests.extend(received.iter_mut().map(|buffer| receive(&mut buffer[..])));
                requests
            }
        }
    }

    /// Receives what was not to be received before: some of it is found, or probed for.
    pub(super) fn receive_late(&self) {
        if !self.messages.is_late {
            return;
        }
        let (comm, source, tag) = (&self.on.comm, self.source(), Tag::Is(self.number));
        for (which, &len_bytes) in self.messages.lens.iter().enumerate() {
            let expected = Envelope { source: self.messages.from, tag: self.number, len_bytes };
            let mut buffer = vec![0; len_bytes];
            let envelope = match which {
                0 => comm.receive_tagged(&mut buffer, source, tag),
                1 => comm.find_tagged(source, tag).unwrap().receive(&mut buffer),
                _ => {
                    assert_eq!(comm.probe(source, tag), Ok(expected));
                    comm.receive_tagged(&mut buffer, source, tag)
                }
            };
            assert_eq!(envelope, Ok(expected));
            assert_eq!(buffer, self.bytes(self.messages.from, which), "message {which} of errand {}", self.number);
        }
    }

    /// Looks at what has come of it, now that it is over.
    pub(super) fn check(&self, room: Room) {
        match room {
            Room::Operation(case) => case.check(),
            Room::Messages(received) => {
                for (which, message) in received.into_iter().enumerate() {
                    let wanted = self.bytes(self.messages.from, which);
                    assert_eq!(message, wanted, "message {which} of errand {} on {:?}", self.number, self.on.ranks);
                }
            }
        }
    }
}
