//! Two-sided messages.

use alloc::vec;

use collectives::Error;
use hal::{Core, LINE_BYTES};

use crate::{
    Context,
    check::{Outcome, pattern},
    check_eq,
};

/// Messages of all kinds of lengths go around a ring: even ranks send first.
pub fn ring_of_all_sizes<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    let (comm, rank, size) = (context.comm, context.rank(), context.size());
    if size == 1 {
        return Ok(());
    }
    let chunk = comm.mpb_layout().buffer_lines() * LINE_BYTES;
    let (right, left) = ((rank + 1) % size, (rank + size - 1) % size);
    for len in [0, 1, 31, 32, 33, 1000, chunk - 1, chunk, chunk + 1, 3 * chunk + 5] {
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

/// Bad peers get an error value.
pub fn refuse_bad_peers<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    let (rank, size) = (context.rank(), context.size());
    check_eq!(context.comm.send(&[1], size), Err(Error::NoSuchRank { rank: size, size }), "a send to nobody");
    check_eq!(context.comm.receive(&mut [1], rank), Err(Error::SelfMessage { rank }), "a message from oneself");
    Ok(())
}
