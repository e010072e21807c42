//! Messages that nobody wants yet, that are dropped, too long, or found by probes.

use std::{vec, vec::Vec};

use hal::{Clock, sim::Machine};

use super::super::{Envelope, Source, Tag, post::CREDITS, request::Request};
use crate::{Error, testing::run};

/// Everybody floods rank 0, which takes nothing for a long time: it keeps a bounded number, and nothing is lost.
#[test]
fn floods_are_held_back() {
    for (ranks, behind) in [(2, 37), (5, 37), (16, 37), (48, 12), (255, 3)] {
        let kept = run(&Machine::scc(ranks), |world| {
            let messages = world.open_messages().unwrap();
            let lens = [8, 3000, 200];
            let count = CREDITS as usize + behind;
            let mut kept = 0;
            if world.rank() == 0 {
                for _ in 0..100 {
                    world.hal().compute(10_000);
                    assert_eq!(world.try_probe(Source::Rank(0), Tag::Any), Ok(None));
                }
                world.barrier();
                kept = world.unexpected_messages().unwrap();
                let mut buffer = [0_u8; 3000];
                let mut next = vec![0; ranks];
                for _ in 0..count * (ranks - 1) {
                    let envelope = world.receive_tagged(&mut buffer, Source::Any, Tag::Any).unwrap();
                    let number = next[envelope.source];
                    next[envelope.source] += 1;
                    let expected = Envelope { len_bytes: lens[number % 3], tag: number as u32, ..envelope };
                    assert_eq!(envelope, expected);
                    assert!(buffer[..envelope.len_bytes].iter().all(|byte| *byte == number as u8));
                }
            } else {
                let send = |number: usize| {
                    world.start_send_tagged(&vec![number as u8; lens[number % 3]], 0, number as u32).unwrap()
                };
                let mut all: Vec<_> = (0..count).map(send).collect();
                world.barrier();
                assert!(Request::wait_all(&mut all).iter().all(Result::is_ok));
            }
            messages.close().unwrap();
            kept
        });
        assert_eq!(kept[0], (ranks - 1) * CREDITS as usize);
    }
}

/// The last message that there is a credit for is received, and another one is wanted, which has to come all the same.
#[test]
fn what_is_wanted_comes_behind_what_is_not_and_what_was() {
    // The 16th message takes the last credit, and the 24th takes the last one of those that were given because of what is wanted.
    for unwanted in 13..34 {
        for len in [4, 1000] {
            run(&Machine::scc(2), |world| {
                let messages = world.open_messages().unwrap();
                let (mut first, mut second) = (vec![0_u8; len], [0_u8; 4]);
                if world.rank() == 1 {
                    let mut first = world.start_receive_tagged(&mut first, Source::Rank(0), Tag::Is(1)).unwrap();
                    let mut second = world.start_receive_tagged(&mut second, Source::Rank(0), Tag::Is(2)).unwrap();
                    world.barrier();
                    assert_eq!(first.wait().unwrap().len_bytes, len);
                    assert_eq!(second.wait().unwrap().len_bytes, 4);
                    for _ in 0..unwanted {
                        world.receive_tagged(&mut [0_u8; 4], Source::Rank(0), Tag::Is(0)).unwrap();
                    }
                } else {
                    world.barrier();
                    let mut all: Vec<_> =
                        (0..unwanted).map(|_| world.start_send_tagged(&second, 1, 0).unwrap()).collect();
                    all.push(world.start_send_tagged(&first, 1, 1).unwrap());
                    all.push(world.start_send_tagged(&second, 1, 2).unwrap());
                    assert!(Request::wait_all(&mut all).iter().all(Result::is_ok));
                }
                drop((first, second));
                messages.close().unwrap();
            });
        }
    }
}

/// As many of each as take all credits, if these were lost.
#[test]
fn who_has_sent_what_is_dropped_goes_on() {
    for (len, synchronous) in [(4, false), (4, true), (0, true), (1000, false), (1000, true)] {
        for to in [0, 1] {
            run(&Machine::scc(2), |world| {
                let messages = world.open_messages().unwrap();
                let send = || match synchronous {
                    true => world.start_send_tagged_synchronously(&vec![1_u8; len], to, 3).unwrap(),
                    false => world.start_send_tagged(&vec![1_u8; len], to, 3).unwrap(),
                };
                let count = 3 * CREDITS;
                let mut sent: Vec<_> = (0..if world.rank() == 0 { count } else { 0 }).map(|_| send()).collect();
                if world.rank() == to {
                    for _ in 0..count {
                        let found = world.find_tagged(Source::Any, Tag::Is(3)).unwrap();
                        assert_eq!(found.envelope(), Envelope { source: 0, tag: 3, len_bytes: len });
                        drop(found);
                    }
                    assert_eq!(world.unexpected_messages(), Ok(0));
                }
                assert!(Request::wait_all(&mut sent).iter().all(Result::is_ok));
                drop(sent);
                messages.close().unwrap();
            });
        }
    }
}

#[test]
fn closing_is_refused_while_a_message_was_found_only() {
    run(&Machine::scc(1), |world| {
        let messages = world.open_messages().unwrap();
        world.send_tagged(&[1_u8], 0, 3).unwrap();
        let found = world.find_tagged(Source::Any, Tag::Any).unwrap();
        assert_eq!(messages.close().err(), Some(Error::RequestsOutstanding));
        found.receive(&mut [0_u8]).unwrap();
    });
}

#[test]
fn a_message_that_is_too_long_is_an_error_at_the_receiver_only() {
    for len in [9, 240, 241, 9000] {
        run(&Machine::scc(2), |world| {
            let messages = world.open_messages().unwrap();
            if world.rank() == 0 {
                world.send_tagged(&vec![7_u8; len], 1, 3).unwrap();
                world.send_tagged(&vec![7_u8; len], 1, 4).unwrap();
                world.send_tagged(&[1_u8], 1, 5).unwrap();
                // Nothing of what was refused is taken for a part of these.
                for byte in 1..4_u8 {
                    world.send(&[byte; 100], 1).unwrap();
                }
            } else {
                let mut buffer = [0xEE_u8; 8];
                let truncated = |tag| Err(Error::Truncated { from: 0, tag, sent: len, room: 8 });
                assert_eq!(world.receive_tagged(&mut buffer, Source::Any, Tag::Any), truncated(3));
                assert_eq!(
                    world.start_receive_tagged(&mut buffer, Source::Any, Tag::Any).unwrap().wait(),
                    truncated(4)
                );
                assert_eq!(buffer, [0xEE; 8]);
                let envelope = world.receive_tagged(&mut buffer, Source::Rank(0), Tag::Is(5)).unwrap();
                assert_eq!((envelope.len_bytes, buffer[..2].to_vec()), (1, vec![1, 0xEE]));
                for byte in 1..4_u8 {
                    let mut message = [0; 100];
                    world.receive(&mut message, 0).unwrap();
                    assert_eq!(message, [byte; 100]);
                }
            }
            messages.close().unwrap();
        });
    }
}

#[test]
fn probes_find_messages_and_leave_them() {
    run(&Machine::scc(3), |world| {
        let messages = world.open_messages().unwrap();
        if world.rank() == 0 {
            assert_eq!(world.try_probe(Source::Any, Tag::Is(9)), Ok(None));
            world.barrier();
            let envelope = world.probe(Source::Any, Tag::Is(9)).unwrap();
            assert_eq!(envelope, Envelope { source: 2, tag: 9, len_bytes: 400 });
            assert_eq!(world.try_probe(Source::Rank(2), Tag::Any), Ok(Some(envelope)));
            assert!(world.try_find_tagged(Source::Rank(2), Tag::Is(8)).unwrap().is_none());
            let taken = world.try_find_tagged(Source::Rank(2), Tag::Any).unwrap().unwrap();
            assert_eq!(world.try_probe(Source::Rank(2), Tag::Any), Ok(None), "it was taken");
            let mut buffer = [0_u32; 100];
            assert_eq!(taken.receive(&mut buffer), Ok(envelope));
            assert_eq!(buffer, [5; 100]);
            world.receive_tagged(&mut buffer[..0], Source::Rank(1), Tag::Is(0)).unwrap();
        } else {
            world.barrier();
            let len = if world.rank() == 2 { 100 } else { 0 };
            world.send_tagged(&vec![5_u32; len], 0, if len > 0 { 9 } else { 0 }).unwrap();
        }
        messages.close().unwrap();
    });
}

/// Credits are given for what a receive waits for, not for what has come: a rank keeps no more than they say, however many it receives.
#[test]
fn receives_of_what_has_come_give_no_credits_before_it_is_received() {
    const MESSAGES: u32 = 200;
    run(&Machine::scc(3), |world| {
        let messages = world.open_messages().unwrap();
        match world.rank() {
            0 => (0..MESSAGES).for_each(|number| world.send_tagged_buffered(&[number], 1, 7).unwrap()),
            1 => {
                for number in 0..MESSAGES {
                    let mut found = [0];
                    // Another wait, in which more may come.
                    world.receive_tagged(&mut found, Source::Rank(2), Tag::Any).unwrap();
                    world.receive_tagged(&mut found, Source::Rank(0), Tag::Is(7)).unwrap();
                    assert_eq!(found, [number]);
                    let kept = world.unexpected_messages().unwrap();
                    assert!(kept <= CREDITS as usize, "{kept} messages are kept after {number}");
                }
            }
            _ => {
                for number in 0..MESSAGES {
                    world.hal().compute(50_000);
                    world.send_tagged(&[number], 1, 7).unwrap();
                }
            }
        }
        messages.close().unwrap();
    });
}
