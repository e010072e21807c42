//! Two ranks in all orders, and what is left out of a transfer fails.

use std::{cell::Cell, rc::Rc, vec};

use hal::{
    Clock, Line, Reason, SharedAddress,
    sim::{Machine, SimCore, Spontaneous, Strategy},
};

use super::super::{
    Envelope, Opened, Source, Tag,
    packet::{Kind, Packet, Words},
    post::{CREDITS, HALF_BYTES, Post},
    slots::Slots,
    waits::wait_for,
};
use crate::{
    Comm,
    in_all_orders::{DRAINS, in_all_orders, in_all_orders_of},
    testing::run,
};

/// The slots of two ranks, where nothing else lies.
fn slots(world: &Comm<'_, SimCore>) -> Slots {
    let (spare, lines) = (world.mpb_layout().spare(), Slots::lines(2, true).unwrap());
    assert!(lines <= spare.len());
    Slots::new(world, spare.start, lines, true)
}

/// Runs a program in all orders whose messages are open already, by nothing but a barrier: all orders of [`Comm::open_messages`] alone take a
/// minute.
fn explore(program: impl Fn(&Comm<'_, SimCore>)) -> u64 {
    in_all_orders(Spontaneous::default(), |world| {
        let buffer = |rank: usize| {
            let address = SharedAddress::new(0, (1 << 20) + rank * 2 * HALF_BYTES);
            regions::of_a_test().region(address, 2 * HALF_BYTES)
        };
        let post = Rc::new(Post::new(slots(world), (0..2).map(buffer).collect()));
        world.engines().add(post.clone());
        *world.state::<Opened>().post.borrow_mut() = Some(post);
        world.barrier();
        program(world);
    })
}

/// Whether a receive is cancelled or gets the message, exactly one of them happens, in all orders.
#[test]
fn a_receive_is_cancelled_or_done_in_all_orders() {
    let ends = [const { Cell::new(0) }; 2];
    let runs = explore(|world| {
        if world.rank() == 0 {
            world.send_tagged(&[9_u8], 1, 1).unwrap();
        } else {
            let mut buffer = [0_u8];
            let mut receive = world.start_receive_tagged(&mut buffer, Source::Any, Tag::Any).unwrap();
            let early = receive.test().unwrap();
            let cancelled = early.is_none() && receive.cancel();
            let end = &ends[usize::from(cancelled)];
            end.set(end.get() + 1);
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
    assert!(ends.iter().all(|end| end.get() > 0), "{ends:?} of {runs} runs");
}

/// Whether a send is cancelled or its message received, exactly one of them happens, in all orders.
#[test]
fn a_send_is_cancelled_or_received_in_all_orders() {
    let ends = [const { Cell::new(0) }; 2];
    let runs = explore(|world| {
        if world.rank() == 0 {
            let mut send = world.start_send_tagged(&[9_u8], 1, 1).unwrap();
            let cancelled = send.cancel();
            let end = &ends[usize::from(cancelled)];
            end.set(end.get() + 1);
            if cancelled {
                assert!(send.is_over());
            } else {
                send.wait().unwrap();
            }
            drop(send);
            world.send_tagged(&[u8::from(cancelled)], 1, 2).unwrap();
        } else {
            // One look, which may or may not find the message.
            let mut buffer = [0_u8];
            let early = world.try_find_tagged(Source::Rank(0), Tag::Is(1)).unwrap();
            let is_found = early.is_some();
            if let Some(early) = early {
                early.receive(&mut buffer).unwrap();
            }
            let mut cancelled = [0_u8];
            world.receive_tagged(&mut cancelled, Source::Rank(0), Tag::Is(2)).unwrap();
            assert_eq!((buffer, cancelled), if is_found { ([9], [0]) } else { ([0], [1]) });
            assert_eq!(world.unexpected_messages().unwrap(), 0);
        }
    });
    assert!(ends.iter().all(|end| end.get() > 0), "{ends:?} of {runs} runs");
}

/// The same of one that is announced, with nothing behind it but the question whether it can be taken back.
#[test]
fn an_announced_send_is_cancelled_or_received_in_all_orders() {
    let ends = [const { Cell::new(0) }; 2];
    let runs = explore(|world| {
        if world.rank() == 0 {
            let mut send = world.start_send_tagged_synchronously::<u8>(&[], 1, 1).unwrap();
            let end = &ends[usize::from(send.cancel())];
            end.set(end.get() + 1);
            assert!(send.is_over() || send.wait().is_ok());
        } else {
            let early = world.try_find_tagged(Source::Rank(0), Tag::Is(1)).unwrap();
            early.into_iter().for_each(|early| assert!(early.receive::<u8>(&mut []).is_ok()));
            let post = world.post().unwrap();
            let has_answered = || post.slots().taken_packets() == 2 && post.has_sent_all();
            wait_for(world, || has_answered().then_some(())).unwrap();
            assert_eq!(world.unexpected_messages().unwrap(), 0);
        }
    });
    assert!(ends.iter().all(|end| end.get() > 0), "{ends:?} of {runs} runs");
}

/// A packet may come right behind a look into its box, and its doorbell long after it was taken from there: it is taken once, in all
/// orders.
#[test]
fn packets_are_taken_from_boxes_once_in_all_orders() {
    let runs = explore(|world| {
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

/// Where more than two ranks have doorbells, that of a packet may ring between the look into its box and the look at doorbells: whoever waits
/// for the box finds the packet there in all orders, and not by the long way on which others' packets come.
#[test]
fn a_packet_whose_doorbell_rings_is_found_in_its_box_in_all_orders() {
    let runs = in_all_orders_of(3, Spontaneous::default(), |world| {
        let lines = Slots::lines(3, true).unwrap();
        let first = world.mpb_layout().spare().start;
        if world.rank() == 0 {
            let slots = Slots::new(world, first, lines, true);
            world.receive(&mut [], 1).unwrap();
            assert!(slots.send(world, 1, &Packet::new(Kind::Eager, 0).tagged(0, 7).carrying(&[9])));
        } else if world.rank() == 1 {
            let (slots, mut line) = (Slots::new(world, first, lines, true), Line::default());
            world.send(&[], 0).unwrap();
            assert!(slots.await_box(world, 0, Reason::new("a packet"), &mut line).unwrap(), "it is there");
        }
    });
    assert!(runs > 1, "{runs} runs");
}

/// The first line of a packet is put into the receiver's box, and the second one into a slot of the sender's before: the packet is whole as
/// soon as its box is seen, in all orders, also where buffers drain of themselves. Nothing else is in this: with messages opened and a probe
/// there are 130 000 orders.
#[test]
fn packets_of_two_lines_are_whole_in_all_orders() {
    let message: [u8; 20] = core::array::from_fn(|index| index as u8 + 1);
    for spontaneous in [Spontaneous::default(), DRAINS] {
        let runs = in_all_orders(spontaneous, |world| {
            let slots = slots(world);
            world.barrier();
            if world.rank() == 0 {
                assert!(slots.send(world, 1, &Packet::new(Kind::Eager, 0).tagged(0, 7).carrying(&message)));
            } else {
                let mut line = Line::default();
                assert!(slots.await_box(world, 0, Reason::new("a packet"), &mut line).unwrap(), "it is there");
                let (words, mut payload) = (Words::of(&line), [0; 20]);
                slots.take_into(world, 0, (&line, &words), &mut payload);
                assert_eq!((words.tag, words.len, payload), (7, message.len(), message));
            }
        });
        assert!(runs > 1, "{runs} runs");
    }
}

/// One rank is waited for again and again while others' messages come: more than there are numbers of doorbells, in both ways.
#[test]
fn boxes_keep_nobody_from_being_looked_at() {
    run(&Machine::scc(5), |world| {
        let messages = world.open_messages().unwrap();
        let (mut short, mut long) = ([0_u8], [0_u8; 100]);
        for round in 0..140_u8 {
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
                for round in 0..140 {
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
