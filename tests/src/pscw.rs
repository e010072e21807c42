//! Epochs of all classes: who waits for whom, and that data are where they should be.

use alloc::vec;

use collectives::{Class, Group};
use hal::{Core, Deadline};

use crate::{
    Context, Failed, check,
    check::Outcome,
    check_eq,
    epochs::{make_of, post, put_to_rank_0, ring, with_every_class},
    format,
};

/// Everybody puts a word to everybody and gets one from everybody, several epochs in a row.
pub fn put_and_get_all_pairs<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    with_every_class(context, |context, class| {
        let (rank, size) = (context.rank(), context.size());
        let all = context.comm.group();
        let (window, mut view) = make_of::<_, u32>(context, class, 2 * size)?;
        for epoch in 0..if !context.has_many_ranks() { 3u32 } else { 1 } {
            for peer in 0..size {
                view.store(size + peer, epoch << 16 | (rank * size + peer) as u32);
            }
            let exposure = post(context, &window, view, &all)?;
            let mut got = vec![0; size];
            let access = window.start(&all)?;
            for (turn, got) in got.chunks_mut(1).enumerate() {
                let peer = (rank + turn) % size;
                access.put_value(peer, rank, epoch << 16 | (rank << 8 | peer) as u32)?;
                access.get(peer, size + rank, got)?;
            }
            access.complete();
            for (turn, got) in got.iter().enumerate() {
                let peer = (rank + turn) % size;
                check_eq!(*got, epoch << 16 | (peer * size + rank) as u32, "word from rank {peer} in epoch {epoch}");
            }
            view = exposure.wait(context.caches);
            for peer in 0..size {
                let wanted = epoch << 16 | (peer << 8 | rank) as u32;
                check_eq!(view.load(peer), wanted, "word that rank {peer} put in epoch {epoch}");
            }
        }
        window.free(view, context.caches)?;
        Ok(())
    })
}

/// Each rank puts to its right neighbour only, through slices, without any other synchronisation.
pub fn neighbours_ring<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    const LEN: usize = 100;
    with_every_class(context, |context, class| {
        let (right, left) = ring(context);
        let rank = context.rank();
        let (window, mut view) = make_of::<_, f64>(context, class, LEN)?;
        for round in 0..10 {
            let value = f64::from(round * 1000 + rank as u32);
            let exposure = post(context, &window, view, &Group::of([left])?)?;
            let values = [value; LEN];
            let access = window.start(&Group::of([right])?)?;
            access.put(right, 0, &values)?;
            access.complete();
            view = exposure.wait(context.caches);
            let wanted = f64::from(round * 1000 + left as u32);
            check!(
                // SAFETY: the part is not posted: nobody puts to it.
                unsafe { view.as_slice(context.caches) }.iter().all(|got| *got == wanted),
                "round {round} from rank {left}"
            );
        }
        window.free(view, context.caches)?;
        Ok(())
    })
}

/// The same ring, in which nobody takes the view back between epochs: what comes is read past the caches.
pub fn parts_are_posted_again<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    const LEN: usize = 100;
    const ROUNDS: u32 = 6;
    with_every_class(context, |context, class| {
        let (right, left) = ring(context);
        let rank = context.rank() as u32;
        let (window, mut view) = make_of::<_, u32>(context, class, LEN)?;
        // Stays where no put comes, since it was written back by the first post.
        view.store(LEN - 1, 7);
        let to = Group::of([right])?;
        let mut exposure = post(context, &window, view, &Group::of([left])?)?;
        for round in 0..ROUNDS {
            let values = [round << 16 | rank; LEN - 1];
            let access = window.start(&to)?;
            access.put(right, 0, &values)?;
            access.complete();
            exposure.await_origins();
            let mut got = [0; LEN];
            exposure.read(0, &mut got)?;
            let wanted = round << 16 | left as u32;
            check!(got[..LEN - 1].iter().all(|got| *got == wanted), "round {round} from rank {left}");
            check_eq!(got[LEN - 1], 7, "what nobody has put in round {round}");
            if round + 1 < ROUNDS {
                exposure = exposure.post_again();
            }
        }
        let view = exposure.wait(context.caches);
        check_eq!(view.load(0), (ROUNDS - 1) << 16 | left as u32, "the view after the last round");
        window.free(view, context.caches)?;
        Ok(())
    })
}

/// Empty groups are legal on both sides, and an epoch with them waits for nobody.
pub fn empty_groups<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    with_every_class(context, |context, class| {
        let (window, mut view) = make_of::<_, u32>(context, class, 1)?;
        for _ in 0..5 {
            let exposure = post(context, &window, view, &Group::empty())?;
            let access = window.start(&Group::empty())?;
            check!(access.put(0, 0, &[1]).is_err(), "a put to a rank outside an empty group");
            access.complete();
            view = exposure.wait(context.caches);
            check_eq!(view.load(0), 0, "a part that nobody may access");
        }
        window.free(view, context.caches)?;
        Ok(())
    })
}

/// A rank may put to itself, alone and together with others.
pub fn self_in_the_group<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    with_every_class(context, |context, class| {
        let rank = context.rank();
        let (right, left) = ring(context);
        let (window, mut view) = make_of::<_, u16>(context, class, 40)?;
        for round in 1..6 {
            view.store(39, round + 4);
            let exposure = post(context, &window, view, &Group::of([rank])?)?;
            let values = [round; 20];
            let mut got = [0; 2];
            let access = window.start(&Group::of([rank])?)?;
            access.put(rank, 3, &values)?;
            access.get(rank, 38, &mut got)?;
            access.complete();
            view = exposure.wait(context.caches);
            let there = (view.load(2), view.load(3), view.load(22), view.load(23));
            check_eq!(there, (0, round, round, 0), "what was put to itself in round {round}");
            check_eq!(got, [0, round + 4], "what was got from itself in round {round}");

            let exposure = post(context, &window, view, &Group::of([rank, left])?)?;
            let access = window.start(&Group::of([rank, right])?)?;
            access.put_value(rank, 30, round + 1)?;
            access.put_value(right, 31, round + rank as u16)?;
            access.complete();
            view = exposure.wait(context.caches);
            let wanted = (round + 1, round + left as u16);
            check_eq!((view.load(30), view.load(31)), wanted, "what both put in round {round}");
        }
        window.free(view, context.caches)?;
        Ok(())
    })
}

/// Rank 0 accesses one half of the ranks, then the other, with no other synchronisation (MPICH 4.0.2
/// deadlocks here: it counts posts, whoever they come from).
pub fn disjoint_groups_in_adjacent_epochs<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    with_every_class(context, |context, class| {
        let (rank, size) = (context.rank(), context.size());
        let (window, mut view) = make_of::<_, u32>(context, class, 4)?;
        let halves = [Group::of((1..size).filter(|r| r % 2 == 1))?, Group::of((1..size).filter(|r| r % 2 == 0))?];
        for round in 0..5u32 {
            if rank == 0 {
                for half in &halves {
                    let access = window.start(half)?;
                    for target in half.iter() {
                        access.put_value(target, 1, round * 1000 + target as u32)?;
                    }
                    access.complete();
                }
            } else {
                view = post(context, &window, view, &Group::of([0])?)?.wait(context.caches);
                check_eq!(view.load(1), round * 1000 + rank as u32, "the put of round {round}");
            }
        }
        window.free(view, context.caches)?;
        Ok(())
    })
}

/// All ranks have posted before the origin starts with only one of them: the others' posts must neither be taken for
/// that one's nor get lost (in MPICH 4.0.2 another rank's post lets START return early).
pub fn early_post_of_a_later_group<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    with_every_class(context, |context, class| {
        let (rank, size) = (context.rank(), context.size());
        let (window, mut view) = make_of::<_, u32>(context, class, 1)?;
        for round in 1..4 {
            if rank == 0 {
                context.comm.barrier();
                for target in (1..size).rev() {
                    let access = window.start(&Group::of([target])?)?;
                    access.put_value(target, 0, round * 1000 + target as u32)?;
                    access.complete();
                }
            } else {
                let exposure = post(context, &window, view, &Group::of([0])?)?;
                context.comm.barrier();
                view = exposure.wait(context.caches);
                check_eq!(view.load(0), round * 1000 + rank as u32, "the put of round {round}");
            }
        }
        window.free(view, context.caches)?;
        Ok(())
    })
}

/// The post of a rank outside the group is there, that of the one inside is late: nothing that the origin gets is
/// older than the late one.
pub fn a_foreign_post_opens_nothing<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    with_every_class(context, |context, class| {
        let (rank, last) = (context.rank(), context.size() - 1);
        let (window, mut view) = make_of::<_, u32>(context, class, 1)?;
        let origin = Group::of([0])?;
        if rank != 0 && rank != last {
            let exposure = post(context, &window, view, &origin)?;
            context.comm.barrier();
            view = exposure.wait(context.caches);
        } else {
            context.comm.barrier();
            if rank == 0 {
                for target in (1..=last).rev() {
                    let mut got = [0];
                    let access = window.start(&Group::of([target])?)?;
                    access.get(target, 0, &mut got)?;
                    access.complete();
                    check_eq!(got[0], if target == last { 77 } else { 0 }, "what rank {target} exposed");
                }
            } else {
                context.hal().compute(100_000);
                view.store(0, 77);
                view = post(context, &window, view, &origin)?.wait(context.caches);
            }
        }
        window.free(view, context.caches)?;
        Ok(())
    })
}

/// A target that tests in a loop posts again the moment it succeeds.
pub fn test_loop_reposts_at_once<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    with_every_class(context, |context, class| {
        let (rank, size) = (context.rank(), context.size());
        let (window, mut view) = make_of::<_, u32>(context, class, size)?;
        let others = Group::of((0..size).filter(|r| *r != rank))?;
        for round in 1..=5u32 {
            if rank == 0 {
                let mut exposure = post(context, &window, view, &others)?;
                view = loop {
                    match exposure.test(context.caches) {
                        Ok(view) => break view,
                        Err(open) => exposure = open,
                    }
                };
                for origin in 1..size {
                    check_eq!(view.load(origin), round, "what rank {origin} put");
                }
            } else {
                put_to_rank_0(&window, rank, round)?;
            }
        }
        window.free(view, context.caches)?;
        Ok(())
    })
}

/// A wait with a deadline gives the epoch back when origins are missing then, and ends it as soon as none are: whoever
/// had completed
/// before is not awaited again.
pub fn deadlines_pass<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    with_every_class(context, |context, class| {
        let (rank, size) = (context.rank(), context.size());
        let (window, mut view) = make_of::<_, u32>(context, class, size)?;
        let others = Group::of(1..size)?;
        for round in 1..4u32 {
            // Packets need a target that takes part: nobody completes while it is in a barrier.
            let is_early = rank % 2 == 1 && class != Class::Message;
            if rank == 0 {
                let exposure = post(context, &window, view, &others)?;
                let begin = context.hal().now();
                let late = exposure.wait_until(context.caches, Deadline::At(begin + 30_000));
                let waited = context.hal().now() - begin;
                view = match late {
                    Ok(view) if size == 1 || size == 2 && class != Class::Message => {
                        context.comm.barrier();
                        view
                    }
                    Ok(_) => return Err(Failed(format!("the wait of round {round} ended without rank {}", size - 1))),
                    Err(exposure) => {
                        check!(waited >= 30_000, "the deadline passed after {waited} ticks");
                        context.comm.barrier();
                        exposure.wait_until(context.caches, Deadline::Never).map_err(|_| Failed("it ended".into()))?
                    }
                };
                for origin in 1..size {
                    check_eq!(view.load(origin), round, "what rank {origin} put in round {round}");
                }
            } else {
                if is_early {
                    put_to_rank_0(&window, rank, round)?;
                }
                context.comm.barrier();
                if !is_early {
                    put_to_rank_0(&window, rank, round)?;
                }
            }
        }
        window.free(view, context.caches)?;
        Ok(())
    })
}

/// What a target changes between epochs is what origins get in the next, with no word in between from anyone else: the
/// post of the next epoch is often seen early, together with another target's.
pub fn all_epochs_are_fresh<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    with_every_class(context, |context, class| {
        let (rank, size) = (context.rank(), context.size());
        let (window, mut view) = make_of::<_, u32>(context, class, 8)?;
        for round in 1..=8u32 {
            if rank == 0 {
                for target in 1..size {
                    let mut got = vec![0; 8];
                    let access = window.start(&Group::of([target])?)?;
                    access.get(target, 0, &mut got)?;
                    access.complete();
                    let wanted = round * 1000 + target as u32;
                    check!(got.iter().all(|word| *word == wanted), "round {round} from {target}: {got:?}");
                }
            } else {
                // SAFETY: the part is not posted, and rank 0 only gets from it.
                unsafe { view.as_mut_slice(context.caches) }.fill(round * 1000 + rank as u32);
                view = post(context, &window, view, &Group::of([0])?)?.wait(context.caches);
            }
        }
        window.free(view, context.caches)?;
        Ok(())
    })
}

/// Origins put single bytes side by side in one line: no update may get lost to a whole-line write.
pub fn neighbouring_bytes_of_many_origins<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    with_every_class(context, |context, class| {
        let (rank, size) = (context.rank(), context.size());
        let all = context.comm.group();
        let (window, mut view) = make_of::<_, u8>(context, class, size)?;
        for round in 0..4u8 {
            if rank == 0 {
                // SAFETY: the part is not posted yet.
                unsafe { view.as_mut_slice(context.caches) }.fill(0xFF);
                let exposure = post(context, &window, view, &all)?;
                put_to_rank_0(&window, 0, round)?;
                view = exposure.wait(context.caches);
                // SAFETY: the part is not posted any more.
                let wrong = unsafe { view.as_slice(context.caches) }.iter().position(|byte| *byte != round);
                check_eq!(wrong, None, "first byte that was lost in round {round}");
            } else {
                put_to_rank_0(&window, rank, round)?;
            }
        }
        window.free(view, context.caches)?;
        Ok(())
    })
}
