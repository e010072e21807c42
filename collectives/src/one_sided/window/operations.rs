//! Operations of an open epoch: what may be done to the parts that it reaches, and when it is carried out.

use alloc::{boxed::Box, collections::VecDeque, vec::Vec};
use core::{
    cell::{OnceCell, RefCell},
    ops::Range,
};

use hal::{Core, Deadline, Entered, Pod, SharedAddress};

use crate::{
    Error, Group, SharedBuffer,
    collective::element::{Element, Integer, Operator},
    one_sided::copy_engine::Transfer,
};

use super::{
    Window,
    class::Patience,
    declared,
    lock::{self, Lock},
    notify,
    operation::{Blocks, Operation, Source},
    packets::{self, Answer},
    peers::Seen,
    synchronisation::Synchronisation,
};

/// Operations that may wait for posts at a time, in classes that send them as soon as a post is there.
const QUEUE: usize = 64;

/// Lets an epoch, which keeps them in `operations`, be used as its [`Operations`].
macro_rules! carries_out_operations {
    ($epoch:ident) => {
        impl<'b, 'w, 'c, C: hal::Core, T: hal::Pod> core::ops::Deref for $epoch<'b, 'w, 'c, C, T> {
            type Target = $crate::Operations<'b, 'w, 'c, C, T>;

            fn deref(&self) -> &Self::Target {
                &self.operations
            }
        }
    };
}

pub(super) use carries_out_operations;

/// Which parts an epoch reaches.
pub(super) enum Reach {
    /// An access epoch's: those of its group; when it waits for their posts, if at all.
    Group { targets: Group, patience: Patience, no_check: bool },
    /// All, between two fences.
    All,
    /// The one that is locked.
    Locked { target: usize },
    /// All; each is locked, shared, when it is addressed first. Out of the way: epochs are moved, and few are of this kind.
    LockedOnDemand(Box<OnDemand>),
}

/// Parts that were locked when they were addressed. Some were joined.
pub(super) struct OnDemand {
    pub(super) locked: Seen,
    pub(super) joined: Seen,
}

/// The operations of an open epoch on a window; epochs dereference to this.
///
/// Buffers are borrowed until the epoch is over, since an operation may be carried out at any time until then: an
/// origin buffer can neither be changed nor looked at before.
///
/// ```compile_fail,E0502
/// # use collectives::{Group, Window};
/// # use hal::Core;
/// fn looked_at_too_early<C: Core>(window: &Window<'_, C, u32>) {
///     let mut got = [0; 4];
///     let access = window.start(&Group::empty()).unwrap();
///     let _ = access.get(0, 0, &mut got);
///     assert_eq!(got[0], 0);
///     access.complete();
/// }
/// ```
///
/// What several origins, or several puts, write to the same elements in one epoch is undefined, as is what a get
/// reads of them. Accumulating operations on the same elements are atomic for each element.
pub struct Operations<'b, 'w, 'c, C: Core, T: Pod> {
    pub(super) window: &'w Window<'c, C, T>,
    pub(super) reach: Reach,
    /// Number of the epoch on this window, for errors.
    pub(super) epoch: u32,
    /// What is left to do; nothing as long as all that was asked for was carried out at once.
    pending: OnceCell<Box<Pending<'b, T>>>,
}

/// What an epoch has yet to do.
struct Pending<'b, T: Pod> {
    /// Operations that wait for posts, with their targets, in the order in which they were asked for.
    waiting: RefCell<VecDeque<(usize, Operation<'b, T>)>>,
    /// What targets will answer to packets.
    answers: RefCell<Vec<Answer<'b, T>>>,
}

impl<T: Pod> Default for Pending<'_, T> {
    fn default() -> Self {
        Self { waiting: RefCell::default(), answers: RefCell::default() }
    }
}

impl<'b, 'w, 'c, C: Core, T: Pod> Operations<'b, 'w, 'c, C, T> {
    pub(super) fn new(window: &'w Window<'c, C, T>, reach: Reach, epoch: u32) -> Self {
        Self { window, reach, epoch, pending: OnceCell::new() }
    }

    /// What is left to do, which begins with nothing.
    fn pending(&self) -> &Pending<'b, T> {
        self.pending.get_or_init(Box::default)
    }

    /// Whether operations wait for posts.
    #[inline]
    fn some_wait(&self) -> bool {
        self.pending.get().is_some_and(|pending| !pending.waiting.borrow().is_empty())
    }

    /// Puts `source` over the elements of `target`'s part from `first` on.
    ///
    /// # Errors
    /// [`Error::NoSuchRank`] for a target that does not exist, [`Error::NotInEpoch`] for one that the epoch does not
    /// reach, [`Error::OutOfRange`] if its part ends before; then nothing is written.
    pub fn put(&self, target: usize, first: usize, source: &'b [T]) -> Result<(), Error> {
        let to = Blocks::run(first, source.len());
        self.issue(target, to, Operation::Put { to, source: Source::Borrowed(source) })
    }

    /// Puts one element, which is copied.
    ///
    /// # Errors
    /// As [`put`](Self::put).
    pub fn put_value(&self, target: usize, index: usize, value: T) -> Result<(), Error> {
        let to = Blocks::run(index, 1);
        self.issue(target, to, Operation::Put { to, source: Source::Value(value) })
    }

    /// Puts `source` over blocks of `target`'s part: a vector put.
    ///
    /// # Errors
    /// As [`put`](Self::put), [`Error::Length`] if the source has not as many elements as the blocks,
    /// [`Error::BlocksOverlap`].
    pub fn put_blocks(&self, target: usize, to: Blocks, source: &'b [T]) -> Result<(), Error> {
        if source.len() != to.len() {
            return Err(Error::Length { len: source.len(), wanted: to.len() });
        }
        if to.count > 1 && to.stride < to.block {
            return Err(Error::BlocksOverlap { block: to.block, stride: to.stride });
        }
        self.issue(target, to, Operation::Put { to, source: Source::Borrowed(source) })
    }

    /// Puts `source`, then raises one of the target's notification counters, so that the target can use the data before
    /// the epoch is complete. All that this rank put to the target before is there, too.
    ///
    /// Like every operation it may be queued, until a call of this epoch finds the target's post, or in COMPLETE in
    /// classes that carry operations out there. An origin that waits for an answer has to do it by
    /// [`await_notifications`](Self::await_notifications) of the epoch, or the notification may never leave; in classes
    /// `Deferred` and `Message` there can be no answer before COMPLETE.
    ///
    /// # Errors
    /// As [`put`](Self::put), and [`Error::NoSuchCounter`]; [`Error::RegisterOutOfReach`] where nothing is atomic
    /// between this rank and the target. Then nothing is put either.
    pub fn put_notify(&self, target: usize, first: usize, source: &'b [T], counter: usize) -> Result<(), Error> {
        if counter >= notify::COUNTERS {
            return Err(Error::NoSuchCounter { counter });
        }
        self.check(target, Blocks::run(first, source.len()))?;
        self.check_atomic(target)?;
        self.put(target, first, source)?;
        self.issue(target, Blocks::run(0, 0), Operation::Notify { counter })
    }

    /// Gets the elements of `into`'s length from `target`'s part, from `first` on.
    ///
    /// # Errors
    /// As [`put`](Self::put); then nothing is read.
    pub fn get(&self, target: usize, first: usize, into: &'b mut [T]) -> Result<(), Error> {
        let from = Blocks::run(first, into.len());
        self.issue(target, from, Operation::Get { from, into })
    }

    /// Gets blocks of `target`'s part, one after another: a vector get.
    ///
    /// # Errors
    /// As [`put_blocks`](Self::put_blocks), but blocks may overlap.
    pub fn get_blocks(&self, target: usize, from: Blocks, into: &'b mut [T]) -> Result<(), Error> {
        if into.len() != from.len() {
            return Err(Error::Length { len: into.len(), wanted: from.len() });
        }
        self.issue(target, from, Operation::Get { from, into })
    }

    /// Puts elements `source` of a shared buffer over those of `target`'s part from `first` on. If the window has copy
    /// engines, one of them does it while this rank goes on.
    ///
    /// # Errors
    /// As [`put`](Self::put), and [`Error::Length`] if the buffer ends before.
    pub fn put_shared(
        &self,
        target: usize,
        first: usize,
        source: &'b SharedBuffer<'c, C, T>,
        elements: Range<usize>,
    ) -> Result<(), Error> {
        let from = source.place(elements.start, elements.len(), self.window.engines)?;
        self.issue_copy(target, first, elements.len(), |to, len_bytes| {
            Operation::CopyTo(Transfer { from, to, len_bytes })
        })
    }

    /// Gets elements of `target`'s part, from `first` on, into elements `into` of a shared buffer. If the window has
    /// copy engines, one of them does it while this rank goes on.
    ///
    /// # Errors
    /// As [`put_shared`](Self::put_shared).
    pub fn get_shared(
        &self,
        target: usize,
        first: usize,
        buffer: &'b mut SharedBuffer<'c, C, T>,
        into: Range<usize>,
    ) -> Result<(), Error> {
        let to = buffer.place(into.start, into.len(), self.window.engines)?;
        self.issue_copy(target, first, into.len(), |from, len_bytes| {
            Operation::CopyFrom(Transfer { from, to, len_bytes })
        })
    }

    /// Issues a copy from or to elements of a part.
    fn issue_copy(
        &self,
        target: usize,
        first: usize,
        len: usize,
        copy: impl FnOnce(SharedAddress, usize) -> Operation<'b, T>,
    ) -> Result<(), Error> {
        self.check(target, Blocks::run(first, len))?;
        if len > 0 {
            let part = self.window.peers.part(target).start().plus(first * size_of::<T>());
            self.admit(target, copy(part, len * size_of::<T>()));
        }
        Ok(())
    }

    /// Carries out what can be by now. The epoch's other calls do that, too.
    pub fn progress(&self) {
        let Reach::Group { targets, patience: Patience::CompletePrompt, .. } = &self.reach else { return };
        let Some(pending) = self.pending.get() else { return };
        let mut waiting = pending.waiting.borrow_mut();
        let mut not_posted = Vec::new();
        for _ in 0..waiting.len() {
            let Some((target, operation)) = waiting.pop_front() else { return };
            if not_posted.contains(&target) || !self.window.has_posted(targets, target) {
                not_posted.push(target);
                waiting.push_back((target, operation));
            } else {
                let _span = self.trace(target, &operation);
                self.carry_out(target, operation);
            }
        }
    }

    /// Waits like [`Window::await_notifications`], and carries out what is queued as the posts come: what a
    /// notification is the answer to has to get there first.
    ///
    /// # Errors
    /// As [`Window::await_notifications`].
    pub fn await_notifications(&self, counter: usize, count: u32, deadline: Deadline) -> Result<(), Error> {
        let (window, hal) = (self.window, self.window.comm().hal());
        loop {
            self.progress();
            let is_prompt = matches!(self.reach, Reach::Group { patience: Patience::CompletePrompt, .. });
            if !is_prompt || !self.some_wait() {
                window.await_notifications(counter, count, deadline)?;
                break;
            }
            let has_passed = matches!(deadline, Deadline::At(ticks) if ticks <= hal.now());
            match window.await_notifications(counter, count, Deadline::At(0)) {
                Err(Error::TimedOut { .. }) if !has_passed && !hal.is_dying() => hal.relax(),
                outcome => {
                    outcome?;
                    break;
                }
            }
        }
        // They may answer what this rank has notified others of, which is in memory then.
        self.are_over(false);
        Ok(())
    }

    /// Carries out all that waits, in order; what has been posted to by now goes first.
    #[inline]
    pub(super) fn finish(&self) {
        if self.some_wait() {
            self.finish_what_waits();
        }
    }

    fn finish_what_waits(&self) {
        self.progress();
        let waiting = self.pending().waiting.take();
        for (target, operation) in waiting {
            let _span = self.trace(target, &operation);
            self.window.await_post(target);
            self.carry_out(target, operation);
        }
    }

    /// Hands out what targets have answered to packets, when the epoch is complete.
    #[inline]
    pub(super) fn hand_out(&self) {
        if let (Some(pending), Synchronisation::Message(channel)) = (self.pending.get(), &self.window.synchronisation) {
            for answer in pending.answers.take() {
                answer.finish(channel, &self.window.peers);
            }
        }
    }

    /// Returns when all that was carried out is in memory.
    pub(super) fn settle(&self) {
        self.window.await_copies();
        self.window.comm().hal().drain();
        self.are_over(false);
    }

    /// What was asked for is over at the targets, or at this rank only.
    #[inline]
    pub(super) fn are_over(&self, locally: bool) {
        if self.window.comm().hal().is_checked() {
            let target = if let Reach::Locked { target } = &self.reach { Some(*target) } else { None };
            declared::end(self.window, target, locally);
        }
    }

    /// Checks an operation, and carries it out or queues it.
    fn issue(&self, target: usize, blocks: Blocks, operation: Operation<'b, T>) -> Result<(), Error> {
        self.check(target, blocks)?;
        self.admit(target, operation);
        Ok(())
    }

    /// Carries an operation that was checked out, or queues it.
    fn admit(&self, target: usize, operation: Operation<'b, T>) {
        let _span = self.trace(target, &operation);
        if self.window.comm().hal().is_checked() {
            declared::begin(self.window, target, &operation);
        }
        match &self.reach {
            Reach::Group { patience: Patience::CompletePrompt, no_check: false, targets } => {
                self.issue_promptly(targets, target, operation);
            }
            Reach::Group { patience: Patience::CompleteDeferred, .. } => {
                self.pending().waiting.borrow_mut().push_back((target, operation));
            }
            Reach::Group { no_check, .. } => {
                if !no_check {
                    self.window.await_post(target);
                }
                self.carry_out(target, operation);
            }
            Reach::LockedOnDemand(parts) => {
                let OnDemand { locked, joined } = &**parts;
                if !locked.contains(target) {
                    if !locked.is_empty() && lock::join(&self.window.peers, target) {
                        joined.insert(target);
                    } else {
                        lock::acquire(&self.window.peers, target, Lock::Shared);
                    }
                    locked.insert(target);
                    if target == self.window.comm().rank() {
                        self.window.locked.insert(target);
                    }
                }
                self.carry_out(target, operation);
            }
            Reach::All | Reach::Locked { .. } => self.carry_out(target, operation),
        }
    }

    /// Carries an operation out if its target has posted and nothing for that target is queued, otherwise queues it.
    fn issue_promptly(&self, targets: &Group, target: usize, operation: Operation<'b, T>) {
        self.progress();
        let is_queued = |target| {
            self.pending.get().is_some_and(|pending| pending.waiting.borrow().iter().any(|(other, _)| *other == target))
        };
        if !is_queued(target) && self.window.has_posted(targets, target) {
            return self.carry_out(target, operation);
        }
        let waiting = &self.pending().waiting;
        if waiting.borrow().len() == QUEUE {
            let first = waiting.borrow().front().map(|(target, _)| *target);
            first.into_iter().for_each(|first| self.window.await_post(first));
            self.progress();
        }
        waiting.borrow_mut().push_back((target, operation));
    }

    /// An operation is under way, for a timeline.
    fn trace(&self, target: usize, operation: &Operation<'b, T>) -> Entered<'c, C> {
        let comm = self.window.comm();
        comm.hal().span(operation.span().with(comm.core_of(target)))
    }

    fn carry_out(&self, target: usize, mut operation: Operation<'b, T>) {
        if let (Reach::Group { .. }, Synchronisation::Message(channel)) = (&self.reach, &self.window.synchronisation) {
            let answers = &mut self.pending().answers.borrow_mut();
            return packets::request(channel, &self.window.peers, target, operation, answers);
        }
        operation.perform(&self.window.peers, self.window.engines, target);
    }

    /// Refuses what has to be atomic where nothing is: between this rank and a target whose register is out of its reach,
    /// unless the target does it itself.
    fn check_atomic(&self, target: usize) -> Result<(), Error> {
        match (&self.reach, &self.window.synchronisation) {
            (Reach::Group { .. }, Synchronisation::Message(_)) => Ok(()),
            _ => self.window.comm().check_register(target),
        }
    }

    /// As [`issue`](Self::issue), for an operation that is atomic.
    fn issue_atomic(&self, target: usize, blocks: Blocks, operation: Operation<'b, T>) -> Result<(), Error> {
        self.check(target, blocks)?;
        self.check_atomic(target)?;
        self.admit(target, operation);
        Ok(())
    }

    /// Refuses what the epoch does not reach.
    fn check(&self, target: usize, blocks: Blocks) -> Result<(), Error> {
        let (window, epoch, len) = (self.window.number(), self.epoch, self.window.len_of(target)?);
        match &self.reach {
            Reach::Group { targets, .. } if !targets.contains(target) => {
                return Err(Error::NotInEpoch { rank: target, window, epoch });
            }
            Reach::Locked { target: locked } if *locked != target => {
                return Err(Error::NotInEpoch { rank: target, window, epoch });
            }
            _ => {}
        }
        if matches!(self.reach, Reach::LockedOnDemand(_))
            && target == self.window.comm().rank()
            && !self.window.lent.get()
        {
            // The own part was taken back meanwhile: nobody could ever unlock it for this rank.
            return Err(Error::NotLent { window });
        }
        let end = blocks.end();
        if end > len { Err(Error::OutOfRange { rank: target, window, epoch, end, len }) } else { Ok(()) }
    }
}

impl<'b, C: Core, T: Element> Operations<'b, '_, '_, C, T> {
    /// Combines `source` with the elements of `target`'s part from `first` on. Atomic for each element.
    ///
    /// # Errors
    /// As [`put`](Self::put), and [`Error::RegisterOutOfReach`] where nothing is atomic between this rank and the target.
    pub fn accumulate(&self, target: usize, first: usize, source: &'b [T], operator: Operator<T>) -> Result<(), Error> {
        let operation = Operation::Accumulate { first, source: Source::Borrowed(source), fetched: None, operator };
        self.issue_atomic(target, Blocks::run(first, source.len()), operation)
    }

    /// Combines `source` with the elements of `target`'s part from `first` on, and gets what was there before. Atomic
    /// for each element.
    ///
    /// # Errors
    /// As [`accumulate`](Self::accumulate), and [`Error::Length`] if both buffers are not of one length.
    pub fn get_accumulate(
        &self,
        target: usize,
        first: usize,
        source: &'b [T],
        fetched: &'b mut [T],
        operator: Operator<T>,
    ) -> Result<(), Error> {
        if source.len() != fetched.len() {
            return Err(Error::Length { len: fetched.len(), wanted: source.len() });
        }
        let source = Source::Borrowed(source);
        let blocks = Blocks::run(first, fetched.len());
        self.issue_atomic(target, blocks, Operation::Accumulate { first, source, fetched: Some(fetched), operator })
    }

    /// Combines `operand` with one element, and gets what was there before.
    ///
    /// # Errors
    /// As [`accumulate`](Self::accumulate).
    pub fn fetch_and_op(
        &self,
        target: usize,
        index: usize,
        operand: T,
        fetched: &'b mut T,
        operator: Operator<T>,
    ) -> Result<(), Error> {
        let (source, fetched) = (Source::Value(operand), Some(core::slice::from_mut(fetched)));
        let operation = Operation::Accumulate { first: index, source, fetched, operator };
        self.issue_atomic(target, Blocks::run(index, 1), operation)
    }
}

impl<'b, C: Core, T: Integer> Operations<'b, '_, '_, C, T> {
    /// Replaces an element by `replacement` if it equals `expected`, and gets what was there before.
    ///
    /// # Errors
    /// As [`accumulate`](Self::accumulate).
    pub fn compare_and_swap(
        &self,
        target: usize,
        index: usize,
        expected: T,
        replacement: T,
        found: &'b mut T,
    ) -> Result<(), Error> {
        let operation = Operation::CompareAndSwap { index, expected, replacement, found };
        self.issue_atomic(target, Blocks::run(index, 1), operation)
    }
}
