//! Epochs with promises: what is skipped, and what is in order even where a promise is broken.

use alloc::vec::Vec;

use collectives::{Assertions, Class, Group};
use hal::{Core, LINE_BYTES};

use crate::{
    Context, check,
    check::Outcome,
    check_eq,
    epochs::{make_of, post, ring, with_every_class},
};

/// Many epochs in a row whose origins do not look for posts, with a barrier that makes the promise true. Nothing else
/// tells the targets (with Open MPI
/// 4.1.4's shared memory the second wait returns early, the third hangs).
pub fn no_check_over_many_epochs<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    with_every_class(context, |context, class| {
        let (rank, size) = (context.rank(), context.size());
        let (right, left) = ring(context);
        let (window, mut view) = make_of::<_, u32>(context, class, 2)?;
        let all = context.comm.group();
        for round in 0..12u32 {
            // Neighbours and all pairs, and every third epoch looks.
            let (to, from) = match round % 4 {
                3 if size <= 16 => (all.clone(), all.clone()),
                _ => (Group::of([right])?, Group::of([left])?),
            };
            let promise = if round % 3 == 2 { Assertions::empty() } else { Assertions::NO_CHECK };
            view.store(1, round * 1000 + rank as u32);
            let exposure = post(context, &window, view, &from)?;
            if promise == Assertions::NO_CHECK {
                context.comm.barrier();
            }
            let mut got = [0];
            let access = window.start_asserting(&to, promise)?;
            access.put_value(right, 0, round * 1000 + rank as u32)?;
            access.get(right, 1, &mut got)?;
            access.complete();
            check_eq!(got[0], round * 1000 + right as u32, "what was got in round {round}");
            view = exposure.wait(context.caches);
            check_eq!(view.load(0), round * 1000 + left as u32, "what was put in round {round}");
        }
        window.free(view, context.caches)?;
        Ok(())
    })
}

/// Where nothing makes the promise true, what such an epoch puts and gets is anything, and all epochs stay in order
/// all the same: those
/// that look have the right data, whatever came between.
pub fn no_check_broken<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    const SCRATCH: usize = 2 * LINE_BYTES / 4;
    with_every_class(context, |context, class| {
        let (rank, size) = (context.rank(), context.size());
        let (window, mut view) = make_of::<_, u32>(context, class, SCRATCH + 1)?;
        let targets = Group::of(1..size)?;
        for round in 0..10u32 {
            let looks = round % 3 == 0;
            if rank == 0 {
                let promise = if looks { Assertions::empty() } else { Assertions::NO_CHECK };
                let access = window.start_asserting(&targets, promise)?;
                for target in targets.iter() {
                    if looks {
                        access.put_value(target, 0, round * 1000 + target as u32)?;
                    } else if class != Class::Message {
                        access.put_value(target, SCRATCH, round)?;
                    }
                }
                access.complete();
            } else {
                context.hal().compute(if rank.is_multiple_of(2) { 20_000 } else { 0 });
                view = post(context, &window, view, &Group::of([0])?)?.wait(context.caches);
                let last = round - round % 3;
                check_eq!(view.load(0), last * 1000 + rank as u32, "what was put in round {last}, in round {round}");
            }
        }
        window.free(view, context.caches)?;
        Ok(())
    })
}

/// A target that only reads its part promises that it stored nothing: what the epochs bring is seen, and nothing is
/// flushed at POST.
pub fn no_store<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    context.unchecked();
    with_every_class(context, |context, class| {
        let rank = context.rank();
        let (right, left) = ring(context);
        let (window, mut view) = make_of::<_, u32>(context, class, 20)?;
        for round in 1..6u32 {
            let before = context.hal().counters();
            let from = Group::of([left])?;
            let posted = window.post_asserting(view, context.caches, &from, Assertions::NO_STORE)?;
            check_eq!((context.hal().counters() - before).flushes, 0, "flushes of the post of round {round}");
            let values: Vec<u32> = (0..20).map(|index| round * 1000 + rank as u32 * 20 + index).collect();
            let access = window.start(&Group::of([right])?)?;
            access.put(right, 0, &values)?;
            access.complete();
            view = posted.wait(context.caches);
            let wanted = |index: usize| round * 1000 + left as u32 * 20 + index as u32;
            check!((0..20).all(|index| view.load(index) == wanted(index)), "the view of round {round} is stale");
        }
        window.free(view, context.caches)?;
        Ok(())
    })
}

/// A target that nobody puts to has its stores seen, and nothing is flushed at WAIT. Epochs with and without the
/// promise alternate.
pub fn no_put<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    context.unchecked();
    with_every_class(context, |context, class| {
        let rank = context.rank();
        let (right, left) = ring(context);
        let (window, mut view) = make_of::<_, u32>(context, class, 20)?;
        for round in 1..7u32 {
            view.store(7, round * 1000 + rank as u32);
            let promise = if round % 3 == 0 { Assertions::empty() } else { Assertions::NO_PUT };
            let exposure = window.post_asserting(view, context.caches, &Group::of([left])?, promise)?;
            let mut got = [0];
            let access = window.start(&Group::of([right])?)?;
            access.get(right, 7, &mut got)?;
            if promise.is_empty() {
                access.put_value(right, 9, round)?;
            }
            access.complete();
            check_eq!(got[0], round * 1000 + right as u32, "what was got in round {round}");
            let before = context.hal().counters();
            view = exposure.wait(context.caches);
            let flushes = (context.hal().counters() - before).flushes;
            check_eq!(flushes, u64::from(promise.is_empty()), "flushes of the wait of round {round}");
            let wanted = (round * 1000 + rank as u32, round / 3 * 3);
            check_eq!((view.load(7), view.load(9)), wanted, "the view of round {round}");
        }
        window.free(view, context.caches)?;
        Ok(())
    })
}
