//! What epochs cost, as the modules of their classes say. Reads by polls are bounded only.

use collectives::{Class, Group};
use hal::{Core, Counters, LINE_BYTES};

use crate::{
    Context, check,
    check::Outcome,
    check_eq,
    epochs::{make_of, post, with_each},
};

/// Classes on match vectors and completion counters.
const MATCH_VECTORS: [Class; 4] = [Class::TrulyOneSided, Class::TriggerOnly, Class::Immediate, Class::Deferred];

/// START touches no memory, except that `Immediate` polls; POST is |Gp| locked updates; COMPLETE |Gs| locked resets
/// and |Gs| locked decrements.
pub fn match_vectors_cost_the_papers_updates<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    context.unchecked();
    with_each(context, &MATCH_VECTORS, |context, class| {
        let hal = context.hal();
        let (rank, size) = (context.rank(), context.size());
        let (window, mut view) = make_of::<_, u32>(context, class, 8)?;
        // Rank 0 is the origin, as in Algorithm 3, and all others are targets.
        let (origins, targets) = (Group::of([0])?, Group::of(1..size)?);
        for _ in 0..3 {
            let before = hal.counters();
            if rank == 0 {
                let access = window.start(&targets)?;
                let started = hal.counters() - before;
                if class == Class::Immediate {
                    check_eq!((started.tsr_acquired, started.words_written), (0, 0), "updates of START");
                } else {
                    check_eq!(started, Counters::default(), "operations of START");
                }
                access.complete();
                let completed = hal.counters() - before;
                let k = targets.len() as u64;
                check_eq!(completed.tsr_acquired, 2 * k, "locks of COMPLETE");
                check_eq!(completed.words_written, 2 * k, "resets and decrements of COMPLETE");
                // Each update reads its word, and each target's bit is found once.
                check!(completed.words_read <= 3 * k, "COMPLETE read {} words", completed.words_read);
                check_eq!(completed.mpb_lines_written, 0, "MPB lines that COMPLETE wrote");
            } else {
                let exposure = post(context, &window, view, &origins)?;
                let posted = hal.counters() - before;
                let updates = (posted.tsr_acquired, posted.words_read, posted.words_written);
                check_eq!(updates, (1, 1, 2), "updates of POST");
                view = exposure.wait(context.caches);
                let waited = hal.counters() - before - posted;
                check_eq!((waited.tsr_acquired, waited.words_written), (0, 0), "updates of WAIT");
                check!(waited.words_read <= 1, "WAIT read {} words", waited.words_read);
            }
        }
        window.free(view, context.caches)?;
        Ok(())
    })
}

/// Marks cost no register and no uncached word: a post is a line write at its origin, a completion for many targets as
/// many as the lines
/// in which the origin keeps their marks. START touches no memory.
pub fn marks_cost_line_writes<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    context.unchecked();
    let hal = context.hal();
    let (rank, size) = (context.rank(), context.size());
    let (window, mut view) = make_of::<_, u32>(context, Class::Default, 8)?;
    let (origins, targets) = (Group::of([0])?, Group::of(1..size)?);
    let k = targets.len() as u64;
    let kept_lines = if k == 0 { 0 } else { ((2 * size - 1) / LINE_BYTES - (size + 1) / LINE_BYTES + 1) as u64 };
    for round in 0..6 {
        let before = hal.counters();
        if rank == 0 {
            let access = window.start(&targets)?;
            check_eq!(hal.counters() - before, Counters::default(), "operations of START");
            access.complete();
            let completed = hal.counters() - before;
            check_no_words(completed, "COMPLETE")?;
            // It changes places once, and writes to both then; one target is always told by a push.
            let (most, least) = match (round, k) {
                (0, _) => (k + kept_lines, k),
                (_, 8..) => (kept_lines, kept_lines),
                _ => (k, k.min(1)),
            };
            let written = completed.mpb_lines_written;
            check!((least..=most).contains(&written), "COMPLETE wrote {written} lines in round {round}");
            check!(completed.mpb_lines_read <= k, "COMPLETE read {} lines", completed.mpb_lines_read);
        } else {
            let exposure = post(context, &window, view, &origins)?;
            let posted = hal.counters() - before;
            check_no_words(posted, "POST")?;
            check_eq!((posted.mpb_lines_read, posted.mpb_lines_written), (0, 1), "lines of POST");
            view = exposure.wait(context.caches);
            let waited = hal.counters() - before - posted;
            check_no_words(waited, "WAIT")?;
            check_eq!(waited.mpb_lines_written, 0, "lines that WAIT wrote");
            check!(waited.mpb_lines_read <= 1, "WAIT read {} lines", waited.mpb_lines_read);
        }
    }
    window.free(view, context.caches)?;
    Ok(())
}

/// All ranks with all others: everybody keeps its marks, so that both calls are a few stores to its own MPB.
pub fn marks_of_all_pairs_are_kept<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    context.unchecked();
    let hal = context.hal();
    let size = context.size();
    let all = context.comm.group();
    let (window, mut view) = make_of::<_, u32>(context, Class::Default, 8)?;
    let kept_lines = ((2 * size - 1) / LINE_BYTES - size / LINE_BYTES + 1) as u64;
    for round in 0..5 {
        let before = hal.counters();
        let exposure = post(context, &window, view, &all)?;
        let posted = hal.counters() - before;
        let access = window.start(&all)?;
        access.complete();
        let completed = hal.counters() - before - posted;
        view = exposure.wait(context.caches);
        check_no_words(hal.counters() - before, "an epoch")?;
        if size >= 8 && round > 1 {
            check_eq!(posted.mpb_lines_written, kept_lines, "lines of POST in round {round}");
            check_eq!(completed.mpb_lines_written, kept_lines, "lines of COMPLETE in round {round}");
        }
    }
    window.free(view, context.caches)?;
    Ok(())
}

fn check_no_words(counted: Counters, what: &str) -> Outcome {
    let accesses = (counted.tsr_acquired, counted.words_read, counted.words_written);
    check_eq!(accesses, (0, 0, 0), "registers and words of {what}");
    Ok(())
}

/// An origin that puts pays for its data and nothing more: the completion follows it without a register.
pub fn puts_cost_their_lines<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    context.unchecked();
    with_each(context, &[Class::Default, Class::TriggerOnly, Class::Deferred], |context, class| {
        let hal = context.hal();
        let (rank, size) = (context.rank(), context.size());
        let (window, mut view) = make_of::<_, u8>(context, class, 10 * LINE_BYTES)?;
        let values = [3; 9 * LINE_BYTES];
        if rank == 0 {
            for target in 1..size {
                let before = hal.counters();
                let access = window.start(&Group::of([target])?)?;
                // Not at the beginning of a line: one more is touched.
                access.put(target, 5, &values)?;
                access.complete();
                let put = hal.counters() - before;
                check_eq!((put.combined_lines_written, put.combined_lines_read), (10, 0), "lines of data");
            }
        } else {
            view = post(context, &window, view, &Group::of([0])?)?.wait(context.caches);
            check_eq!((view.load(4), view.load(5), view.load(9 * LINE_BYTES + 4)), (0, 3, 3), "what was put");
        }
        window.free(view, context.caches)?;
        Ok(())
    })
}
