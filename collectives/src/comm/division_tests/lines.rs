//! Communicators for which there are few lines, or none.

use std::vec::Vec;

use hal::sim::{Machine, SimCore};

use super::{Tested, orders::made_silently, run};
use crate::{Broadcast, Comm, Error, Exchange, Operator, Reduction, Scan, comm::elsewhere::Words, testing::Random};

/// More communicators than there are lines: they work as well, and when they are given up, the next one has lines again.
#[test]
fn where_lines_run_out_communicators_get_slower() {
    for ranks in [2, 5, 16, 48] {
        let lines = run(&Machine::scc(ranks), |world| {
            let dup = || Tested { comm: world.comm.dup().unwrap(), ranks: world.ranks.clone() };
            let all: Vec<_> = (0..9).map(|_| dup()).collect();
            let have_lines = |all: &[Tested<'_>]| -> Vec<bool> {
                all.iter().map(|one| one.comm.mpb_layout().has_own_lines()).collect()
            };
            let at_first = have_lines(&all);
            let mut random = Random(ranks as u32);
            for number in 0..60 {
                let which = random.below(all.len());
                all[which].operate(&mut random, number);
                if number % 4 == 0 {
                    all[which].operate_meanwhile(number);
                }
            }
            // Each has one under way, whatever it has.
            let mut sums = [[world.comm.rank() as u32; 9]; 9];
            let begun = all.iter().zip(&mut sums);
            let begun: Vec<_> = begun
                .map(|(one, sums)| one.comm.start_allreduce(crate::InPlace, sums, Operator::SUM).unwrap())
                .collect();
            begun.into_iter().rev().for_each(|mut one| assert!(one.wait().is_ok()));
            assert_eq!(sums, [[(ranks * (ranks - 1) / 2) as u32; 9]; 9]);
            all.into_iter().for_each(|one| one.comm.free().unwrap());
            let again = dup();
            again.operate(&mut random, 3);
            (at_first, again.comm.mpb_layout().has_own_lines())
        });
        for (at_first, again) in lines {
            assert!(at_first[0] && !at_first[8] && at_first.is_sorted_by(|one, next| one >= next), "{at_first:?}");
            assert!(again);
        }
    }
}

#[test]
fn lines_are_used_again_after_they_were_freed() {
    run(&Machine::scc(5), |world| {
        let mut random = Random(11);
        let mut layouts = Vec::new();
        for number in 0..40 {
            let odd = world.part(|rank| Some(rank as u32 % 2), |rank| -(rank as i32)).unwrap();
            odd.operate(&mut random.clone(), number);
            odd.operate(&mut random, number + 1);
            layouts.push(odd.comm.mpb_layout());
            odd.comm.free().unwrap();
        }
        assert!(layouts.windows(2).all(|two| two[0] == two[1]));
    });
}

/// One that lines are lent to clears cells in each operation, where the payload of the profile is.
#[test]
fn the_profile_refuses_even_messages_on_what_has_no_lines() {
    run(&Machine::scc(5), |world| {
        let mut all: Vec<_> = (0..9).map(|_| world.comm.dup().unwrap()).collect();
        let last = all.pop().unwrap();
        assert!(!last.mpb_layout().has_own_lines());
        all.into_iter().for_each(|one| one.free().unwrap());
        let operate = |comm: &Comm<'_, SimCore>| {
            let (own, mut sum, mut gathered) = ([1_u32], [0], [0; 5]);
            [
                comm.using(Broadcast::Binomial, |comm| comm.broadcast(&mut [0_u8; 100], 0)),
                comm.using(Reduction::TwoSided, |comm| comm.allreduce(&own, &mut sum, &Operator::SUM)),
                comm.using(Reduction::TwoSided, |comm| comm.reduce_scatter(&[1; 5], &mut sum, &Operator::SUM)),
                comm.using(Scan::TwoSided, |comm| comm.scan(&own, &mut sum, &Operator::SUM)),
                comm.using(Exchange::TwoSided, |comm| comm.allgather(&own, &mut gathered)),
            ]
        };
        let profile = world.comm.rcce_profile().unwrap();
        assert_eq!(operate(&world.comm), [Ok(()); 5]);
        assert_eq!(operate(&last), [Err(Error::ProfileInForce); 5]);
        // Nor are calls compared.
        last.check_arguments(true);
        assert_eq!(operate(&last), [Err(Error::ProfileInForce); 5]);
        last.check_arguments(false);
        last.barrier();
        drop(profile);
        assert_eq!(operate(&last), [Ok(()); 5]);
        last.free().unwrap();
    });
}

#[test]
fn who_is_too_far_ahead_is_noticed_without_lines_too() {
    for has_lines in [true, false] {
        let failure = Machine::scc(2).run(|core| {
            let world = Comm::world(core, regions::of_a_test()).unwrap();
            let comm = made_silently(&world, has_lines, 0);
            if comm.rank() == 0 {
                (0..57).for_each(|_| comm.signal(1));
            }
            world.barrier();
            if comm.rank() == 1 {
                comm.take_signal(0, hal::Reason::new("a signal"));
            }
        });
        let failure = failure.map(|_| ()).expect_err("a broken protocol").to_string();
        assert!(failure.contains("rank 0 is 57 signals ahead"), "{failure}");
    }
}

#[test]
fn lines_of_a_program_are_as_many_as_they_can_be() {
    run(&Machine::scc(5), |world| {
        let dup = world.comm.dup().unwrap();
        let mut lines = dup.reserve_lines(1).unwrap();
        let most = lines.limit_bytes() / hal::LINE_BYTES;
        assert_eq!(lines.extend(most + 1), Err(Error::NoSpareLines { wanted: most + 1 }));
        assert!(most > 1);
        lines.extend(most).unwrap();
        assert_eq!(lines.limit_bytes(), lines.len_bytes());
        drop(lines);
        dup.free().unwrap();
    });
}

/// Two parts of different sizes, for whose words there is no room: all say how many bytes there were none for first.
#[test]
fn all_ranks_name_the_same_words_that_there_is_no_room_for() {
    let refused = run(&Machine::scc(5), |world| {
        let _all: Vec<_> = (0..9).map(|_| world.comm.dup().unwrap()).collect();
        let near = crate::Placement::Near(hal::Topology::core(world.comm.hal()));
        for len_bytes in (5..30).rev().map(|bits| 1_usize << bits) {
            while world.comm.allocator().allocate::<hal::kind::Uncached>(len_bytes, near).is_ok() {}
        }
        world.comm.barrier();
        let color = u32::from(world.comm.rank() > 2);
        let refused = world.comm.split(Some(color), 0).err();
        world.comm.barrier();
        refused
    });
    assert_eq!(refused, [Some(Error::OutOfSharedMemory { len_bytes: Words::len_bytes(3) }); 5]);
}

/// All communicators send from the same lines, of which a message in steps has all.
#[test]
fn one_message_in_steps_is_under_way_on_all_communicators() {
    run(&Machine::scc(2), |world| {
        let dup = world.comm.dup().unwrap();
        let message = [5; 40];
        if dup.rank() == 0 {
            for [one, other] in [[&world.comm, &dup], [&dup, &world.comm]] {
                let mut sending = one.start_sending(&message, 1).unwrap();
                assert_eq!(other.start_sending(&message, 1).err(), Some(Error::RequestsOutstanding));
                while !one.step_sending(&mut sending, &message).unwrap() {
                    one.await_step(&[], Some(1), hal::Deadline::Never).unwrap();
                }
            }
        } else {
            for comm in [&world.comm, &dup] {
                let mut received = [0; 40];
                comm.receive(&mut received, 0).unwrap();
                assert_eq!(received, message);
            }
        }
        dup.free().unwrap();
    });
}
