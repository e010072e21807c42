//! Barriers of two ranks in all orders of their operations.

use alloc::boxed::Box;

use hal::{
    CoreId, Deadline, LINE_BYTES, Mpb, MpbLine, SharedAddress, Topology,
    sim::{SimCore, Spontaneous},
};

use super::{
    Barrier, FlagBarrier, atomic_counters::AtomicCounters, central::Central, locked_counter::LockedCounter,
    mechanism::Mechanism, party::Party, registers::Registers,
};
use crate::{Comm, Group, in_all_orders::in_all_orders, memory::uncached::SharedWords};

/// Barriers in a row: the second one finds what the first one left.
const BARRIERS: u8 = 2;

/// Makes a barrier of all ranks.
type Make = fn(&Comm<'_, SimCore>, &Group) -> Box<dyn Mechanism<SimCore>>;

/// Words that nothing else uses.
fn words() -> Option<SharedWords> {
    Some(SharedWords {
        region: regions::of_a_test().region(SharedAddress::new(0, 1 << 20), LINE_BYTES),
        is_owner: false,
    })
}

/// Each rank stores into its own MPB before each barrier, and finds what the other one has stored after it.
fn explore(barrier: Make) -> u64 {
    in_all_orders(Spontaneous::default(), |comm| {
        let (core, barrier) = (comm.hal(), barrier(comm, &comm.group()));
        comm.barrier();
        let line = comm.mpb_layout().spare().start;
        for round in 1..=BARRIERS {
            core.store(MpbLine::new(core.core(), line), 0, &[round]);
            barrier.arrive(comm);
            assert!(barrier.go_on(comm, Deadline::Never));
            let found = core.load_line(MpbLine::new(comm.core_of(1 - comm.rank()), line)).0[0];
            assert!(found >= round, "round {round}: the other rank was released in round {found}");
        }
    })
}

#[test]
fn barriers_without_mpb_in_all_orders() {
    let central = |comm: &Comm<'_, SimCore>, group: &Group| -> Box<dyn Mechanism<SimCore>> {
        Box::new(Central::with_words(words(), comm.rank(), group))
    };
    let counter = |_: &Comm<'_, SimCore>, group: &Group| -> Box<dyn Mechanism<SimCore>> {
        Box::new(LockedCounter::with_words(words(), group, CoreId::new(0)))
    };
    let registers = |comm: &Comm<'_, SimCore>, group: &Group| -> Box<dyn Mechanism<SimCore>> {
        Box::new(Registers::taken(comm, group))
    };
    let atomic = |_: &Comm<'_, SimCore>, group: &Group| -> Box<dyn Mechanism<SimCore>> {
        Box::new(AtomicCounters::with_counters(Some(0), group.len()))
    };
    for barrier in [central as Make, counter, registers, atomic] {
        assert!(explore(barrier) > 1);
    }
}

/// A barrier on flags, in a line that nothing else uses.
fn flags(comm: &Comm<'_, SimCore>, name: &str) -> Box<dyn Mechanism<SimCore>> {
    let (barrier, layout): (Barrier, _) = (name.parse().expect("a name"), comm.hal().layout());
    let party = Party::new((0..2).map(CoreId::new), layout);
    let schedule = barrier.algorithm(&party, layout).schedule(comm.rank(), &party);
    let line = comm.mpb_layout().spare().start + 1;
    Box::new(FlagBarrier::new(comm.hal(), &schedule, CoreId::new, line..line + 1))
}

#[test]
fn barriers_on_flags_in_all_orders() {
    let barriers: [Make; 6] = [
        |comm, _| flags(comm, "rcce-linear"),
        |comm, _| flags(comm, "dissemination"),
        |comm, _| flags(comm, "dissemination-1-pull"),
        |comm, _| flags(comm, "tree-k1-push"),
        |comm, _| flags(comm, "tree-k1-pull"),
        |comm, _| flags(comm, "tree-k1-polled"),
    ];
    for barrier in barriers {
        assert!(explore(barrier) > 1);
    }
}
