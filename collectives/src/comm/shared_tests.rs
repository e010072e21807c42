//! What a core or a machine has once, used by several communicators: memory, registers and the handler of interrupts.

use alloc::vec;

use hal::{Cached, Clock, Deadline, kind, sim::Machine};

use crate::{Barrier, Comm, Error, Placement, Subscription, Window, lock::Lock as _, testing::run};

/// What a window of one communicator gives back is not handed out to ranks of another one while ranks still read it.
#[test]
fn windows_of_two_communicators_are_made_side_by_side() {
    for seed in [6, 40] {
        run(&Machine::scc(16).with_seed(seed), |world| {
            let mut caches = world.hal().take_caches().unwrap();
            let half = world.split(Some(world.rank() as u32 % 2), 0).unwrap().expect("each rank is in a half");
            for turn in 0..10 {
                let (window, view) = Window::<_, u32>::create(&half, &mut caches, 8 << (turn % 4)).unwrap();
                window.free(view, &mut caches).unwrap();
            }
        });
    }
}

/// The ranks of a communicator are not the cores of these numbers.
#[test]
fn members_of_a_part_notify_each_other() {
    for (size, width) in [(4, 2), (9, 4), (10, 5)] {
        run(&Machine::scc(size), |world| {
            let part = world.split(Some((world.rank() / width) as u32), 0).unwrap().expect("each rank is in a part");
            let notifications = part.subscribe(&part.group(), Default::default()).unwrap();
            for (root, len) in [(0, 5), (part.size() - 1, 700)] {
                if part.rank() == root {
                    notifications.notify_all(&vec![root as u8 + 1; len]).unwrap();
                } else {
                    let message = notifications.take(Deadline::Never).unwrap();
                    assert_eq!((message.from, message.bytes), (root, vec![root as u8 + 1; len]));
                }
                part.barrier();
            }
            assert!(notifications.close().is_empty());
        });
    }
}

/// Whoever waits for a register through one communicator is interrupted by what comes through another one.
#[test]
fn notifications_of_all_come_while_a_part_waits_for_a_lock() {
    run(&Machine::scc(3), |world| {
        let part = world.dup().unwrap();
        let notifications = world.subscribe(&world.group(), Default::default()).unwrap();
        let mut lock = part.register_lock(1).unwrap();
        world.barrier();
        if world.rank() == 1 {
            let guard = lock.lock();
            world.hal().compute(1_000_000);
            notifications.notify_all(b"held").unwrap();
            drop(guard);
        } else {
            if world.rank() == 0 {
                world.hal().compute(500_000);
                drop(lock.lock());
            }
            assert_eq!(notifications.take(Deadline::Never).unwrap().from, 1);
        }
        assert!(notifications.close().is_empty());
    });
}

/// Registers are wanted by one of both, whichever communicator subscribes: all ranks of the one that comes second are refused.
#[test]
fn barriers_of_registers_and_notifications_of_some_exclude_each_other() {
    run(&Machine::scc(6), |world| {
        let [low, high] = [0..4, 3..6].map(|ranks| world.create(&ranks.collect::<vec::Vec<_>>()).unwrap());
        // So that two fit.
        let short = Subscription { payload_lines: 2, ..Default::default() };
        let subscribe = |part: &Option<Comm<'_, _>>| {
            part.as_ref().map(|part| part.subscribe(&part.group(), short).map(|made| made.close().len()))
        };
        let of_registers = || world.barrier_of(&world.group(), Barrier::Registers);
        let barrier = of_registers().unwrap();
        assert_eq!(subscribe(&high), high.as_ref().map(|_| Err(Error::RegistersWanted)));
        drop(barrier);
        let notifications = high.as_ref().map(|high| high.subscribe(&high.group(), short).unwrap());
        assert_eq!(of_registers().err(), Some(Error::RegistersWanted));
        assert_eq!(subscribe(&low), low.as_ref().map(|_| Err(Error::Subscribed { rank: 3 })));
        notifications.map(|notifications| notifications.close());
        world.barrier();
    });
}

/// More than there is, also where sums of it are more than a word holds.
#[test]
fn what_no_machine_has_is_refused() {
    run(&Machine::scc(3), |world| {
        let endless = Subscription { payload_lines: usize::MAX, ..Default::default() };
        let refused = world.subscribe(&world.group(), endless).map(|_| ());
        assert_eq!(refused, Err(Error::NoSpareLines { wanted: usize::MAX }));
        for compares in [false, true] {
            world.check_arguments(compares);
            let parts = [64, usize::MAX, usize::MAX].map(|len_bytes| (len_bytes, Placement::Striped(0)));
            let refused = world.share_all::<kind::Combined>(&parts);
            assert!(matches!(refused, Err(Error::PartTooLarge { .. })), "{refused:?}");
        }
    });
}

/// Messages with tags take lines of staging's for what makes them fast, and leave what they left before.
#[test]
fn messages_leave_lines_for_everything_else() {
    for ranks in [40, 48, 58, 64, 65] {
        run(&Machine::new(hal::sim::Description::parse("mesh:8x5x2").unwrap()).with_cores(ranks), |world| {
            for _ in 0..3 {
                let messages = world.open_messages().unwrap();
                let dup = world.dup().unwrap();
                assert!(ranks > 64 || dup.mpb_layout().has_own_lines(), "{ranks} ranks");
                dup.free().unwrap();
                assert!(world.subscribe(&world.group(), Default::default()).unwrap().close().is_empty());
                world.progress_by_interrupts().unwrap().close().unwrap();
                messages.close().unwrap();
            }
        });
    }
}
