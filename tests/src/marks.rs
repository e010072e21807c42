//! Groups of all sizes and shapes over many epochs: what counts epochs wraps around, and what tells of them moves to
//! where it is told fastest.

use alloc::vec::Vec;

use collectives::{Class, Group, Window};
use hal::{Core, LINE_BYTES, LocalView};

use crate::{
    Context, Failed, check,
    check::Outcome,
    check_eq,
    epochs::{make_of, post, ring, with_each, with_every_class},
    random::Numbers,
};

/// An epoch in which some ranks put to some, `edge(origin, target)` says which. All post before they start.
fn epoch<'c, C: Core>(
    context: &mut Context<'_, 'c, C>,
    window: &Window<'c, C, u32>,
    view: LocalView<'c, u32>,
    round: u32,
    edge: impl Fn(usize, usize) -> bool,
) -> Result<LocalView<'c, u32>, Failed> {
    let (rank, size) = (context.rank(), context.size());
    let origins = Group::of((0..size).filter(|origin| edge(*origin, rank)))?;
    let targets = Group::of((0..size).filter(|target| edge(rank, *target)))?;
    let exposure = post(context, window, view, &origins)?;
    let access = window.start(&targets)?;
    for target in targets.iter() {
        access.put_value(target, rank, round << 12 | target as u32)?;
    }
    access.complete();
    let view = exposure.wait(context.caches);
    for origin in origins.iter() {
        check_eq!(view.load(origin), round << 12 | rank as u32, "what rank {origin} put in round {round}");
    }
    Ok(view)
}

/// One origin with so many targets and then one target with so many origins, for every number there is; and from
/// large to small.
pub fn one_and_many<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    with_every_class(context, |context, class| {
        let size = context.size();
        let (window, mut view) = make_of(context, class, size)?;
        let counts = (1..size + 1).step_by(1 + size / 32);
        let mut round = 0;
        for count in counts.clone().chain(counts.rev()) {
            let hub = count % size;
            let is_leaf = |rank: usize| (rank + size - hub) % size < count;
            view = epoch(context, &window, view, round, |origin, target| origin == hub && is_leaf(target))?;
            view = epoch(context, &window, view, round + 1, |origin, target| target == hub && is_leaf(origin))?;
            round += 2;
        }
        window.free(view, context.caches)?;
        Ok(())
    })
}

/// Some origins access the same targets: from one to all of each.
pub fn bipartite_groups<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    with_every_class(context, |context, class| {
        let size = context.size();
        let (window, mut view) = make_of(context, class, size)?;
        // On many ranks, what fits a line, a little more, and all.
        let many = context.has_many_ranks();
        let counts: &[usize] = if many { &[1, 8, 33, size] } else { &[1, 2, 3, 7, 8, 9, 16, 33, size] };
        let mut round = 0;
        for origins in counts.iter().filter(|count| **count <= size) {
            for targets in counts.iter().filter(|count| **count <= size && **count * origins <= 1100) {
                view = epoch(context, &window, view, round, |origin, target| {
                    origin < *origins && size - target <= *targets
                })?;
                round += 1;
            }
        }
        window.free(view, context.caches)?;
        Ok(())
    })
}

/// Who accesses whom is drawn anew for each epoch, sparse or dense, so that groups of all ranks differ and change size
/// all the time.
pub fn changing_groups<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    with_every_class(context, |context, class| {
        let size = context.size();
        let (window, mut view) = make_of(context, class, size)?;
        for round in 0..(640 / size).clamp(6, 64) as u32 {
            let density = [1, 8, 3, 0, 6][round as usize % 5];
            let edge = |origin, target| Numbers::new(&[round as usize, origin, target]).below(8) < density;
            view = epoch(context, &window, view, round, edge)?;
        }
        window.free(view, context.caches)?;
        Ok(())
    })
}

/// More epochs than any number of a mark can count, with a group that changes now and then.
pub fn numbers_wrap_around<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    with_each(context, &[Class::Default, Class::TriggerOnly], |context, class| {
        let size = context.size();
        let (right, _) = ring(context);
        let rounds = if size <= 48 { 330 } else { 40 };
        let (window, mut view) = make_of(context, class, size)?;
        for round in 0..rounds {
            let reach = if round % 50 == 49 { size.min(9) } else { 1 + round as usize / 8 % 2 };
            view = epoch(context, &window, view, round, |origin, target| (target + size - origin) % size <= reach)?;
        }
        check_eq!(window.len_of(right)?, size, "the length of the neighbour's part");
        window.free(view, context.caches)?;
        Ok(())
    })
}

/// More windows than the MPBs have room for marks of: those that find none use uncached memory, and epochs of all of
/// them overlap.
pub fn more_windows_than_lines<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    let (rank, size) = (context.rank(), context.size());
    let (right, left) = ring(context);
    let lines = (2 * size).div_ceil(LINE_BYTES);
    let fit = context.comm.mpb_layout().spare().len() / lines;
    let mut windows = Vec::new();
    let mut views = Vec::new();
    for _ in 0..fit + 1 {
        let (window, view) = make_of::<_, u32>(context, Class::Default, 2)?;
        windows.push(window);
        views.push(view);
    }
    for round in 0..6u32 {
        // To the neighbour, and now and then from one to all, so that marks in MPBs change places.
        let hub = round as usize % size;
        let (to, from) = match round % 3 {
            2 if rank == hub => (context.comm.group(), Group::of([hub])?),
            2 => (Group::empty(), Group::of([hub])?),
            _ => (Group::of([right])?, Group::of([left])?),
        };
        let source = if round % 3 == 2 { hub } else { left };
        let before = context.hal().counters();
        let exposures: Vec<_> = windows
            .iter()
            .zip(views.drain(..))
            .map(|(window, view)| post(context, window, view, &from))
            .collect::<Result<_, _>>()?;
        let posted = context.hal().counters() - before;
        check_eq!((posted.words_written, posted.tsr_acquired), (1, 0), "posts in uncached memory in round {round}");
        let accesses: Vec<_> = windows.iter().map(|window| window.start(&to)).collect::<Result<_, _>>()?;
        for (index, access) in accesses.iter().enumerate().rev() {
            for target in to.iter() {
                access.put_value(target, 1, round << 16 | (index * size + rank) as u32)?;
            }
        }
        accesses.into_iter().for_each(collectives::AccessEpoch::complete);
        views = exposures.into_iter().map(|exposure| exposure.wait(context.caches)).collect();
        for (index, view) in views.iter().enumerate() {
            check_eq!(view.load(1), round << 16 | (index * size + source) as u32, "window {index} in round {round}");
        }
    }
    // Lines that are given back serve the next window.
    let (window, view) = (windows.remove(0), views.remove(0));
    window.free(view, context.caches)?;
    let (window, view) = make_of::<_, u32>(context, Class::Default, 2)?;
    windows.push(window);
    views.push(view);
    for (window, view) in windows.into_iter().zip(views) {
        let before = context.hal().counters();
        let exposure = post(context, &window, view, &Group::of([left])?)?;
        window.start(&Group::of([right])?)?.complete();
        let cost = context.hal().counters() - before;
        check!(cost.words_written <= 2 && cost.tsr_acquired == 0, "an epoch stored {} words", cost.words_written);
        let view = exposure.wait(context.caches);
        window.free(view, context.caches)?;
    }
    Ok(())
}
