//! A barrier of test-and-set registers alone: neither MPB nor memory is touched.
//!
//! A register is a token that can be there (free) or not: any core puts it there, and reading it takes it away. While
//! this barrier exists, the register of a member is the place of the one token at a time that its owner waits for. Tokens
//! go down the chain of members, from the last to the first, as these arrive, and come up again as the release. There is
//! never a second token for a register that has one: the release comes after the first member has taken what came down
//! through all others, and what comes down for the next barrier is sent by a member that has taken this one's release
//! from the very one that it sends it to. So nothing is reset, and barriers can follow at once.
//!
//! RCCE's `RCCE_TNS_barrier` takes the first free register in order of index, and whoever takes the last one begins a
//! chain of releases. A member that is released early and arrives at the next barrier finds registers there that the
//! chain has freed and its next link has not yet taken; we give each register to one member instead, which also makes
//! the number of accesses independent of the order of arrival.
//!
//! Per barrier: each member takes two tokens and sends two, the first and the last one each. The chain is as long as the
//! group, so this is for those who have nothing but registers.
//!
//! **The registers are taken as long as the barrier exists**, by those who wait for tokens: whoever locks one meanwhile,
//! also to allocate shared memory, for a window of a SCOSCo class or to interrupt the core, waits for the end of the
//! barrier.

use core::cell::Cell;

use hal::{Core, CoreId, Deadline};

use super::mechanism::Mechanism;
use crate::{Comm, Error, Group};

/// A barrier of registers, on one rank.
pub(super) struct Registers {
    is_member: bool,
    /// Towards the first member.
    lower: Option<CoreId>,
    /// Towards the last one.
    upper: Option<CoreId>,
    step: Cell<Step>,
}

/// The barriers of registers that there are, all of the communicator of all ranks.
#[derive(Default)]
struct RegisterBarriers {
    /// How many were made, for whichever groups; the same on all ranks.
    made: Cell<u32>,
    /// This rank's register belongs to one.
    of_this_rank: Cell<bool>,
}

impl<C> Comm<'_, C> {
    /// Whether there are barriers that keep registers.
    pub(crate) fn has_register_barriers(&self) -> bool {
        self.register_barriers().made.get() > 0
    }

    fn register_barriers(&self) -> &RegisterBarriers {
        self.world_of().state()
    }
}

impl RegisterBarriers {
    fn begin(&self, is_member: bool) {
        self.made.set(self.made.get() + 1);
        self.of_this_rank.set(is_member || self.of_this_rank.get());
    }

    fn end(&self, is_member: bool) {
        self.made.set(self.made.get() - 1);
        self.of_this_rank.set(!is_member && self.of_this_rank.get());
    }
}

/// What a member waits for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Step {
    /// The token of those above.
    Gather,
    /// The release from below.
    Release,
    Done,
}

impl Registers {
    /// Collective over the communicator.
    ///
    /// # Errors
    /// On every rank alike: [`Error::RegistersWanted`] while a rank is subscribed to notifications or [progresses by
    /// interrupts](Comm::progress_by_interrupts), or a member is one of another such barrier; [`Error::RegisterOutOfReach`].
    pub(super) fn new<C: Core>(comm: &Comm<'_, C>, group: &Group) -> Result<Self, Error> {
        let is_member = group.contains(comm.rank());
        comm.agree_on_registers(group.iter().filter(|_| is_member).map(|rank| comm.core_of(rank)))?;
        let is_taken = is_member && comm.register_barriers().of_this_rank.get();
        if comm.first_where(is_taken || comm.has_subscribers() || comm.is_interrupting())?.is_some() {
            return Err(Error::RegistersWanted);
        }
        // Who has yet to come here may want to lock registers before.
        comm.synchronise();
        let registers = Self::taken(comm, group);
        comm.register_barriers().begin(is_member);
        comm.synchronise();
        Ok(registers)
    }

    /// Takes the register of this rank, which stays with the barrier; nobody else begins before all have done so.
    pub(super) fn taken<C: Core>(comm: &Comm<'_, C>, group: &Group) -> Self {
        let position = group.position_of(comm.rank());
        let core_at = |position: usize| group.rank_at(position).map(|rank| comm.core_of(rank));
        if position.is_some() {
            comm.hal().acquire_register(comm.hal().core(), "a barrier of registers");
        }
        Self {
            is_member: position.is_some(),
            lower: position.and_then(|position| core_at(position.checked_sub(1)?)),
            upper: position.and_then(|position| core_at(position + 1)),
            step: Cell::new(Step::Done),
        }
    }

    /// All above have arrived, and so has this rank.
    fn gathered<C: Core>(&self, comm: &Comm<'_, C>) {
        match self.lower {
            Some(lower) => {
                comm.hal().free_register(lower);
                self.step.set(Step::Release);
            }
            None => self.released(comm),
        }
    }

    /// All have arrived.
    fn released<C: Core>(&self, comm: &Comm<'_, C>) {
        self.upper.iter().for_each(|upper| comm.hal().free_register(*upper));
        self.step.set(Step::Done);
        // There is no poll that does.
        comm.hal().invalidate_mpb();
    }
}

impl<C: Core> Mechanism<C> for Registers {
    fn arrive(&self, comm: &Comm<'_, C>) {
        if !self.is_member {
            return;
        }
        // Registers do not push out what is in the write-combine buffer.
        comm.hal().drain();
        self.step.set(Step::Gather);
        if self.upper.is_none() {
            self.gathered(comm);
        }
    }

    fn go_on(&self, comm: &Comm<'_, C>, deadline: Deadline) -> bool {
        while self.step.get() != Step::Done {
            if !comm.take_register(comm.hal().core(), deadline, "a barrier of registers") {
                return false;
            }
            match self.step.get() {
                Step::Gather => self.gathered(comm),
                _ => self.released(comm),
            }
        }
        true
    }

    fn end(&self, comm: &Comm<'_, C>) {
        comm.register_barriers().end(self.is_member);
        if self.is_member {
            comm.hal().free_register(comm.hal().core());
        }
    }
}
