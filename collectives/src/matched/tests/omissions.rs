//! What is left out of a transfer makes it fail.

use std::{vec, vec::Vec};

use hal::{
    Clock, Mpb,
    emulated::Omit,
    sim::{Failure, Machine, SimCore},
};

use super::super::{
    Source, Tag,
    packet::{Kind, Packet},
    slots::Slots,
};
use crate::Comm;

/// Runs a program of these ranks.
fn run<R>(ranks: usize, program: impl Fn(&Comm<'_, SimCore>) -> R) -> Result<Vec<R>, Failure> {
    let outcome = Machine::scc(ranks).run(|core| program(&Comm::world(core, regions::of_a_test()).unwrap()));
    outcome.map(|outcome| outcome.results())
}

/// Long messages, through lines and through each half of a buffer twice, received by whoever waits for them and by the engine.
#[test]
fn long_messages_need_their_drains_and_their_invalidations() {
    let send = |[is_begun, is_received_by_engine]: [bool; 2], omitted: Omit| {
        run(2, |world| {
            let (core, messages) = (world.hal(), world.open_messages().unwrap());
            let mut message = vec![0_u8; 20_010];
            core.omit(omitted);
            for round in 0..2_u8 {
                let byte = |index: usize| (index / 7) as u8 ^ round;
                if world.rank() == 0 {
                    message.iter_mut().enumerate().for_each(|(index, to)| *to = byte(index));
                    if is_begun {
                        world.start_send_tagged(&message, 1, 0).unwrap().wait().unwrap();
                    } else {
                        world.send_tagged(&message, 1, 0).unwrap();
                    }
                } else {
                    if is_received_by_engine {
                        world.start_receive_tagged(&mut message, Source::Any, Tag::Any).unwrap().wait().unwrap();
                    } else {
                        world.receive_tagged(&mut message, Source::Any, Tag::Any).unwrap();
                    }
                    assert!(message.iter().enumerate().all(|(index, found)| *found == byte(index)), "round {round}");
                }
            }
            core.omit(Omit::empty());
            // What was begun goes on as long as its rank waits for something.
            world.barrier();
            core::mem::forget(messages);
        })
    };
    for way in [[false, false], [false, true], [true, false], [true, true]] {
        assert!(send(way, Omit::empty()).is_ok());
        // What was begun is told of by packets, which push it out.
        let drains = Some(Omit::DRAIN).filter(|_| !way[0]);
        for omitted in drains.into_iter().chain([Omit::INVALIDATE_MPB]) {
            assert!(send(way, omitted).is_err(), "{omitted:?} changes nothing, {way:?}");
        }
    }
}

/// What is looked at once more by hand, not by a poll, which invalidates by itself.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Look {
    /// Whether the last packet to a rank was taken.
    ForAcknowledgement,
    /// Which slots are free, when there is no room for a packet.
    ForRoom,
    /// Into a box, when its doorbell has rung.
    IntoBox,
}

/// Rank 0 sends others something, and they have taken it when rank 0 sends again; or rank 1 takes it after it had looked into its box too early.
/// L1 has the line that is looked at from before.
#[test]
fn looks_need_their_invalidations() {
    const RANKS: usize = 4;
    let finds = |look: Look, omitted: Omit| {
        let found = run(RANKS, |world| {
            let (hal, spare) = (world.hal(), world.mpb_layout().spare());
            let lines = Slots::lines(RANKS, true).unwrap();
            assert!(lines <= spare.len());
            let slots = Slots::new(world, spare.start, lines, true);
            world.barrier();
            let (long, short) = ([5; 240], [7; 10]);
            let send =
                |to, payload: &[u8]| slots.send(world, to, &Packet::new(Kind::Eager, 0).tagged(0, 3).carrying(payload));
            let is_found = match (world.rank(), look) {
                (0, Look::IntoBox) => {
                    hal.compute(50_000);
                    send(1, &short)
                }
                (0, _) => {
                    // With these, there is no room for a third one.
                    assert!(send(1, &long) && send(2, &long));
                    slots.look(world);
                    hal.compute(200_000);
                    hal.omit(omitted);
                    if look == Look::ForRoom { send(3, &long) } else { send(1, &short) }
                }
                (1, Look::IntoBox) => {
                    (0..RANKS)
                        .for_each(|from| _ = hal.load_line(world.mpb_line(1, spare.start + lines - RANKS + from)));
                    hal.compute(200_000);
                    // The doorbell is not in L1.
                    hal.omit(Omit::INVALIDATE_MPB);
                    slots.look(world);
                    hal.omit(omitted);
                    slots
                        .take(world)
                        .is_some_and(|(from, packet)| (from, packet.tag, &packet.payload[..]) == (0, 3, &short))
                }
                (1 | 2, Look::ForAcknowledgement | Look::ForRoom) => {
                    hal.compute(50_000);
                    slots.look(world);
                    slots.take(world).is_some_and(|(_, packet)| packet.payload == long)
                }
                _ => true,
            };
            hal.omit(Omit::empty());
            world.barrier();
            is_found
        });
        found.is_ok_and(|found| found == [true; RANKS])
    };
    for look in [Look::ForAcknowledgement, Look::ForRoom, Look::IntoBox] {
        assert!(finds(look, Omit::empty()), "{look:?}");
        assert!(!finds(look, Omit::INVALIDATE_MPB), "{look:?} does not need it");
    }
}
