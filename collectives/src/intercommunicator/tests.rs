//! What concerns all ranks of a group though it comes to one of them, messages between ranks of the same number, and operations that are begun
//! and completed later.

use std::{vec, vec::Vec};

use hal::{
    Clock,
    sim::{Machine, SimCore, Strategy},
};

use super::{Intercommunicator, Root};
use crate::{
    Comm, Error, Operator, Pieces, Source, Tag,
    collective::nonblocking::oracle::{BETWEEN, BETWEEN_WITHOUT_PIECES, Case, Sides, complete},
    testing::{Random, run},
};

/// Runs something on both sides of two groups, each of so many ranks in a row; whether it is the first one's side is told.
fn between(machine: &Machine, left: usize, compares: bool, program: impl Fn(&Intercommunicator<'_, SimCore>, bool)) {
    run(machine, |world: &Comm<'_, SimCore>| {
        let messages = world.open_messages().unwrap();
        let is_left = world.rank() < left;
        let own = world.split(Some(is_left.into()), 0).unwrap().expect("each rank is in a group");
        // Only one of both groups compares calls.
        own.check_arguments(compares && is_left);
        let inter = own.create_intercommunicator(0, world, if is_left { left } else { 0 }, 1).unwrap();
        program(&inter, is_left);
        inter.barrier();
        inter.merge(false).unwrap().free().unwrap();
        inter.free().unwrap();
        own.free().unwrap();
        assert_eq!(world.unexpected_messages(), Ok(0));
        messages.close().unwrap();
    });
}

/// Of two groups, of 2 and 3 ranks, whose calls are compared.
fn on_both_sides(program: impl Fn(&Intercommunicator<'_, SimCore>, bool)) {
    between(&Machine::scc(5), 2, true, program);
}

/// Who is the root, if that is rank `root` on the left.
fn left_root(root: usize, is_left: bool, me: usize) -> Root {
    match is_left {
        false => Root::At(root),
        true if me == root => Root::Here,
        true => Root::Beside,
    }
}

#[test]
fn all_ranks_of_a_group_are_told_of_what_is_longer_or_shorter_than_they_want() {
    on_both_sides(|inter, is_left| {
        let (me, theirs) = (inter.rank(), inter.remote_size());
        // What comes from the left is wrong.
        let told = |from, to, sent, wanted| match is_left {
            true => Ok(()),
            false => Err(Error::MessageLength { from, to, sent, wanted }),
        };
        for len in [1_usize, 3, 70, 200] {
            let root = |root| left_root(root, is_left, me);
            let (own, other) = if is_left { (len, 2) } else { (2, len) };
            let heard = inter.broadcast(&mut vec![7_u32; own], root(1));
            assert_eq!(heard, told(1, 0, 4 * len, 8), "a broadcast of {len} words");
            let heard = inter.scatter(&vec![7_u32; 3 * own], &mut vec![0_u32; own], root(0));
            assert_eq!(heard, told(0, 0, 12 * len, 24), "a scatter of {len} words");
            let heard = inter.allgather(&vec![1_u32; own], &mut vec![0; theirs * if is_left { other } else { 2 }]);
            assert_eq!(heard, told(0, 0, 8 * len, 16), "an allgather of {len} words");
            // Each rank is told of what comes to it.
            let heard = inter.alltoall(&vec![1_u32; theirs * own], &mut vec![0; theirs * 2]);
            assert_eq!(heard, told(0, me, 4 * len, 8), "an all-to-all of {len} words");
        }
    });
}

/// A message to the rank of one's own number goes to another core, and stays where it is until that receives.
#[test]
fn messages_to_ranks_of_the_same_number() {
    on_both_sides(|inter, is_left| {
        let me = inter.rank();
        if me < 2 {
            for len in [3, 5000] {
                let message = vec![me as u8 + 1; len];
                let mut received = vec![0; len];
                for sends in [is_left, !is_left] {
                    if sends {
                        inter.send_tagged(&message, me, 2).unwrap();
                    } else {
                        inter.receive_tagged(&mut received, Source::Rank(me), Tag::Is(2)).unwrap();
                    }
                }
                assert_eq!(received, message);
            }
        }
    });
}

/// The kinds of operations that have a root.
const ROOTED: [usize; 6] = [1, 2, 7, 8, 12, 14];

/// Operations of all kinds at once, with every root in either group and blocking ones in between. Each rank completes them in an order of
/// its own, in ways of its own, and some not at all.
fn against_an_oracle(machine: &Machine, [left, right]: [usize; 2], seed: u32) {
    let longest = if left + right > 20 { 3 } else { 64 };
    let roots = (0..left).map(|root| (true, root)).chain((0..right).map(|root| (false, root)));
    between(machine, left, false, |inter, is_left| {
        let all: Vec<_> = (0..left + right).collect();
        let (ours, theirs) = if is_left { (&all[..left], &all[left..]) } else { (&all[left..], &all[..left]) };
        let (me, mut order) = (inter.rank(), Random(seed));
        let mut own = Random(seed ^ (ours[me] as u32 * 77));
        let mut number = 0;
        for (left_has_root, root) in roots.clone() {
            let sides = Sides { ours, theirs, me, root, has_root: Some(left_has_root == is_left) };
            let mut kinds = if root < 2 { BETWEEN.to_vec() } else { ROOTED.to_vec() };
            kinds.extend([(); 3].map(|()| order.of(&BETWEEN)));
            let count = kinds.len();
            kinds.rotate_left(order.below(count));
            let mut case = |kind, order: &mut Random| {
                number += 1;
                Case::of(order, kind, sides, number, longest)
            };
            let mut cases: Vec<_> = kinds.into_iter().map(|kind| case(kind, &mut order)).collect();
            let requests = cases.iter_mut().map(|case| {
                if own.below(6) == 0 {
                    inter.local().hal().compute(own.below(30_000) as u64);
                }
                case.begin_between(inter)
            });
            let requests = requests.collect();
            for _ in 0..2 {
                let kind = order.of(&BETWEEN[..BETWEEN_WITHOUT_PIECES]);
                case(kind, &mut order).operate_between(inter);
            }
            complete(requests, &mut own, false);
            cases.into_iter().for_each(Case::check);
        }
    });
}

#[test]
fn what_is_begun_has_what_an_oracle_says() {
    for sizes in [[1, 1], [1, 4], [3, 2], [5, 8], [16, 32]] {
        against_an_oracle(&Machine::scc(sizes[0] + sizes[1]), sizes, sizes[0] as u32);
    }
}

#[test]
fn what_is_begun_has_what_an_oracle_says_however_ranks_are_delayed() {
    for seed in 0..6_u32 {
        let sizes = [1 + seed as usize % 3, 3 - seed as usize % 2];
        let machine = Machine::scc(sizes[0] + sizes[1]).with_strategy(Strategy::Seeded { seed: seed.into() });
        against_an_oracle(&machine, sizes, seed + 40);
    }
}

/// Nobody waits for ever, and all are told to whom something comes of what is longer or shorter.
#[test]
fn what_is_begun_with_lengths_that_differ_goes_on() {
    on_both_sides(|inter, is_left| {
        let (me, theirs) = (inter.rank(), inter.remote_size());
        for len in [1_usize, 3, 70, 200] {
            let own = if is_left { len } else { 2 };
            let told = |from, to| match is_left {
                true => Ok(()),
                false => Err(Error::MessageLength { from, to, sent: 4 * len, wanted: 8 }),
            };
            let mut message = vec![7_u32; own];
            let heard = inter.start_broadcast(&mut message, left_root(1, is_left, me)).unwrap().wait().map(drop);
            assert_eq!((heard, message), (told(1, 0), vec![7; own]), "a broadcast of {len} words");
            let (blocks, mut block) = (vec![7_u32; 3 * own], vec![0_u32; own]);
            let heard = inter.start_scatter(&blocks, &mut block, left_root(0, is_left, me)).unwrap().wait().map(drop);
            assert_eq!(heard, told(0, me), "a scatter of {len} words");
            let mut all = vec![0_u32; 2 * theirs];
            let heard = inter.start_allgather(&vec![1_u32; own], &mut all).unwrap().wait().map(drop);
            assert_eq!(heard, told(me % 2, me), "an allgather of {len} words");
            let heard = inter.start_alltoall(&vec![1_u32; theirs * own], &mut all).unwrap().wait().map(drop);
            assert_eq!(heard, told(me % 2, me), "an all-to-all of {len} words");
            let mut sums = vec![0_u32; 2];
            let heard = inter.start_allreduce(&vec![1; own], &mut sums, Operator::SUM).unwrap().wait().map(drop);
            assert_eq!(heard, told(0, 0), "an allreduce of {len} words");
        }
    });
}

/// What ranks see alike is refused before anything has happened; and what one rank alone has called wrongly, its request says.
#[test]
fn what_makes_no_sense_is_not_begun() {
    on_both_sides(|inter, is_left| {
        let (size, theirs, sum) = (inter.size(), inter.remote_size(), Operator::<u32>::SUM);
        let no_such = Some(Error::NoSuchRank { rank: 3, size: theirs });
        assert_eq!(inter.start_broadcast(&mut [0_u32; 2], Root::At(3)).err(), no_such);
        assert_eq!(inter.start_gather(&[0_u32; 2], &mut [0; 6], Root::At(3)).err(), no_such);
        let counts = [1; 4];
        let refused = inter.start_reduce_scatter(Pieces::packed(&counts).of(&[0_u32; 4]), &mut [0], sum).err();
        assert_eq!(refused, Some(Error::Pieces { pieces: 4, size }));
        // One side calls something else.
        let (mut word, mut all) = ([0_u32], vec![0_u32; theirs]);
        let differs = match is_left {
            true => inter.start_broadcast(&mut word, Root::Beside).err(),
            false => inter.start_allgather(&word, &mut all).err(),
        };
        assert!(matches!(differs, Some(Error::CallsDiffer { .. })), "{differs:?}");
        // One side is refused, and the other one has nothing to do: afterwards both are in step.
        let root = if is_left { Root::At(3) } else { Root::Beside };
        let begun = inter.start_broadcast(&mut word, root).and_then(|mut request| request.wait().map(drop));
        assert_eq!(begun.err(), no_such.filter(|_| is_left));
        inter.start_allgather(&[5_u32], &mut all).unwrap().wait().unwrap();
        assert!(all.iter().all(|word| *word == 5), "{all:?}");
        let mut uneven = vec![0_u32; theirs + 1];
        let heard = inter.start_allgather(&[5_u32], &mut uneven).unwrap().wait().map(drop);
        assert_eq!(heard, Err(Error::Length { len: theirs + 1, wanted: theirs }));
        assert!(uneven.iter().all(|word| *word == 0));
    });
}

/// Each rank gets the piece of the other group's result that it asks for.
#[test]
fn a_reduce_scatter_in_pieces() {
    on_both_sides(|inter, is_left| {
        let me = inter.rank();
        let operands: Vec<_> = (0..6_u32).map(|at| 10 * at + if is_left { 1 } else { 1000 }).collect();
        let pieces = if is_left { Pieces::at(&[2, 4], &[4, 0]) } else { Pieces::packed(&[1, 2, 3]) };
        let range = if is_left { [4..6, 0..4][me].clone() } else { [0..1, 1..3, 3..6][me].clone() };
        let mut part = vec![0; range.len()];
        inter.start_reduce_scatter(pieces.of(&operands), &mut part, Operator::SUM).unwrap().wait().unwrap();
        let sum = |at: u32| if is_left { 3 * (10 * at + 1000) } else { 2 * (10 * at + 1) };
        assert_eq!(part, range.map(sum).collect::<Vec<_>>());
        // Whoever has no room for its piece is told, and the others have theirs.
        let mut short = vec![0; part.len() - usize::from(me == 0)];
        let heard = inter.start_reduce_scatter(pieces.of(&operands), &mut short, Operator::SUM).unwrap().wait();
        let wrong = Error::Length { len: short.len(), wanted: part.len() };
        assert_eq!(heard.map(drop), if me == 0 { Err(wrong) } else { Ok(()) });
        assert!(me == 0 || short == part);
    });
}
