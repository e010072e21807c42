//! The barrier of all ranks.

use hal::{Core, Counters, kind};

use crate::{
    Context, check,
    check::Outcome,
    check_eq,
    memory::{free, shared},
};

/// What this rank does in a barrier.
pub fn cost_of_one<C: Core>(context: &Context<'_, '_, C>) -> Counters {
    let before = context.hal().counters();
    context.comm.barrier();
    context.hal().counters() - before
}

/// Nobody leaves before everybody has come, with one rank late each time.
pub fn separates_phases<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    let (hal, rank, size) = (context.hal(), context.rank(), context.size());
    let words = shared::<_, kind::Uncached>(context, size * 4)?;
    for phase in 1..=3u32 {
        if rank == phase as usize % size {
            for _ in 0..50 {
                hal.compute(1000);
                let _ = hal.load_word(words, rank);
            }
        }
        hal.store_word(words, rank, phase);
        context.comm.barrier();
        for peer in 0..size {
            let seen = hal.load_word(words, peer);
            check!(seen >= phase, "rank {peer} had not come to barrier {phase}, but to {seen}");
        }
    }
    context.comm.barrier();
    free(context, words)
}

/// More barriers than a signal's byte can count, without anything in between.
pub fn back_to_back<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    for _ in 0..300 {
        context.comm.barrier();
    }
    Ok(())
}

/// A flag to the parent, one for the children, as many polls as there are lines to look at, nothing else.
pub fn costs_what_it_should<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    let (rank, size) = (context.rank(), context.size());
    let done = cost_of_one(context);
    if size <= 64 {
        // A root and its children.
        let looked_at = if rank == 0 { (size - 1).div_ceil(32) } else { 1 };
        let expected = if size == 1 { (0, 0, 0) } else { (1, 1, looked_at as u64) };
        check_eq!((done.mpb_lines_written, done.drains, done.lines_polled), expected, "lines of a barrier");
    } else {
        check!(done.mpb_lines_written <= 2 && done.lines_polled <= 2, "lines of a barrier: {done:?}");
    }
    check_eq!(
        (done.mpb_lines_read, done.words_read, done.words_written, done.tsr_acquired),
        (0, 0, 0, 0),
        "other accesses of a barrier"
    );
    Ok(())
}
