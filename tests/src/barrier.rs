//! The dissemination barrier.

use hal::{Core, kind};

use crate::{
    Context, check,
    check::Outcome,
    check_eq,
    memory::{free, shared},
};

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

/// ⌈log₂ P⌉ remote writes, as many polls that succeed, nothing else.
pub fn costs_what_it_should<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    let rounds = u64::from(context.size().next_power_of_two().trailing_zeros());
    let before = context.hal().counters();
    context.comm.barrier();
    let done = context.hal().counters() - before;
    check_eq!(
        (done.mpb_lines_written, done.drains, done.lines_polled, done.mpb_lines_read),
        (rounds, rounds, rounds, 0),
        "lines of a barrier"
    );
    check_eq!((done.words_read, done.words_written, done.tsr_acquired), (0, 0, 0), "other accesses of a barrier");
    Ok(())
}
