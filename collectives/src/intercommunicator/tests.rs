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
fn all_ranks_of_a_group_are_told_of_a_message_that_is_too_long() {
    on_both_sides(|inter, is_left| {
        let root = if !is_left {
            Root::At(1)
        } else if inter.rank() == 1 {
            Root::Here
        } else {
            Root::Beside
        };
        let mut message = vec![7_u32; if is_left { 10 } else { 8 }];
        let truncated = Error::Truncated { from: 1, tag: 0, sent: 40, room: 32 };
        assert_eq!(inter.broadcast(&mut message, root), if is_left { Ok(()) } else { Err(truncated) });
        let mut all = vec![0_u32; if is_left { 3 } else { 1 }];
        let gathered = inter.allgather(&[1_u32], &mut all);
        let truncated = Error::Truncated { from: 0, tag: 0, sent: 8, room: 4 };
        assert_eq!(gathered, if is_left { Ok(()) } else { Err(truncated) });
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
