//! Epochs that overlap: those of two windows, and access with exposure epochs.

use collectives::{Class, Group};
use hal::Core;

use crate::{
    Context, check,
    check::Outcome,
    check_eq,
    epochs::{make_of, post, ring, with_each, with_every_class},
};

/// Epochs of two windows overlap in all ways, and the windows may be of different classes.
pub fn two_windows_interleaved<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    with_every_class(context, |context, class| {
        let place = Class::ALL.iter().position(|other| *other == class).unwrap_or_default();
        with_each(context, &[class, Class::ALL[(place + 1) % Class::ALL.len()]], |context, other| {
            interleave(context, class, other)
        })
    })
}

fn interleave<C: Core>(context: &mut Context<'_, '_, C>, class_a: Class, class_b: Class) -> Outcome {
    let rank = context.rank();
    let (right, left) = ring(context);
    let (to, from) = (Group::of([right])?, Group::of([left])?);
    let (a, mut view_a) = make_of::<_, u32>(context, class_a, 3)?;
    let (b, mut view_b) = make_of::<_, u64>(context, class_b, 5)?;
    check!(a.number() != b.number(), "both windows have number {}", a.number());
    for round in 0..4u32 {
        let exposure_b = post(context, &b, view_b, &from)?;
        let words = [round, rank as u32, 3];
        // All ranks of the ring do the same, so a START that blocks has to come after the post.
        let (access_a, exposure_a) = if class_a == Class::Immediate {
            let exposure_a = post(context, &a, view_a, &from)?;
            (a.start(&to)?, exposure_a)
        } else {
            let access_a = a.start(&to)?;
            (access_a, post(context, &a, view_a, &from)?)
        };
        let access_b = b.start(&to)?;
        access_b.put_value(right, 4, u64::from(round) << 40 | rank as u64)?;
        access_a.put(right, 0, &words)?;
        access_b.complete();
        view_b = exposure_b.wait(context.caches);
        access_a.complete();
        view_a = exposure_a.wait(context.caches);
        check_eq!(view_b.load(4), u64::from(round) << 40 | left as u64, "window b in round {round}");
        check_eq!((view_a.load(0), view_a.load(1)), (round, left as u32), "window a in round {round}");
    }
    b.free(view_b, context.caches)?;
    a.free(view_a, context.caches)?;
    Ok(())
}

/// Access and exposure epochs overlap: half the ranks start before they post, half after. With `Immediate` all post
/// first, since START waits.
pub fn start_before_and_after_post<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    with_every_class(context, |context, class| {
        let rank = context.rank();
        let (right, left) = ring(context);
        let (to, from) = (Group::of([right])?, Group::of([left])?);
        let (window, mut view) = make_of::<_, u32>(context, class, 1)?;
        for round in 0..6u32 {
            let starts_first = (rank + round as usize).is_multiple_of(2) && class != Class::Immediate;
            let (access, exposure) = if starts_first {
                let access = window.start(&to)?;
                (access, post(context, &window, view, &from)?)
            } else {
                let exposure = post(context, &window, view, &from)?;
                (window.start(&to)?, exposure)
            };
            access.put_value(right, 0, round * 1000 + rank as u32)?;
            access.complete();
            view = exposure.wait(context.caches);
            check_eq!(view.load(0), round * 1000 + left as u32, "round {round}");
        }
        window.free(view, context.caches)?;
        Ok(())
    })
}

/// Access and exposure epochs overlap in a chain of ranks, in which it is no deadlock to wait before one completes:
/// half the ranks do.
pub fn complete_before_and_after_wait<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    with_every_class(context, |context, class| {
        let (rank, size) = (context.rank(), context.size());
        let to = Group::of((rank + 1 < size).then_some(rank + 1))?;
        let from = Group::of(rank.checked_sub(1))?;
        let (window, mut view) = make_of::<_, u32>(context, class, 1)?;
        for round in 0..6u32 {
            let exposure = post(context, &window, view, &from)?;
            let access = window.start(&to)?;
            for target in to.iter() {
                access.put_value(target, 0, round * 1000 + rank as u32)?;
            }
            view = if (rank + round as usize).is_multiple_of(2) {
                let view = exposure.wait(context.caches);
                access.complete();
                view
            } else {
                access.complete();
                exposure.wait(context.caches)
            };
            if rank > 0 {
                check_eq!(view.load(0), round * 1000 + rank as u32 - 1, "round {round}");
            }
        }
        window.free(view, context.caches)?;
        Ok(())
    })
}
