//! Random messages between all ranks are matched in the order of their sending.

use std::{vec, vec::Vec};

use hal::sim::{Machine, SimCore, Strategy};

use super::super::{Source, Tag, request::Request};
use crate::{
    Comm, Error,
    testing::{Random, run},
};

/// A message that somebody sends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Sent {
    pub(super) from: usize,
    pub(super) to: usize,
    /// On which communicator.
    pub(super) on: usize,
    pub(super) tag: u32,
    pub(super) len: usize,
    pub(super) number: u32,
}

impl Sent {
    pub(super) fn bytes(&self) -> Vec<u8> {
        let seed = (self.from * 31 + self.to * 7 + self.on) as u32 ^ self.number << 3;
        (0..self.len as u32).map(|index| (seed.wrapping_add(index).wrapping_mul(2_654_435_761) >> 13) as u8).collect()
    }
}

/// What `from` sends, in its order; all ranks find the same.
pub(super) fn plan(ranks: usize, from: usize, count: usize, seed: u32) -> Vec<Sent> {
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
    let mut under_way: Vec<Request<'_, '_, SimCore>> = Vec::new();
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
                Request::test_some(&mut under_way).into_iter().for_each(|(_, sent)| assert!(sent.is_ok()));
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
    Request::wait_all(&mut under_way)
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
