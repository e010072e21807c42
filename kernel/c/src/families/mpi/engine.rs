//! What is under way: sends and receives of this rank, and operations of several of them, which are tasks.
//!
//! All go over messages with tags of the communicator of all ranks (`collectives::matched`), which match and carry them.
//! Whoever waits here for anything lets everything else go on.

use alloc::{boxed::Box, rc::Rc, vec::Vec};
use core::{
    cell::{Cell, RefCell},
    future::Future,
    mem,
    pin::Pin,
    task::{Context, Poll, Waker},
};

use kernel::{
    collectives::{Comm, Envelope, Error, Request, Source, Tag},
    hal::Core,
};

use super::{class::Fault, collective::blocks::Block, contexts};

/// What became of something that was begun.
pub(crate) type Outcome = Result<Envelope, Fault>;

/// What a task does.
pub(crate) type Work<'r> = Pin<Box<dyn Future<Output = Outcome> + 'r>>;

/// What is known of what has received nothing.
pub(crate) const DONE: Envelope = Envelope { source: 0, tag: 0, len_bytes: 0 };

/// What was begun: whoever waits for it and the engine both have it.
#[derive(Default)]
pub(crate) struct Pending {
    outcome: RefCell<Option<Outcome>>,
    /// A message that was received and has no landing.
    message: RefCell<Vec<u8>>,
    /// Where a message belongs in the memory of the program, to which no reference leads as long as the receive is pending: this side
    /// brings shared windows up to date meanwhile, in which that memory may be.
    landing: RefCell<Option<Block>>,
    /// It was taken back.
    is_cancelled: Cell<bool>,
    is_receive: bool,
    /// The number of the communicator that it is on, which no other one gets before it is over.
    context: RefCell<Option<Rc<contexts::Context>>>,
    /// What a buffered send goes as, which is over for the program at once.
    goes_as: Option<Rc<Self>>,
}

impl Pending {
    pub(crate) fn is_over(&self) -> bool {
        self.outcome.borrow().is_some()
    }

    /// What became of it, if it is over.
    pub(crate) fn outcome(&self) -> Option<Outcome> {
        self.outcome.borrow().clone()
    }

    pub(crate) fn is_cancelled(&self) -> bool {
        self.goes_as.as_ref().map_or(self.is_cancelled.get(), |of| of.is_cancelled.get())
    }

    /// The message, if this has received one that belongs nowhere.
    pub(crate) fn take_message(&self) -> Vec<u8> {
        self.message.take()
    }

    /// Something that is over already.
    pub(crate) fn over(outcome: Outcome) -> Rc<Self> {
        Rc::new(Self { outcome: RefCell::new(Some(outcome)), ..Self::default() })
    }

    /// A buffered send, which is complete for the program, whatever becomes of it.
    pub(crate) fn buffered(of: Rc<Self>) -> Rc<Self> {
        Rc::new(Self { outcome: RefCell::new(Some(Ok(DONE))), goes_as: Some(of), ..Self::default() })
    }

    /// It is on the communicator with this number.
    pub(crate) fn on(self: Rc<Self>, context: &Rc<contexts::Context>) -> Rc<Self> {
        if !self.is_over() {
            self.context.replace(Some(context.clone()));
        }
        self
    }

    /// It is over.
    pub(crate) fn end(&self, outcome: Outcome) {
        self.context.take();
        *self.outcome.borrow_mut() = Some(outcome);
    }

    /// A message has come, or none could.
    fn end_with(&self, outcome: Outcome, message: Vec<u8>) {
        let Some(landing) = self.landing.take() else {
            self.message.replace(message);
            return self.end(outcome);
        };
        // SAFETY: whoever began the receive has said that there is room for so many elements until it is over.
        unsafe { landing.set(&message) };
        self.end(outcome.and_then(|envelope| landing.whole(envelope)));
    }
}

/// Waits for something in a task.
pub(crate) struct End(pub(crate) Rc<Pending>);

impl Future for End {
    type Output = Outcome;

    fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Outcome> {
        self.0.outcome().map_or(Poll::Pending, Poll::Ready)
    }
}

struct Task<'r> {
    pending: Rc<Pending>,
    work: Work<'r>,
}

/// What is under way.
pub(crate) struct Engine<'r, C: Core> {
    pub(crate) world: &'r Comm<'r, C>,
    transfers: RefCell<Vec<Request<'r, 'r, C>>>,
    /// Whose they are, in the same order.
    pending: RefCell<Vec<Rc<Pending>>>,
    tasks: RefCell<Vec<Task<'r>>>,
}

impl<'r, C: Core> Engine<'r, C> {
    pub(crate) fn new(world: &'r Comm<'r, C>) -> Self {
        Self { world, transfers: RefCell::default(), pending: RefCell::default(), tasks: RefCell::default() }
    }

    fn begin(&self, transfer: Request<'r, 'r, C>, pending: Rc<Pending>) -> Rc<Pending> {
        self.transfers.borrow_mut().push(transfer);
        self.pending.borrow_mut().push(pending.clone());
        pending
    }

    /// Begins to send a message, which is copied, to a rank of the world.
    pub(crate) fn send(&self, message: &[u8], to: usize, tag: u32, is_synchronous: bool) -> Result<Rc<Pending>, Error> {
        let transfer = if is_synchronous {
            self.world.start_send_tagged_synchronously(message, to, tag)
        } else {
            self.world.start_send_tagged(message, to, tag)
        }?;
        Ok(self.begin(transfer, Rc::default()))
    }

    /// Begins to receive a message of at most so many bytes, for [`Pending::take_message`].
    pub(crate) fn receive_own(&self, len: usize, from: Source, tag: Tag) -> Result<Rc<Pending>, Error> {
        let pending = Rc::new(Pending { is_receive: true, ..Pending::default() });
        Ok(self.begin(self.world.start_receive_tagged_unplaced(len, from, tag)?, pending))
    }

    /// Begins to receive a message into memory of the program.
    ///
    /// # Safety
    /// There is room for so many elements until the receive is over, and no reference leads to them when it ends.
    pub(crate) unsafe fn receive(&self, landing: Block, from: Source, tag: Tag) -> Result<Rc<Pending>, Error> {
        let pending = self.receive_own(landing.len_bytes(), from, tag)?;
        *pending.landing.borrow_mut() = Some(landing);
        Ok(pending)
    }

    /// Begins a task.
    pub(crate) fn spawn(&self, work: Work<'r>) -> Rc<Pending> {
        let pending: Rc<Pending> = Rc::default();
        let mut task = Task { pending: pending.clone(), work };
        if !poll(&mut task) {
            self.tasks.borrow_mut().push(task);
        }
        pending
    }

    /// Takes something back that has not met its match; then it is over.
    pub(crate) fn cancel(&self, pending: &Rc<Pending>) {
        let pending = pending.goes_as.as_ref().unwrap_or(pending);
        let at = self.pending.borrow().iter().position(|of| Rc::ptr_eq(of, pending));
        let Some(at) = at else { return };
        if self.transfers.borrow_mut()[at].cancel() {
            self.forget(at);
            pending.landing.take();
            pending.is_cancelled.set(true);
            pending.end(Ok(DONE));
        }
    }

    /// Takes back the receives that nothing has come for, also those that tasks still begin, and waits until all else is over.
    pub(crate) fn finish(&self) -> Result<(), Error> {
        self.wait(|| {
            let receives: Vec<_> = self.pending.borrow().iter().filter(|pending| pending.is_receive).cloned().collect();
            receives.iter().for_each(|pending| self.cancel(pending));
            self.pending.borrow().is_empty() && self.tasks.borrow().is_empty()
        })
    }

    /// What is over: whose it is, and the message.
    fn forget(&self, at: usize) -> (Rc<Pending>, Vec<u8>) {
        let message = self.transfers.borrow_mut().swap_remove(at).take_message();
        (self.pending.borrow_mut().swap_remove(at), message)
    }

    /// Lets everything go on, once; waits for something to happen if nothing has.
    pub(crate) fn step(&self, may_wait: bool) -> Result<(), Error> {
        let answered = self.world.answered_calls()?;
        if self.collect(None)? | self.poll_tasks() || !may_wait {
            return Ok(());
        }
        self.collect(Some(answered))?;
        self.poll_tasks();
        Ok(())
    }

    /// Lets tasks go on as far as they get without waiting, unless transfers are being looked at: it is called whenever messages
    /// go on, whatever this rank waits for.
    pub(crate) fn go_on(&self) {
        if self.tasks.borrow().is_empty() || self.transfers.try_borrow_mut().is_err() {
            return;
        }
        // What goes wrong with a transfer is its own outcome.
        while matches!(self.collect(None), Ok(true)) | self.poll_tasks() {}
    }

    /// Waits until `is_done`.
    pub(crate) fn wait(&self, mut is_done: impl FnMut() -> bool) -> Result<(), Error> {
        while !is_done() {
            self.step(true)?;
        }
        Ok(())
    }

    /// Ends what is complete, and says whether anything was. Waits for that if it is said how many calls of others this rank had
    /// answered, or for one more: what others do to a window may be what somebody waits for.
    fn collect(&self, answered: Option<u32>) -> Result<bool, Error> {
        let mut complete = {
            let mut transfers = self.transfers.borrow_mut();
            if let Some(answered) = answered {
                let is_answered = || self.world.answered_calls() != Ok(answered);
                Request::wait_some_or(self.world, &mut transfers, is_answered)?
            } else {
                if transfers.is_empty() {
                    self.world.look_for_calls();
                }
                Request::test_some(&mut transfers)
            }
        };
        let any = !complete.is_empty();
        // The last ones first: those that take their places are not among what is left.
        complete.sort_by_key(|(at, _)| core::cmp::Reverse(*at));
        for (at, result) in complete {
            let (pending, message) = self.forget(at);
            pending.end_with(result.map_err(Fault::from), message);
        }
        Ok(any)
    }

    /// Lets tasks go on, and says whether any has ended.
    fn poll_tasks(&self) -> bool {
        let mut tasks = mem::take(&mut *self.tasks.borrow_mut());
        let before = tasks.len();
        tasks.retain_mut(|task| !poll(task));
        let any = tasks.len() < before;
        let mut all = self.tasks.borrow_mut();
        tasks.append(&mut all);
        *all = tasks;
        any
    }
}

/// Lets a task go on; says whether it has ended.
fn poll(task: &mut Task<'_>) -> bool {
    match task.work.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Pending => false,
        Poll::Ready(result) => {
            task.pending.end(result);
            true
        }
    }
}
