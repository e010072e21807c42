//! OC-Bcast.

use alloc::{vec, vec::Vec};

use collectives::{Error, OcBcast};
use hal::{Core, LINE_BYTES};

use crate::{
    Context,
    check::{Outcome, pattern},
    check_eq,
};

fn broadcast<C: Core>(
    context: &Context<'_, '_, C>,
    parameters: OcBcast,
    root: usize,
    len: usize,
    salt: usize,
) -> Outcome {
    let expected: Vec<u8> = (0..len).map(|index| pattern(index, salt)).collect();
    let mut message = if context.rank() == root { expected.clone() } else { vec![0xEE; len] };
    parameters.broadcast(context.comm, &mut message, root)?;
    let wrong = message.iter().zip(&expected).position(|(got, wanted)| got != wanted);
    check_eq!(wrong, None, "first wrong byte of {len} from root {root} with k = {}", parameters.k);
    Ok(())
}

/// Every rank is root once.
pub fn all_roots<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    for root in 0..context.size() {
        broadcast(context, OcBcast::default(), root, 100, root)?;
    }
    Ok(())
}

/// Lengths around lines, chunks and buffers.
pub fn all_sizes<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    let chunk = context.comm.mpb_layout().buffer_lines() * LINE_BYTES;
    for (turn, len) in
        [0, 1, 28, 31, 32, 33, 1024, chunk - 1, chunk, chunk + 1, 2 * chunk, 2 * chunk + 1, 5 * chunk + 17]
            .into_iter()
            .enumerate()
    {
        broadcast(context, OcBcast::default(), turn % context.size(), len, len)?;
    }
    Ok(())
}

/// Any degree, down to a chain and up to a flat tree and beyond.
pub fn all_degrees<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    for k in [1, 2, 3, 7, 24, 47, 255, usize::MAX] {
        broadcast(context, OcBcast::with_degree(k), context.size() / 2, 7000, k)?;
    }
    Ok(())
}

/// Trees of different roots follow each other at once: what one root notifies must not be taken for the other's.
pub fn alternating_roots_back_to_back<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    for turn in 0..40 {
        let root = turn * 7 % context.size();
        broadcast(context, OcBcast::with_degree(1 + turn % 4), root, 10 + turn, turn)?;
    }
    Ok(())
}

/// Bad arguments get an error value on every rank.
pub fn refuses_bad_arguments<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    let size = context.size();
    check_eq!(
        context.comm.broadcast(&mut [0], size),
        Err(Error::NoSuchRank { rank: size, size }),
        "a root beyond the end"
    );
    check_eq!(OcBcast::with_degree(0).broadcast(context.comm, &mut [0], 0), Err(Error::NoDegree), "a tree of degree 0");
    Ok(())
}
