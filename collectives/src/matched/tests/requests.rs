//! Transfers that were begun or prepared, and messages to oneself.

use std::{vec, vec::Vec};

use hal::{Cached, Clock, sim::Machine};

use super::super::{Envelope, Source, Tag, post::CREDITS, request::Request};
use crate::{Class, Error, Group, Window, testing::run};

#[test]
fn a_rank_sends_to_itself() {
    run(&Machine::scc(1), |world| {
        let messages = world.open_messages().unwrap();
        for len in [0, 5, 300, 10_000] {
            world.send_tagged(&vec![3_u8; len], 0, 1).unwrap();
            let mut synchronous = world.start_send_tagged_synchronously(&vec![4_u8; len], 0, 2).unwrap();
            assert_eq!(synchronous.test(), Ok(None));
            let mut buffer = vec![0_u8; len];
            world.receive_tagged(&mut buffer, Source::Any, Tag::Is(2)).unwrap();
            assert_eq!(buffer, vec![4_u8; len]);
            assert_eq!(synchronous.test().map(|sent| sent.is_some()), Ok(true));
            assert_eq!(synchronous.test(), Err(Error::Completed));
            world.receive_tagged(&mut buffer, Source::Rank(0), Tag::Any).unwrap();
            assert_eq!(buffer, vec![3_u8; len]);
        }
        messages.close().unwrap();
    });
}

/// Credits go back with messages whose senders wait, too: there are always some for the next one.
#[test]
fn answers_in_chunks_give_credits_back() {
    run(&Machine::scc(2), |world| {
        let messages = world.open_messages().unwrap();
        let mut buffer = [0_u8; 300];
        let peer = 1 - world.rank();
        for round in 0..3 * 16 {
            if world.rank() == round % 2 {
                world.send_tagged(&[round as u8; 300], peer, 1).unwrap();
            } else {
                world.receive_tagged(&mut buffer, Source::Rank(peer), Tag::Is(1)).unwrap();
                assert_eq!(buffer, [round as u8; 300]);
            }
        }
        messages.close().unwrap();
    });
}

/// Messages that come at once and in chunks, before and after their receive was begun, and one for which there is no room.
#[test]
fn a_receive_without_a_buffer_keeps_the_message() {
    run(&Machine::scc(2), |world| {
        let messages = world.open_messages().unwrap();
        for (len, sent_first) in [(0, true), (8, false), (240, true), (1000, false), (10_000, true), (10_000, false)] {
            let message: Vec<u8> = (0..len).map(|at| at as u8).collect();
            if world.rank() == 0 {
                if !sent_first {
                    world.receive_tagged::<u8>(&mut [], Source::Rank(1), Tag::Is(2)).unwrap();
                }
                let mut begun = world.start_send_tagged(&message, 1, 1).unwrap();
                world.send_tagged(&message, 1, 1).unwrap();
                world.send_tagged::<u8>(&[], 1, 3).unwrap();
                begun.wait().unwrap();
                continue;
            }
            if sent_first && len <= 240 {
                world.probe(Source::Rank(0), Tag::Is(3)).unwrap();
            }
            let mut both: [_; 2] = core::array::from_fn(|_| {
                world.start_receive_tagged_unplaced(len, Source::Rank(0), Tag::Is(1)).unwrap()
            });
            if !sent_first {
                world.send_tagged::<u8>(&[], 0, 2).unwrap();
            }
            for receive in &mut both {
                assert_eq!(receive.take_message(), []);
                assert_eq!(receive.wait(), Ok(Envelope { source: 0, tag: 1, len_bytes: len }));
                assert!(receive.take_message() == message && receive.take_message().is_empty());
            }
            world.receive_tagged::<u8>(&mut [], Source::Rank(0), Tag::Is(3)).unwrap();
        }
        if world.rank() == 0 {
            world.send_tagged(&[0_u8; 9], 1, 1).unwrap();
        } else {
            let mut receive = world.start_receive_tagged_unplaced(8, Source::Rank(0), Tag::Any).unwrap();
            assert_eq!(receive.wait(), Err(Error::Truncated { from: 0, tag: 1, sent: 9, room: 8 }));
            assert_eq!(receive.take_message(), []);
        }
        messages.close().unwrap();
    });
}

#[test]
fn requests_by_the_hundred_are_waited_for_in_every_way() {
    const COUNT: usize = 200;
    run(&Machine::scc(4), |world| {
        let messages = world.open_messages().unwrap();
        let (me, size) = (world.rank(), world.size());
        let (right, left) = ((me + 1) % size, (me + size - 1) % size);
        for way in 0..4 {
            let mut buffers = vec![[0_u32; 70]; COUNT];
            let mut receives: Vec<_> = buffers
                .iter_mut()
                .enumerate()
                .map(|(tag, buffer)| {
                    world.start_receive_tagged(buffer, Source::Rank(left), Tag::Is(tag as u32)).unwrap()
                })
                .collect();
            // Backwards, and every third one long.
            let len = |tag: usize| if tag.is_multiple_of(3) { 70 } else { 2 };
            let send = |tag: usize| world.start_send_tagged(&vec![tag as u32; len(tag)], right, tag as u32).unwrap();
            let mut sends: Vec<_> = (0..COUNT).rev().map(send).collect();
            let mut done = [false; COUNT];
            let mut note = |(index, envelope): (usize, Result<Envelope, Error>)| {
                let expected = Envelope { source: left, tag: index as u32, len_bytes: len(index) * 4 };
                assert_eq!(envelope, Ok(expected));
                assert!(!core::mem::replace(&mut done[index], true));
            };
            match way {
                0 => Request::wait_all(&mut receives).into_iter().enumerate().for_each(note),
                1 => {
                    while let Some(one) = Request::wait_any(&mut receives).unwrap() {
                        note(one)
                    }
                }
                2 => loop {
                    let some = Request::wait_some(&mut receives).unwrap();
                    if some.is_empty() {
                        break;
                    }
                    some.into_iter().for_each(&mut note);
                },
                _ => {
                    while !Request::test_all(&mut receives) {
                        Request::test_any(&mut receives).into_iter().for_each(&mut note);
                        world.hal().compute(100);
                    }
                    Request::test_some(&mut receives).into_iter().for_each(note);
                }
            }
            assert_eq!(done, [true; COUNT]);
            assert!(receives.iter().all(Request::is_over));
            assert_eq!(receives[0].wait(), Err(Error::Completed));
            drop(receives);
            for (tag, buffer) in buffers.iter().enumerate() {
                assert!(
                    buffer[..len(tag)].iter().all(|word| *word == tag as u32)
                        && buffer[len(tag)..].iter().all(|word| *word == 0)
                );
            }
            assert!(Request::wait_all(&mut sends).iter().all(Result::is_ok));
        }
        messages.close().unwrap();
    });
}

/// A chain in which each rank begins the same send and the same receive for each round; what the last one sends is let go.
#[test]
fn prepared_transfers_begin_again_and_buffered_ones_go_on() {
    for len in [2, 100, 3000] {
        run(&Machine::scc(5), |world| {
            let messages = world.open_messages().unwrap();
            let (me, size) = (world.rank(), world.size());
            let send = world.prepare_send_tagged((me + 1) % size, 7).unwrap();
            let synchronous = world.prepare_send_tagged_synchronously((me + 1) % size, 8).unwrap();
            let receive = world.prepare_receive_tagged(Source::Rank((me + size - 1) % size), Tag::Is(7)).unwrap();
            assert_eq!(world.prepare_send_tagged(size, 7).err(), Some(Error::NoSuchRank { rank: size, size }));
            let mut buffers = vec![vec![0_u32; len]; 6];
            for (round, buffer) in (0..).zip(&mut buffers) {
                let mut arrival = receive.start(buffer).unwrap();
                let mut sent = send.start(&vec![me as u32 * 100 + round; len]).unwrap();
                assert_eq!(arrival.wait().unwrap().len_bytes, 4 * len);
                sent.wait().unwrap();
                let mut sent = synchronous.start(&[round]).unwrap();
                let mut word = [0_u32];
                world.receive_tagged(&mut word, Source::Any, Tag::Is(8)).unwrap();
                assert_eq!(word, [round]);
                sent.wait().unwrap();
            }
            let before = ((me + size - 1) % size) as u32;
            for (round, buffer) in (0..).zip(&buffers) {
                assert_eq!(*buffer, vec![before * 100 + round; len]);
            }
            // More than there are credits for, all at once, to somebody who looks late.
            for number in 0..3 * CREDITS {
                world.send_tagged_buffered(&vec![number; len], (me + 1) % size, 9).unwrap();
            }
            world.barrier();
            let mut buffer = vec![0; len];
            for number in 0..3 * CREDITS {
                world.receive_tagged(&mut buffer, Source::Any, Tag::Is(9)).unwrap();
                assert_eq!(buffer, vec![number; len]);
            }
            messages.close().unwrap();
        });
    }
}

#[test]
fn closing_is_refused_while_something_is_left() {
    run(&Machine::scc(2), |world| {
        assert_eq!(world.send_tagged(&[0_u8], 0, 0), Err(Error::MessagesClosed));
        let messages = world.open_messages().unwrap();
        assert!(matches!(world.open_messages(), Err(Error::InForce { .. })));
        assert_eq!(world.send_tagged(&[0_u8], 2, 0), Err(Error::NoSuchRank { rank: 2, size: 2 }));
        let mut buffer = [0_u8; 4];
        let mut receive = world.start_receive_tagged(&mut buffer, Source::Any, Tag::Any).unwrap();
        assert_eq!(messages.close().err(), Some(Error::RequestsOutstanding));
        assert!(receive.cancel() && !receive.cancel() && receive.is_over());
        assert_eq!(receive.test(), Err(Error::Completed));
    });
    // Opened and closed again and again, with other communicators and windows in between.
    run(&Machine::scc(5), |world| {
        for round in 0..5 {
            let messages = world.open_messages().unwrap();
            let dup = world.dup().unwrap();
            let next = (world.rank() + 1) % 5;
            let mut word = [0_u32];
            let before = (world.rank() + 4) % 5;
            dup.exchange_tagged(
                (&[world.rank() as u32 + round], next, round),
                (&mut word, Source::Rank(before), Tag::Any),
            )
            .unwrap();
            assert_eq!(word, [before as u32 + round]);
            messages.close().unwrap();
            dup.free().unwrap();
        }
    });
}

/// A rank that waits in an epoch of class `message` for its target's post takes what the target has to send before it posts.
#[test]
fn messages_go_on_while_an_epoch_by_messages_waits() {
    run(&Machine::scc(2), |world| {
        let mut caches = world.hal().take_caches().unwrap();
        let (window, mut view) = Window::<_, u32>::with_class(world, &mut caches, 1, Class::Message).unwrap();
        let messages = world.open_messages().unwrap();
        let (mut buffer, other) = (vec![0_u8; 20_000], Group::of([1 - world.rank()]).unwrap());
        if world.rank() == 0 {
            world.send_tagged(&vec![5_u8; 20_000], 1, 1).unwrap();
            window.while_posted(&mut view, &mut caches, &other, |_| ()).unwrap();
            assert_eq!(view.load(0), 9);
        } else {
            let mut receive = world.start_receive_tagged(&mut buffer, Source::Rank(0), Tag::Is(1)).unwrap();
            let access = window.start(&other).unwrap();
            access.put_value(0, 0, 9).unwrap();
            access.complete();
            receive.wait().unwrap();
            drop(receive);
            assert_eq!(buffer, vec![5_u8; 20_000]);
        }
        messages.close().unwrap();
        window.free(view, &mut caches).unwrap();
    });
}
