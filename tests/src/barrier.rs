//! The barrier of all ranks.

use collectives::{Barrier, Release};
use hal::{Core, Counters, LINE_BYTES, kind};

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

/// Lines that a rank writes and looks at in a barrier where every core is a coherence domain; nothing for algorithms that no
/// machine takes for the fastest there.
fn lines_of(barrier: Barrier, rank: usize, size: usize) -> Option<(u64, u64)> {
    let (writes, looks) = match barrier {
        Barrier::Tree { fan_in, release } => {
            let first = (rank * fan_in + 1).min(size);
            let children = (first + fan_in).min(size) - first;
            let is_child = usize::from(rank > 0);
            // Flags of children are side by side.
            let released = if release == Release::Push { children } else { children.min(1) };
            (is_child + released, children.div_ceil(LINE_BYTES) + is_child)
        }
        Barrier::Dissemination { partners, flags } => {
            let distances = core::iter::successors(Some(1), |distance| Some(distance * (partners + 1)));
            let partners_in = |distance: usize| (1..=partners).filter(|partner| partner * distance < size).count();
            let rounds = distances.take_while(|distance| *distance < size).map(partners_in);
            let (count, all) = rounds.fold((0, 0), |(count, all), partners| (count + 1, all + partners));
            if flags == Release::Push { (all, count) } else { (count, all) }
        }
        _ => return None,
    };
    Some((writes as u64, looks as u64))
}

/// What the fastest algorithm of the machine takes, and nothing else.
pub fn costs_what_it_should<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    context.unchecked();
    let (rank, size) = (context.rank(), context.size());
    let done = cost_of_one(context);
    let layout = context.hal().layout();
    if size == 1 {
        check_eq!((done.mpb_lines_written, done.drains, done.lines_polled), (0, 0, 0), "lines of no barrier");
    } else if layout.domains() == size {
        let fastest = Barrier::fastest(&context.comm.group(), layout);
        let counted = Some((done.mpb_lines_written, done.lines_polled));
        check_eq!(counted, lines_of(fastest, rank, size), "lines written and looked at in {fastest}");
        check!((1..=done.mpb_lines_written).contains(&done.drains), "drains of {fastest}: {done:?}");
    } else {
        // A tree of nodes with up to 16 children.
        let most = 2 + 16;
        check!(done.mpb_lines_written <= most && done.lines_polled <= most, "lines of a barrier: {done:?}");
    }
    check_eq!(
        (done.mpb_lines_read, done.words_read, done.words_written, done.tsr_acquired),
        (0, 0, 0, 0),
        "other accesses of a barrier"
    );
    Ok(())
}
