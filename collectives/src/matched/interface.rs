//! Messages with tags as methods of the communicator.

use alloc::rc::Rc;

use bytemuck::{Pod, cast_slice, cast_slice_mut};
use hal::{Act, Core, Span};

use super::{
    label::{Envelope, Label, Pattern, Source, Tag},
    matching::Arrived,
    packet::{SHORT_BYTES, lines_of, lines_of_head},
    post::{Outgoing, Post},
    request::Request,
    state::State,
    waits::{MESSAGE, wait_for},
};
use crate::{Comm, Error};

/// A message that was [found](Comm::find_tagged) and is only for whoever has this. Dropped, it is lost, and its sender goes on.
#[must_use = "the message is received by `receive`"]
pub struct Arrival<'r, 'c, C: Core> {
    comm: &'r Comm<'c, C>,
    post: Rc<Post>,
    label: Label,
    /// Nothing when it was received.
    arrived: Option<Arrived>,
}

/// A send that can be begun [again and again](Comm::prepare_send_tagged): where it goes is checked once.
pub struct PreparedSend<'r, 'c, C: Core> {
    comm: &'r Comm<'c, C>,
    to: usize,
    tag: u32,
    mode: Mode,
}

impl<'r, 'c, C: Core> PreparedSend<'r, 'c, C> {
    /// Begins to send this message. It is copied.
    ///
    /// # Errors
    /// [`Error::MessagesClosed`].
    pub fn start<T: Pod>(&self, message: &[T]) -> Result<Request<'r, 'c, C>, Error> {
        self.comm.start_send(cast_slice(message), self.to, self.tag, self.mode)
    }
}

/// A receive that can be begun [again and again](Comm::prepare_receive_tagged).
pub struct PreparedReceive<'r, 'c, C: Core> {
    comm: &'r Comm<'c, C>,
    pattern: Pattern,
}

impl<'r, 'c, C: Core> PreparedReceive<'r, 'c, C> {
    /// Begins to receive the first message that fits.
    ///
    /// # Errors
    /// [`Error::MessagesClosed`].
    pub fn start<T: Pod>(&self, buffer: &'r mut [T]) -> Result<Request<'r, 'c, C>, Error> {
        let buffer: &mut [u8] = cast_slice_mut(buffer);
        self.comm.start_receive(self.pattern, buffer.len(), Some(buffer))
    }
}

/// When a send is complete.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    /// When the message may be changed again.
    Standard,
    /// When it is being received, too.
    Synchronous,
}

impl<'c, C: Core> Comm<'c, C> {
    /// Sends a message with a tag to rank `to`, which may be this one. Returns when `message` may be changed again: at once up to 240
    /// bytes, unless 16 messages of this rank wait there for their receives; a longer one waits for its receive.
    ///
    /// # Errors
    /// [`Error::MessagesClosed`]; [`Error::NoSuchRank`]; [`Error::TimedOut`] on a dying machine.
    pub fn send_tagged<T: Pod>(&self, message: &[T], to: usize, tag: u32) -> Result<(), Error> {
        self.send_bytes(cast_slice(message), to, tag, Mode::Standard)
    }

    /// Sends as [`send_tagged`](Self::send_tagged) does, but returns only when the message is being received.
    ///
    /// # Errors
    /// As [`send_tagged`](Self::send_tagged).
    pub fn send_tagged_synchronously<T: Pod>(&self, message: &[T], to: usize, tag: u32) -> Result<(), Error> {
        self.send_bytes(cast_slice(message), to, tag, Mode::Synchronous)
    }

    /// Begins to send a message with a tag to rank `to`. It is copied.
    ///
    /// # Errors
    /// [`Error::MessagesClosed`]; [`Error::NoSuchRank`].
    pub fn start_send_tagged<'r, T: Pod>(
        &'r self,
        message: &[T],
        to: usize,
        tag: u32,
    ) -> Result<Request<'r, 'c, C>, Error> {
        self.start_send(cast_slice(message), to, tag, Mode::Standard)
    }

    /// Begins as [`start_send_tagged`](Self::start_send_tagged) does a send that is complete only when the message is being received.
    ///
    /// # Errors
    /// [`Error::MessagesClosed`]; [`Error::NoSuchRank`].
    pub fn start_send_tagged_synchronously<'r, T: Pod>(
        &'r self,
        message: &[T],
        to: usize,
        tag: u32,
    ) -> Result<Request<'r, 'c, C>, Error> {
        self.start_send(cast_slice(message), to, tag, Mode::Synchronous)
    }

    /// Sends a copy of a message, and returns at once. The copy goes while this rank waits for anything, and at the latest when
    /// messages are [closed](super::Messages::close); it is on the heap until then.
    ///
    /// # Errors
    /// [`Error::MessagesClosed`]; [`Error::NoSuchRank`].
    pub fn send_tagged_buffered<T: Pod>(&self, message: &[T], to: usize, tag: u32) -> Result<(), Error> {
        self.start_send(cast_slice(message), to, tag, Mode::Standard).map(Request::let_go)
    }

    /// A send that is begun again and again, with another message each time.
    ///
    /// # Errors
    /// [`Error::NoSuchRank`].
    pub fn prepare_send_tagged<'r>(&'r self, to: usize, tag: u32) -> Result<PreparedSend<'r, 'c, C>, Error> {
        self.check_rank(to)?;
        Ok(PreparedSend { comm: self, to, tag, mode: Mode::Standard })
    }

    /// As [`prepare_send_tagged`](Self::prepare_send_tagged); each send is complete only when its message is being received.
    ///
    /// # Errors
    /// [`Error::NoSuchRank`].
    pub fn prepare_send_tagged_synchronously<'r>(
        &'r self,
        to: usize,
        tag: u32,
    ) -> Result<PreparedSend<'r, 'c, C>, Error> {
        Ok(PreparedSend { mode: Mode::Synchronous, ..self.prepare_send_tagged(to, tag)? })
    }

    /// A receive that is begun again and again, with another buffer each time, or the same.
    ///
    /// # Errors
    /// [`Error::NoSuchRank`].
    pub fn prepare_receive_tagged<'r>(&'r self, source: Source, tag: Tag) -> Result<PreparedReceive<'r, 'c, C>, Error> {
        Ok(PreparedReceive { comm: self, pattern: self.pattern(source, tag)? })
    }

    /// Receives the first message that fits, which may be shorter than `buffer`. The rest of that stays as it was.
    ///
    /// # Errors
    /// [`Error::MessagesClosed`]; [`Error::NoSuchRank`]; [`Error::Truncated`] if the message is longer than `buffer`;
    /// [`Error::TimedOut`] on a dying machine.
    pub fn receive_tagged<T: Pod>(&self, buffer: &mut [T], source: Source, tag: Tag) -> Result<Envelope, Error> {
        let (post, pattern) = (self.post()?, self.pattern(source, tag)?);
        let buffer: &mut [u8] = cast_slice_mut(buffer);
        let _span = self.hal().span(Span::new("receive tagged").of(buffer.len()));
        if let Some(label) = post.receive_from_box(self.world_of(), &pattern, buffer, MESSAGE)? {
            label.declare_received(self);
            return Ok(Envelope::of(self, &label));
        }
        let state = post.state_of_waiting(buffer.len());
        post.begin_receive(self.world_of(), pattern, &state);
        let received = self.finish_receive(&post, &state, buffer);
        post.give_back(state);
        received
    }

    /// Begins to receive the first message that fits.
    ///
    /// # Errors
    /// [`Error::MessagesClosed`]; [`Error::NoSuchRank`].
    pub fn start_receive_tagged<'r, T: Pod>(
        &'r self,
        buffer: &'r mut [T],
        source: Source,
        tag: Tag,
    ) -> Result<Request<'r, 'c, C>, Error> {
        self.prepare_receive_tagged(source, tag)?.start(buffer)
    }

    /// Begins to receive the first message that fits, which may have `room` bytes, without a buffer:
    /// [`take_message`](Request::take_message) has the message when it is complete.
    ///
    /// # Errors
    /// [`Error::MessagesClosed`]; [`Error::NoSuchRank`].
    pub fn start_receive_tagged_unplaced<'r>(
        &'r self,
        room: usize,
        source: Source,
        tag: Tag,
    ) -> Result<Request<'r, 'c, C>, Error> {
        self.start_receive(self.pattern(source, tag)?, room, None)
    }

    /// Sends a message and receives another one, in whichever order they come.
    ///
    /// # Errors
    /// As [`send_tagged`](Self::send_tagged) and [`receive_tagged`](Self::receive_tagged).
    pub fn exchange_tagged<T: Pod, U: Pod>(
        &self,
        (message, to, tag): (&[T], usize, u32),
        (buffer, source, wanted): (&mut [U], Source, Tag),
    ) -> Result<Envelope, Error> {
        let mut receive = self.start_receive_tagged(buffer, source, wanted)?;
        self.send_tagged(message, to, tag)?;
        receive.wait()
    }

    /// The first message that fits, if one has come. It stays where it is.
    ///
    /// # Errors
    /// [`Error::MessagesClosed`]; [`Error::NoSuchRank`].
    pub fn try_probe(&self, source: Source, tag: Tag) -> Result<Option<Envelope>, Error> {
        let (post, pattern) = (self.post()?, self.pattern(source, tag)?);
        self.look();
        let found = post.matching().borrow().find(&pattern);
        if found.is_none() {
            post.want(self.world_of(), &pattern);
        }
        Ok(found.map(|label| Envelope::of(self, &label)))
    }

    /// Waits for a message that fits. It stays where it is.
    ///
    /// # Errors
    /// As [`try_probe`](Self::try_probe); [`Error::TimedOut`] on a dying machine.
    pub fn probe(&self, source: Source, tag: Tag) -> Result<Envelope, Error> {
        let (post, pattern) = (self.post()?, self.pattern(source, tag)?);
        let label = self.watch(&post, pattern, || post.matching().borrow().find(&pattern))?;
        Ok(Envelope::of(self, &label))
    }

    /// Waits for a message that fits, and takes it: no other receive gets it.
    ///
    /// # Errors
    /// As [`probe`](Self::probe).
    pub fn find_tagged<'r>(&'r self, source: Source, tag: Tag) -> Result<Arrival<'r, 'c, C>, Error> {
        let (post, pattern) = (self.post()?, self.pattern(source, tag)?);
        let arrived = self.watch(&post, pattern, || post.take_found(&pattern))?;
        Ok(Arrival { comm: self, post, label: arrived.label, arrived: Some(arrived) })
    }

    /// Takes a message that fits if one has come, as [`find_tagged`](Self::find_tagged) does, without waiting.
    ///
    /// # Errors
    /// As [`try_probe`](Self::try_probe).
    pub fn try_find_tagged<'r>(&'r self, source: Source, tag: Tag) -> Result<Option<Arrival<'r, 'c, C>>, Error> {
        let (post, pattern) = (self.post()?, self.pattern(source, tag)?);
        self.look();
        let arrived = post.take_found(&pattern);
        if arrived.is_none() {
            post.want(self.world_of(), &pattern);
        }
        Ok(arrived.map(|arrived| Arrival { comm: self, post, label: arrived.label, arrived: Some(arrived) }))
    }

    /// Says what this rank does besides, whenever messages have gone on while it waits for anything, on any communicator: so sends
    /// and receives that depend on each other go on by themselves. What is done waits for nothing.
    pub fn work_while_waiting(&self, work: Option<Rc<dyn Fn()>>) {
        self.engines().set_work(work);
    }

    /// Messages that have come to this rank, on all communicators, for which there was no receive yet; those of non-blocking collective
    /// operations that it has not begun, too.
    ///
    /// # Errors
    /// [`Error::MessagesClosed`].
    pub fn unexpected_messages(&self) -> Result<usize, Error> {
        Ok(self.post()?.matching().borrow().unexpected())
    }

    fn pattern(&self, source: Source, tag: Tag) -> Result<Pattern, Error> {
        let from = match source {
            Source::Any => None,
            Source::Rank(rank) => {
                self.check_rank(rank)?;
                Some(self.core_of(rank).index())
            }
        };
        Ok(Pattern { context: self.context(), from, tag })
    }

    fn declare_sent(&self, to: usize, tag: u32) {
        let channel = [self.context().into(), tag.into(), 0];
        self.hal().declare(&Act::Sends { to: self.core_of(to), channel });
    }

    fn outgoing(&self, (to, tag, mode): (usize, u32, Mode), message: &[u8]) -> Outgoing {
        self.declare_sent(to, tag);
        Outgoing {
            to: self.core_of(to).index(),
            context: self.context(),
            tag,
            bytes: Some(message.to_vec()),
            len: message.len(),
            synchronous: mode == Mode::Synchronous,
            state: Rc::new(State::new(0, true)),
            written: 0,
        }
    }

    fn send_bytes(&self, message: &[u8], to: usize, tag: u32, mode: Mode) -> Result<(), Error> {
        let post = self.post()?;
        self.check_rank(to)?;
        let _span = self.hal().span(Span::new("send tagged").with(self.core_of(to)).of(message.len()));
        let world = self.world_of();
        // What is long, or has to be received, stays where it is.
        let is_copied = message.len() <= SHORT_BYTES && mode == Mode::Standard || self.core_of(to) == self.hal().core();
        let at = self.core_of(to).index();
        if !is_copied {
            world.begin_announced(message);
            self.declare_sent(to, tag);
            return post.send_waiting(world, at, [self.context(), tag], message);
        }
        if message.len() <= SHORT_BYTES
            && let Some(credits) = post.takes_credit(world, at)
        {
            self.hal().account_memory(lines_of_head(message.len()), 0);
            post.await_room(world, at)?;
            self.declare_sent(to, tag);
            post.send_short(world, (at, credits), [self.context(), tag], message);
            return Ok(());
        }
        let (read, written) = lines_of(message.len());
        self.hal().account_memory(read, written);
        let outgoing = self.outgoing((to, tag, mode), message);
        let state = outgoing.state.clone();
        post.send(world, outgoing);
        wait_for(self, || state.is_done().then_some(()))
    }

    fn start_send<'r>(&'r self, message: &[u8], to: usize, tag: u32, mode: Mode) -> Result<Request<'r, 'c, C>, Error> {
        let post = self.post()?;
        self.check_rank(to)?;
        let (read, written) = lines_of(message.len());
        self.hal().account_memory(read, written);
        let outgoing = self.outgoing((to, tag, mode), message);
        let (state, at) = (outgoing.state.clone(), outgoing.to);
        post.send(self.world_of(), outgoing);
        let envelope = Envelope { source: self.rank(), tag, len_bytes: message.len() };
        Ok(Request::send(self, post, state, at, envelope))
    }

    fn start_receive<'r>(
        &'r self,
        pattern: Pattern,
        room: usize,
        buffer: Option<&'r mut [u8]>,
    ) -> Result<Request<'r, 'c, C>, Error> {
        let (post, state) = (self.post()?, Rc::new(State::new(room, false)));
        post.begin_receive(self.world_of(), pattern, &state);
        Ok(Request::receive(self, post, state, buffer))
    }

    /// Waits for a message that `find` finds.
    fn watch<R>(&self, post: &Post, pattern: Pattern, mut find: impl FnMut() -> Option<R>) -> Result<R, Error> {
        if let Some(found) = find() {
            return Ok(found);
        }
        post.matching().borrow_mut().watch(Some(pattern));
        post.want(self.world_of(), &pattern);
        let found = wait_for(self, find);
        post.matching().borrow_mut().watch(None);
        found
    }

    /// Waits for a message, and reads a long one straight into its buffer.
    fn finish_receive(&self, post: &Post, state: &Rc<State>, buffer: &mut [u8]) -> Result<Envelope, Error> {
        while !state.is_done() {
            wait_for(self, || (state.is_done() || post.is_ready_for(state)).then_some(()))?;
            let world = self.world_of();
            match (state.is_done(), post.take_stream(state), state.len()) {
                (false, Some(from), Some(len)) => {
                    world.receive_announced(&mut buffer[..len], from)?;
                    state.finish_read();
                }
                (false, ..) => {
                    post.ready_from().into_iter().for_each(|from| post.read(world, from, Some(&mut *buffer)));
                }
                _ => {}
            }
        }
        state.take(self, buffer)
    }
}

impl<C: Core> Arrival<'_, '_, C> {
    /// What is known of it.
    pub fn envelope(&self) -> Envelope {
        Envelope::of(self.comm, &self.label)
    }

    /// Receives it.
    ///
    /// # Errors
    /// [`Error::Truncated`] if it is longer than `buffer`; [`Error::TimedOut`] on a dying machine.
    pub fn receive<T: Pod>(mut self, buffer: &mut [T]) -> Result<Envelope, Error> {
        let buffer: &mut [u8] = cast_slice_mut(buffer);
        let state = Rc::new(State::new(buffer.len(), true));
        self.deliver(&state);
        self.comm.finish_receive(&self.post, &state, buffer)
    }

    fn deliver(&mut self, state: &Rc<State>) {
        if let Some(arrived) = self.arrived.take() {
            self.post.deliver_found(self.comm.world_of(), arrived, state.clone());
        }
    }
}

impl<C: Core> Drop for Arrival<'_, '_, C> {
    fn drop(&mut self) {
        if !self.comm.hal().is_dying() {
            if self.arrived.is_some() {
                self.label.declare_received(self.comm);
            }
            // There is no room for it, so that nothing but its end is told.
            self.deliver(&Rc::new(State::new(0, false)));
        }
    }
}
