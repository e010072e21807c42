//! What concerns all ranks of a group though it comes to one of them, and messages between ranks of the same number.

use std::vec;

use hal::sim::{Machine, SimCore};

use super::{Intercommunicator, Root};
use crate::{Comm, Error, Source, Tag};

/// Runs something on both sides of two groups, of 2 and 3 ranks; whether it is the first one's side is told.
fn on_both_sides(program: impl Fn(&Intercommunicator<'_, SimCore>, bool)) {
    let outcome = Machine::scc(5).run(|core| {
        let world = Comm::world(core, regions::of_a_test()).expect("the machine is small enough");
        let messages = world.open_messages().unwrap();
        let is_left = world.rank() < 2;
        let own = world.split(Some(is_left.into()), 0).unwrap().expect("each rank is in a group");
        // Only one of both groups compares calls.
        own.check_arguments(is_left);
        let inter = own.create_intercommunicator(0, &world, if is_left { 2 } else { 0 }, 1).unwrap();
        program(&inter, is_left);
        inter.barrier();
        inter.merge(false).unwrap().free().unwrap();
        inter.free().unwrap();
        own.free().unwrap();
        messages.close().unwrap();
    });
    outcome.unwrap_or_else(|failure| panic!("{failure}"));
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
            let root = |root| match is_left {
                false => Root::At(root),
                true if me == root => Root::Here,
                true => Root::Beside,
            };
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
