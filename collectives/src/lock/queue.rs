//! A queue lock: in order of arrival, and each waits at a line of its own MPB.
//!
//! Source: the list-based queue lock of Mellor-Crummey and Scott, *Algorithms for Scalable Synchronization on
//! Shared-Memory Multiprocessors* (section 2.4), with the MPB as the memory that each processor spins in. Where we
//! differ: there is no fetch-and-store here, and no compare-and-swap; so the tail of the queue is an uncached word that
//! is changed under the register of its home, held for a read and a write of that word, and never while waiting.
//!
//! Each rank has a node, a line of its MPB: who comes *next*, written by that one, and that the lock is *granted*,
//! written by the predecessor. A rank clears its node after it has passed the lock on and before it comes again; nobody
//! writes to it in between.
//!
//! Per lock: two changes of the tail, or one if somebody has come meanwhile; with a predecessor one line written, to its
//! MPB, with a successor one to that one's, and the own node cleared. Who waits polls its own MPB only.

use core::cell::Cell;

use hal::{Core, CoreId, Deadline, LINE_BYTES, Place, Reason, Span};

use super::Lock;
use crate::{Comm, Error, memory::uncached::SharedWords};

/// Byte of a node: one above the rank that comes next, or 0; in two bytes.
const NEXT: usize = 0;
/// Byte of a node: the lock is granted.
const GRANTED: usize = 2;
/// Bytes of a node.
const NODE_BYTES: usize = 3;

/// Word of the tail: one above the last rank of the queue, or 0.
const TAIL: usize = 0;

/// A lock in order of arrival. Dropping it is collective: a barrier of all ranks.
pub struct QueueLock<'b, 'c, C: Core> {
    comm: &'b Comm<'c, C>,
    queue: Queue,
}

/// What a rank knows of the lock.
pub(super) struct Queue {
    words: SharedWords,
    /// Whose register the tail is changed under.
    home: CoreId,
    /// The line of the nodes.
    line: usize,
    /// The predecessor has written to the own node.
    was_granted: Cell<bool>,
}

impl<'c, C: Core> Comm<'c, C> {
    /// Makes a lock whose tail is behind the nearest controller of rank `home` and under its register. Collective: all
    /// ranks name the same home.
    ///
    /// # Errors
    /// On every rank alike: [`Error::NoSuchRank`], [`Error::ProfileInForce`], [`Error::NoSpareLines`],
    /// [`Error::OutOfSharedMemory`], [`Error::RegisterOutOfReach`].
    pub fn queue_lock(&self, home: usize) -> Result<QueueLock<'_, 'c, C>, Error> {
        self.check_rank(home)?;
        self.check_no_profile()?;
        self.agree_on_registers([self.core_of(home)])?;
        let line = self.take_spare_lines(1, "a lock's queue").ok_or(Error::NoSpareLines { wanted: 1 })?;
        self.hal().put(&[0; LINE_BYTES], self.mpb_line(self.rank(), line));
        self.hal().drain();
        let shared = self.share_words(Some(home), 1).inspect_err(|_| self.give_back_lines(line, 1))?;
        let Some(words) = shared else { unreachable!("this rank has named an owner") };
        Ok(QueueLock { comm: self, queue: Queue::new(words, self.core_of(home), line) })
    }
}

impl<'c, C: Core> Lock for QueueLock<'_, 'c, C> {
    type Guard<'l>
        = QueueGuard<'l, 'c, C>
    where
        Self: 'l;

    fn lock(&mut self) -> QueueGuard<'_, 'c, C> {
        self.queue.acquire(self.comm);
        QueueGuard { comm: self.comm, queue: &self.queue }
    }
}

impl<C: Core> Drop for QueueLock<'_, '_, C> {
    fn drop(&mut self) {
        if self.comm.hal().is_dying() {
            return;
        }
        self.comm.barrier();
        self.queue.words.free(self.comm);
        self.comm.give_back_lines(self.queue.line, 1);
    }
}

/// This rank has a [`QueueLock`].
#[must_use = "the lock is given back at once"]
pub struct QueueGuard<'l, 'c, C: Core> {
    comm: &'l Comm<'c, C>,
    queue: &'l Queue,
}

impl<C: Core> Drop for QueueGuard<'_, '_, C> {
    fn drop(&mut self) {
        if !self.comm.hal().is_dying() {
            self.queue.release(self.comm);
        }
    }
}

impl Queue {
    /// A lock that nobody has: the tail's word and the nodes in `line` of all MPBs are zero.
    pub(super) fn new(words: SharedWords, home: CoreId, line: usize) -> Self {
        Self { words, home, line, was_granted: Cell::new(false) }
    }

    /// Waits for the lock, or until the machine is dying.
    pub(super) fn acquire<C: Core>(&self, comm: &Comm<'_, C>) {
        let hal = comm.hal();
        let _span = hal.span(Span::new("lock"));
        let own = comm.rank() + 1;
        let before = self.change_tail(comm, |_| own as u32);
        self.was_granted.set(before > 0);
        if before == 0 {
            // There is no poll that does.
            hal.invalidate_mpb();
            return;
        }
        let predecessor = before as usize - 1;
        hal.store(comm.mpb_line(predecessor, self.line), NEXT, &(own as u16).to_le_bytes());
        hal.drain();
        let reason = Reason::new("a queue lock").from(comm.core_of(predecessor));
        // It fails on a dying machine only.
        let _ = self.await_node(comm, reason, |node| (node[GRANTED] > 0).then_some(()));
    }

    /// Passes the lock on.
    pub(super) fn release<C: Core>(&self, comm: &Comm<'_, C>) {
        let hal = comm.hal();
        let _span = hal.span(Span::new("unlock"));
        hal.invalidate_mpb();
        let mut next = next_in(&hal.load_line(comm.mpb_line(comm.rank(), self.line)).0);
        if next.is_none() {
            // The tail does not push out what was stored under the lock.
            hal.drain();
            let own = comm.rank() as u32 + 1;
            if self.change_tail(comm, |tail| if tail == own { 0 } else { tail }) != own {
                next = self.await_node(comm, Reason::new("the next one in a queue lock to say so"), next_in);
            }
        }
        if let Some(next) = next {
            hal.store(comm.mpb_line(next, self.line), GRANTED, &[1]);
            hal.drain();
        }
        if next.is_some() || self.was_granted.get() {
            hal.store(comm.mpb_line(comm.rank(), self.line), 0, &[0; NODE_BYTES]);
            hal.drain();
        }
    }

    /// Changes the tail, and returns what it was.
    fn change_tail<C: Core>(&self, comm: &Comm<'_, C>, change: impl FnOnce(u32) -> u32) -> u32 {
        let hal = comm.hal();
        let _guard = comm.lock_register(self.home, "the tail of a queue lock");
        let tail = hal.load_word(self.words.region, TAIL);
        hal.store_word(self.words.region, TAIL, change(tail));
        tail
    }

    /// Waits for what `check` looks for in the own node.
    fn await_node<C: Core, R>(
        &self,
        comm: &Comm<'_, C>,
        reason: Reason,
        check: impl Fn(&[u8; LINE_BYTES]) -> Option<R>,
    ) -> Option<R> {
        let node = [Place::Line(comm.mpb_line(comm.rank(), self.line))];
        comm.wait_until(&node, Deadline::Never, reason, |poll| check(&poll.line(0).0)).ok()
    }
}

/// The rank that comes next, as a node says.
fn next_in(node: &[u8; LINE_BYTES]) -> Option<usize> {
    usize::from(u16::from_le_bytes([node[NEXT], node[NEXT + 1]])).checked_sub(1)
}
