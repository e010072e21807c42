//! What ranks do with each other on several machines that share memory: many rounds, and every byte is checked by the
//! rank that it went to.
//!
//! Between nodes a line does not move as a whole and nothing is atomic, so these tests pass only if protocols rely on
//! neither. They run on all machines.

use alloc::{vec, vec::Vec};

use collectives::{Barrier, Group, Source, Tag};
use hal::{Core, Place, Reason, kind};

use crate::{
    Context, broadcast, check,
    check::{Outcome, pattern},
    check_eq,
    epochs::{make, post},
    memory::{free, shared, spare_line},
    random::Numbers,
};

/// Ranks from which on there are fewer rounds.
const MANY: usize = 48;

/// Rounds of something that takes `rounds` on few ranks.
fn rounds<C: Core>(context: &Context<'_, '_, C>, rounds: usize) -> usize {
    if context.size() < MANY { rounds } else { rounds.div_ceil(10) }
}

/// Barriers that need no register, one after the other: what each rank stored before one, all see after it.
pub fn barriers<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    let (hal, rank, size) = (context.hal(), context.rank(), context.size());
    let words = shared::<_, kind::Uncached>(context, size * 4)?;
    let names = ["default", "dissemination", "central-push", "tree-k8-pull", "tournament", "butterfly", "hierarchical"];
    for (turn, name) in names.into_iter().enumerate() {
        let mut barrier = context.comm.barrier_of(&context.comm.group(), name.parse::<Barrier>()?)?;
        for round in 0..rounds(context, 30) {
            let number = (turn * 1000 + round + 1) as u32;
            hal.store_word(words, rank, number);
            barrier.wait();
            let late = (0..size).find(|peer| hal.load_word(words, *peer) < number);
            check_eq!(late, None, "a rank that has not come to round {round} of barrier {name}");
        }
    }
    context.comm.barrier();
    free(context, words)
}

/// Broadcasts of all sizes by chance, from one root after the other, by ours, OC-Bcast and the binomial tree.
pub fn broadcasts<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    let mut numbers = Numbers::new(&[context.size(), 5]);
    for round in 0..rounds(context, 60) {
        for algorithm in ["default", "oc-k7", "binomial"] {
            let limit = [29, 300, 10_000][numbers.below(3)];
            let (root, len) = (numbers.below(context.size()), numbers.below(limit));
            broadcast::broadcast(context, algorithm, root, len, round)?;
        }
    }
    Ok(())
}

/// Every rank puts to some others and gets from them, in every round to and from others; bytes of several ranks lie in
/// one line.
pub fn puts_and_gets<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    /// Bytes that each rank puts to each of its targets: less than a line, so that neighbours share lines.
    const PIECE: usize = 13;
    let (rank, size) = (context.rank(), context.size());
    let (window, mut view) = make::<_, u8>(context, size * PIECE)?;
    for round in 0..rounds(context, 100) {
        let distances = [1 + round % size, 1 + (round * 3 + size / 2) % size];
        let targets = Group::of(distances.map(|distance| (rank + distance) % size))?;
        let origins = Group::of(distances.map(|distance| (rank + 2 * size - distance) % size))?;
        let byte = |origin: usize, target: usize, index: usize| pattern(origin * PIECE + index, target + 7 * round);
        let exposure = post(context, &window, view, &origins)?;
        let mut pieces = vec![[0; PIECE]; targets.len()];
        for (target, piece) in targets.iter().zip(&mut pieces) {
            *piece = core::array::from_fn(|index| byte(rank, target, index));
        }
        let access = window.start(&targets)?;
        for (target, piece) in targets.iter().zip(&pieces) {
            access.put(target, rank * PIECE, piece)?;
        }
        access.complete();
        view = exposure.wait(context.caches);
        for origin in origins.iter() {
            let found: Vec<u8> = (0..PIECE).map(|index| view.load(origin * PIECE + index)).collect();
            let expected: Vec<u8> = (0..PIECE).map(|index| byte(origin, rank, index)).collect();
            check_eq!(found, expected, "what rank {origin} put in round {round}");
        }
        // Now the origins of before get from this rank what the others put here.
        let exposure = post(context, &window, view, &origins)?;
        let mut got = vec![[0; PIECE]; targets.len()];
        let access = window.start(&targets)?;
        for (target, piece) in targets.iter().zip(&mut got) {
            access.get(target, rank * PIECE, piece)?;
        }
        access.complete();
        check_eq!(got, pieces, "what rank {rank} gets back in round {round}");
        view = exposure.wait(context.caches);
    }
    window.free(view, context.caches)?;
    Ok(())
}

/// Every rank stores to bytes of its own in lines that it shares with all others, at full speed: nobody's bytes undo
/// anybody else's.
pub fn neighbouring_bytes_stay<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    let (hal, rank, size) = (context.hal(), context.rank(), context.size());
    let line = spare_line(context, 0, 0);
    for round in 0..rounds(context, 200) {
        if rank < 32 {
            hal.store(line, rank, &[round as u8 ^ 0x5A]);
            hal.drain();
            hal.invalidate_mpb();
            let found = hal.load_line(line).0[rank];
            check_eq!(found, round as u8 ^ 0x5A, "the byte of rank {rank} in round {round}");
        }
    }
    context.comm.barrier();
    hal.invalidate_mpb();
    let found = &hal.load_line(line).0[..size.min(32)];
    let last = (rounds(context, 200) - 1) as u8 ^ 0x5A;
    check!(found.iter().all(|byte| *byte == last), "bytes of all ranks in the end: {found:?}");
    context.comm.barrier();
    if rank == 0 {
        hal.store(line, 0, &[0; 32]);
    }
    Ok(())
}

/// Ranks far from each other exchange messages that are short enough to go with what says that they are there, with tags and
/// without, at full speed: each one arrives whole.
pub fn short_messages<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    let (rank, half) = (context.rank(), context.size() / 2);
    let messages = context.comm.open_messages()?;
    if rank >= 2 * half {
        return Ok(messages.close()?);
    }
    let partner = (rank + half) % (2 * half);
    for round in 0..rounds(context, 400) {
        for (len, is_tagged) in [4, 16, 20, 28].into_iter().flat_map(|len| [(len, false), (len, true)]) {
            let message = |from: usize| vec![(round * 3 + from) as u8; len];
            let (own, mut found) = (message(rank), vec![0; len]);
            let send = || match is_tagged {
                true => context.comm.send_tagged(&own, partner, round as u32),
                false => context.comm.send(&own, partner),
            };
            let mut receive = || match is_tagged {
                true => context.comm.receive_tagged(&mut found, Source::Rank(partner), Tag::Any).map(drop),
                false => context.comm.receive(&mut found, partner),
            };
            if rank < half {
                send()?;
                receive()?;
            } else {
                receive()?;
                send()?;
            }
            check_eq!(found, message(partner), "{len} bytes of round {round}, with a tag: {is_tagged}");
        }
    }
    Ok(messages.close()?)
}

/// A line that one rank writes as fast as it can and others read: the number in its last word is never ahead of the
/// words before it.
pub fn the_last_word_implies_the_others<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    let (hal, rank, size) = (context.hal(), context.rank(), context.size());
    let count = rounds(context, 3000) as u32;
    let line = spare_line(context, 0, 1);
    if rank == 0 {
        hal.store(line, 0, &[0; 32]);
        hal.drain();
    }
    context.comm.barrier();
    if rank == 0 {
        for number in 1..=count {
            hal.store(line, 0, bytemuck::bytes_of(&[number; 8]));
        }
    } else if rank >= size / 2 {
        let mut last = 0;
        while last < count {
            let reason = Reason::new("a later line");
            let found = context.comm.hal().wait(&[Place::Line(line)], reason, |poll| {
                let line = poll.line(0);
                (line.word(7) > last).then_some(line)
            });
            last = found.word(7);
            let behind = (0..7).find(|word| found.word(*word) < last);
            check_eq!(behind, None, "a word that is older than the last one, {last}");
        }
    }
    context.comm.barrier();
    if rank == 0 {
        hal.store(line, 0, &[0; 32]);
    }
    Ok(())
}
