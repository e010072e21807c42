//! What communicators cost.

use std::{vec, vec::Vec};

use hal::{
    Counted,
    sim::{Machine, SimCore},
};

use super::run;
use crate::{Comm, InPlace, Operator, testing::Random};

/// A name, what it took on the first, the second and the last duplicate of 6, 8 and 48 ranks, in per cent, and what it is.
type Measured = (&'static str, [[u32; 3]; 3], fn(&Comm<'_, SimCore>));

/// What operations take in a row on duplicates of all ranks, beside what they take on all ranks before these are made: no more than 5 %
/// above what was measured when this was written.
#[test]
fn operations_take_no_longer_than_they_took() {
    use hal::Clock;
    let kinds: [Measured; 8] = [
        ("barrier", [[100, 100, 140], [100, 100, 147], [100, 100, 319]], |comm| comm.barrier()),
        ("broadcast of 8 bytes", [[100, 100, 554], [100, 100, 551], [98, 119, 937]], |comm| {
            comm.broadcast(&mut [0_u8; 8], 0).unwrap()
        }),
        ("broadcast of 1 KB", [[107, 107, 122], [110, 110, 124], [112, 117, 142]], |comm| {
            comm.broadcast(&mut [0_u8; 1024], 0).unwrap()
        }),
        ("broadcast of 16 KB", [[100, 100, 102], [101, 101, 103], [101, 101, 104]], |comm| {
            comm.broadcast(&mut [0_u8; 16384], 0).unwrap()
        }),
        ("allreduce of 8 bytes", [[100, 98, 378], [100, 100, 377], [100, 100, 468]], |comm| {
            comm.allreduce(InPlace, &mut [0_u32; 2], &Operator::SUM).unwrap()
        }),
        ("allreduce of 4 KB", [[103, 103, 114], [103, 103, 112], [112, 112, 136]], |comm| {
            comm.allreduce(InPlace, &mut [0_u32; 1024], &Operator::SUM).unwrap()
        }),
        ("allgather of 8 bytes", [[100, 102, 211], [100, 100, 204], [100, 101, 165]], |comm| {
            comm.allgather(&[0_u64], &mut vec![0_u64; comm.size()]).unwrap()
        }),
        ("alltoall of 8 bytes", [[100, 100, 183], [100, 99, 181], [105, 105, 142]], |comm| {
            comm.alltoall(&vec![0_u64; comm.size()], &mut vec![0_u64; comm.size()]).unwrap();
        }),
    ];
    for (size, ranks) in [6, 8, 48].into_iter().enumerate() {
        for (name, measured, kind) in kinds {
            let times = run(&Machine::scc(ranks), |world| {
                let time = |comm: &Comm<'_, SimCore>| {
                    (0..3).for_each(|_| kind(comm));
                    comm.barrier();
                    let before = comm.hal().now();
                    (0..8).for_each(|_| kind(comm));
                    comm.barrier();
                    (comm.hal().now() - before) as f64
                };
                let before = time(&world.comm);
                let made: Vec<_> = (0..6).map(|_| world.comm.dup().unwrap()).collect();
                assert!(!made[5].mpb_layout().has_own_lines());
                [&world.comm, &made[0], &made[1], &made[5]].map(|comm| time(comm) / before)
            });
            let [world, first, second, last] = times[0].map(|ratio| (ratio * 100.0).round());
            std::println!("{ranks} ranks, {name}: {world} % on all ranks, then {first}, {second}, {last}");
            let bounds = measured[size].map(|per_cent| f64::from(per_cent) * 1.05 / 100.0);
            let are_met = times[0][1..].iter().zip(bounds).all(|(time, bound)| *time <= bound);
            assert!(times[0][0] < 1.05 && are_met, "{ranks} ranks, {name}: {:?}, at most {bounds:?}", times[0]);
        }
    }
}

/// As long as there is no other communicator, the world does exactly what it did: nothing is asked for or told.
#[test]
fn the_world_pays_for_nothing_before_it_is_divided() {
    let read = run(&Machine::scc(5), |world| {
        let mut random = Random(1);
        world.operate(&mut random, 1);
        world.comm.barrier();
        let before = world.comm.hal().counters();
        let _ = world.comm.take_spare_lines(3, "a test");
        (world.comm.hal().counters() - before).mpb_lines_read
    });
    assert_eq!(read, [0; 5]);
}
