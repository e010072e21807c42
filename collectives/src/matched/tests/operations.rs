//! Non-blocking collective operations against an oracle: on communicators that overlap, with lengths at random.

use std::{vec, vec::Vec};

use hal::{Clock, sim::Machine};

use crate::{
    Comm, Error, InPlace, Request,
    collective::nonblocking::oracle::{Case, KINDS, complete},
    testing::{Random, run},
};

/// Many operations at once on the world, on its halves and on its thirds; each rank completes them in an order of its own, in
/// ways of its own, and some not at all.
fn at_random(machine: &Machine, seed: u32, [batches, count, longest]: [usize; 3]) {
    run(machine, |world| {
        let (me, size) = (world.rank(), world.size());
        let messages = world.open_messages().unwrap();
        let parts = [2, 3].map(|by| world.split(Some((me % by) as u32), -(me as i32)).unwrap().unwrap());
        let ranks_of = |by: usize| (0..size).rev().filter(|rank| rank % by == me % by).collect::<Vec<_>>();
        let all = [(world, (0..size).collect::<Vec<_>>()), (&parts[0], ranks_of(2)), (&parts[1], ranks_of(3))];
        let mut order = Random(seed);
        let mut own = Random(seed ^ (me as u32 * 77));
        for batch in 0..batches {
            let mut chosen: Vec<_> = (0..count)
                .map(|at| {
                    let (which, number) = (order.below(3), batch * count + at);
                    let (comm, ranks) = &all[which];
                    // Members of one part choose alike, whatever is chosen in others.
                    let mut random = Random(order.below(1 << 20) as u32 ^ (ranks[0] as u32 * 31));
                    let kind = random.below(KINDS);
                    (comm, Case::new(&mut random, kind, (ranks, comm.rank()), number, longest))
                })
                .collect();
            let requests = chosen.iter_mut().map(|(comm, case)| {
                if own.below(8) == 0 {
                    world.hal().compute(own.below(30_000) as u64);
                }
                case.begin(comm)
            });
            let requests = requests.collect();
            complete(requests, &mut own, false);
            chosen.into_iter().for_each(|(_, case)| case.check());
        }
        drop(all);
        assert_eq!(world.unexpected_messages(), Ok(0));
        parts.into_iter().for_each(|part| part.free().unwrap());
        messages.close().unwrap();
    });
}

#[test]
fn many_at_once_have_what_an_oracle_says() {
    for (ranks, batches) in [(1, 6), (2, 12), (5, 10), (16, 4)] {
        at_random(&Machine::scc(ranks), ranks as u32 + 5, [batches, 12, 1500]);
    }
    at_random(&Machine::scc(48), 1, [2, 10, 200]);
    for seed in 0..20 {
        at_random(&Machine::scc(3 + seed as usize % 4).with_seed(seed.into()), seed, [2, 8, 200]);
    }
}

/// What is said of an operation that only one rank calls wrongly: the others have what they would have, and so has whatever follows.
#[test]
fn a_rank_that_is_wrong_alone_takes_part() {
    run(&Machine::scc(4), |world| {
        let (me, size, sum) = (world.rank(), world.size(), crate::Operator::<u32>::SUM);
        assert_eq!(world.start_gather(&[1_u32], &mut [0; 4], 0).err(), Some(Error::MessagesClosed));
        let messages = world.open_messages().unwrap();
        let no_such = Some(Error::NoSuchRank { rank: 4, size });
        assert_eq!(world.start_reduce(&[1_u32], &mut [0], sum, 4).err(), no_such);
        assert_eq!(world.start_gather(&[1_u32], &mut [0; 4], 4).err(), no_such);
        assert_eq!(world.start_scatter(&[1_u32; 4], &mut [0; 1], 4).err(), no_such);
        let uneven = Some(Error::Length { len: 6, wanted: 4 });
        assert_eq!(world.start_alltoall(&[0_u32; 6], &mut [0; 6]).err(), uneven);
        assert_eq!(world.start_reduce_scatter(&[0_u32; 6], &mut [0; 1], sum).err(), uneven);
        for long in [1, 200] {
            let room = if me == 2 { 2 * long + 1 } else { 2 * long };
            let expect = |result: Result<_, Error>, len: usize| {
                let wrong = Error::Length { len: len + 1, wanted: len };
                assert_eq!(result.map(drop), if me == 2 { Err(wrong) } else { Ok(()) });
            };
            let own = vec![1_u32; 2 * long];
            let mut sums = vec![0; room];
            expect(world.start_allreduce(&own, &mut sums, sum).unwrap().wait(), 2 * long);
            assert_eq!(sums[0], if me == 2 { 0 } else { 4 });
            expect(world.start_scan(&own, &mut sums, sum).unwrap().wait(), 2 * long);
            assert_eq!(sums[0], if me == 2 { 0 } else { me as u32 + 1 });
            let mut all = vec![0; 4 * 2 * long + usize::from(me == 2)];
            expect(world.start_allgather(&own, &mut all).unwrap().wait(), 8 * long);
            assert_eq!(all[0], u32::from(me != 2));
            expect(world.start_gather(&own, &mut all, 2).unwrap().wait(), 8 * long);
            let mut block = vec![0; 2 * long];
            let blocks = vec![5; if me == 2 { 8 * long + 1 } else { 0 }];
            let scattered = world.start_scatter(&blocks, &mut block, 2).unwrap().wait();
            expect(scattered, 8 * long);
            // Zeros stand for what the root could not send.
            assert_eq!(block, vec![0; 2 * long]);
        }
        // Two ranks that name different lengths are told, and nobody waits.
        let mut message = vec![me as u8; if me == 3 { 5000 } else { 4500 }];
        let heard = world.start_broadcast(&mut message, 0).unwrap().wait().map(drop);
        let differs = Error::MessageLength { from: 2, to: 3, sent: 4500, wanted: 5000 };
        assert_eq!(heard, if me == 3 { Err(differs) } else { Ok(()) });
        messages.close().unwrap();
    });
}

/// A message of the wrong length comes to one rank, and what is made of it to others: all of them are told, and which it was.
#[test]
fn a_wrong_length_is_told_of_by_way_of_others() {
    run(&Machine::scc(8), |world| {
        let messages = world.open_messages().unwrap();
        let (me, sum) = (world.rank(), crate::Operator::<u32>::SUM);
        let told = |from, to, sent, wanted| Err(Error::MessageLength { from, to, sent, wanted });
        // Rank 4 passes it on to ranks 5, 6 and 7, and rank 6 to 7.
        for lens in [[5000, 4500], [4500, 5000]] {
            let mut message = vec![1_u8; lens[usize::from(me >= 4)]];
            let heard = world.start_broadcast(&mut message, 0).unwrap().wait().map(drop);
            assert_eq!(heard, if me >= 4 { told(0, 4, lens[0], lens[1]) } else { Ok(()) });
        }
        // What rank 4 combines with it goes up to rank 0, and down to all.
        for len in [300, 340] {
            let mut sums = vec![1_u32; if me == 5 { len } else { 320 }];
            let heard = world.start_allreduce(InPlace, &mut sums, sum).unwrap().wait().map(drop);
            assert_eq!(heard, told(5, 4, 4 * len, 4 * 320), "rank {me}");
        }
        // With its note of 32 bytes, what rank 4 passes on is as long as what rank 6 wants.
        let mut message = vec![1_u8; [4500, 4500, 4500, 4500, 4508, 4508, 4508 + 32, 4508][me]];
        let heard = world.start_broadcast(&mut message, 0).unwrap().wait().map(drop);
        assert_eq!(heard, if me >= 4 { told(0, 4, 4500, 4508) } else { Ok(()) }, "rank {me}");
        messages.close().unwrap();
    });
}

/// Whoever drops what is not over waits for it; what was forgotten keeps a communicator and messages from being given up.
#[test]
fn what_is_under_way_is_not_left_behind() {
    run(&Machine::scc(3), |world| {
        let messages = world.open_messages().unwrap();
        let part = world.dup().unwrap();
        let mut result = [0_u32; 3];
        let own = [part.rank() as u32];
        let mut request = part.start_allgather(&own, &mut result).unwrap();
        assert!(!request.cancel());
        drop(request);
        assert_eq!(result, [0, 1, 2]);
        part.free().unwrap();
        if world.rank() == 0 {
            let alone = world.dup();
            drop(alone);
        } else {
            drop(world.dup());
        }
        let mut left = [0_u32; 3];
        core::mem::forget(world.start_gather(&own, &mut left, 0).unwrap());
        if world.rank() == 0 {
            assert_eq!(world.check_no_tasks(), Err(Error::RequestsOutstanding));
        }
        world.barrier();
        world.look();
        assert_eq!(world.check_no_tasks(), Ok(()));
        messages.close().unwrap();
    });
}

/// A rank that waits for something else drives what others wait for.
#[test]
fn operations_go_on_in_whatever_a_rank_waits_for() {
    run(&Machine::scc(5), |world| {
        let messages = world.open_messages().unwrap();
        let mut all = vec![0_u32; 5 * 300];
        let mut request = world.start_allgather(&[world.rank() as u32; 300], &mut all).unwrap();
        if world.rank() == 4 {
            request.wait().unwrap();
            world.send_tagged(&[1_u8], 0, 1).unwrap();
        } else if world.rank() == 0 {
            world.receive_tagged(&mut [0_u8], crate::Source::Rank(4), crate::Tag::Is(1)).unwrap();
        }
        world.barrier();
        drop(request);
        assert!((0..5).all(|rank| all[rank * 300..][..300].iter().all(|word| *word == rank as u32)));
        messages.close().unwrap();
    });
}

/// A rank that is missing is named.
#[test]
fn a_rank_that_is_missing_is_named() {
    let outcome = Machine::scc(4).run(|core| {
        let world = Comm::world(core, regions::of_a_test()).unwrap();
        let _messages = world.open_messages().unwrap();
        if world.rank() != 3 {
            let _ = world.start_gather(&[0_u8], &mut [0_u8; 4], 0).unwrap().wait();
        }
    });
    let failure = outcome.err().map(|failure| std::format!("{failure}")).expect("nobody is missing");
    assert!(failure.contains("a non-blocking gather from core 3"), "{failure}");
}

/// 48 ranks with more than a hundred requests each, which are all under way before the first is completed: sends, receives and
/// operations of all kinds.
#[test]
fn requests_by_the_hundred_on_48_ranks() {
    const COUNT: usize = 40;
    run(&Machine::scc(48), |world| {
        let messages = world.open_messages().unwrap();
        let (me, size, sum) = (world.rank(), world.size(), crate::Operator::<u32>::SUM);
        let mut sums = vec![[me as u32; 3]; COUNT];
        let mut below = vec![[1_u32; 80]; COUNT];
        let mut words = vec![0_u32; COUNT];
        let mut requests = Vec::new();
        for (at, ((sums, below), word)) in sums.iter_mut().zip(&mut below).zip(&mut words).enumerate() {
            let (tag, distance) = (at as u32, 1 + at % 7);
            let from = crate::Source::Rank((me + size - distance) % size);
            requests.push(world.start_receive_tagged(core::slice::from_mut(word), from, crate::Tag::Is(tag)).unwrap());
            requests.push(world.start_allreduce(InPlace, sums, sum).unwrap());
            requests.push(world.start_exscan(InPlace, below, sum).unwrap());
            requests.push(world.start_send_tagged(&[(me * COUNT + at) as u32], (me + distance) % size, tag).unwrap());
        }
        assert!(requests.len() > 100 && requests.iter().all(|request| !request.is_over()));
        let places = requests.len();
        requests.rotate_left(me * 3 % places);
        while let Some((_, done)) = Request::wait_any(&mut requests).unwrap() {
            done.unwrap();
        }
        drop(requests);
        for at in 0..COUNT {
            let from = (me + size - 1 - at % 7) % size;
            assert_eq!(words[at] as usize, from * COUNT + at);
            assert_eq!(sums[at], [(size * (size - 1) / 2) as u32; 3]);
            assert_eq!(below[at], [me.max(1) as u32; 80]);
        }
        messages.close().unwrap();
    });
}
