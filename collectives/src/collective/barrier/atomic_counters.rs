//! A barrier of the board's atomic counters.
//!
//! Source: the barrier of iRCCE 2.0 (`RCCE_AIR_barrier`): whoever comes raises a counter; the last one, who finds it at one
//! below the number of members, sets it to 0, for which the others poll it. Two counters take turns, since a member that
//! is released early may come to the next barrier before others have seen that this one is complete; it cannot come to
//! the one after that.
//!
//! Where we differ: iRCCE waits between polls for 8 to 256 rounds of a loop, drawn at random, to keep accesses off the
//! FPGA. Here a poll follows the other, and nothing says what accesses that meet there do to each other: this is how fast
//! it can be at best.
//!
//! Per barrier: each member raises a counter, and the last one sets it; all others poll it, off the chip.

use core::cell::Cell;

use hal::{Core, Deadline, Place, Reason};

use super::mechanism::Mechanism;
use crate::{Comm, Error, Group, Operator, collective::reduction};

/// The pairs of the board's counters that are in use, as bits; the same on all ranks.
#[derive(Default)]
struct CounterPairs(Cell<u64>);

/// A barrier of atomic counters, on one rank.
pub(super) struct AtomicCounters {
    /// The first of two counters; nothing on a rank that is no member.
    first: Option<usize>,
    len: usize,
    /// The pairs of counters that were taken when this barrier was made, by all groups together.
    taken: u64,
    /// Which of the two is that of the barrier that is under way.
    turn: Cell<usize>,
    /// This rank has released the others.
    came_last: Cell<bool>,
}

impl AtomicCounters {
    /// Collective over the communicator.
    ///
    /// # Errors
    /// On every rank alike: [`Error::NoAtomicCounters`].
    pub(super) fn new<C: Core>(comm: &Comm<'_, C>, group: &Group) -> Result<Self, Error> {
        let root = group.rank_at(0).filter(|_| group.contains(comm.rank()));
        // The first members of all groups, as bits: in this order they get the free pairs.
        let mut roots = alloc::vec![0_u32; comm.size().div_ceil(32)];
        if root == Some(comm.rank()) {
            roots[comm.rank() / 32] = 1 << (comm.rank() % 32);
        }
        reduction::allreduce(comm, &mut roots, &Operator::SUM)?;
        let groups = roots.iter().map(|word| word.count_ones() as usize).sum();
        let pairs = (comm.hal().layout().atomic_counters() / 2).min(u64::BITS as usize);
        let in_use = comm.state::<CounterPairs>().0.get();
        let free = || (0..pairs).filter(|pair| in_use >> pair & 1 == 0);
        if free().count() < groups {
            return Err(Error::NoAtomicCounters { wanted: 2 * groups, free: 2 * free().count() });
        }
        let taken = free().take(groups).fold(0, |taken, pair| taken | 1 << pair);
        comm.state::<CounterPairs>().0.set(in_use | taken);
        let before = |root: usize| {
            let bits = |word: usize| if word < root / 32 { u32::MAX } else { (1 << (root % 32)) - 1 };
            (0..=root / 32).map(|word| (roots[word] & bits(word)).count_ones() as usize).sum()
        };
        let first = root.and_then(|root| free().nth(before(root))).map(|pair| 2 * pair);
        let barrier = Self { taken, ..Self::with_counters(first, group.len()) };
        if let Some(first) = first.filter(|_| root == Some(comm.rank())) {
            [first, first + 1].into_iter().for_each(|counter| comm.hal().set_counter(counter, 0));
        }
        comm.synchronise();
        Ok(barrier)
    }

    /// The barrier of `len` members, with two counters from `first` on that are 0.
    pub(super) fn with_counters(first: Option<usize>, len: usize) -> Self {
        Self { first, len, taken: 0, turn: Cell::new(0), came_last: Cell::new(false) }
    }
}

impl<C: Core> Mechanism<C> for AtomicCounters {
    fn arrive(&self, comm: &Comm<'_, C>) {
        let Some(first) = self.first else { return };
        let hal = comm.hal();
        self.turn.set(1 - self.turn.get());
        let counter = first + self.turn.get();
        // Counters do not push out what is in the write-combine buffer.
        hal.drain();
        self.came_last.set(hal.increment_counter(counter) as usize + 1 == self.len);
        if self.came_last.get() {
            hal.set_counter(counter, 0);
            // There is no poll that does.
            hal.invalidate_mpb();
        }
    }

    fn go_on(&self, comm: &Comm<'_, C>, deadline: Deadline) -> bool {
        let Some(first) = self.first else { return true };
        let place = [Place::Counter(first + self.turn.get())];
        let released =
            || comm.wait_until(&place, deadline, Reason::new("a barrier"), |poll| (poll.counter(0) == 0).then_some(()));
        self.came_last.get() || released().is_ok()
    }

    fn end(&self, comm: &Comm<'_, C>) {
        comm.state::<CounterPairs>().0.set(comm.state::<CounterPairs>().0.get() & !self.taken);
    }
}
