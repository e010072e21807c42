//! Barriers of two ranks that are no schedules, in all orders of their operations.

use alloc::boxed::Box;

use hal::{
    Deadline, LINE_BYTES, Mpb, MpbCoherence, MpbLine, Region, SharedAddress, Topology,
    sim::{Machine, SimCore, Spontaneous, explore_exhaustively},
};

use super::{central::Central, locked_counter::LockedCounter, mechanism::Mechanism, registers::Registers};
use crate::{Comm, Group, shared_words::SharedWords};

/// Runs that an exploration may take.
const LIMIT: u64 = 200_000;

/// So many barriers in a row: the second one finds what the first one left.
const BARRIERS: u8 = 2;

/// Makes a barrier of all ranks.
type Make = fn(&Comm<'_, SimCore>, &Group) -> Box<dyn Mechanism<SimCore>>;

/// Words that nothing else uses.
fn words() -> Option<SharedWords> {
    Some(SharedWords { region: Region::new(SharedAddress::new(0, 1 << 20), LINE_BYTES), is_owner: false })
}

/// Each rank stores into its own MPB before each barrier, and finds what the other one has stored after it.
fn explore(barrier: Make) -> u64 {
    let exploration = explore_exhaustively(
        &Machine::scc(2),
        Spontaneous::default(),
        LIMIT,
        |core| {
            let comm = Comm::world(core).expect("the machine is small enough");
            let barrier = barrier(&comm, &comm.group());
            comm.barrier();
            let line = comm.mpb_layout().spare().start;
            for round in 1..=BARRIERS {
                core.store(MpbLine::new(core.core(), line), 0, &[round]);
                barrier.arrive(&comm);
                assert!(barrier.go_on(&comm, Deadline::Never));
                let found = core.load_line(MpbLine::new(comm.core_of(1 - comm.rank()), line)).0[0];
                assert!(found >= round, "round {round}: the other rank was released in round {found}");
            }
            core.drain();
        },
        |outcome| {
            outcome.expect("every order comes to its end");
        },
    );
    assert!(exploration.complete, "too many runs");
    exploration.runs
}

#[test]
fn barriers_without_mpb_in_all_orders() {
    let central = |comm: &Comm<'_, SimCore>, group: &Group| -> Box<dyn Mechanism<SimCore>> {
        Box::new(Central::with_words(words(), comm.rank(), group))
    };
    let counter = |_: &Comm<'_, SimCore>, group: &Group| -> Box<dyn Mechanism<SimCore>> {
        Box::new(LockedCounter::with_words(words(), group))
    };
    let registers = |comm: &Comm<'_, SimCore>, group: &Group| -> Box<dyn Mechanism<SimCore>> {
        Box::new(Registers::taken(comm, group))
    };
    for barrier in [central as Make, counter, registers] {
        assert!(explore(barrier) > 1);
    }
}
