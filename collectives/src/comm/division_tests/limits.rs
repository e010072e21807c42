//! What works on communicators besides collective operations, and what is refused.

use hal::sim::{Description, Machine};

use super::run;
use crate::{Error, Group, Operator, Window, comm::division::Near, lock::Lock as _, matched::LAST_CONTEXT};

#[test]
fn lists_that_make_no_sense_are_refused_on_all_ranks() {
    run(&Machine::scc(3), |world| {
        let me = world.comm.rank();
        let refused = world.comm.create(if me == 1 { &[0, 3] } else { &[0] }).err();
        assert_eq!(refused, Some(Error::NoSuchRank { rank: 3, size: 3 }));
        let refused = world.comm.create(if me == 2 { &[1, 2, 1] } else { &[] }).err();
        assert_eq!(refused, Some(Error::RankTwice { rank: 1 }));
        // Two lists at once.
        let list: &[usize] = if me == 1 { &[1] } else { &[2, 0] };
        let comm = world.comm.create(list).unwrap().unwrap();
        assert_eq!((comm.rank(), comm.size()), ([1, 0, 0][me], list.len()));
        assert_eq!(world.comm.create(&[]).unwrap().map(|comm| comm.size()), None);
        assert_eq!(world.comm.name(), "world");
        comm.set_name("pairs");
        assert_eq!(comm.name(), "pairs");
        assert!(matches!(comm.rcce_profile().err(), Some(Error::WholeMachine { .. })));
    });
}

#[test]
fn ranks_that_are_near_have_communicators() {
    run(&Machine::scc(5), |world| {
        let tile = world.comm.split_near(Near::Tile, 0).unwrap();
        assert_eq!((tile.size(), tile.rank()), (if world.comm.rank() == 4 { 1 } else { 2 }, world.comm.rank() % 2));
        assert_eq!(world.comm.split_near(Near::Domain, 0).unwrap().size(), 1);
    });
}

/// Windows, barriers of groups, locks and non-blocking operations on two communicators that overlap.
#[test]
fn everything_else_works_on_communicators() {
    run(&Machine::scc(6), |world| {
        let rows = world.part(|rank| Some(rank as u32 / 3), |rank| -(rank as i32)).unwrap();
        let columns = world.part(|rank| Some(rank as u32 % 3), |_| 0).unwrap();
        let mut caches = hal::Cached::take_caches(world.comm.hal()).unwrap();
        for part in [&rows, &columns] {
            let (comm, size, me) = (&part.comm, part.ranks.len(), part.comm.rank());
            // A ring of puts.
            let (window, mut view) = Window::<_, u32>::create(comm, &mut caches, 2).unwrap();
            view.store(0, 0);
            let (right, left) = ((me + 1) % size, (me + size - 1) % size);
            let exposure = window.post(view, &mut caches, &Group::of([left]).unwrap()).unwrap();
            let word = [part.ranks[me] as u32];
            let access = window.start(&Group::of([right]).unwrap()).unwrap();
            access.put(right, 0, &word).unwrap();
            access.complete();
            let view = exposure.wait(&mut caches);
            assert_eq!(view.load(0), part.ranks[left] as u32);
            let epoch = window.fence(view, &mut caches, Default::default()).unwrap();
            epoch.accumulate(0, 1, &[1], Operator::SUM).unwrap();
            let view = epoch.close(&mut caches, Default::default());
            assert!(me > 0 || view.load(1) == size as u32);
            window.free(view, &mut caches).unwrap();

            let mut barrier = comm.barrier_of(&Group::of([0, size - 1]).unwrap(), crate::Barrier::Default).unwrap();
            barrier.wait();
            let mut lock = comm.queue_lock(0).unwrap();
            drop(lock.lock());
            drop(lock);
            drop(barrier);

            // One that is begun here goes on in a wait of the other communicator, and of all.
            let mut sum = [1_u32, me as u32];
            let mut request = comm.start_allreduce(crate::InPlace, &mut sum, Operator::SUM).unwrap();
            columns.comm.barrier();
            world.comm.barrier();
            request.wait().unwrap();
            drop(request);
            assert_eq!(sum, [size as u32, (0..size as u32).sum()]);
        }
        rows.comm.free().unwrap();
        columns.comm.free().unwrap();
    });
}

/// Counters and registers are the board's, packets have one channel, and parts do not know of each other's: they are refused, and what
/// was begun for them is given back, so that parts have their other barriers and windows, and the world these.
#[test]
fn what_there_is_once_is_for_all_ranks() {
    run(&Machine::scc(4), |world| {
        let (me, mut caches) = (world.comm.rank(), hal::Cached::take_caches(world.comm.hal()).unwrap());
        let dup = world.comm.dup().unwrap();
        let half = world.comm.split(Some(me as u32 % 2), 0).unwrap().unwrap();
        for part in [&dup, &half] {
            for barrier in [crate::Barrier::AtomicCounters, crate::Barrier::Registers] {
                let refused = part.barrier_of(&part.group(), barrier).err();
                assert!(matches!(refused, Some(Error::WholeMachine { .. })), "{barrier:?}: {refused:?}");
            }
            part.barrier_of(&part.group(), crate::Barrier::Default).unwrap().wait();
            let refused = Window::<_, u32>::with_class(part, &mut caches, 1, crate::Class::Message).err();
            assert!(matches!(refused, Some(Error::WholeMachine { .. })), "{refused:?}");
            let (window, view) = Window::<_, u32>::create(part, &mut caches, 1).unwrap();
            window.free(view, &mut caches).unwrap();
        }
        let (window, view) = Window::<_, u32>::with_class(&world.comm, &mut caches, 1, crate::Class::Message).unwrap();
        window.free(view, &mut caches).unwrap();
        half.free().unwrap();
        dup.free().unwrap();
    });
}

/// Communicators that are made and given up by the hundred have the same lines again and again, and another context each: a message of
/// one that is gone is no later one's, nor is an operation's.
#[test]
fn communicators_by_the_hundred_do_not_meet() {
    run(&Machine::scc(3), |world| {
        let world = &world.comm;
        let (me, messages) = (world.rank(), world.open_messages().unwrap());
        let (right, left) = ((me + 1) % 3, crate::Source::Rank((me + 2) % 3));
        let mut lines = None;
        for number in 0..300_u32 {
            let comm = world.dup().unwrap();
            assert_eq!(*lines.get_or_insert(comm.mpb_layout().own_lines()), comm.mpb_layout().own_lines());
            // What nobody receives before it is given up.
            if number < 8 {
                comm.send_tagged(&[number], right, 5).unwrap();
            }
            let mut sum = [number + me as u32];
            let mut request = comm.start_allreduce(crate::InPlace, &mut sum, Operator::SUM).unwrap();
            let mut all = [0_u32; 3];
            let mut gather = comm.start_allgather(&[number * 8 + me as u32], &mut all).unwrap();
            request.wait().unwrap();
            gather.wait().unwrap();
            drop((request, gather));
            assert_eq!((sum, all), ([3 * number + 3], [0, 1, 2].map(|rank| number * 8 + rank)));
            if number >= 8 {
                let mut word = [0];
                comm.exchange_tagged((&[number], right, 5), (&mut word, left, crate::Tag::Any)).unwrap();
                assert_eq!(word, [number]);
            }
            comm.free().unwrap();
        }
        assert_eq!(world.unexpected_messages(), Ok(8));
        // They stay, as nobody can ask for them: messages are not closed.
        assert_eq!(messages.close().err(), Some(Error::RequestsOutstanding));
    });
}

/// The last number tells messages and operations apart as any other one does. Then there is none, for a rank and for all that would be with it.
#[test]
fn contexts_are_used_up_and_never_used_again() {
    run(&Machine::scc(3), |world| {
        let world = &world.comm;
        let (me, messages) = (world.rank(), world.open_messages().unwrap());
        if me == 1 {
            world.next_context().set(LAST_CONTEXT);
        }
        let (left, right) = (crate::Source::Rank((me + 2) % 3), (me + 1) % 3);
        let own = world.split(Some(u32::from(me == 0)), 0).unwrap().unwrap();
        assert_eq!(own.context(), LAST_CONTEXT);
        let refused = own.create_intercommunicator(0, world, usize::from(me == 0), 9).err();
        assert_eq!(refused, Some(Error::ContextsUsedUp));
        assert_eq!(world.dup().err(), Some(Error::ContextsUsedUp));
        // Nothing comes where calls of others, or other communicators, look for it.
        let (mut all, mut word) = ([0; 2], [0]);
        let begun = own.start_allgather(&[me as u32], &mut all[..own.size()]).unwrap().wait();
        begun.unwrap();
        assert_eq!(all, if me == 0 { [0, 0] } else { [1, 2] });
        let peer = own.size() - 1 - own.rank();
        own.exchange_tagged((&[me as u32], peer, 1), (&mut word, crate::Source::Any, crate::Tag::Any)).unwrap();
        assert_eq!(word, [[0, 2, 1][me]]);
        world.exchange_tagged((&[me as u32], right, 1), (&mut word, left, crate::Tag::Any)).unwrap();
        assert_eq!(word, [(me as u32 + 2) % 3]);
        own.free().unwrap();
        messages.close().unwrap();
    });
}

/// Where registers reach inside nodes only, windows are made by a rank that can allocate, whatever its number is.
#[test]
fn windows_need_a_rank_of_the_first_domain() {
    run(&Machine::new(Description::parse("cluster-fpga:2x3").unwrap()), |world| {
        let mut caches = hal::Cached::take_caches(world.comm.hal()).unwrap();
        for (order, is_possible) in [([0, 4], true), ([4, 0], true), ([5, 3], false)] {
            let Some(comm) = world.comm.create(&order).unwrap() else { continue };
            match Window::<_, u32>::create(&comm, &mut caches, 4) {
                Ok((window, view)) => {
                    assert!(is_possible, "ranks {order:?}");
                    window.free(view, &mut caches).unwrap();
                }
                Err(error) => {
                    let is_out_of_reach = matches!(error, Error::RegisterOutOfReach { .. });
                    assert!(!is_possible && is_out_of_reach, "ranks {order:?}: {error}");
                }
            }
            comm.free().unwrap();
        }
    });
}
