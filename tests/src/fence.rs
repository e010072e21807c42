//! Fences: epochs that all ranks open and close together.

use alloc::vec;

use collectives::{Assertions, Error, Group, Lock, Returned};
use hal::{Core, Counters};

use crate::{
    Context, Failed, check,
    check::Outcome,
    check_eq,
    epochs::{make, post, ring},
};

/// What each rank puts between two fences is there behind the second, and what each stores between epochs is what the
/// others get in the next.
pub fn epochs_are_separated<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    let (rank, size) = (context.rank(), context.size());
    let (window, mut view) = make::<_, u32>(context, 2 * size)?;
    for round in 0..6u32 {
        (0..size).for_each(|peer| view.store(size + peer, round << 16 | (rank * size + peer) as u32));
        let mut got = vec![0; size];
        let epoch = window.fence(view, context.caches, Assertions::empty())?;
        for (turn, got) in got.chunks_mut(1).enumerate() {
            let peer = (rank + turn) % size;
            epoch.put_value(peer, rank, round << 16 | (rank << 8 | peer) as u32)?;
            epoch.get(peer, size + rank, got)?;
        }
        // Those that come late are waited for.
        context.hal().compute(if (rank + round as usize).is_multiple_of(3) { 20_000 } else { 0 });
        view = epoch.close(context.caches, Assertions::empty());
        for (turn, got) in got.iter().enumerate() {
            let peer = (rank + turn) % size;
            check_eq!(*got, round << 16 | (peer * size + rank) as u32, "word from rank {peer} in round {round}");
            let wanted = round << 16 | (peer << 8 | rank) as u32;
            check_eq!(view.load(peer), wanted, "word that rank {peer} put in round {round}");
        }
    }
    window.free(view, context.caches)?;
    Ok(())
}

/// A fence in the middle ends one epoch and begins the next: what was put before it is got behind it, whoever put it,
/// without any view in between.
pub fn fences_back_to_back<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    let (rank, size) = (context.rank(), context.size());
    let (right, _) = ring(context);
    let (window, view) = make::<_, u32>(context, 1)?;
    let mut got = [[0]; 8];
    let mut epoch = window.fence(view, context.caches, Assertions::empty())?;
    for (round, got) in got.iter_mut().enumerate() {
        // A token goes round: each rank puts to its right neighbour, from where somebody else gets it.
        epoch.put_value(right, 0, (round * size + rank) as u32)?;
        epoch = epoch.fence(Assertions::empty());
        epoch.get((rank + round) % size, 0, got)?;
        epoch = epoch.fence(Assertions::empty());
    }
    let view = epoch.close(context.caches, Assertions::empty());
    for (round, got) in got.iter().enumerate() {
        let putter = (rank + round + size - 1) % size;
        check_eq!(*got, [(round * size + putter) as u32], "what was got in round {round}");
    }
    window.free(view, context.caches)?;
    Ok(())
}

/// Every set of assertions that a program can keep leaves the data right.
pub fn all_assertions<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    let rank = context.rank();
    let (right, left) = ring(context);
    let (window, mut view) = make::<_, u32>(context, 3)?;
    for round in 0..24u32 {
        let (stores, puts, precedes) = (round & 1 == 0, round & 2 == 0, round & 4 == 0);
        let mut opening = Assertions::empty();
        opening.set(Assertions::NO_STORE, !stores);
        opening.set(Assertions::NO_PUT, !puts);
        let mut closing = Assertions::empty();
        let before = (view.load(0), view.load(1));
        if stores {
            view.store(0, round * 1000 + rank as u32);
        }
        let mut got = [0];
        let mut epoch = window.fence(view, context.caches, opening)?;
        epoch.get(right, 0, &mut got)?;
        if puts {
            epoch.put_value(right, 1, round * 1000 + rank as u32)?;
        }
        if !precedes {
            // An epoch in which nothing is done, ended by a fence that nobody waits in.
            epoch = epoch.fence(opening);
            epoch = epoch.fence(opening | Assertions::NO_PRECEDE);
            epoch = epoch.fence(Assertions::NO_PRECEDE | Assertions::NO_PUT);
            closing |= Assertions::NO_PRECEDE;
        }
        view = epoch.close(context.caches, closing);
        let last = round / 2 * 2;
        check_eq!(got, [last * 1000 + right as u32], "what was got in round {round}");
        let wanted = (
            if stores { round * 1000 + rank as u32 } else { before.0 },
            if puts { round * 1000 + left as u32 } else { before.1 },
        );
        check_eq!((view.load(0), view.load(1)), wanted, "the view of round {round}");
    }
    window.free(view, context.caches)?;
    Ok(())
}

/// A fence costs a barrier; one with nothing before it costs nothing at all.
pub fn no_precede_does_nothing<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    context.unchecked();
    let hal = context.hal();
    let (window, view) = make::<_, u32>(context, 3)?;
    let before = hal.counters();
    context.comm.barrier();
    let barrier = hal.counters() - before;
    let mut epoch = window.fence(view, context.caches, Assertions::NO_STORE)?;
    for _ in 0..3 {
        let before = hal.counters();
        epoch = epoch.fence(Assertions::NO_PRECEDE);
        check_eq!(hal.counters() - before, Counters::default(), "operations of a fence with nothing before it");
        let before = hal.counters();
        epoch = epoch.fence(Assertions::empty());
        let fence = hal.counters() - before;
        check_eq!(fence.mpb_lines_written, barrier.mpb_lines_written, "lines that a fence wrote");
        check_eq!((fence.tsr_acquired, fence.words_written, fence.flushes), (0, 0, 0), "what a fence must not need");
    }
    let before = hal.counters();
    let view = epoch.close(context.caches, Assertions::NO_PRECEDE);
    let closed = hal.counters() - before;
    check_eq!((closed.mpb_lines_written, closed.flushes), (0, 1), "a close with nothing before it");
    let before = hal.counters();
    let epoch = window.fence(view, context.caches, Assertions::NO_STORE | Assertions::NO_PUT)?;
    let view = epoch.close(context.caches, Assertions::empty());
    check_eq!((hal.counters() - before).flushes, 0, "flushes of a rank that stores nothing and gets nothing");
    window.free(view, context.caches)?;
    Ok(())
}

/// Between fences no other epoch can be opened, and no fence within another epoch; whoever is refused keeps the view.
pub fn fences_exclude_other_epochs<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    let rank = context.rank();
    let me = Group::of([rank])?;
    let (window, view) = make::<_, u32>(context, 1)?;
    let (other, other_view) = make::<_, u32>(context, 1)?;
    let number = window.number();

    let exposure = post(context, &window, view, &me)?;
    let access = window.start(&me)?;
    let Err(Returned { error, taken: other_view }) = window.fence(other_view, context.caches, Assertions::empty())
    else {
        return Err(Failed("a fence within an access epoch".into()));
    };
    check_eq!(error, Error::AccessEpochOpen { window: number }, "a fence within an access epoch");
    access.complete();
    let view = exposure.wait(context.caches);
    let Err(Returned { error, taken: other_view }) = window.fence(other_view, context.caches, Assertions::empty())
    else {
        return Err(Failed("a fence with another window's view".into()));
    };
    check_eq!(error, Error::ForeignView { window: number }, "a fence with another window's view");

    let epoch = window.fence(view, context.caches, Assertions::empty())?;
    let open = Error::AccessEpochOpen { window: number };
    check_eq!(window.start(&me).err(), Some(open), "a start between fences");
    let exposed = Error::ExposureEpochOpen { window: number };
    check_eq!(window.view(context.caches).err(), Some(exposed), "a view between fences");
    check_eq!(window.lock(rank, Lock::Shared).err(), Some(Error::NotLent { window: number }), "a lock between fences");
    epoch.put_value(rank, 0, 5)?;
    // Dropped, not closed: it meets the others all the same, and everything can be opened again.
    drop(epoch);
    let view = window.view(context.caches)?;
    check_eq!(view.load(0), 5, "what was put in the epoch that was dropped");
    let exposure = post(context, &window, view, &me)?;
    window.start(&me)?.complete();
    let view = exposure.wait(context.caches);
    other.free(other_view, context.caches)?;
    window.free(view, context.caches)?;
    Ok(())
}

/// Fences of two windows, and other epochs of one between those of the other, do not mix.
pub fn fences_of_two_windows<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    let rank = context.rank();
    let (right, left) = ring(context);
    let (a, mut view_a) = make::<_, u32>(context, 1)?;
    let (b, mut view_b) = make::<_, u8>(context, 1)?;
    for round in 0..4u32 {
        let epoch_a = a.fence(view_a, context.caches, Assertions::empty())?;
        let exposure_b = post(context, &b, view_b, &Group::of([left])?)?;
        epoch_a.put_value(right, 0, round * 1000 + rank as u32)?;
        let access_b = b.start(&Group::of([right])?)?;
        access_b.put_value(right, 0, round as u8)?;
        let epoch_a = epoch_a.fence(Assertions::empty());
        access_b.complete();
        view_b = exposure_b.wait(context.caches);
        check_eq!(view_b.load(0), round as u8, "window b in round {round}");
        let epoch_b = b.fence(view_b, context.caches, Assertions::empty())?;
        view_a = epoch_a.close(context.caches, Assertions::empty());
        check!(view_a.load(0) == round * 1000 + left as u32, "window a in round {round}");
        view_b = epoch_b.close(context.caches, Assertions::empty());
    }
    b.free(view_b, context.caches)?;
    a.free(view_a, context.caches)?;
    Ok(())
}
