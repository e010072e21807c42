//! Non-blocking broadcast, allreduce and barrier.

use alloc::{vec, vec::Vec};

use bytemuck::Pod;
use collectives::{Error, InPlace, Operation, Operator, Request, collective::nonblocking::REQUESTS};
use hal::{Core, kind};

use crate::{
    Context, check,
    check::{Outcome, pattern},
    check_eq,
    memory::{free, shared},
    random::Numbers,
};

/// What a rank contributes to an allreduce: whole numbers, so that sums are exact.
fn values(rank: usize, len: usize, salt: usize) -> Vec<f64> {
    (0..len).map(|index| f64::from(pattern(index, salt * 5 + rank * 3))).collect()
}

fn sums(size: usize, len: usize, salt: usize) -> Vec<f64> {
    let all: Vec<_> = (0..size).map(|rank| values(rank, len, salt)).collect();
    (0..len).map(|index| all.iter().map(|values| values[index]).sum()).collect()
}

/// A rank count that is worth fewer cases, since each takes long.
fn is_large<C: Core>(context: &Context<'_, '_, C>) -> bool {
    context.size() >= 64
}

/// Broadcasts of sizes around chunks, from several roots.
pub fn broadcasts<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    let (me, size) = (context.rank(), context.size());
    for (turn, len) in [0, 1, 23, 24, 25, 48, 49, 100, 333].into_iter().enumerate() {
        let root = turn * 5 % size;
        let wanted: Vec<_> = (0..len).map(|index| pattern(index, turn)).collect();
        let mut message = if me == root { wanted.clone() } else { vec![0xEE; len] };
        context.comm.start_broadcast(&mut message, root)?.wait()?;
        check_eq!(message == wanted, true, "{len} bytes from {root}");
    }
    Ok(())
}

/// Sums of counts around chunks.
pub fn allreduces<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    for len in [0, 1, 2, 3, 4, 6, 7, 40] {
        let mut numbers = values(context.rank(), len, len);
        context.comm.start_allreduce(InPlace, &mut numbers, Operator::SUM)?.wait()?;
        check_eq!(numbers, sums(context.size(), len, len), "sums of {len} numbers");
    }
    let mut word = [context.rank() as u32];
    context.comm.start_allreduce(InPlace, &mut word, Operator::MAX)?.wait()?;
    check_eq!(word[0] as usize, context.size() - 1, "greatest rank");
    Ok(())
}

/// What is combined is in the order of ranks: of operands that replace what was there the last one's stays.
pub fn the_order_is_that_of_ranks<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    let mut word = [context.rank() as u32; 7];
    context.comm.start_allreduce(InPlace, &mut word, Operator::REPLACE)?.wait()?;
    check_eq!(word, [context.size() as u32 - 1; 7], "last rank");
    // An operation of one's own, too, on elements that a line has room for.
    let outermost = Operation::new(|left: [u32; 2], right: [u32; 2]| [left[0], right[1]]);
    let mut ends = [[context.rank() as u32; 2]; 5];
    context.comm.start_allreduce(InPlace, &mut ends, outermost)?.wait()?;
    check_eq!(ends, [[0, context.size() as u32 - 1]; 5], "the first and the last rank");
    // The sum of floats depends on the order; in which order it is, depends on nothing.
    let mut sum = [0.1 + context.rank() as f64 / 3.0];
    context.comm.start_allreduce(InPlace, &mut sum, Operator::SUM)?.wait()?;
    let mut same = [sum[0].to_bits()];
    context.comm.start_allreduce(InPlace, &mut same, Operator::MIN)?.wait()?;
    check_eq!(same[0], sum[0].to_bits(), "the least of all results");
    Ok(())
}

/// Multiplies matrices of two by two, one after the other: what comes out depends on the order of all factors.
fn multiply<const N: usize>(left: [u32; N], right: [u32; N]) -> [u32; N] {
    core::array::from_fn(|at| {
        let (first, row, column) = (at / 4 * 4, at % 4 / 2, at % 2);
        let product = |inner: usize| left[first + 2 * row + inner].wrapping_mul(right[first + 2 * inner + column]);
        product(0).wrapping_add(product(1))
    })
}

fn products<const N: usize, C: Core>(context: &Context<'_, '_, C>, counts: &[usize]) -> Outcome
where
    [u32; N]: Pod,
{
    let factor =
        |rank: usize, index: usize| core::array::from_fn(|at| (rank * 1009 + index * 101 + at * at + 1) as u32);
    for &count in counts {
        let mut all: Vec<[u32; N]> = (0..count).map(|index| factor(context.rank(), index)).collect();
        context.comm.start_allreduce(InPlace, &mut all, Operation::new(multiply::<N>))?.wait()?;
        for (index, found) in all.iter().enumerate() {
            let wanted = (1..context.size()).fold(factor(0, index), |left, rank| multiply(left, factor(rank, index)));
            check_eq!(*found, wanted, "product {index} of {count}, of {N} words");
        }
    }
    Ok(())
}

/// Elements of any size, also those that are longer than a chunk, in the order of ranks.
pub fn elements_of_any_size<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    products::<4, C>(context, &[1, 3])?;
    products::<8, C>(context, &[0, 1, 5])?;
    products::<12, C>(context, &[2])?;
    products::<32, C>(context, if is_large(context) { &[1] } else { &[1, 4] })
}

/// Nobody completes a barrier before everybody has begun it.
pub fn barriers_separate_phases<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    let (hal, rank, size) = (context.hal(), context.rank(), context.size());
    let words = shared::<_, kind::Uncached>(context, size * 4)?;
    for phase in 1..=4u32 {
        if rank == phase as usize % size {
            hal.compute(50_000);
        }
        hal.store_word(words, rank, phase);
        let mut request = context.comm.start_barrier()?;
        if phase % 2 == 0 {
            while request.test()?.is_none() {
                hal.relax();
            }
        } else {
            request.wait()?;
        }
        for peer in 0..size {
            let seen = hal.load_word(words, peer);
            check!(seen >= phase, "rank {peer} had not come to barrier {phase}, but to {seen}");
        }
    }
    context.comm.barrier();
    free(context, words)
}

/// Requests of any kind outstanding together, completed by each rank in an order of its own, with blocking operations
/// in between.
pub fn at_random<C: Core>(context: &Context<'_, '_, C>, seed: usize, batches: usize, longest: usize) -> Outcome {
    let (comm, me, size) = (context.comm, context.rank(), context.size());
    let mut numbers = Numbers::new(&[seed, size]);
    let mut own = Numbers::new(&[seed, size, me + 1]);
    for batch in 0..batches {
        let lens: [usize; REQUESTS] = [(); REQUESTS].map(|()| numbers.below(longest + 1));
        let kinds: [usize; REQUESTS] = [(); REQUESTS].map(|()| numbers.below(3));
        let root = numbers.below(size);
        let salt = |index: usize| seed * 100 + batch * REQUESTS + index;
        let mut buffers: Vec<_> = (0..REQUESTS)
            .map(|index| match kinds[index] {
                0 if me != root => vec![-1.0; lens[index]],
                0 => values(root, lens[index], salt(index)),
                _ => values(me, lens[index], salt(index)),
            })
            .collect();
        let blocking = numbers.below(2 * REQUESTS);
        let mut requests: Vec<Option<Request<'_, '_, C>>> = Vec::new();
        for (index, buffer) in buffers.iter_mut().enumerate() {
            if own.below(3) == 0 {
                context.hal().compute(own.below(20_000) as u64);
            }
            requests.push(Some(match kinds[index] {
                0 => comm.start_broadcast(buffer, root)?,
                1 => comm.start_allreduce(InPlace, buffer, Operator::SUM)?,
                _ => {
                    comm.start_barrier()?.wait()?;
                    comm.start_allreduce(InPlace, buffer, Operator::MAX)?
                }
            }));
            if index == blocking {
                let mut message = [if me == root { 77_u8 } else { 0 }; 40];
                comm.broadcast(&mut message, root)?;
                check_eq!(message, [77; 40], "blocking broadcast in between");
                comm.barrier();
            }
        }
        let first = own.below(REQUESTS);
        for turn in 0..REQUESTS {
            let Some(mut request) = requests[(first + REQUESTS - turn) % REQUESTS].take() else { continue };
            match own.below(3) {
                0 => drop(request.wait()?),
                1 => drop(request),
                _ => {
                    while request.test()?.is_none() {
                        context.hal().compute(300);
                        context.hal().relax();
                    }
                }
            }
        }
        drop(requests);
        for (index, buffer) in buffers.iter().enumerate() {
            let wanted = match kinds[index] {
                0 => values(root, lens[index], salt(index)),
                1 => sums(size, lens[index], salt(index)),
                _ => {
                    let all: Vec<_> = (0..size).map(|rank| values(rank, lens[index], salt(index))).collect();
                    (0..lens[index]).map(|at| all.iter().map(|values| values[at]).fold(0.0, f64::max)).collect()
                }
            };
            check_eq!(*buffer == wanted, true, "request {index} of batch {batch}, kind {}", kinds[index]);
        }
    }
    Ok(())
}

/// Several together.
pub fn several_in_any_order<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    context.unchecked();
    let (batches, longest) = if is_large(context) { (2, 4) } else { (8, 12) };
    at_random(context, 3, batches, longest)
}

/// Each rank waits for its requests in another order, and meanwhile sends and receives; all go on while it waits for
/// something else.
pub fn go_on_in_blocking_waits<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    context.unchecked();
    let (comm, me, size) = (context.comm, context.rank(), context.size());
    let (mut sum, mut message) = ([1u32], [if me == size - 1 { 9u8 } else { 0 }; 60]);
    let mut reduce = comm.start_allreduce(InPlace, &mut sum, Operator::SUM)?;
    let mut broadcast = comm.start_broadcast(&mut message, size - 1)?;
    if me % 2 == 0 {
        reduce.wait()?;
        comm.barrier();
        broadcast.wait()?;
    } else {
        comm.barrier();
        broadcast.wait()?;
        reduce.wait()?;
    }
    drop((reduce, broadcast));
    check_eq!((sum, message), ([size as u32], [9; 60]), "results");
    Ok(())
}

/// More than there are lines for wait for their turn, and may be completed in any order.
pub fn more_than_there_are_lines_for<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    let (comm, size) = (context.comm, context.size());
    let no_root = comm.start_broadcast(&mut [0u8], size).err();
    check_eq!(no_root, Some(Error::NoSuchRank { rank: size, size }), "no such root");
    let mut sums = [[1u32; 7]; 3 * REQUESTS];
    let mut requests = Vec::new();
    for (index, sum) in sums.iter_mut().enumerate() {
        sum[0] = index as u32;
        requests.push(comm.start_allreduce(InPlace, sum, Operator::SUM)?);
        if index % 5 == 4 {
            requests.push(comm.start_barrier()?);
        }
    }
    if context.rank().is_multiple_of(2) {
        requests.reverse();
    }
    for done in Request::wait_all(&mut requests) {
        done?;
    }
    drop(requests);
    for (index, sum) in sums.iter().enumerate() {
        check_eq!((sum[0], sum[6]), ((index * size) as u32, size as u32), "sum {index}");
    }
    Ok(())
}

/// All operations at once, over messages, and completed in another order than they were begun in.
pub fn all_operations_over_messages<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    let (comm, me, size) = (context.comm, context.rank(), context.size());
    check_eq!(comm.start_scan(InPlace, &mut [0u32], Operator::SUM).err(), Some(Error::MessagesClosed), "closed");
    let messages = comm.open_messages()?;
    let lens: &[usize] = if is_large(context) { &[1, 33] } else { &[1, 40, 130] };
    for &len in lens {
        let root = len % size;
        let values = |rank: usize, salt: usize| values(rank, len, salt);
        let [mut message, own] = [values(root, 1), values(me, 2)];
        if me != root {
            message.fill(0.0);
        }
        let (mut reduced, mut all_reduced, mut below) = (vec![0.0; len], own.clone(), vec![-1.0; len]);
        let (mut gathered, mut all_gathered) = (vec![0.0; len * size], vec![0.0; len * size]);
        let blocks = |salt: usize| (0..size).flat_map(|rank| values(rank, salt)).collect::<Vec<_>>();
        let (to_all, mut from_all, mut block) = (blocks(3 + me), vec![0.0; len * size], vec![0.0; len]);
        let (scattered, mut part, mut up_to) = (blocks(4), vec![0.0; len], vec![0.0; len]);
        let mut requests = vec![
            comm.start_broadcast(&mut message, root)?,
            comm.start_reduce(&own, &mut reduced, Operator::SUM, root)?,
            comm.start_allreduce(InPlace, &mut all_reduced, Operator::SUM)?,
            comm.start_scan(&own, &mut up_to, Operator::SUM)?,
            comm.start_exscan(&own, &mut below, Operator::SUM)?,
            comm.start_gather(&own, &mut gathered, root)?,
            comm.start_barrier()?,
            comm.start_allgather(&own, &mut all_gathered)?,
            comm.start_scatter(&scattered, &mut block, root)?,
            comm.start_alltoall(&to_all, &mut from_all)?,
            comm.start_reduce_scatter(&to_all, &mut part, Operator::SUM)?,
        ];
        let count = requests.len();
        requests.rotate_left(me % count);
        while let Some((_, done)) = Request::wait_any(&mut requests)? {
            done?;
        }
        drop(requests);
        let sum_of = |ranks: core::ops::Range<usize>| {
            (0..len).map(|at| ranks.clone().map(|rank| values(rank, 2)[at]).sum()).collect::<Vec<f64>>()
        };
        check_eq!(message == values(root, 1), true, "a broadcast of {len}");
        check_eq!(me != root || reduced == sum_of(0..size), true, "a reduce of {len}");
        check_eq!(all_reduced == sum_of(0..size), true, "an allreduce of {len}");
        check_eq!(up_to == sum_of(0..me + 1), true, "a scan of {len}");
        let wanted = if me == 0 { vec![-1.0; len] } else { sum_of(0..me) };
        check_eq!(below == wanted, true, "an exscan of {len}");
        check_eq!(me != root || gathered == blocks(2), true, "a gather of {len}");
        check_eq!(all_gathered == blocks(2), true, "an allgather of {len}");
        check_eq!(block == values(me, 4), true, "a scatter of {len}");
        let sent = |from: usize| values(me, 3 + from);
        check_eq!(from_all == (0..size).flat_map(sent).collect::<Vec<_>>(), true, "an all-to-all of {len}");
        let wanted: Vec<f64> = (0..len).map(|at| (0..size).map(|rank| sent(rank)[at]).sum()).collect();
        check_eq!(part == wanted, true, "a reduce-scatter of {len}");
    }
    Ok(messages.close()?)
}

/// The profile of RCCE takes the lines of requests for a time, and is not to be had while there are some.
pub fn lines_are_lent_and_come_back<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    let comm = context.comm;
    let mut sum = [1u64; 9];
    for _ in 0..REQUESTS + 1 {
        comm.start_allreduce(InPlace, &mut sum, Operator::MAX)?.wait()?;
    }
    let mut request = comm.start_barrier()?;
    check_eq!(comm.rcce_profile().err(), Some(Error::RequestsOutstanding), "a profile while there are requests");
    request.wait()?;
    let profile = comm.rcce_profile()?;
    check_eq!(comm.start_barrier().err(), Some(Error::ProfileInForce), "a request while lines are lent");
    drop(profile);
    at_random(context, 8, 2, 10)
}

/// A barrier writes one line on the way up and, with children, one down; it reads by polls only.
pub fn cost_what_they_should<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    context.unchecked();
    let has_children = context.rank() == 0 && context.size() > 1;
    let before = context.hal().counters();
    context.comm.start_barrier()?.wait()?;
    let done = context.hal().counters() - before;
    let is_leaf = context.rank() + 1 == context.size();
    let wanted = u64::from(context.rank() != 0) + u64::from(has_children);
    check_eq!((done.mpb_lines_read, done.drains), (0, 0), "reads and drains of a barrier");
    let is_inner = !is_leaf && context.rank() != 0;
    check!(
        done.mpb_lines_written == wanted || is_inner && done.mpb_lines_written == 2,
        "a barrier has written {} lines",
        done.mpb_lines_written
    );
    Ok(())
}
