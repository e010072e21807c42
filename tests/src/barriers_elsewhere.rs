//! Barriers that are made of something else than flags in MPBs.

use alloc::vec::Vec;

use collectives::{Barrier, Error, Group, Subscription};
use hal::{ATOMIC_COUNTERS, Core, Counters, kind};

use crate::{
    Context, check,
    check::Outcome,
    check_eq,
    memory::{free, shared, spare_line},
};

/// Barriers whose flags are not in MPBs.
const ALL: [Barrier; 4] = [Barrier::Central, Barrier::LockedCounter, Barrier::Registers, Barrier::AtomicCounters];

/// Rounds on `size` ranks.
fn rounds(size: usize) -> u32 {
    if size < 64 { 4 } else { 2 }
}

/// Nobody leaves before all have come, with one late each time; and what they have stored to each kind of memory is seen
/// by all.
pub fn separate_phases<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    let (hal, rank, size) = (context.hal(), context.rank(), context.size());
    let words = shared::<_, kind::Uncached>(context, size * 4)?;
    let lines = shared::<_, kind::Combined>(context, size * 4)?;
    for algorithm in ALL {
        let mut barrier = context.comm.barrier_of(&context.comm.group(), algorithm)?;
        for round in 1..=rounds(size) {
            if rank == (round as usize * 7) % size {
                hal.compute(30_000);
            }
            let value = round as u8;
            hal.store_word(words, rank, round);
            hal.store(spare_line(context, rank, 0), 5, &[value]);
            hal.write(lines, rank * 4, &[value]);
            barrier.wait();
            for peer in (0..size).filter(|peer| size < 64 || (peer + rank) % 16 == 0) {
                let mut byte = [0];
                hal.read(lines, peer * 4, &mut byte);
                let seen = (hal.load_word(words, peer), hal.load_line(spare_line(context, peer, 0)).0[5], byte[0]);
                check!(
                    seen.0 >= round && seen.1 >= value && seen.2 >= value,
                    "after {algorithm:?} in round {round}, of rank {peer} is seen: {seen:?}"
                );
            }
            barrier.wait();
        }
        drop(barrier);
        // The next one begins at 1.
        hal.store_word(words, rank, 0);
        hal.write(lines, rank * 4, &[0]);
        hal.store(spare_line(context, rank, 0), 5, &[0]);
        hal.drain();
        context.comm.barrier();
    }
    free(context, lines)?;
    free(context, words)
}

/// Rows and columns, of which each rank is in one; a group of one; and ranks that are in none.
pub fn groups<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    let (hal, rank, size) = (context.hal(), context.rank(), context.size());
    let words = shared::<_, kind::Uncached>(context, size * 4)?;
    let of = |keep: &dyn Fn(usize) -> bool| Group::of((0..size).filter(|peer| keep(*peer)));
    let groups = [
        of(&|peer| peer / 3 == rank / 3)?,
        of(&|peer| peer % 3 == rank % 3)?,
        of(&|peer| peer == rank)?,
        if rank % 2 == 1 { of(&|peer| peer % 2 == 1)? } else { Group::empty() },
    ];
    for algorithm in ALL {
        for (index, group) in groups.iter().enumerate() {
            let mut barrier = match context.comm.barrier_of(group, algorithm) {
                // There are no counters for so many groups.
                Err(Error::NoAtomicCounters { .. }) if size > ATOMIC_COUNTERS / 2 => continue,
                made => made?,
            };
            for round in 1..=3 {
                hal.store_word(words, rank, 10 * index as u32 + round);
                barrier.wait();
                for peer in group.iter() {
                    let seen = hal.load_word(words, peer);
                    check!(seen >= 10 * index as u32 + round, "{algorithm:?}: rank {peer} had come to {seen} only");
                }
            }
        }
    }
    free(context, words)
}

/// Many in a row, with nothing in between, and no two in step with the world's.
pub fn back_to_back<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    let size = context.size();
    for algorithm in ALL {
        let mut barrier = context.comm.barrier_of(&context.comm.group(), algorithm)?;
        for round in 0..if size < 16 { 300 } else { 4 * rounds(size) } {
            barrier.wait();
            if round % 100 == 99 {
                context.comm.barrier();
            }
        }
    }
    Ok(())
}

/// Other operations between arrival and release, and tests.
pub fn split_phase<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    let (hal, rank, size) = (context.hal(), context.rank(), context.size());
    let words = shared::<_, kind::Uncached>(context, size * 4)?;
    for algorithm in ALL {
        let mut barrier = context.comm.barrier_of(&context.comm.group(), algorithm)?;
        for round in 1..=rounds(size) {
            hal.store_word(words, rank, round);
            let mut arrived = barrier.arrive();
            context.comm.barrier();
            let mut message = [round as u8; 40];
            context.comm.broadcast(&mut message, round as usize % size)?;
            if rank % 2 == 0 {
                while !arrived.test() {
                    hal.compute(1_000);
                    hal.relax();
                }
                check!(arrived.test(), "what was complete is not any more");
            }
            arrived.wait();
            (0..size).try_for_each(|peer| {
                check!(hal.load_word(words, peer) >= round, "{algorithm:?}: rank {peer} had not arrived");
                Ok(())
            })?;
            barrier.wait();
        }
        drop(barrier);
        hal.store_word(words, rank, 0);
        context.comm.barrier();
    }
    free(context, words)
}

/// What each does to memory and registers.
pub fn cost_what_they_should<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    context.unchecked();
    let (hal, rank, size) = (context.hal(), context.rank(), context.size());
    let sum = |counters: Counters, total: &mut [u64; 6]| {
        *total = [
            counters.words_read,
            counters.words_written,
            counters.tsr_acquired,
            counters.drains,
            counters.mpb_lines_read,
            counters.mpb_lines_written,
        ];
    };
    let ranks = size as u64;
    for algorithm in ALL {
        let mut barrier = context.comm.barrier_of(&context.comm.group(), algorithm)?;
        barrier.wait();
        let before = hal.counters();
        barrier.wait();
        let done = hal.counters() - before;
        let mut own = [0; 6];
        sum(done, &mut own);
        let mut all = [0; 6];
        drop(barrier);
        context.comm.allreduce(&own, &mut all, &collectives::Operator::SUM)?;
        let expected = match algorithm {
            Barrier::Central => {
                check_eq!(own[1], 1 + u64::from(rank == 0), "words that a rank writes to the central barrier");
                // Fig. 5: a write for each, and one for the phase.
                [ranks, ranks + 1, 0, ranks, 0, 0]
            }
            Barrier::LockedCounter => [ranks, ranks + 1, ranks, ranks, 0, 0],
            Barrier::AtomicCounters => {
                let accesses = (done.counter_accesses, done.counters_polled);
                check!(accesses == (1, 1) || accesses == (2, 0), "accesses to atomic counters: {accesses:?}");
                [0, 0, 0, ranks, 0, 0]
            }
            // Down and up again.
            _ => [0, 0, 2 * (ranks - 1), ranks, 0, 0],
        };
        check_eq!(all, expected, "words read and written, registers, drains and lines of all ranks");
        if algorithm == Barrier::Central && size > 1 {
            let polled = if rank == 0 { ranks - 1 } else { 1 };
            check_eq!(done.words_polled, polled, "words that successful polls of the central barrier read");
        }
    }
    Ok(())
}

/// There are counters for 48 barriers at a time, and they come back.
pub fn atomic_counters_run_out<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    let (comm, all) = (context.comm, context.comm.group());
    let mut barriers = Vec::new();
    for _ in 0..ATOMIC_COUNTERS / 2 {
        barriers.push(comm.barrier_of(&all, Barrier::AtomicCounters)?);
    }
    let refused = comm.barrier_of(&all, Barrier::AtomicCounters).map(drop);
    check_eq!(refused, Err(Error::NoAtomicCounters { wanted: 2, free: 0 }), "counters for another barrier");
    barriers.iter_mut().for_each(|barrier| barrier.wait());
    drop(barriers.swap_remove(7));
    comm.barrier_of(&all, Barrier::AtomicCounters)?.wait();
    Ok(())
}

/// Ranks that want barriers of different kinds at the same time are told so.
pub fn different_kinds_are_refused<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    let comm = context.comm;
    let own = Group::of([context.rank()])?;
    let kinds = [Barrier::Default, Barrier::Central, Barrier::Registers];
    let refused = comm.barrier_of(&own, kinds[context.rank() % 3]).map(drop);
    let expected = if context.size() > 1 { Err(Error::BarriersDiffer) } else { Ok(()) };
    check_eq!(refused, expected, "barriers of different kinds");
    let flags = [Barrier::Tournament, Barrier::Butterfly];
    comm.barrier_of(&own, flags[context.rank() % 2])?.wait();
    Ok(())
}

/// What needs registers is refused as long as a barrier has them.
pub fn registers_are_taken<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    let (comm, size) = (context.comm, context.size());
    let of = |keep: &dyn Fn(usize) -> bool| Group::of((0..size).filter(|peer| keep(*peer)));
    let (even, odd) = (of(&|peer| peer % 2 == 0)?, of(&|peer| peer % 2 == 1)?);
    let mut first = comm.barrier_of(&even, Barrier::Registers)?;
    let refused = comm.barrier_of(&comm.group(), Barrier::Registers).map(drop);
    check_eq!(refused, Err(Error::RegistersWanted), "registers that a barrier has");
    let refused = comm.subscribe(&comm.group(), Subscription::default()).map(drop);
    check_eq!(refused, Err(Error::RegistersWanted), "notifications of ranks whose registers a barrier has");
    let mut second = comm.barrier_of(&odd, Barrier::Registers)?;
    first.wait();
    second.wait();
    drop(first);
    let refused = comm.barrier_of(&odd, Barrier::Registers).map(drop);
    let expected = if size > 1 { Err(Error::RegistersWanted) } else { Ok(()) };
    check_eq!(refused, expected, "registers that the other barrier has");
    drop(second);
    comm.barrier_of(&comm.group(), Barrier::Registers)?.wait();
    comm.subscribe(&comm.group(), Subscription::default())?.close();
    Ok(())
}
