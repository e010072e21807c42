//! Non-blocking collective operations against an oracle: on communicators that overlap, with lengths at random.

use std::{vec, vec::Vec};

use hal::{
    Clock,
    sim::{Machine, SimCore},
};

use crate::{
    Comm, Error, InPlace, Operation, Pieces, Request,
    testing::{Map, Random, compose, composed, run},
};

/// What a rank of the world has in an operation with this number.
fn elements(rank: usize, len: usize, number: usize) -> Vec<Map> {
    let value = |at: usize| (rank * 7919 + at * 104_729 + number * 31) as u32;
    (0..len).map(|at| [value(at).wrapping_mul(2_654_435_761) | 1, value(at) ^ 77]).collect()
}

/// Memory for an operation: what goes out, what comes, what comes according to the oracle, and where pieces are.
#[derive(Default)]
struct Case {
    kind: usize,
    root: usize,
    own: Vec<Map>,
    result: Vec<Map>,
    wanted: Vec<Map>,
    counts: [Vec<usize>; 2],
    starts: Vec<usize>,
}

const KINDS: usize = 16;

/// An operation, which all ranks of a communicator choose alike; `ranks` are its ranks in the world.
fn case(random: &mut Random, ranks: &[usize], me: usize, number: usize, longest: usize) -> Case {
    let size = ranks.len();
    let (kind, root) = (random.below(KINDS), random.below(size));
    let len = [0, 1, 3, 29, 64, 200, 1500][random.below(7)].min(longest);
    let salt = random.below(1 << 16);
    // What one rank sends to another one, where these differ.
    let between = |from: usize, to: usize| if len == 0 { 0 } else { (from * 5 + to * 3 + salt) % (len.min(50) + 1) };
    let of = |rank: usize, len: usize| elements(ranks[rank], len, number);
    let all = |len: usize| (0..size).flat_map(|rank| of(rank, len)).collect::<Vec<_>>();
    let untouched = |len: usize| vec![[9, 9]; len];
    let mut case = Case { kind, root, own: of(me, len), ..Case::default() };
    let at_root = |wanted: Vec<Map>| if me == root { wanted } else { untouched(wanted.len()) };
    let reduced = |to: usize| if to == 0 { untouched(len) } else { composed((0..to).map(|rank| of(rank, len))) };
    case.wanted = match kind {
        0 => vec![],
        1 => of(root, len),
        2 => at_root(reduced(size)),
        3 | 4 => reduced(size),
        5 => reduced(me + 1),
        6 => reduced(me),
        7 => at_root(all(len)),
        8 => of(me, len),
        9 => all(len),
        10 => (0..size).flat_map(|rank| of(rank, len * size)[me * len..][..len].to_vec()).collect(),
        11 => composed((0..size).map(|rank| of(rank, len * size)))[me * len..][..len].to_vec(),
        // Pieces, with a gap before each.
        12 | 13 => {
            case.counts[1] = (0..size).map(|rank| between(rank, 0)).collect();
            case.own = of(me, case.counts[1][me]);
            let placed: Vec<_> = case.counts[1]
                .iter()
                .enumerate()
                .flat_map(|(rank, count)| [untouched(2), of(rank, *count)].concat())
                .collect();
            if kind == 12 { at_root(placed) } else { placed }
        }
        14 => {
            case.counts[0] = (0..size).map(|rank| between(0, rank)).collect();
            of(me, case.counts[0][me])
        }
        _ => {
            case.counts[0] = (0..size).map(|to| between(me, to)).collect();
            case.counts[1] = (0..size).map(|from| between(from, me)).collect();
            let sent = |from: usize| {
                let before: usize = (0..me).map(|to| between(from, to)).sum();
                of(from, size * (len + 1))[before..][..between(from, me)].to_vec()
            };
            (0..size).flat_map(|from| [untouched(2), sent(from)].concat()).collect()
        }
    };
    case.result = match kind {
        1 if me == root => of(root, len),
        4 => case.own.clone(),
        _ => untouched(case.wanted.len()),
    };
    match kind {
        8 => case.own = if me == root { all(len) } else { vec![] },
        10 | 11 => case.own = of(me, len * size),
        14 => {
            let blocks = (0..size).flat_map(|rank| of(rank, case.counts[0][rank]));
            case.own = if me == root { blocks.collect() } else { vec![] };
        }
        15 => case.own = of(me, size * (len + 1)),
        _ => {}
    }
    let mut end = 0;
    case.starts = case.counts[1].iter().map(|count| (end + 2, end += 2 + count).0).collect();
    case
}

/// Begins it.
fn begin<'r, 'c>(comm: &'r Comm<'c, SimCore>, case: &'r mut Case) -> Request<'r, 'c, SimCore> {
    let Case { kind, root, own, result, counts, starts, .. } = case;
    let (root, maps, own) = (*root, Operation::new(compose), &own[..]);
    let [sent, received] = &*counts;
    match *kind {
        0 => comm.start_barrier(),
        1 => comm.start_broadcast(result, root),
        2 => comm.start_reduce(own, result, maps, root),
        3 => comm.start_allreduce(own, result, maps),
        4 => comm.start_allreduce(InPlace, result, maps),
        5 => comm.start_scan(own, result, maps),
        6 => comm.start_exscan(own, result, maps),
        7 => comm.start_gather(own, &mut result[..], root),
        8 => comm.start_scatter(own, &mut result[..], root),
        9 => comm.start_allgather(own, &mut result[..]),
        10 => comm.start_alltoall(own, &mut result[..]),
        11 => comm.start_reduce_scatter(own, result, maps),
        12 => comm.start_gather(own, Pieces::at(received, starts).of_mut(result), root),
        13 => comm.start_allgather(own, Pieces::at(received, starts).of_mut(result)),
        14 => comm.start_scatter(Pieces::packed(sent).of(own), &mut result[..], root),
        _ => comm.start_alltoall(Pieces::packed(sent).of(own), Pieces::at(received, starts).of_mut(result)),
    }
    .unwrap()
}

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
                    (comm, case(&mut random, ranks, comm.rank(), number, longest))
                })
                .collect();
            let mut requests: Vec<_> = chosen
                .iter_mut()
                .map(|(comm, case)| {
                    if own.below(8) == 0 {
                        world.hal().compute(own.below(30_000) as u64);
                    }
                    begin(comm, case)
                })
                .collect();
            while !requests.is_empty() {
                let at = own.below(requests.len());
                match own.below(6) {
                    0 => drop(requests.swap_remove(at)),
                    1 => {
                        requests.swap_remove(at).wait().unwrap();
                    }
                    2 => while requests[at].test().unwrap().is_none() {},
                    3 => {
                        Request::wait_some(&mut requests).unwrap().into_iter().for_each(|(_, one)| assert!(one.is_ok()))
                    }
                    4 => assert!(Request::wait_any(&mut requests).unwrap().is_none_or(|(_, one)| one.is_ok())),
                    _ => assert!(Request::wait_all(&mut requests).iter().all(Result::is_ok)),
                }
                requests.retain(|request| !request.is_over());
            }
            drop(requests);
            for (_, Case { kind, root, result, wanted, .. }) in chosen {
                assert!(result == wanted, "kind {kind} with root {root} in batch {batch} on rank {me} of {size}");
            }
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
