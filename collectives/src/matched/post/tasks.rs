//! Collective operations over messages: tasks of several sends and receives, which go on whatever their rank waits for.
//!
//! A task is a future. It knows no communicator and borrows nothing, as it has to outlive every wait that drives it: what it wants sent
//! and received it leaves on its [desk](Desk), and the [post](Post), which drives it whenever messages go on, does that.

use alloc::{boxed::Box, collections::VecDeque, rc::Rc, vec, vec::Vec};
use core::{
    cell::{Cell, RefCell},
    convert::Infallible,
    future::{Future, poll_fn},
    mem,
    ops::Range,
    pin::Pin,
    task::{Context, Poll, Waker},
};

use hal::{Act, Core, CoreId, Reason};

use super::{Outgoing, Post, calls};
use crate::{
    Comm, Error, Tag,
    collective::nonblocking::schedules::Peers,
    matched::{label::Pattern, packet::lines_of, state::State, waits::wait_for_reason},
};

/// The bit that tells the contexts of operations from those of programs' messages. That of calls is another one.
const OF_OPERATIONS: u32 = 1 << 31;

/// The last context that a communicator can have: with that bit, those behind it are contexts of calls.
pub(crate) const LAST_CONTEXT: u32 = (calls::BEFORE - 1) & !OF_OPERATIONS;

/// What an operation ends with: bytes, each with where they belong in the buffer.
pub(crate) type Parts = Vec<(usize, Vec<u8>)>;

/// A rank that has received a message of the wrong length puts a note behind whatever it sends afterwards in the same operation. The note
/// begins with these bytes, drawn by chance, so that no message of a program ends like one.
const SPOILED: [u8; 16] = 0x9d3f_6a17_c254_e80b_71ae_05d9_4bf2_386c_u128.to_be_bytes();

/// Bytes of a note: behind `SPOILED` are sender, receiver, and the two lengths of the message that was wrong.
const NOTE_BYTES: usize = SPOILED.len() + 16;

/// The error that the note behind a message tells of, if there is a note.
fn spoiled_by(bytes: &[u8]) -> Option<Error> {
    let note = bytes.last_chunk::<NOTE_BYTES>()?.strip_prefix(&SPOILED)?;
    let number = |at: usize| note[4 * at..].first_chunk().map_or(0, |word| u32::from_le_bytes(*word) as usize);
    Some(Error::MessageLength { from: number(0), to: number(1), sent: number(2), wanted: number(3) })
}

/// A receive of a task, and what has come of it.
pub(crate) struct Receiving {
    from: usize,
    wanted: usize,
    state: Rc<State>,
    message: RefCell<Option<Result<Vec<u8>, Error>>>,
}

/// A send of a task.
pub(crate) struct Sent(Rc<State>);

/// What a task wants done by whoever drives it.
enum Wish {
    Send { to: usize, bytes: Vec<u8>, state: Rc<State> },
    Receive(Rc<Receiving>),
    Compute { cycles: u64 },
}

/// What a task tells whoever drives it, and what they tell it.
struct Desk {
    context: u32,
    tag: u32,
    wishes: RefCell<VecDeque<Wish>>,
    progress: Rc<Progress>,
}

/// What whoever waits for an operation knows of it.
pub(crate) struct Progress {
    name: &'static str,
    parts: RefCell<Option<Parts>>,
    /// The first thing that went wrong.
    error: Cell<Option<Error>>,
    /// The core whose message is waited for.
    awaited: Cell<Option<usize>>,
}

/// The ranks of an operation, as its task reaches them. What comes has the length that it is to have: where it has not, zeros stand for it,
/// so that others get on; and whoever waits is told, as are those to whom this rank sends something afterwards.
pub(crate) struct Ranks {
    rank: usize,
    cores: Rc<[usize]>,
    desk: Rc<Desk>,
}

struct Task {
    desk: Rc<Desk>,
    work: Pin<Box<dyn Future<Output = Parts>>>,
    receives: Vec<Rc<Receiving>>,
    sends: Vec<Rc<State>>,
}

/// The tasks of a rank that are under way.
#[derive(Default)]
pub(in crate::matched) struct Tasks(RefCell<Vec<Task>>);

impl Ranks {
    /// The same operation, whose messages go to these ranks in a row, and come from there; this one is rank `rank` of its group.
    pub(crate) fn among(&self, group: Range<usize>, rank: usize) -> Self {
        Self { rank, cores: self.cores[group].into(), desk: self.desk.clone() }
    }

    /// What is computed in between takes so many cycles.
    pub(crate) fn compute(&self, cycles: u64) {
        self.desk.wishes.borrow_mut().push_back(Wish::Compute { cycles });
    }

    /// Sends blocks to ranks and receives others of these lengths, all at the same time. Returns what has come.
    pub(crate) async fn exchange(&self, sends: Vec<(usize, Vec<u8>)>, receives: &[(usize, usize)]) -> Vec<Vec<u8>> {
        let receives: Vec<_> = receives.iter().map(|(from, len)| self.begin_receive_from(*len, *from)).collect();
        let sends: Vec<_> = sends.into_iter().map(|(to, block)| self.begin_send_own(block, to)).collect();
        let mut blocks = Vec::with_capacity(receives.len());
        for receiving in receives {
            let Ok(block) = self.received(receiving).await;
            blocks.push(block);
        }
        for sent in sends {
            let Ok(()) = self.sent(sent).await;
        }
        blocks
    }

    fn begin_send_own(&self, mut bytes: Vec<u8>, to: usize) -> Sent {
        if let Some(Error::MessageLength { from, to, sent, wanted }) = self.desk.progress.error.get() {
            bytes.extend(SPOILED);
            bytes.extend([from, to, sent, wanted].into_iter().flat_map(|number| (number as u32).to_le_bytes()));
        }
        let state = Rc::new(State::new(0, true));
        self.desk.wishes.borrow_mut().push_back(Wish::Send { to: self.cores[to], bytes, state: state.clone() });
        Sent(state)
    }

    fn begin_receive_from(&self, wanted: usize, from: usize) -> Rc<Receiving> {
        // Also of a message that is too long the end is wanted, where a note may be.
        let state = Rc::new(State::new(usize::MAX, false));
        let receiving = Rc::new(Receiving { from: self.cores[from], wanted, state, message: RefCell::new(None) });
        self.desk.wishes.borrow_mut().push_back(Wish::Receive(receiving.clone()));
        receiving
    }

    fn rank_on(&self, core: usize) -> usize {
        self.cores.iter().position(|of| *of == core).unwrap_or(core)
    }
}

impl Peers for Ranks {
    type Error = Infallible;
    type Sent = Sent;
    type Received = Rc<Receiving>;

    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.cores.len()
    }

    fn begin_send(&self, bytes: &[u8], to: usize) -> Result<Sent, Infallible> {
        Ok(self.begin_send_own(bytes.to_vec(), to))
    }

    async fn sent(&self, Sent(state): Sent) -> Result<(), Infallible> {
        poll_fn(|_| if state.is_done() { Poll::Ready(Ok(())) } else { Poll::Pending }).await
    }

    fn begin_receive(&self, len: usize, from: usize) -> Result<Rc<Receiving>, Infallible> {
        Ok(self.begin_receive_from(len, from))
    }

    async fn received(&self, receiving: Rc<Receiving>) -> Result<Vec<u8>, Infallible> {
        let wanted = receiving.wanted;
        let message = poll_fn(|_| receiving.message.borrow_mut().take().map_or(Poll::Pending, Poll::Ready)).await;
        let found = match message {
            // The note comes first: with it, a message may be as long as another one that is wanted.
            Ok(bytes) => match spoiled_by(&bytes) {
                None if bytes.len() == wanted => return Ok(bytes),
                spoiled => spoiled.ok_or(bytes.len()),
            },
            Err(error) => Ok(error),
        };
        let from = self.rank_on(receiving.from);
        let error = found.unwrap_or_else(|sent| Error::MessageLength { from, to: self.rank, sent, wanted });
        self.desk.progress.note(error);
        Ok(vec![0; wanted])
    }
}

impl Progress {
    fn note(&self, error: Error) {
        let first = self.error.take();
        self.error.set(Some(first.unwrap_or(error)));
    }

    pub(in crate::matched) fn is_over(&self) -> bool {
        self.parts.borrow().is_some()
    }

    /// What the operation has ended with, if it is over.
    pub(in crate::matched) fn take(&self) -> Result<Parts, Error> {
        self.error.take().map_or(Ok(()), Err)?;
        Ok(self.parts.take().unwrap_or_default())
    }

    /// Waits until it is over.
    pub(in crate::matched) fn wait<C: Core>(&self, comm: &Comm<'_, C>) -> Result<(), Error> {
        while !self.is_over() {
            let awaited = self.awaited.get();
            let mut reason = Reason::new(self.name);
            if let Some(core) = awaited {
                reason = reason.from(CoreId::new(core));
            }
            let has_changed = || (self.is_over() || self.awaited.get() != awaited).then_some(());
            wait_for_reason(comm, reason, has_changed)?;
        }
        Ok(())
    }
}

impl Task {
    /// Whether something has come that it waits for.
    fn can_go_on(&self) -> bool {
        self.receives.iter().any(|receiving| receiving.state.is_done()) || self.sends.iter().any(|sent| sent.is_done())
    }

    /// Goes on as far as it gets without waiting, and says whether it has ended.
    fn go_on<C: Core>(&mut self, world: &Comm<'_, C>, post: &Post) -> bool {
        loop {
            self.receives.retain(|receiving| {
                let is_done = receiving.state.is_done();
                if is_done {
                    let received = receiving.state.take_message(world).map(|(_, message)| message);
                    *receiving.message.borrow_mut() = Some(received);
                }
                !is_done
            });
            self.sends.retain(|sent| !sent.is_done());
            let polled = self.work.as_mut().poll(&mut Context::from_waker(Waker::noop()));
            let wishes = mem::take(&mut *self.desk.wishes.borrow_mut());
            wishes.into_iter().for_each(|wish| self.do_now(world, post, wish));
            if let Poll::Ready(parts) = polled {
                *self.desk.progress.parts.borrow_mut() = Some(parts);
                return true;
            }
            if !self.can_go_on() {
                self.desk.progress.awaited.set(self.receives.first().map(|receiving| receiving.from));
                return false;
            }
        }
    }

    fn do_now<C: Core>(&mut self, world: &Comm<'_, C>, post: &Post, wish: Wish) {
        let Desk { context, tag, .. } = *self.desk;
        match wish {
            Wish::Compute { cycles } => world.hal().compute(cycles),
            Wish::Send { to, bytes, state } => {
                let (read, written) = lines_of(bytes.len());
                world.hal().account_memory(read, written);
                world.hal().declare(&Act::Sends { to: CoreId::new(to), channel: [context.into(), tag.into(), 0] });
                self.sends.push(state.clone());
                let len = bytes.len();
                let bytes = Some(bytes);
                post.send(world, Outgoing { to, context, tag, bytes, len, synchronous: false, state, written: 0 });
            }
            Wish::Receive(receiving) => {
                let pattern = Pattern { context, from: Some(receiving.from), tag: Tag::Is(tag) };
                post.begin_receive(world, pattern, &receiving.state);
                self.receives.push(receiving);
            }
        }
    }
}

impl Tasks {
    /// Lets those go on that can. None can afterwards, until a packet or a chunk has come, or another one has begun.
    pub(in crate::matched) fn go_on<C: Core>(&self, world: &Comm<'_, C>, post: &Post) {
        // What one sends to its own rank may be what another one waits for.
        while self.0.borrow().iter().any(Task::can_go_on) {
            self.0.borrow_mut().retain_mut(|task| !task.can_go_on() || !task.go_on(world, post));
        }
    }

    /// Begins one: the operation with this number of a communicator, which is waited for by this name.
    pub(in crate::matched) fn begin<C: Core, W: Future<Output = Parts> + 'static>(
        &self,
        comm: &Comm<'_, C>,
        post: &Post,
        (name, number): (&'static str, u32),
        work: impl FnOnce(Ranks) -> W,
    ) -> Rc<Progress> {
        let (parts, error, awaited) = (RefCell::new(None), Cell::new(None), Cell::new(None));
        let progress = Rc::new(Progress { name, parts, error, awaited });
        let (context, wishes) = (comm.context() | OF_OPERATIONS, RefCell::default());
        let desk = Rc::new(Desk { context, tag: number, wishes, progress: progress.clone() });
        let cores = comm.members().cores().iter().map(|core| core.index()).collect();
        let work = Box::pin(work(Ranks { rank: comm.rank(), cores, desk: desk.clone() }));
        let mut task = Task { desk, work, receives: Vec::new(), sends: Vec::new() };
        if !task.go_on(comm.world_of(), post) {
            self.0.borrow_mut().push(task);
        }
        self.go_on(comm.world_of(), post);
        progress
    }

    /// Whether there are some on a communicator with this context, or on any.
    pub(in crate::matched) fn are_under_way(&self, context: Option<u32>) -> bool {
        let is_of = |task: &Task| context.is_none_or(|context| task.desk.context == context | OF_OPERATIONS);
        self.0.borrow().iter().any(is_of)
    }
}
