//! Two-sided messages.

use alloc::vec;

use collectives::Error;
use hal::{Core, LINE_BYTES, kind};

use crate::{
    Context, check,
    check::{Outcome, pattern},
    check_eq,
    memory::{free, shared},
};

/// Messages of all kinds of lengths go around a ring: even ranks send first.
pub fn ring_of_all_sizes<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    let (comm, rank, size) = (context.comm, context.rank(), context.size());
    if size == 1 {
        return Ok(());
    }
    let chunk = comm.mpb_layout().buffer_lines() * LINE_BYTES;
    let (right, left) = ((rank + 1) % size, (rank + size - 1) % size);
    for len in [0, 1, 20, 21, 31, 32, 33, 64, 65, 512, 513, 1000, chunk - 1, chunk, chunk + 1, 3 * chunk + 5] {
        let message = (0..len).map(|index| pattern(index, rank + len)).collect::<vec::Vec<_>>();
        let mut received = vec![0; len];
        if rank % 2 == 0 {
            comm.send(&message, right)?;
            comm.receive(&mut received, left)?;
        } else {
            comm.receive(&mut received, left)?;
            comm.send(&message, right)?;
        }
        for (index, byte) in received.iter().enumerate() {
            check_eq!(*byte, pattern(index, left + len), "byte {index} of {len} from rank {left}");
        }
    }
    Ok(())
}

/// Pairs exchange messages in both directions, so that the signals of both share the pair's bytes.
pub fn opposite_directions<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    let (comm, rank) = (context.comm, context.rank());
    let peer = rank ^ 1;
    if peer < context.size() {
        for round in 0..20u8 {
            let (sent, mut got) = ([round, rank as u8], [0; 2]);
            if rank < peer {
                comm.send(&sent, peer)?;
                comm.receive(&mut got, peer)?;
            } else {
                comm.receive(&mut got, peer)?;
                comm.send(&sent, peer)?;
            }
            check_eq!(got, [round, peer as u8], "the message of round {round}");
        }
    }
    Ok(())
}

/// A message of 0 bytes is received like any other: its sender goes on after that, and not before.
pub fn empty_messages_synchronise<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    let (comm, hal, rank, size) = (context.comm, context.hal(), context.rank(), context.size());
    let words = shared::<_, kind::Uncached>(context, size * LINE_BYTES)?;
    let (peer, word) = (rank ^ 1, |rank: usize| rank * LINE_BYTES / 4);
    for round in (1..=3).filter(|_| peer < size) {
        for sends in [rank < peer, rank > peer] {
            if sends {
                comm.send(&[], peer)?;
                check_eq!(hal.load_word(words, word(peer)), round, "what rank {peer} stored before it received");
            } else {
                hal.compute(20_000);
                hal.store_word(words, word(rank), round);
                comm.receive(&mut [], peer)?;
            }
        }
    }
    free(context, words)
}

/// Lengths that differ are errors at both ends, with nothing received; and what comes next arrives.
pub fn lengths_differ<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    let (comm, rank, peer) = (context.comm, context.rank(), context.rank() ^ 1);
    if peer >= context.size() {
        return Ok(());
    }
    let chunk = comm.mpb_layout().buffer_lines() * LINE_BYTES;
    let lengths = [
        (1, 0),
        (0, 1),
        (5, 7),
        (20, 21),
        (28, 29),
        (33, 32),
        (64, 20),
        (4, 64),
        (chunk, 3 * chunk),
        (2 * chunk + 1, 1),
        (0, chunk),
    ];
    for (round, (sent, wanted)) in lengths.into_iter().enumerate() {
        let message = (0..sent).map(|index| pattern(index, rank + round)).collect::<vec::Vec<_>>();
        let mut got = vec![0xEE; wanted];
        for sends in [rank < peer, rank > peer] {
            let (from, to) = if sends { (rank, peer) } else { (peer, rank) };
            let result = if sends { comm.send(&message, peer) } else { comm.receive(&mut got, peer) };
            check_eq!(result, Err(Error::MessageLength { from, to, sent, wanted }), "on rank {rank} in round {round}");
        }
        check!(got.iter().all(|byte| *byte == 0xEE), "something was received in round {round}");
        // Who has refused sends first.
        let (sent, mut got) = ([round as u8, rank as u8], [0; 2]);
        for sends in [rank > peer, rank < peer] {
            if sends { comm.send(&sent, peer)? } else { comm.receive(&mut got, peer)? }
        }
        check_eq!(got, [round as u8, peer as u8], "the message after round {round}");
    }
    Ok(())
}

/// A message costs its lines, its head, and a signal for each chunk at either end; a short one is in its head.
pub fn cost_what_they_should<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    context.unchecked();
    let (comm, hal, rank, peer) = (context.comm, context.hal(), context.rank(), context.rank() ^ 1);
    if peer >= context.size() {
        return Ok(());
    }
    let buffer = comm.mpb_layout().buffer_lines() * LINE_BYTES;
    for len in [0, 1, 20, 21, 32, 33, 60, 64, 512, 513, buffer / 2, buffer - 1, buffer, 2 * buffer, 3 * buffer - 4] {
        let lines = if len > 20 { len.div_ceil(LINE_BYTES) } else { 0 };
        // Chunks of a quarter of the message: of eight lines at least, and of half of the buffer at most.
        let chunk = if lines > 16 { (lines / 4).max(8).min(buffer / LINE_BYTES / 2) } else { 16 };
        let (lines, chunks) = (lines as u64, lines.div_ceil(chunk).max(1) as u64);
        let mut buffer = vec![0; len];
        let before = hal.counters();
        if rank < peer {
            comm.send(&buffer, peer)?
        } else {
            comm.receive(&mut buffer, peer)?
        }
        let did = hal.counters() - before;
        let (written, read) = if rank < peer { (lines + 1 + chunks, 0) } else { (chunks, lines) };
        let found = (did.mpb_lines_written, did.mpb_lines_read, did.drains);
        check_eq!(found, (written, read, chunks), "lines written and read, and drains, for {len} bytes");
    }
    Ok(())
}

/// Bad peers get an error value.
pub fn refuse_bad_peers<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    let (rank, size) = (context.rank(), context.size());
    check_eq!(context.comm.send(&[1], size), Err(Error::NoSuchRank { rank: size, size }), "a send to nobody");
    check_eq!(context.comm.receive(&mut [1], rank), Err(Error::SelfMessage { rank }), "a message from oneself");
    Ok(())
}
