//! Barriers that are not made of flags, with their drain or their invalidation taken away: each has to fail.

use crate::common::run;
use collectives::{Barrier, Error, Operator};
use hal::{
    Clock, Mpb,
    emulated::Omit,
    sim::{Description, Machine, SimCore},
};
use tests::{Context, Failed, check, check_eq, memory::spare_line};

const ALL: [Barrier; 4] = [Barrier::Central, Barrier::LockedCounter, Barrier::Registers, Barrier::AtomicCounters];

/// Rank 1 stores to a line that rank 0 has in its L1, and rank 0 reads it after the barrier, at which `late` comes last.
fn store_and_look(
    context: &mut Context<'_, '_, SimCore>,
    algorithm: Barrier,
    omitted: Omit,
    late: usize,
) -> Result<(), Failed> {
    let (hal, rank) = (context.hal(), context.rank());
    let line = spare_line(context, 1, 20);
    let mut barrier = context.comm.barrier_of(&context.comm.group(), algorithm)?;
    if rank == 0 {
        check_eq!(hal.load_line(line).0[5], 0, "a line before the barrier");
    }
    if rank == late {
        hal.compute(100_000);
    }
    if rank == 1 {
        hal.store(line, 5, &[7]);
    }
    hal.omit(omitted);
    barrier.wait();
    hal.omit(Omit::empty());
    if rank == 0 {
        let found = hal.load_line(line).0[5];
        // What rank 1 does next would push out what it has stored.
        check_eq!(found, 7, "the line after the barrier");
    } else {
        hal.compute(1_000_000);
    }
    Ok(())
}

#[test]
fn barriers_need_their_drain_and_their_invalidation() {
    for algorithm in ALL {
        for late in [0, 1] {
            let outcome = |omitted| run(&Machine::scc(2), |context| store_and_look(context, algorithm, omitted, late));
            assert_eq!(outcome(Omit::empty()), Ok(()), "{algorithm}");
            for omitted in [Omit::DRAIN, Omit::INVALIDATE_MPB] {
                let failure = outcome(omitted).expect_err("nothing was missed");
                assert!(failure.contains("the line after the barrier"), "{algorithm}: {failure}");
            }
        }
    }
}

#[test]
fn clusters_have_no_atomic_counters() {
    let machine = Machine::new(Description::parse("cluster-fpga:2x2").expect("there is such a machine"));
    let outcome = run(&machine, |context| {
        let refused = context.comm.barrier_of(&context.comm.group(), Barrier::AtomicCounters).map(drop);
        check_eq!(refused, Err(Error::NoAtomicCounters { wanted: 2, free: 0 }), "atomic counters of a cluster");
        Ok(())
    });
    assert_eq!(outcome, Ok(()));
}

/// The barrier's own report: who is missing, where that can be known.
#[test]
fn reports_name_who_is_missing() {
    for algorithm in ALL {
        let outcome = run(&Machine::scc(3), |context| {
            let mut barrier = context.comm.barrier_of(&context.comm.group(), algorithm)?;
            if context.rank() != 2 {
                barrier.wait();
                return Ok(());
            }
            let godot = hal::Reason::new("Godot");
            let _ = hal::Wait::wait_until::<()>(context.hal(), &[], hal::Deadline::Never, godot, |_| None);
            check!(false, "he has come");
            Ok(())
        });
        let report = outcome.expect_err("a rank is missing");
        assert!(report.contains("a barrier") && report.contains("Godot"), "{algorithm}: {report}");
    }
}

/// A rank that only ever tests a barrier goes on with what another one waits for before it comes.
#[test]
fn tests_go_on_with_other_operations() {
    for algorithm in ALL.into_iter().chain([Barrier::Default]) {
        let outcome = run(&Machine::scc(2), |context| {
            let (hal, comm) = (context.hal(), context.comm);
            let mut barrier = comm.barrier_of(&comm.group(), algorithm)?;
            // So many that both ranks have to go on again and again.
            let mut sum = [1_u32; 200];
            let mut request = comm.start_allreduce(collectives::InPlace, &mut sum, Operator::SUM)?;
            if context.rank() == 0 {
                let mut arrived = barrier.arrive();
                let done = (0..10_000).any(|_| {
                    hal.compute(1_000);
                    arrived.test()
                });
                check!(done, "the barrier is not complete after long");
                arrived.wait();
                request.wait()?;
            } else {
                request.wait()?;
                barrier.wait();
            }
            drop(request);
            check_eq!(sum, [2; 200], "sums");
            Ok(())
        });
        assert_eq!(outcome, Ok(()), "{algorithm}");
    }
}
