//! Locks in virtual time: who comes when is known there.

use crate::common::run;
use collectives::{Barrier, Error, Group, InPlace, Operator, Subscription, lock::Lock};
use hal::{
    Clock, Combined, Counted, Deadline, LINE_BYTES, MpbCoherence, Reason, Uncached, Wait,
    emulated::Omit,
    kind,
    sim::{Description, Machine, SimCore},
};
use tests::{
    Context, Failed, check, check_eq,
    memory::{free, shared},
    suite,
};

/// Ranks come one after another while the first one has the lock, and get it in this order.
#[test]
fn queue_locks_are_first_come_first_served() {
    for (cores, step) in [(2, 1), (3, 2), (5, 3), (16, 7), (47, 11), (48, 35)] {
        let outcome = run(&Machine::scc(cores), |context| {
            let hal = context.hal();
            let order = shared::<_, kind::Uncached>(context, (cores + 1) * 4)?;
            let mut lock = context.comm.queue_lock(cores / 2)?;
            let turn = context.rank() * step % cores;
            for round in 0..2 {
                hal.compute(turn as u64 * 10_000);
                let guard = lock.lock();
                if turn == 0 {
                    hal.compute(cores as u64 * 10_000);
                }
                let place = hal.load_word(order, 0) as usize;
                check_eq!(place, round * cores + turn, "the turn of this rank");
                hal.store_word(order, 0, place as u32 + 1);
                drop(guard);
                context.comm.barrier();
            }
            drop(lock);
            free(context, order)
        });
        assert_eq!(outcome, Ok(()), "{cores} cores");
    }
}

/// Takes a lock with everybody else, keeps it for long, and returns the reads of registers that found them taken.
fn contend(context: &mut Context<'_, '_, SimCore>, lock: &mut impl Lock) -> u64 {
    context.comm.barrier();
    let before = context.hal().counters();
    let guard = lock.lock();
    context.hal().compute(50_000);
    drop(guard);
    (context.hal().counters() - before).failed_acquires
}

#[test]
fn who_waits_in_a_queue_leaves_registers_alone() {
    let outcome = run(&Machine::scc(16), |context| {
        let mut register = context.comm.register_lock(3)?;
        let mut queue = context.comm.queue_lock(3)?;
        let mut failed = [contend(context, &mut register), contend(context, &mut queue)];
        context.comm.allreduce(InPlace, &mut failed, &Operator::SUM)?;
        check!(failed[0] > 20 * failed[1], "reads of registers that were taken: {failed:?}");
        drop(queue);
        Ok::<(), Failed>(())
    });
    assert_eq!(outcome, Ok(()));
}

#[test]
fn mutexes_need_their_flushes() {
    let without = |omitted, name| {
        run(&Machine::scc(5), |context| {
            // What tells ranks of the locks goes through MPBs, too.
            context.hal().omit(omitted);
            suite::run_simulated(name, context)
        })
    };
    for name in ["locks::mutexes_exclude", "locks::pass_on_what_was_stored"] {
        assert_eq!(without(Omit::empty(), name), Ok(()));
    }
    let failure = without(Omit::FLUSH, "locks::mutexes_exclude").expect_err("without flushes");
    assert!(failure.contains("under the mutex differ") || failure.contains("counted together"), "{failure}");
}

/// Ranks raise a byte of combined memory under a lock, in which `omitted` is left out.
fn raise_without(omitted: Omit, queue: bool) -> Result<(), String> {
    run(&Machine::scc(2), |context| {
        let hal = context.hal();
        let bytes = shared::<_, kind::Combined>(context, LINE_BYTES)?;
        let raise = || {
            let mut byte = [0];
            hal.read(bytes, 3, &mut byte);
            hal.write(bytes, 3, &[byte[0] + 1]);
        };
        let mut register = context.comm.register_lock(0)?;
        let mut in_queue = context.comm.queue_lock(0)?;
        for _ in 0..3 {
            // The ranks take turns, so that nobody waits: what tells the next one in the queue needs a drain itself.
            hal.compute(if context.rank() == 1 { 100_000 } else { 0 });
            hal.omit(omitted);
            if queue {
                let _guard = in_queue.lock();
                raise();
            } else {
                let _guard = register.lock();
                raise();
            }
            hal.compute(200_000);
            hal.omit(Omit::empty());
        }
        context.comm.barrier();
        hal.invalidate_mpb();
        let mut byte = [0];
        hal.read(bytes, 3, &mut byte);
        check_eq!(byte, [6], "the byte that was raised");
        drop(in_queue);
        free(context, bytes)
    })
}

#[test]
fn locks_need_their_drain_and_their_invalidation() {
    for queue in [false, true] {
        assert_eq!(raise_without(Omit::empty(), queue), Ok(()));
        for omitted in [Omit::DRAIN, Omit::INVALIDATE_MPB] {
            let failure = raise_without(omitted, queue).expect_err("nothing was missed");
            assert!(failure.contains("the byte that was raised"), "{failure}");
        }
    }
}

/// A machine that is stuck says who has the lock.
#[test]
fn reports_name_the_holder() {
    let stuck = |queue: bool| {
        run(&Machine::scc(3), |context| {
            let hal = context.hal();
            let mut register = context.comm.register_lock(0)?;
            let mut in_queue = context.comm.queue_lock(0)?;
            hal.compute(if context.rank() == 2 { 0 } else { 100_000 });
            let keep = || {
                let _ = hal.wait_until::<()>(&[], Deadline::Never, Reason::new("Godot"), |_| None);
            };
            if queue {
                let _guard = in_queue.lock();
                keep();
            } else {
                let _guard = register.lock();
                keep();
            }
            Ok(())
        })
        .expect_err("everybody waits")
    };
    let register = stuck(false);
    assert!(register.contains("a lock: the test-and-set register of core 0, held by core 2"), "{register}");
    let queue = stuck(true);
    assert!(queue.contains("a queue lock") && queue.contains("core 2") && queue.contains("Godot"), "{queue}");
}

/// Where registers do not reach everywhere, all ranks are told so alike.
#[test]
fn registers_out_of_reach_are_refused() {
    let machine = Machine::new(Description::parse("cluster-fpga:3x2").expect("there is such a machine"));
    let outcome = run(&machine, |context| {
        let (comm, size) = (context.comm, context.size());
        let near = comm.register_lock(context.rank()).map(drop);
        check_eq!(near, Ok(()), "the own register");
        let far = comm.register_lock((context.rank() + 2) % size).map(drop);
        check!(matches!(far, Err(Error::RegisterOutOfReach { .. })), "the register of another node: {far:?}");
        let queue = comm.queue_lock(0).map(drop);
        check!(matches!(queue, Err(Error::RegisterOutOfReach { .. })), "a lock for all nodes: {queue:?}");
        for algorithm in [Barrier::LockedCounter, Barrier::Registers] {
            let all = comm.barrier_of(&comm.group(), algorithm).map(drop);
            check!(matches!(all, Err(Error::RegisterOutOfReach { .. })), "{algorithm}: {all:?}");
        }
        comm.barrier_of(&comm.group(), Barrier::Central)?.wait();
        let node = context.rank() / 2;
        let group = Group::of([2 * node, 2 * node + 1])?;
        comm.barrier_of(&group, Barrier::Registers)?.wait();
        let first = if node == 0 { group } else { Group::empty() };
        comm.barrier_of(&first, Barrier::LockedCounter)?.wait();
        Ok(())
    });
    assert_eq!(outcome, Ok(()));
}

/// Who waits for a register goes on with non-blocking operations, and is interrupted: who holds it may wait for that.
#[test]
fn who_waits_for_registers_does_not_hold_up_their_holder() {
    type Wait = fn(&mut Context<'_, '_, SimCore>) -> Result<(), Failed>;
    let waits: [(&str, Wait); 3] = [
        ("a register lock", |context| {
            let mut lock = context.comm.register_lock(0)?;
            wait_beside_a_holder(context, || drop(lock.lock()))
        }),
        ("a queue lock", |context| {
            let mut lock = context.comm.queue_lock(0)?;
            wait_beside_a_holder(context, || drop(lock.lock()))
        }),
        ("a locked counter", |context| {
            let group = if context.rank() == 0 { Group::empty() } else { Group::of([context.rank()])? };
            // Its register is that of rank 1.
            let mut barrier = context.comm.barrier_of(&group, Barrier::LockedCounter)?;
            wait_beside_a_holder(context, || barrier.wait())
        }),
    ];
    for (what, wait) in waits {
        assert_eq!(run(&Machine::scc(2), wait), Ok(()), "{what}");
    }
}

/// Rank 0 holds all registers and waits for a non-blocking operation, or until it has notified rank 1, which waits for a
/// register meanwhile.
fn wait_beside_a_holder(context: &mut Context<'_, '_, SimCore>, mut wait: impl FnMut()) -> Result<(), Failed> {
    let (comm, rank) = (context.comm, context.rank());
    // So many that both ranks have to go on again and again.
    let mut sum = [1_u32; 200];
    let mut request = comm.start_allreduce(collectives::InPlace, &mut sum, Operator::SUM)?;
    if rank == 0 {
        let (mut own, mut other) = (comm.register_lock(0)?, comm.register_lock(1)?);
        let _guards = (own.lock(), other.lock());
        comm.hal().compute(100_000);
        request.wait()?;
    } else {
        comm.hal().compute(50_000);
        wait();
        request.wait()?;
    }
    drop(request);
    check_eq!(sum, [2; 200], "sums");
    comm.barrier();
    Ok(())
}

/// The handler of notifications runs while a rank waits for a register that the notifier has.
#[test]
fn who_waits_for_registers_is_notified() {
    for queue in [false, true] {
        let outcome = run(&Machine::scc(2), |context| {
            let (hal, comm) = (context.hal(), context.comm);
            let mut register = comm.register_lock(1)?;
            let mut in_queue = comm.queue_lock(1)?;
            let notifications = comm.subscribe(&comm.group(), Subscription::default())?;
            comm.barrier();
            if context.rank() == 1 {
                // Nobody interrupts this rank, so that nobody else needs its register.
                let _guard = register.lock();
                hal.compute(100_000);
                notifications.notify_all(b"to whom it may concern")?;
            } else {
                hal.compute(50_000);
                if queue {
                    drop(in_queue.lock());
                } else {
                    drop(register.lock());
                }
            }
            check_eq!(notifications.close().len(), 1 - context.rank(), "messages");
            Ok(())
        });
        assert_eq!(outcome, Ok(()), "queue: {queue}");
    }
}
