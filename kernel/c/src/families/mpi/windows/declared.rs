//! What a machine that checks programs is told of windows.

use alloc::vec::Vec;

use kernel::hal::{
    Act, Core,
    act::{Asserted, Atomic, Channel, Synchronisation, Target as OtherEnd},
};

use super::{Window, arguments::Target, shared::Shared, wire::How};
use crate::families::mpi::{collective::blocks::Block, declared::pieces, operators::Operation, state::Here};

/// What ranks tell each other on a window besides messages.
#[derive(Clone, Copy)]
pub(super) enum Told {
    Post = 1,
    Completion,
    /// By whoever had a lock alone, and by whoever had it at all.
    Unlock,
    AnyUnlock,
}

impl Window {
    fn channel(&self, told: Told, rank: usize) -> Channel {
        // No context of messages is as large.
        [1 << 32 | u64::from(self.ends.number), told as u64, rank as u64]
    }

    /// An operation is under way from now on: what it uses of the program at the origin and whether that is written; what it does
    /// at the target, if it accumulates, and whether that comes back. Returns its number for its request.
    pub(super) fn declare<C: Core>(
        &self,
        here: &Here<'_, '_, '_, C>,
        what: &'static str,
        own: &[(&Block, bool)],
        target: &Target,
        accumulates: Option<(How, bool)>,
    ) -> Option<u64> {
        if !here.is_checked() {
            return None;
        }
        let operation = accumulates.and_then(|(how, _)| Operation::of(how.operator.into()));
        let atomic = accumulates.and_then(|(how, fetches)| {
            // To replace goes with any other operator, as to compare and swap does: locks are made of them.
            let is_neutral =
                operation.is_none_or(|operation| [Operation::Nothing, Operation::Replace].contains(&operation));
            let operator = (!is_neutral).then_some(u32::from(how.operator));
            self.atomic(target, operator, fetches)
        });
        let differs = |(block, _): &(&Block, bool)| block.datatype.differs(&target.datatype);
        if accumulates.is_none() && target.bytes > 0 && own.iter().any(differs) {
            let why = "the values are of one basic type at the origin and of another one at the target: the signatures have to agree";
            here.declare(&Act::Misuses { what, why });
        }
        let writes = match accumulates {
            Some(_) => operation.is_some_and(|operation| operation != Operation::Nothing),
            // What is put is read here, and what is got is written.
            None => !own.iter().any(|(_, writes)| *writes),
        };
        self.begin(here, what, own, target, writes, atomic)
    }

    /// The same of a value that is compared and swapped: origin, what is expected, and result.
    pub(super) fn declare_swap<C: Core>(&self, here: &Here<'_, '_, '_, C>, own: [&Block; 3], target: &Target) {
        if here.is_checked() {
            let own = [(own[0], false), (own[1], false), (own[2], true)];
            self.begin(here, "calls MPI_Compare_and_swap", &own, target, true, self.atomic(target, None, true));
        }
    }

    fn atomic(&self, target: &Target, operator: Option<u32>, fetches: bool) -> Option<Atomic> {
        let basic = target.datatype.basic()?;
        Some(Atomic { basic: basic.handle as u32, value_bytes: basic.size(), operator, fetches })
    }

    fn begin<C: Core>(
        &self,
        here: &Here<'_, '_, '_, C>,
        what: &'static str,
        own: &[(&Block, bool)],
        target: &Target,
        writes: bool,
        atomic: Option<Atomic>,
    ) -> Option<u64> {
        let pieces = pieces(&target.place.flat, target.place.count);
        let target = OtherEnd {
            window: self.ends.number.into(),
            core: here.core_of(target.rank),
            displacement: target.place.displacement,
            pieces: &pieces,
            writes,
            atomic,
            is_memory: false,
        };
        here.declare_begin(what, own, Some(target))
    }

    /// Where this rank has the parts of shared memory.
    pub(super) fn declare_shared<C: Core>(&self, here: &Here<'_, '_, '_, C>, shared: &Shared) {
        for (place, (size, unit)) in self.parts.iter().flatten().enumerate().filter(|(_, (size, _))| *size > 0) {
            let memory = (shared.address(place).addr(), *size as usize);
            here.declare_memory(self.ends.number, self.comm.group.world_rank(place), memory, Some(*unit as usize));
        }
    }

    /// The memory of this rank that begins there is not of the window any more; nothing stands for all.
    pub(super) fn declare_withdrawn<C: Core>(&self, here: &Here<'_, '_, '_, C>, start: Option<usize>) {
        here.declare(&Act::Withdraws { window: self.ends.number.into(), start });
    }

    /// What was done to targets is over there, or here only.
    pub(super) fn declare_completion<C: Core>(&self, here: &Here<'_, '_, '_, C>, targets: &[usize], locally: bool) {
        let window = self.ends.number.into();
        if targets.len() == self.comm.size() {
            return here.declare(&Act::Completes { window, target: None, locally });
        }
        for target in targets {
            here.declare(&Act::Completes { window, target: Some(here.core_of(*target)), locally });
        }
    }

    /// This rank tells another one something.
    pub(super) fn declare_sent<C: Core>(&self, here: &Here<'_, '_, '_, C>, told: Told, to: usize) {
        here.declare(&Act::Sends { to: here.core_of(to), channel: self.channel(told, 0) });
    }

    /// This rank synchronises the window, and asserts something of its accesses.
    pub(super) fn declare_synchronisation<C: Core>(&self, here: &Here<'_, '_, '_, C>, how: Synchronisation<'_>) {
        here.declare(&Act::Synchronises { window: self.ends.number.into(), how });
    }

    /// The same for the lock of a target, or of all.
    pub(super) fn declare_lock<C: Core>(
        &self,
        here: &Here<'_, '_, '_, C>,
        target: Option<usize>,
        alone: bool,
        asserted: Asserted,
    ) {
        let target = target.map(|target| here.core_of(target));
        self.declare_synchronisation(here, Synchronisation::Lock { target, alone, asserted });
    }

    /// Another rank has told this one something.
    pub(super) fn declare_received<C: Core>(&self, here: &Here<'_, '_, '_, C>, told: Told, from: usize) {
        here.declare(&Act::Receives { from: here.core_of(from), channel: self.channel(told, 0) });
    }

    /// This rank has got a lock: it comes after those whom that has kept out.
    pub(super) fn declare_locked<C: Core>(&self, here: &Here<'_, '_, '_, C>, target: usize, alone: bool) {
        let told = if alone { Told::AnyUnlock } else { Told::Unlock };
        here.declare(&Act::Hears { place: self.channel(told, target), of: 0 });
    }

    /// This rank gives locks back.
    pub(super) fn declare_unlocked<C: Core>(&self, here: &Here<'_, '_, '_, C>, target: Option<usize>, alone: bool) {
        let targets = target.as_ref().map_or(self.comm.group.ranks(), core::slice::from_ref);
        self.declare_completion(here, targets, false);
        self.declare_synchronisation(here, Synchronisation::Unlock(target.map(|target| here.core_of(target))));
        let told: Vec<_> = if alone { [Told::Unlock, Told::AnyUnlock].into() } else { [Told::AnyUnlock].into() };
        for target in targets {
            told.iter().for_each(|told| here.declare(&Act::Tells(self.channel(*told, *target))));
        }
    }
}
