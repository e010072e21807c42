//! Messages with tags against what they mean.

use std::{cell::RefCell, collections::BTreeMap, ops::Range, rc::Rc, vec, vec::Vec};

use hal::{
    Clock,
    emulated::Omit,
    sim::{Machine, SimCore, Spontaneous, Strategy},
};

use super::{Answers, Envelope, RemoteCall, Source, Tag, post::CREDITS, request::Transfer};
use crate::{Comm, Error, in_all_orders::in_all_orders};

struct Random(u32);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (self.0 >> 8) as usize % limit
    }
}

fn run<R>(machine: &Machine, program: impl Fn(&Comm<'_, SimCore>) -> R) -> Vec<R> {
    let outcome = machine.run(|core| program(&Comm::world(core, regions::of_a_test()).unwrap()));
    outcome.unwrap_or_else(|failure| panic!("{failure}")).results()
}

/// A message that somebody sends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Sent {
    from: usize,
    to: usize,
    /// On which communicator.
    on: usize,
    tag: u32,
    len: usize,
    number: u32,
}

impl Sent {
    fn bytes(&self) -> Vec<u8> {
        let seed = (self.from * 31 + self.to * 7 + self.on) as u32 ^ self.number << 3;
        (0..self.len as u32).map(|index| (seed.wrapping_add(index).wrapping_mul(2_654_435_761) >> 13) as u8).collect()
    }
}

/// What `from` sends, in its order; all ranks find the same.
fn plan(ranks: usize, from: usize, count: usize, seed: u32) -> Vec<Sent> {
    let mut random = Random(seed ^ ((from as u32 + 1) * 7_919));
    let lens = [0, 1, 8, 16, 17, 40, 200, 240, 241, 5000];
    (0..count as u32)
        .map(|number| Sent {
            from,
            to: random.below(ranks),
            on: random.below(2),
            tag: random.below(3) as u32,
            len: lens[random.below(if number % 16 == 0 { 10 } else { 9 })],
            number,
        })
        .collect()
}

/// Everybody sends to everybody, and receives what is left to come by patterns that leave source, tag, both or nothing open.
fn everybody_to_everybody(world: &Comm<'_, SimCore>, count: usize, seed: u32) {
    let (me, ranks) = (world.rank(), world.size());
    let messages = world.open_messages().unwrap();
    // Ranks are in the opposite order there.
    let reversed: Vec<_> = (0..ranks).rev().collect();
    let other = world.create(&reversed).unwrap().unwrap();
    let comms = [world, &other];
    let rank_on = |on: usize, rank: usize| if on == 0 { rank } else { ranks - 1 - rank };
    let mut to_send: Vec<_> = plan(ranks, me, count, seed);
    to_send.reverse();
    let mut to_come: Vec<_> =
        (0..ranks).flat_map(|from| plan(ranks, from, count, seed)).filter(|sent| sent.to == me).collect();
    let mut random = Random(seed ^ 0x1234 ^ me as u32);
    let mut under_way: Vec<Transfer<'_, '_, SimCore>> = Vec::new();
    let mut buffer = vec![0_u8; 5000];
    while !to_send.is_empty() || !to_come.is_empty() {
        if to_come.is_empty() || !to_send.is_empty() && random.below(2) == 0 {
            let sent = to_send.pop().unwrap();
            let (comm, to) = (comms[sent.on], rank_on(sent.on, sent.to));
            under_way.push(match random.below(8) {
                0 => comm.start_send_tagged_synchronously(&sent.bytes(), to, sent.tag).unwrap(),
                _ => comm.start_send_tagged(&sent.bytes(), to, sent.tag).unwrap(),
            });
            if under_way.len() > 100 {
                Transfer::test_some(&mut under_way).into_iter().for_each(|(_, sent)| assert!(sent.is_ok()));
                under_way.retain(|transfer| !transfer.is_over());
            }
            continue;
        }
        let meant = to_come[random.below(to_come.len())];
        let (any_source, any_tag) = (random.below(2) == 0, random.below(2) == 0);
        let source = if any_source { Source::Any } else { Source::Rank(rank_on(meant.on, meant.from)) };
        let tag = if any_tag { Tag::Any } else { Tag::Is(meant.tag) };
        let comm = comms[meant.on];
        let envelope = match random.below(4) {
            // Others may wait for what this rank has not sent yet.
            _ if !to_send.is_empty() => match comm.try_find_tagged(source, tag).unwrap() {
                Some(found) => found.receive(&mut buffer).unwrap(),
                None => continue,
            },
            0 => {
                let found = comm.find_tagged(source, tag).unwrap();
                let envelope = found.envelope();
                assert_eq!(found.receive(&mut buffer).unwrap(), envelope);
                envelope
            }
            1 => comm.start_receive_tagged(&mut buffer, source, tag).unwrap().wait().unwrap(),
            _ => comm.receive_tagged(&mut buffer, source, tag).unwrap(),
        };
        let from = rank_on(meant.on, envelope.source);
        // Of what that rank has sent on this communicator and the pattern fits, it has to be the first.
        let fits = |sent: &Sent| sent.on == meant.on && sent.from == from && (any_tag || sent.tag == meant.tag);
        let first = to_come.iter().position(fits).expect("a message that was sent");
        let sent = to_come.remove(first);
        assert!(any_source || from == meant.from);
        assert_eq!((sent.tag, sent.len), (envelope.tag, envelope.len_bytes), "{sent:?} is the next one");
        assert_eq!(buffer[..sent.len], sent.bytes(), "{sent:?}");
    }
    Transfer::wait_all(&mut under_way)
        .into_iter()
        .for_each(|sent| assert!(matches!(sent, Ok(_) | Err(Error::Completed))));
    drop(under_way);
    assert_eq!(world.unexpected_messages(), Ok(0));
    messages.close().unwrap();
    other.free().unwrap();
}

#[test]
fn random_messages_are_matched_in_order() {
    // 100 000 of them.
    for (ranks, count, seeds) in [(1, 1000, 2), (2, 2000, 4), (5, 1600, 4), (16, 1000, 2), (48, 400, 1)] {
        for seed in 0..seeds {
            let machine = Machine::scc(ranks);
            let chance = Strategy::Seeded { seed: seed.into() };
            let machine = if seed % 2 == 1 { machine.with_strategy(chance) } else { machine };
            run(&machine, |world| everybody_to_everybody(world, count, seed * 101));
        }
    }
}

#[test]
fn many_ranks_exchange_messages() {
    run(&Machine::scc(255), |world| everybody_to_everybody(world, 10, 5));
}

/// Everybody floods rank 0, which takes nothing for a long time: it keeps a bounded number, and nothing is lost.
#[test]
fn floods_are_held_back() {
    for ranks in [2, 5, 16] {
        let kept = run(&Machine::scc(ranks), |world| {
            let messages = world.open_messages().unwrap();
            let lens = [8, 3000, 200];
            let count = 3 * CREDITS as usize + 5;
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
                assert!(Transfer::wait_all(&mut all).iter().all(Result::is_ok));
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
                    assert!(Transfer::wait_all(&mut all).iter().all(Result::is_ok));
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
                assert!(Transfer::wait_all(&mut sent).iter().all(Result::is_ok));
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
                0 => Transfer::wait_all(&mut receives).into_iter().enumerate().for_each(note),
                1 => {
                    while let Some(one) = Transfer::wait_any(&mut receives).unwrap() {
                        note(one)
                    }
                }
                2 => loop {
                    let some = Transfer::wait_some(&mut receives).unwrap();
                    if some.is_empty() {
                        break;
                    }
                    some.into_iter().for_each(&mut note);
                },
                _ => {
                    while !Transfer::test_all(&mut receives) {
                        Transfer::test_any(&mut receives).into_iter().for_each(&mut note);
                        world.hal().compute(100);
                    }
                    Transfer::test_some(&mut receives).into_iter().for_each(note);
                }
            }
            assert_eq!(done, [true; COUNT]);
            assert!(receives.iter().all(Transfer::is_over));
            assert_eq!(receives[0].wait(), Err(Error::Completed));
            drop(receives);
            for (tag, buffer) in buffers.iter().enumerate() {
                assert!(
                    buffer[..len(tag)].iter().all(|word| *word == tag as u32)
                        && buffer[len(tag)..].iter().all(|word| *word == 0)
                );
            }
            assert!(Transfer::wait_all(&mut sends).iter().all(Result::is_ok));
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
        assert_eq!(world.open_messages().err(), Some(Error::RequestsOutstanding));
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

fn explore(spontaneous: Spontaneous, program: impl Fn(&Comm<'_, SimCore>)) -> u64 {
    in_all_orders(spontaneous, |world| {
        let messages = world.open_messages().expect("there is room");
        program(world);
        core::mem::forget(messages);
    })
}

/// Whether a receive is cancelled or gets the message, exactly one of them happens, in all orders.
#[test]
fn a_receive_is_cancelled_or_done_in_all_orders() {
    let runs = explore(Spontaneous::default(), |world| {
        if world.rank() == 0 {
            world.send_tagged(&[9_u8], 1, 1).unwrap();
        } else {
            let mut buffer = [0_u8];
            let mut receive = world.start_receive_tagged(&mut buffer, Source::Any, Tag::Any).unwrap();
            let early = receive.test().unwrap();
            let cancelled = early.is_none() && receive.cancel();
            if early.is_none() && !cancelled {
                receive.wait().unwrap();
            }
            drop(receive);
            if cancelled {
                assert_eq!(buffer, [0]);
                world.receive_tagged(&mut buffer, Source::Rank(0), Tag::Is(1)).unwrap();
            }
            assert_eq!(buffer, [9]);
        }
    });
    assert!(runs > 1, "{runs} runs");
}

/// A packet may come right behind a look into its box, and its doorbell long after it was taken from there: it is taken once, in all
/// orders.
#[test]
fn packets_are_taken_from_boxes_once_in_all_orders() {
    let runs = explore(Spontaneous::default(), |world| {
        if world.rank() == 0 {
            world.send_tagged(&[9_u8], 1, 1).unwrap();
        } else {
            let mut found = [0_u8];
            world.receive_tagged(&mut found, Source::Rank(0), Tag::Is(1)).unwrap();
            assert_eq!(found, [9]);
            // Its doorbell is nothing new.
            assert_eq!(world.try_probe(Source::Any, Tag::Any).unwrap(), None);
        }
    });
    assert!(runs > 1, "{runs} runs");
}

/// One rank is waited for again and again while others' messages come: more than there are numbers of doorbells, in both ways.
#[test]
fn boxes_keep_nobody_from_being_looked_at() {
    run(&Machine::scc(5), |world| {
        let messages = world.open_messages().unwrap();
        let (mut short, mut long) = ([0_u8], [0_u8; 100]);
        for round in 0..70_u8 {
            if world.rank() == 0 {
                // Some packets of rank 1 are longer than its box.
                let message: &mut [u8] = if round % 9 == 8 { &mut long } else { &mut short };
                world.receive_tagged(message, Source::Rank(1), Tag::Any).unwrap();
                assert!(message.iter().all(|byte| *byte == round));
            } else if world.rank() == 1 {
                world.send_tagged(&vec![round; if round % 9 == 8 { 100 } else { 1 }], 0, 1).unwrap();
            } else {
                world.send_tagged(&[round], 0, 2).unwrap();
            }
        }
        if world.rank() == 0 {
            // Each of the others has got as far as its credits, which it gets back only by receives of its own.
            assert_eq!(world.unexpected_messages().unwrap() as u32, 3 * CREDITS);
            for from in 2..5 {
                for round in 0..70 {
                    world.receive_tagged(&mut short, Source::Rank(from), Tag::Is(2)).unwrap();
                    assert_eq!(short, [round]);
                }
            }
        }
        messages.close().unwrap();
    });
}

/// All ranks of a ring send at once and wait, so that each message is received while its receiver sends: by the engine.
#[test]
fn messages_of_ranks_that_wait_are_received_meanwhile() {
    for (ranks, seed) in [(2, 1), (5, 2), (16, 3)] {
        run(&Machine::scc(ranks).with_strategy(Strategy::Seeded { seed }), |world| {
            let messages = world.open_messages().unwrap();
            let (me, size) = (world.rank(), world.size());
            let (right, left) = ((me + 1) % size, (me + size - 1) % size);
            for (round, len) in (0..).zip([0, 1, 241, 256, 512, 513, 3000, 20_000]) {
                let (message, mut buffer) = (vec![me as u8 ^ round; len], vec![0xEE; len + 1]);
                let envelope =
                    world.exchange_tagged((&message, right, 3), (&mut buffer, Source::Rank(left), Tag::Is(3))).unwrap();
                assert_eq!(envelope, Envelope { source: left, tag: 3, len_bytes: len });
                // And a synchronous one, for which no receive is there at first.
                let mut second = vec![0xEE; len];
                if me == 0 {
                    world.send_tagged_synchronously(&message, right, 4).unwrap();
                }
                world.hal().compute(1000);
                let envelope = world.receive_tagged(&mut second, Source::Any, Tag::Is(4)).unwrap();
                if me > 0 {
                    world.send_tagged_synchronously(&message, right, 4).unwrap();
                }
                assert_eq!(envelope.source, left);
                assert!(buffer[..len] == second && second == vec![left as u8 ^ round; len] && buffer[len] == 0xEE);
            }
            messages.close().unwrap();
        });
    }
}

/// Long messages, twice by way of each half, with drains and evictions taken away.
#[test]
fn buffers_need_their_drain_and_their_invalidation() {
    let send = |omitted: Omit| {
        let outcome = Machine::scc(2).run(|core| {
            let world = Comm::world(core, regions::of_a_test()).unwrap();
            let messages = world.open_messages().unwrap();
            let mut message = vec![0_u8; 20_010];
            core.omit(omitted);
            for round in 0..2_u8 {
                let byte = |index: usize| (index / 7) as u8 ^ round;
                if world.rank() == 0 {
                    message.iter_mut().enumerate().for_each(|(index, to)| *to = byte(index));
                    world.send_tagged(&message, 1, 0).unwrap();
                } else {
                    world.receive_tagged(&mut message, Source::Any, Tag::Any).unwrap();
                    assert!(message.iter().enumerate().all(|(index, found)| *found == byte(index)), "round {round}");
                }
            }
            core.omit(Omit::empty());
            core::mem::forget(messages);
        });
        outcome.map(|_| ())
    };
    assert!(send(Omit::empty()).is_ok());
    for omitted in [Omit::DRAIN, Omit::INVALIDATE_MPB] {
        assert!(send(omitted).is_err(), "{omitted:?} changes nothing");
    }
}

/// How a message of the comparison below goes.
#[derive(Clone, Copy, PartialEq)]
enum Way {
    Tagged,
    Untagged,
    /// By RCCE's protocol.
    Rcce,
}

/// Half a round trip between distant cores, beside that of messages without tags, which wait for their receive, and of RCCE's.
#[test]
fn tags_cost_little_on_short_messages_and_less_on_long_ones() {
    const LENS: [usize; 9] = [8, 64, 240, 256, 1024, 4096, 8192, 32_768, 131_072];
    let times = run(&Machine::scc(48), |world| {
        let messages = world.open_messages().unwrap();
        let times = LENS.map(|len| {
            let (mut buffer, other) = (vec![1_u8; len], 30);
            let mut half_a_round_trip = |way: Way| {
                world.barrier();
                let before = world.hal().now();
                for (from, to) in [(0, other), (other, 0)].into_iter().cycle().take(8) {
                    match (world.rank(), way) {
                        (rank, Way::Tagged) if rank == from => world.send_tagged(&buffer, to, 1).unwrap(),
                        (rank, Way::Untagged) if rank == from => world.send(&buffer, to).unwrap(),
                        (rank, Way::Rcce) if rank == from => {
                            world.send_within(crate::mpb::tagged::Source::Memory, &buffer, to).unwrap();
                        }
                        (rank, Way::Tagged) if rank == to => {
                            world.receive_tagged(&mut buffer, Source::Rank(from), Tag::Is(1)).unwrap();
                        }
                        (rank, Way::Untagged) if rank == to => world.receive(&mut buffer, from).unwrap(),
                        (rank, Way::Rcce) if rank == to => world.receive_within(&mut buffer, from).unwrap(),
                        _ => {}
                    }
                }
                (world.hal().now() - before) / 8
            };
            half_a_round_trip(Way::Tagged);
            [Way::Tagged, Way::Untagged, Way::Rcce].map(half_a_round_trip)
        });
        messages.close().unwrap();
        times
    });
    for (len, [tagged, untagged, rcce]) in LENS.into_iter().zip(times[0]) {
        std::println!("{len} bytes: {untagged} ns, with tags {tagged} ns, RCCE's {rcce} ns");
        let [beside_untagged, beside_rcce] = [untagged, rcce].map(|other| tagged as f64 / other as f64);
        let most = match len {
            // It comes with the look that finds it.
            0..=16 => 0.95,
            17..=240 => 1.3,
            241..=1024 => 1.2,
            _ => 1.05,
        };
        assert!(beside_untagged <= most, "{len} bytes: {tagged} ns, without tags {untagged}");
        assert!(len < 1024 || beside_rcce < 1.0, "{len} bytes: {tagged} ns, RCCE's {rcce}");
    }
}

/// Answers each call with a sum of its bytes, and notes what is called and answered.
#[derive(Default)]
struct Summing {
    called: RefCell<Vec<(usize, u32)>>,
    answers: RefCell<Vec<(usize, u32)>>,
    /// Bytes that came behind calls that have not ended, by sender.
    landed: RefCell<BTreeMap<usize, Vec<u8>>>,
}

fn sum(bytes: &[u8]) -> u32 {
    bytes.iter().fold(0_u32, |sum, byte| sum.wrapping_mul(31) + u32::from(*byte))
}

impl Answers for Summing {
    fn answer(&self, from: usize, tag: u32, mut bytes: Vec<u8>) -> Vec<RemoteCall> {
        if tag == u32::MAX {
            self.answers.borrow_mut().push((from, u32::from_le_bytes(bytes.try_into().unwrap())));
            return vec![];
        }
        self.called.borrow_mut().push((from, tag));
        bytes.extend(self.landed.borrow_mut().remove(&from).unwrap_or_default());
        vec![RemoteCall { to: from, tag: u32::MAX, bytes: sum(&bytes).to_le_bytes().into() }]
    }

    fn land(&self, from: usize, _tag: u32, call: &[u8], bytes: Range<usize>, receive: &mut dyn FnMut(&mut [u8])) {
        assert_eq!(call.len(), 300, "what is called is known before");
        let mut landed = self.landed.borrow_mut();
        let landed = landed.entry(from).or_default();
        landed.resize(landed.len().max(bytes.end), 0);
        receive(&mut landed[bytes]);
    }
}

/// Each rank calls others, itself among them, with bytes of all lengths, beside messages. Each answers with a sum, in order, whatever it
/// waits for meanwhile, and whatever comes between; also while it waits for others to take what it says itself.
#[test]
fn calls_are_answered_in_order_by_ranks_that_wait_for_something_else() {
    for ranks in [1, 2, 5, 16, 48] {
        let answered = run(&Machine::scc(ranks), |world| {
            let messages = world.open_messages().unwrap();
            let me = world.rank();
            let all = Rc::new(Summing::default());
            world.answer_calls(Some(all.clone())).unwrap();
            world.barrier();
            let mut expected = vec![];
            let plan = plan(ranks, me, 40, 5);
            for sent in &plan {
                let mut bytes = sent.bytes();
                if sent.number % 7 == 0 {
                    bytes.resize(9000, 3);
                }
                let (to, tag) = (sent.to, sent.number);
                if sent.number % 3 == 0 {
                    let head = vec![7; 300];
                    expected.push((to, sum(&[&head[..], &bytes].concat())));
                    world.call_with(RemoteCall { to, tag, bytes: head }, &bytes).unwrap();
                } else {
                    expected.push((to, sum(&bytes)));
                    world.call(RemoteCall { to, tag, bytes }).unwrap();
                }
                if sent.number == 20 {
                    // Here nobody looks at calls but the barrier.
                    world.barrier();
                }
            }
            world.wait_for_calls(|| (all.answers.borrow().len() == plan.len()).then_some(())).unwrap();
            world.barrier();
            for rank in 0..ranks {
                let of = |all: &[(usize, u32)]| all.iter().filter(|(to, _)| *to == rank).copied().collect::<Vec<_>>();
                assert_eq!(of(&all.answers.borrow()), of(&expected));
                let numbers = of(&all.called.borrow());
                assert!(numbers.is_sorted_by_key(|(_, number)| *number), "{numbers:?}");
            }
            messages.close().unwrap();
            all.called.take().len()
        });
        assert_eq!(answered.iter().sum::<usize>(), 40 * ranks);
    }
}

/// Ranks of calls are those of the world, on whatever communicator: here each rank calls itself by its rank there.
#[test]
fn long_calls_to_oneself_are_answered_on_a_communicator_of_some() {
    run(&Machine::scc(4), |world| {
        let messages = world.open_messages().unwrap();
        let all = Rc::new(Summing::default());
        world.answer_calls(Some(all.clone())).unwrap();
        let (me, long) = (world.rank(), vec![9; 5000]);
        let comm = world.split(Some(0), -(me as i32)).unwrap().unwrap();
        assert_eq!(comm.rank(), 3 - me);
        comm.call_with(RemoteCall { to: me, tag: 0, bytes: vec![7; 300] }, &long).unwrap();
        comm.wait_for_calls(|| (!all.answers.borrow().is_empty()).then_some(())).unwrap();
        assert_eq!(all.answers.take(), [(me, sum(&[vec![7; 300], long].concat()))]);
        comm.free().unwrap();
        messages.close().unwrap();
    });
}

/// A rank waits for calls, short and long, while messages of their caller have taken all credits and more wait for some; it
/// receives these only then.
#[test]
fn calls_go_past_messages_that_nobody_receives() {
    for unreceived in [CREDITS - 1, CREDITS, 3 * CREDITS] {
        run(&Machine::scc(2), |world| {
            let messages = world.open_messages().unwrap();
            let all = Rc::new(Summing::default());
            world.answer_calls(Some(all.clone())).unwrap();
            world.barrier();
            if world.rank() == 0 {
                let send = |number: u32| world.start_send_tagged(&[number], 1, number).unwrap();
                let mut sent: Vec<_> = (0..unreceived).map(send).collect();
                let (head, long) = (vec![7; 300], vec![5; 5000]);
                let said = [vec![1], vec![2; 1000], [&head[..], &long].concat()];
                for (tag, bytes) in (0..).zip(said[..2].to_vec()) {
                    world.call(RemoteCall { to: 1, tag, bytes }).unwrap();
                }
                world.call_with(RemoteCall { to: 1, tag: 2, bytes: head }, &long).unwrap();
                world.wait_for_calls(|| (all.answers.borrow().len() == 3).then_some(())).unwrap();
                assert_eq!(all.answers.take(), said.map(|bytes| (1, sum(&bytes))));
                assert!(Transfer::wait_all(&mut sent).iter().all(Result::is_ok));
            } else {
                world.wait_for_calls(|| (all.called.borrow().len() == 3).then_some(())).unwrap();
                assert_eq!(all.called.take(), [(0, 0), (0, 1), (0, 2)]);
                assert_eq!(world.unexpected_messages().unwrap() as u32, unreceived.min(CREDITS));
                for number in 0..unreceived {
                    let mut got = [0];
                    world.receive_tagged(&mut got, Source::Rank(0), Tag::Is(number)).unwrap();
                    assert_eq!(got, [number]);
                }
            }
            messages.close().unwrap();
        });
    }
}
