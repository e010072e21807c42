//! Two ranks on two communicators, in all orders.

use std::{boxed::Box, vec, vec::Vec};

use hal::{
    emulated::Omit,
    sim::{Machine, SimCore, Spontaneous},
};

use super::run;
use crate::{
    Broadcast, Comm, InPlace, Operation, Operator, Reduction, Scan,
    comm::{
        elsewhere::{Elsewhere, Words},
        members::Members,
    },
    in_all_orders::{DRAINS, in_all_orders},
    mpb::layout::Share,
    testing::Random,
};

/// A part of all ranks that is made without a word, so that explorations begin with what they are about: with lines of its own, of
/// the smallest share, or with nothing.
pub(super) fn made_silently<'c>(world: &'c Comm<'c, SimCore>, has_lines: bool, number: usize) -> Comm<'c, SimCore> {
    let (core, ranks) = (world.hal(), world.size());
    let share = Share::fitting(ranks, 2 * ranks + 12).expect("the smallest share");
    let first = world.mpb_layout().spare().start + number * share.lines(ranks);
    let cores = (0..ranks).map(|rank| world.core_of(rank)).collect();
    let members = Members::some(hal::Topology::core(core), cores, hal::Topology::layout(core)).expect("a member");
    let region = regions::of_a_test()
        .region(hal::SharedAddress::new(0, (1 << 20) + number * 256), Words::len_bytes(ranks).next_multiple_of(32));
    let elsewhere: Box<dyn Elsewhere<SimCore>> = Box::new(Words { region, ranks, owner: 0 });
    let layout = world.mpb_layout().beside(ranks, has_lines.then_some((first, share)));
    world.assemble(members, layout, (!has_lines).then_some(elsewhere), number as u32 + 1)
}

/// Runs something on two ranks and two communicators of both in all orders, and returns how many there are.
fn explore(
    spontaneous: Spontaneous,
    have_lines: [bool; 2],
    program: impl Fn(&Comm<'_, SimCore>, [&Comm<'_, SimCore>; 2]),
) -> u64 {
    in_all_orders(spontaneous, |world| {
        let [one, other] = [0, 1].map(|number| made_silently(world, have_lines[number], number));
        program(world, [&one, &other]);
    })
}

/// Broadcasts a message of this length, from a root.
fn broadcast(comm: &Comm<'_, SimCore>, algorithm: Broadcast, len: usize, root: usize, number: u8) {
    let byte = |rank: usize| 0x10 * rank as u8 + number;
    let mut message = vec![byte(comm.rank()); len];
    comm.using(algorithm, |comm| comm.broadcast(&mut message, root)).expect("there is such a root");
    assert_eq!(message, vec![byte(root); len], "broadcast {number}");
}

/// Both communicators borrow the same staging lines, one right after the other, from different roots: neither overwrites what the
/// other's rank has not read.
#[test]
fn staging_is_lent_in_all_orders() {
    for have_lines in [[true, true], [true, false], [false, false]] {
        let runs = explore(Spontaneous::default(), have_lines, |_, [one, other]| {
            broadcast(one, Broadcast::Long, 100, 0, 1);
            broadcast(other, Broadcast::Long, 100, 1, 2);
        });
        assert!(runs > 1, "{runs} runs");
    }
}

/// Reduces three lines of tagged data to rank 0; the smallest share has four, so that they go through lines that are lent.
fn reduce_through_lent_lines(comm: &Comm<'_, SimCore>, number: u32) {
    assert_eq!(comm.mpb_layout().tagged().len(), 4);
    let (own, mut sum) = ([comm.rank() as u32 + number; 15], [0; 15]);
    comm.using(Reduction::Tree, |comm| comm.reduce(&own, &mut sum, &Operator::SUM, 0)).unwrap();
    assert_eq!(sum, [if comm.rank() == 0 { 2 * number + 1 } else { 0 }; 15]);
}

/// Nobody comes together after tagged data has gone through lines that are lent: it goes through them again, of another communicator.
#[test]
fn lines_are_lent_for_tagged_data_in_all_orders() {
    let runs = explore(Spontaneous::default(), [true, true], |_, [one, other]| {
        reduce_through_lent_lines(one, 1);
        reduce_through_lent_lines(other, 2);
    });
    assert!(runs > 1, "{runs} runs");
}

/// So does a message, and what all ranks put there, and all of it again.
#[test]
fn lines_that_were_lent_for_tagged_data_are_quiescent() {
    for seed in 0..60 {
        let machine = Machine::scc(5).with_strategy(hal::sim::Strategy::Seeded { seed });
        run(&machine, |world| {
            let (world, me) = (&world.comm, world.comm.rank() as u32);
            let [one, other] = [0, 1].map(|_| world.dup().unwrap());
            let mut random = Random(seed as u32 + 1);
            for round in 0..10 {
                let (comm, len) = ([&one, &other][random.below(2)], 80 + random.below(60));
                let (mut sums, mut all) = (vec![me + round; len], vec![me + round; len]);
                comm.using(Scan::Doubling, |comm| comm.scan(InPlace, &mut sums, &Operator::SUM)).unwrap();
                assert_eq!(sums, vec![(0..=me).map(|rank| rank + round).sum::<u32>(); len]);
                if random.below(2) == 0 {
                    let (to, from) = ((me as usize + 1) % 5, (me as usize + 4) % 5);
                    let (message, mut received) = (vec![me as u8; 4 * len], vec![0; 4 * len]);
                    if me % 2 == 0 { world.send(&message, to) } else { world.receive(&mut received, from) }.unwrap();
                    if me % 2 == 0 { world.receive(&mut received, from) } else { world.send(&message, to) }.unwrap();
                    assert_eq!(received, vec![from as u8; 4 * len]);
                }
                comm.using(Reduction::Tree, |comm| comm.allreduce(InPlace, &mut all, &Operator::SUM)).unwrap();
                assert_eq!(all, vec![10 + 5 * round; len]);
            }
            core::mem::forget([one, other]);
        });
    }
}

/// Short operations of both, and of all ranks in between, none of which waits for the other rank to have read.
#[test]
fn short_operations_overlap_in_all_orders() {
    for have_lines in [[true, true], [true, false]] {
        for spontaneous in [Spontaneous::default(), DRAINS] {
            let runs = explore(spontaneous, have_lines, |world, [one, other]| {
                broadcast(one, Broadcast::Short, 5, 0, 1);
                broadcast(world, Broadcast::Short, 5, 0, 2);
                broadcast(other, Broadcast::Short, 5, 1, 3);
            });
            assert!(runs > 1, "{runs} runs");
        }
    }
}

/// A non-blocking operation through lines and through words.
#[test]
fn operations_that_were_begun_go_on_in_all_orders() {
    for have_lines in [true, false] {
        let runs = explore(Spontaneous::default(), [have_lines, true], |world, [one, _]| {
            let mut ranks = [world.rank() as u32 + 1];
            one.start_allreduce(crate::InPlace, &mut ranks, Operation::new(|left, right| left * 10 + right))
                .unwrap()
                .wait()
                .unwrap();
            assert_eq!(ranks, [12]);
        });
        assert!(runs > 1, "{runs} runs");
    }
}

/// What is left out of a barrier of signals in words fails: a store of one rank, and what the other one sees after it.
#[test]
fn words_need_the_drain_before_and_the_invalidation_behind() {
    let stored_and_seen = |omitted: Omit| {
        let outcome = Machine::scc(2).run(|core| {
            let world = Comm::world(core, regions::of_a_test()).unwrap();
            let comm = made_silently(&world, false, 0);
            let line = world.mpb_line(1, world.mpb_layout().spare().end - 1);
            // What L1 has of it is out of date by then.
            let _ = hal::Mpb::load_line(core, line);
            core.omit(omitted);
            if comm.rank() == 0 {
                hal::Mpb::store(core, line, 0, &[7]);
            }
            comm.barrier();
            core.omit(Omit::empty());
            let found = hal::Mpb::load_line(core, line).0[0];
            world.barrier();
            found
        });
        outcome.map(|outcome| outcome.results()[1])
    };
    assert_eq!(stored_and_seen(Omit::empty()).ok(), Some(7));
    for omitted in [Omit::DRAIN, Omit::INVALIDATE_MPB] {
        assert_ne!(stored_and_seen(omitted).ok(), Some(7), "{omitted:?}");
    }
}

/// Allreduces in a row have the same lines again where there are few: nobody's operands or result are another operation's.
#[test]
fn allreduces_in_a_row_share_their_lines() {
    for (ranks, seed) in [(8, 1), (8, 2), (8, 3), (20, 4), (48, 5)] {
        let machine = Machine::scc(ranks).with_strategy(hal::sim::Strategy::Seeded { seed });
        let barriers = run(&machine, |world| {
            use hal::{Clock, Counted};
            let comm = world.comm.dup().unwrap();
            let (me, mut random) = (comm.rank(), Random(seed as u32 ^ (comm.rank() as u32) << 8));
            let mut most_drains = 0;
            for round in 0..40_u32 {
                comm.hal().compute(random.below(4000) as u64);
                // Of other lengths, and other operations, in between.
                let len = if round % 13 == 12 { 9 } else { 2 };
                let mut values: Vec<_> = (0..len).map(|index| me as u32 * (round + 1) + index).collect();
                let before = comm.hal().counters().drains;
                comm.allreduce(InPlace, &mut values, &Operator::SUM).unwrap();
                if round % 13 > 1 && round % 13 < 12 {
                    most_drains = most_drains.max(comm.hal().counters().drains - before);
                }
                let sum = (ranks * (ranks - 1) / 2) as u32 * (round + 1);
                let expected: Vec<_> = (0..len).map(|index| sum + ranks as u32 * index).collect();
                assert_eq!(values, expected, "round {round} on rank {me}");
            }
            most_drains
        });
        assert!(barriers.iter().all(|drains| *drains == 0), "{ranks} ranks took barriers: {barriers:?}");
    }
}
