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
    context.unchecked();
    let (rank, size) = (context.rank(), context.size());
    let done = cost_of_one(context);
    let layout = context.hal().layout();
    if size == 1 {
        check_eq!((done.mpb_lines_written, done.drains, done.lines_polled), (0, 0, 0), "lines of no barrier");
    } else if (6..=64).contains(&size) && layout.domains() == size && layout.prices().port_ns == 0 {
        // A root and its children.
        let looked_at = if rank == 0 { (size - 1).div_ceil(32) } else { 1 };
        check_eq!(
            (done.mpb_lines_written, done.drains, done.lines_polled),
            (1, 1, looked_at as u64),
            "lines of a barrier"
        );
    } else {
        // Rounds of all with all, a tree of two levels (where a port serves one after the other, too), or one of nodes with
        // up to 16 children.
        let most = if layout.domains() == size { 4 } else { 2 + 16 };
        check!(done.mpb_lines_written <= most && done.lines_polled <= most, "lines of a barrier: {done:?}");
    }
    check_eq!(
        (done.mpb_lines_read, done.words_read, done.words_written, done.tsr_acquired),
        (0, 0, 0, 0),
        "other accesses of a barrier"
    );
    Ok(())
}
