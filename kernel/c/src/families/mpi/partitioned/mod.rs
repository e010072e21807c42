//! Partitioned messages: their parts go when the sender says that they are ready, each in a message of its own.
//!
//! A receive that is made tells its sender a channel, in an offer. Sends and offers meet in the order in which both were made, for each
//! communicator, rank and tag; from then on both ends know their channel, and neither meets any other message. A part says in
//! front where it belongs and how long all parts are together: both ends may divide a message as they like.

pub(crate) mod calls;

use alloc::{format, rc::Rc, vec, vec::Vec};
use core::{
    cell::{Cell, RefCell},
    future::poll_fn,
    task::Poll,
};

use kernel::{
    collectives::{Envelope, Error, Source, Tag},
    hal::Core,
};

use super::{
    class::{Class, Fault},
    contexts::{self, TAG_LIMIT},
    engine::{DONE, End, Engine, Pending},
    messages::{Message, Mode, Peer},
};

/// Bytes in front of a part: where it begins, how many bytes there are of all parts, and how many messages.
const HEAD_BYTES: usize = 24;

/// Bytes of an offer: communicator, tag, channel, and how many bytes are received.
const OFFER_BYTES: usize = 20;

/// Whose messages meet: the other end's rank of the world, the communicator and the tag.
type Key = (usize, u32, u32);

/// How parts go from the one end to the other.
#[derive(Clone, Copy)]
struct Channel {
    number: u32,
    /// How many bytes are received.
    len_bytes: u64,
}

/// Sends of this rank that know no channel yet, and offers that met no send, in the order in which they were made.
#[derive(Default)]
pub(crate) struct Offers {
    sends: RefCell<Vec<(Key, Rc<Partitioned>)>>,
    offers: RefCell<Vec<(Key, Channel)>>,
    /// The next offer, while a send waits for one.
    next: RefCell<Option<Rc<Pending>>>,
    /// Channels of this rank's receives so far.
    channels: Cell<u32>,
}

/// One end of a message in parts.
pub(crate) struct Partitioned {
    /// All parts.
    message: Message,
    parts: usize,
    channel: Cell<Option<Channel>>,
    /// Of each part: whether it is ready, or how many of its bytes have come.
    state: RefCell<Vec<usize>>,
}

fn words(bytes: &[u8]) -> impl Iterator<Item = u32> {
    bytes.chunks_exact(4).map(|word| word.first_chunk().map_or(0, |word| u32::from_le_bytes(*word)))
}

fn longs(bytes: &[u8]) -> impl Iterator<Item = usize> {
    bytes.chunks_exact(8).map(|word| word.first_chunk().map_or(0, |word| u64::from_le_bytes(*word)) as usize)
}

impl Offers {
    /// A send was made: it takes the first offer that it meets, or waits for one.
    fn add_send(&self, send: &Rc<Partitioned>) {
        let Some(key) = send.key() else { return };
        let mut offers = self.offers.borrow_mut();
        match offers.iter().position(|(offered, _)| *offered == key) {
            Some(at) => send.channel.set(Some(offers.remove(at).1)),
            None => self.sends.borrow_mut().push((key, send.clone())),
        }
    }

    /// A receive was made: its sender is told.
    fn offer<C: Core>(&self, engine: &Engine<'_, C>, receive: &Partitioned) -> Result<(), Error> {
        let Some((from, context, tag)) = receive.key() else { return Ok(()) };
        let number = self.channels.get() % TAG_LIMIT + 1;
        self.channels.set(number);
        let len_bytes = receive.message.block.len_bytes() as u64;
        receive.channel.set(Some(Channel { number, len_bytes }));
        let offer = [context, tag, number, len_bytes as u32, (len_bytes >> 32) as u32].map(u32::to_le_bytes).concat();
        engine.send(&offer, from, contexts::of_offers(), false)?;
        Ok(())
    }

    /// Takes the offers that have come, until a send has its own. Says whether it may still come.
    fn take<C: Core>(&self, engine: &Engine<'_, C>, send: &Partitioned) -> Result<bool, Fault> {
        while send.channel.get().is_none() {
            let next = self.next.take();
            let next = match next {
                Some(next) => next,
                None => engine.receive_own(OFFER_BYTES, Source::Any, Tag::Is(contexts::of_offers()))?,
            };
            let Some(outcome) = next.outcome() else {
                *self.next.borrow_mut() = Some(next);
                return Ok(true);
            };
            if next.is_cancelled() {
                return Ok(false);
            }
            let envelope = outcome?;
            if let [context, tag, number, low, high] = words(&next.take_message()).collect::<Vec<_>>()[..] {
                let len_bytes = u64::from(high) << 32 | u64::from(low);
                let (key, channel) = ((envelope.source, context, tag), Channel { number, len_bytes });
                let mut sends = self.sends.borrow_mut();
                match sends.iter().position(|(wanted, _)| *wanted == key) {
                    Some(at) => sends.remove(at).1.channel.set(Some(channel)),
                    None => self.offers.borrow_mut().push((key, channel)),
                }
            }
        }
        Ok(true)
    }
}

impl Partitioned {
    fn new(message: Message, parts: usize) -> Rc<Self> {
        Rc::new(Self { message, parts, channel: Cell::new(None), state: RefCell::new(vec![0; parts]) })
    }

    /// None of a message to or from nobody.
    fn key(&self) -> Option<Key> {
        let Peer::Rank(place) = self.message.peer else { return None };
        let comm = &self.message.comm;
        Some((comm.peers().world_rank(place), comm.context(), self.message.tag.unwrap_or(0)))
    }

    fn receives(&self) -> bool {
        self.message.mode == Mode::Receive
    }

    fn part_bytes(&self) -> usize {
        self.message.block.len_bytes().checked_div(self.parts).unwrap_or(0)
    }

    /// Says that a part can be sent.
    fn make_ready(&self, part: i32) -> Result<(), Fault> {
        let mut state = self.state.borrow_mut();
        match usize::try_from(part).ok().and_then(|part| state.get_mut(part)) {
            Some(ready) if *ready == 0 => *ready = 1,
            Some(_) => return Err(Fault::new(Class::ARG, format!("partition {part} is ready already"))),
            None => return Err(self.no_part(part)),
        }
        Ok(())
    }

    /// Whether all of a part has come. One of no bytes has when all have.
    fn has_come(&self, part: i32) -> Result<bool, Fault> {
        let come = usize::try_from(part).ok().and_then(|part| self.state.borrow().get(part).copied());
        come.map(|come| come > 0 && come == self.part_bytes()).ok_or_else(|| self.no_part(part))
    }

    fn no_part(&self, part: i32) -> Fault {
        Fault::new(Class::ARG, format!("partition {part} of {}", self.parts))
    }

    /// Begins to send or receive all parts.
    ///
    /// # Safety
    /// The elements are there until that is over; nobody writes to those that are ready, nor reads what is received.
    pub(crate) unsafe fn begin<'r, C: Core>(
        self: &Rc<Self>,
        engine: &Rc<Engine<'r, C>>,
        offers: &Rc<Offers>,
    ) -> Rc<Pending> {
        self.state.borrow_mut().fill(0);
        let Some(key) = self.key() else { return Pending::over(Ok(DONE)) };
        let (own, engine_of_work, offers) = (self.clone(), engine.clone(), offers.clone());
        if self.receives() {
            // SAFETY: the caller says so.
            engine.spawn(alloc::boxed::Box::pin(async move { unsafe { own.receive(&engine_of_work, key).await } }))
        } else {
            let mut sent = vec![None; self.parts.max(1)];
            engine.spawn(alloc::boxed::Box::pin(poll_fn(move |_| {
                // SAFETY: the caller says so.
                match unsafe { own.send(&engine_of_work, &offers, key.0, &mut sent) } {
                    Ok(false) => Poll::Pending,
                    Ok(true) => Poll::Ready(Ok(DONE)),
                    Err(fault) => Poll::Ready(Err(fault)),
                }
            })))
        }
    }

    /// Sends the parts that are ready and were not sent, and says whether all have gone.
    ///
    /// # Safety
    /// As for [`begin`](Self::begin).
    unsafe fn send<C: Core>(
        &self,
        engine: &Engine<'_, C>,
        offers: &Offers,
        to: usize,
        sent: &mut Vec<Option<Rc<Pending>>>,
    ) -> Result<bool, Fault> {
        if !offers.take(engine, self)? {
            return Ok(true);
        }
        let Some(channel) = self.channel.get() else { return Ok(false) };
        let (block, state) = (&self.message.block, self.state.borrow());
        let len_bytes = block.len_bytes();
        // Where there are no parts, or there is no room for them, only a head says so, once all are ready.
        let is_head = self.parts == 0 || len_bytes as u64 != channel.len_bytes;
        let (number, part_bytes) = if is_head { (1, 0) } else { (self.parts, self.part_bytes()) };
        sent.truncate(number);
        for (part, sent) in sent.iter_mut().enumerate() {
            let is_ready = if is_head { state.iter().all(|ready| *ready != 0) } else { state[part] != 0 };
            if sent.is_none() && is_ready {
                let from = part * part_bytes;
                let mut bytes = [from, len_bytes, number].map(|word| (word as u64).to_le_bytes()).concat();
                bytes.resize(HEAD_BYTES + part_bytes, 0);
                // SAFETY: the caller says so.
                unsafe { block.datatype.flat().pack_from(block.address, block.count, from, &mut bytes[HEAD_BYTES..]) };
                *sent = Some(engine.send(&bytes, to, contexts::of_channel(channel.number), false)?);
            }
        }
        let mut are_over = true;
        for sent in sent {
            match sent.as_ref().and_then(|sent| sent.outcome()) {
                Some(outcome) => drop(outcome?),
                None => are_over = false,
            }
        }
        Ok(are_over)
    }

    /// Receives all parts.
    ///
    /// # Safety
    /// As for [`begin`](Self::begin).
    async unsafe fn receive<C: Core>(
        &self,
        engine: &Engine<'_, C>,
        (from, context, tag): Key,
    ) -> Result<Envelope, Fault> {
        let (block, part_bytes) = (&self.message.block, self.part_bytes());
        let len_bytes = block.len_bytes();
        let channel = contexts::of_channel(self.channel.get().map_or(0, |channel| channel.number));
        let (mut come, mut number) = (0, 1);
        while come < number {
            let part = engine.receive_own(HEAD_BYTES + len_bytes, Source::Rank(from), Tag::Is(channel))?;
            End(part.clone()).await?;
            if part.is_cancelled() {
                return Ok(DONE);
            }
            let bytes = part.take_message();
            let (head, bytes) = bytes.split_at(HEAD_BYTES.min(bytes.len()));
            let [at, of, all] = longs(head).collect::<Vec<_>>()[..] else { continue };
            (come, number) = (come + 1, all);
            if of != len_bytes {
                let why = format!("{of} bytes are sent in partitions, and {len_bytes} received");
                return Err(Fault::new(Class::TRUNCATE, why));
            }
            // SAFETY: the caller says so.
            unsafe { block.datatype.flat().unpack_at(bytes, block.address, block.count, at) };
            for (part, state) in self.state.borrow_mut().iter_mut().enumerate() {
                let (start, end) = (part * part_bytes, (part + 1) * part_bytes);
                *state += end.min(at + bytes.len()).saturating_sub(start.max(at));
            }
        }
        Ok(Envelope { source: from, tag: contexts::of_message(context, tag), len_bytes })
    }
}
