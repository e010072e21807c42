//! Barriers of some ranks, as objects.

use alloc::{boxed::Box, vec, vec::Vec};

use hal::{Core, Deadline, LINE_BYTES, Span};

use super::{
    Algorithm, Barrier, FlagBarrier, atomic_counters::AtomicCounters, central::Central, locked_counter::LockedCounter,
    mechanism::Mechanism, party::Party, registers::Registers,
};
use crate::{
    Comm, Error, Group, Operator,
    collective::{
        call::{Call, Collective},
        reduction,
    },
};

/// A barrier of a group of ranks. Dropping it is collective over the communicator: a barrier of all ranks.
///
/// It tells others nothing but that its members have arrived: collective operations, windows and barriers of other
/// groups may come before, after and between [`arrive`](Self::arrive) and [`Arrived::wait`]. Those that wait for other
/// members come in the same place on all of these: a barrier that was arrived at goes on in [`Arrived::test`] and
/// [`Arrived::wait`] only, and nobody may be released before.
#[must_use = "the barrier ends when this is dropped"]
pub struct GroupBarrier<'b, 'c, C: Core> {
    comm: &'b Comm<'c, C>,
    mechanism: Box<dyn Mechanism<C>>,
    prices: Prices,
}

/// The names by which arriving and the rest have prices.
type Prices = [&'static str; 2];

/// A barrier that this rank has arrived at. Dropping it waits for the others.
#[must_use = "the barrier is waited for when this is dropped"]
pub struct Arrived<'a, 'b, 'c, C: Core> {
    barrier: &'a GroupBarrier<'b, 'c, C>,
    done: bool,
}

impl<'c, C: Core> Comm<'c, C> {
    /// Makes a barrier of `group`. Collective over the communicator: each rank names a group, with an algorithm. The
    /// members of a group all name it, alike; others may name it, too, or the empty one, or one of their own. So each rank
    /// can be in one barrier that is made, and several groups without common members get theirs at the same time: all of
    /// flags, by whatever algorithms, or all by the same one that is not made of flags in MPBs.
    ///
    /// # Errors
    /// On every rank alike, if one of them has reason to refuse: [`Error::NoSuchRank`] for the group,
    /// [`Error::NoDegree`] for a tree without children or a dissemination without partners; [`Error::NoSpareLines`] if
    /// the MPBs have no room for its flags, [`Error::OutOfSharedMemory`] and [`Error::PartTooLarge`] if there is none for
    /// its words, [`Error::RegistersWanted`], [`Error::WholeMachine`] for registers and atomic counters on a communicator of
    /// some ranks, [`Error::NoAtomicCounters`],
    /// [`Error::BarriersDiffer`]; and [`Error::ProfileInForce`].
    pub fn barrier_of(&self, group: &Group, barrier: Barrier) -> Result<GroupBarrier<'_, 'c, C>, Error> {
        self.check_call(|| Call::new(Collective::BarrierOf))?;
        self.check_no_profile()?;
        self.agree(group.check(self.size()).and(barrier.check()), barrier)?;
        // Of words, counters and registers nothing was measured: the root of the linear one does what is most like it.
        let mut prices = Algorithm::Linear.prices();
        let mechanism: Box<dyn Mechanism<C>> = match barrier {
            Barrier::Central => Box::new(Central::new(self, group)?),
            Barrier::LockedCounter => Box::new(LockedCounter::new(self, group)?),
            Barrier::AtomicCounters => {
                self.check_whole("a barrier of atomic counters")?;
                Box::new(AtomicCounters::new(self, group)?)
            }
            Barrier::Registers => {
                self.check_whole("a barrier of registers")?;
                Box::new(Registers::new(self, group)?)
            }
            _ => {
                let (flags, of_flags) = self.flag_barrier(group, barrier)?;
                prices = of_flags;
                Box::new(flags)
            }
        };
        Ok(GroupBarrier { comm: self, mechanism, prices })
    }

    /// Whether no rank has an error in what it asked for, and all want barriers that are made of the same. Collective.
    fn agree(&self, checked: Result<(), Error>, barrier: Barrier) -> Result<(), Error> {
        let refusal = match checked {
            Ok(()) => 0,
            Err(Error::NoSuchRank { rank, .. }) => 2 + rank as u32,
            Err(_) => 1,
        };
        let material = match barrier {
            Barrier::Central => 1,
            Barrier::LockedCounter => 2,
            Barrier::Registers => 3,
            Barrier::AtomicCounters => 4,
            _ => 0,
        };
        let [refusal, highest, lowest] = self.most([refusal, material, u32::MAX - material]);
        match refusal {
            0 if highest != u32::MAX - lowest => Err(Error::BarriersDiffer),
            0 => Ok(()),
            1 => Err(Error::NoDegree),
            rank => Err(Error::NoSuchRank { rank: rank as usize - 2, size: self.size() }),
        }
    }

    /// The largest numbers of all ranks. Collective.
    fn most<const COUNT: usize>(&self, mut numbers: [u32; COUNT]) -> [u32; COUNT] {
        let reduced = reduction::allreduce(self, &mut numbers, &Operator::MAX);
        debug_assert_eq!(reduced, Ok(()), "a word always fits");
        numbers
    }

    fn flag_barrier(&self, group: &Group, barrier: Barrier) -> Result<(FlagBarrier, Prices), Error> {
        let mut members: Vec<_> = group.iter().map(|rank| self.core_of(rank)).collect();
        members.sort_unstable();
        let party = Party::new(members.iter().copied(), self.hal().layout());
        let algorithm = barrier.algorithm(&party, self.hal().layout());
        // Groups may need different numbers of lines, and all ranks have to take the same.
        let lines = self.most([algorithm.slots(&party).div_ceil(LINE_BYTES) as u32])[0] as usize;
        let first_line =
            self.take_spare_lines(lines, "flags of a barrier").ok_or(Error::NoSpareLines { wanted: lines })?;
        let position = members.iter().position(|core| *core == self.core_of(self.rank()));
        let schedule = position.map(|position| algorithm.schedule(position, &party));
        self.hal().put(&vec![0; lines * LINE_BYTES], self.mpb_line(self.rank(), first_line));
        self.hal().drain();
        self.synchronise();
        let flags = FlagBarrier::new(
            self.hal(),
            &schedule.unwrap_or_default(),
            |position| members[position],
            first_line..first_line + lines,
        );
        Ok((flags, algorithm.prices()))
    }
}

impl<'b, 'c, C: Core> GroupBarrier<'b, 'c, C> {
    /// The communicator that its members are ranks of.
    pub(crate) fn comm(&self) -> &'b Comm<'c, C> {
        self.comm
    }

    /// Returns when every member has called it; at once on a rank that is not one.
    pub fn wait(&mut self) {
        let _span = self.comm.hal().span(Span::new("group barrier"));
        self.arrive().wait();
    }

    /// Tells the others that this rank has arrived.
    pub fn arrive(&mut self) -> Arrived<'_, 'b, 'c, C> {
        let _span = self.comm.hal().span(Span::new("arrive at barrier").priced_as(self.prices[0]));
        self.mechanism.arrive(self.comm);
        Arrived { barrier: self, done: false }
    }
}

impl<C: Core> Arrived<'_, '_, '_, C> {
    /// Returns when all members have arrived.
    pub fn wait(mut self) {
        self.go_on(Deadline::Never);
    }

    /// Whether all members have arrived; goes on as far as it can without waiting.
    pub fn test(&mut self) -> bool {
        self.go_on(Deadline::At(0))
    }

    fn go_on(&mut self, deadline: Deadline) -> bool {
        if self.done {
            return true;
        }
        let price = self.barrier.prices[1];
        let _span = self.barrier.comm.hal().span(Span::new("end of barrier").priced_as(price));
        self.done = self.barrier.mechanism.go_on(self.barrier.comm, deadline);
        self.done
    }
}

impl<C: Core> Drop for Arrived<'_, '_, '_, C> {
    fn drop(&mut self) {
        self.go_on(Deadline::Never);
    }
}

impl<C: Core> Drop for GroupBarrier<'_, '_, C> {
    fn drop(&mut self) {
        if self.comm.hal().is_dying() {
            return;
        }
        // Others may still look at what this rank has stored.
        self.comm.barrier();
        self.mechanism.end(self.comm);
    }
}
