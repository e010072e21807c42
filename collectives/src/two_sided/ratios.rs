//! How fast messages are, in virtual time: beside RCCE's protocol, which collective operations have for their baselines, and
//! beside what the copies alone take.

use std::{format, vec, vec::Vec};

use hal::{
    Clock, CoreId, LINE_BYTES, MpbCoherence, MpbCopy, MpbLine,
    sim::{Description, Machine, SimCore},
};

use crate::{Comm, mpb::tagged::Source};

/// Cores that are neighbours on a tile, and at opposite corners.
const PAIRS: [[usize; 2]; 2] = [[0, 1], [0, 47]];

/// The lines that messages go through: all that they have at first, RCCE's, or what messages with tags leave.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Lines {
    Ours,
    Rcce,
    BesideTags,
}

/// Sends a message to a rank, or receives one from it.
type Transfer = fn(&Comm<'_, SimCore>, bool, usize, &mut [u8]);

/// What a message takes between two ranks by its length, in nanoseconds: half a round trip, and one of a stream.
fn times(machine: &Machine, pair: [usize; 2], lens: &[usize], lines: Lines, transfer: Transfer) -> Vec<[u64; 2]> {
    const ROUNDS: u64 = 8;
    let outcome = machine.run(|core| {
        let comm = Comm::world(core, regions::of_a_test()).unwrap();
        let profile = (lines == Lines::Rcce).then(|| comm.rcce_profile().unwrap());
        let messages = (lines == Lines::BesideTags).then(|| comm.open_messages().unwrap());
        let mut all = Vec::new();
        if let Some(me) = pair.iter().position(|rank| *rank == comm.rank()) {
            for len in lens {
                let mut message = vec![1_u8; *len];
                all.push([true, false].map(|both_send| {
                    let mut go = |rounds: u64| {
                        for round in 0..rounds {
                            let sender = if both_send { round as usize % 2 } else { 0 };
                            transfer(&comm, sender == me, pair[1 - me], &mut message);
                        }
                    };
                    go(2);
                    let before = comm.hal().now();
                    go(ROUNDS);
                    (comm.hal().now() - before) / ROUNDS
                }));
            }
        }
        comm.barrier();
        drop(profile);
        if let Some(messages) = messages {
            messages.close().unwrap();
        }
        all
    });
    outcome.unwrap().results().swap_remove(pair[1])
}

fn ours(comm: &Comm<'_, SimCore>, sends: bool, peer: usize, message: &mut [u8]) {
    if sends { comm.send(message, peer).unwrap() } else { comm.receive(message, peer).unwrap() }
}

fn rcce(comm: &Comm<'_, SimCore>, sends: bool, peer: usize, message: &mut [u8]) {
    if sends {
        comm.send_within(Source::Memory, message, peer).unwrap();
    } else {
        comm.receive_within(message, peer).unwrap();
    }
}

fn tagged(comm: &Comm<'_, SimCore>, sends: bool, peer: usize, message: &mut [u8]) {
    if sends {
        comm.send_tagged(message, peer, 1).unwrap();
    } else {
        comm.receive_tagged(message, crate::Source::Rank(peer), crate::Tag::Is(1)).unwrap();
    }
}

/// A machine, lengths, and pairs.
type Case<'l> = (Machine, &'l [usize], &'static [[usize; 2]]);

/// The machine without contention, with these lengths between all pairs, and the one with contention, with fewer.
fn of_machines<'l>(all: &'l [usize], some: &'l [usize]) -> [Case<'l>; 2] {
    let machine = |name| Machine::new(Description::parse(name).unwrap());
    [(machine("scc+ideal"), all, &PAIRS), (machine("scc"), some, &PAIRS[1..])]
}

/// RCCE's protocol is as lean as ours here, and has all of the MPB for a message, or as many lines as ours. Where a message has
/// one or two lines both do the same, but for where they poll: the phase of these polls decides.
#[test]
fn messages_are_never_slower_than_those_of_rcce() {
    let lens = [1, 8, 20, 21, 28, 32, 33, 64, 65, 80, 100, 128, 130, 192, 256, 300, 512, 1024, 3072, 8032, 8192];
    for (machine, lens, pairs) in of_machines(&lens, &[8, 64, 512]) {
        for pair in pairs {
            let mine = times(&machine, *pair, lens, Lines::Ours, ours);
            for lines in [Lines::Ours, Lines::Rcce] {
                let theirs = times(&machine, *pair, lens, lines, rcce);
                for ((len, mine), theirs) in lens.iter().zip(&mine).zip(theirs) {
                    let least = match len {
                        0..=20 => 1.15,
                        21..=64 => 0.95,
                        65..=128 => 1.0,
                        129..=1024 => 1.05,
                        _ => 1.3,
                    };
                    std::println!("{len} bytes {pair:?}: {mine:?} ns, RCCE's {theirs:?}");
                    for (mine, theirs) in mine.iter().zip(theirs) {
                        assert!(
                            *mine as f64 * least <= theirs as f64,
                            "{len} bytes {pair:?}: {mine} ns, RCCE's {theirs}"
                        );
                    }
                }
            }
        }
    }
}

/// From 8 KB up a message takes little more than the slower of the two copies, and the other one of a chunk.
#[test]
fn long_messages_take_the_slower_copy() {
    let lens = [8192, 10_000, 65_536];
    for (machine, lens, pairs) in of_machines(&lens, &lens[..1]) {
        for pair in pairs {
            // What a rank takes to copy so many bytes, through the lines that messages have.
            let copies = |rank: usize, lens: &[usize], copy: fn(&SimCore, MpbLine, &mut [u8])| {
                let at = MpbLine::new(CoreId::new(pair[0]), 100);
                let outcome = machine.run(|core| {
                    let of_len = |len: &usize| {
                        let before = core.now();
                        for part in vec![0; *len].chunks_mut(96 * LINE_BYTES) {
                            // Nothing is in L1 that was copied before.
                            core.invalidate_mpb();
                            copy(core, at, part);
                        }
                        core.now() - before
                    };
                    let is_it = hal::Topology::core(core).index() == rank;
                    lens.iter().filter(|_| is_it).map(of_len).collect::<Vec<_>>()
                });
                outcome.unwrap().results().swap_remove(rank)
            };
            let put = |lens: &[usize]| copies(pair[0], lens, |core, at, bytes| core.put(bytes, at));
            let get = copies(pair[1], lens, |core, at, bytes| core.get(at, bytes));
            let puts = put(lens);
            for (what, lines, transfer) in
                [("without a tag", Lines::Ours, ours as Transfer), ("with one", Lines::BesideTags, tagged)]
            {
                let chunk_lines = if lines == Lines::Ours { 48 } else { 36 };
                let chunk = put(&[chunk_lines * LINE_BYTES])[0];
                let found = times(&machine, *pair, lens, lines, transfer);
                for (index, len) in lens.iter().enumerate() {
                    let (bound, [found, _]) = (get[index].max(puts[index]) + chunk, found[index]);
                    let text = format!("{len} bytes {what} {pair:?}: {found} ns, bound {bound} ns");
                    std::println!("{text}, {} %", bound * 100 / found);
                    assert!(bound * 10 >= found * 9, "{text}");
                }
            }
        }
    }
}
