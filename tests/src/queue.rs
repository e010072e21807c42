//! Operations that wait for posts: which classes let an origin go on, when the operations go out, and in which order.

use alloc::{vec, vec::Vec};

use collectives::{Class, Group, Operator};
use hal::{Core, Deadline};

use crate::{
    Context, check,
    check::Outcome,
    check_eq,
    epochs::{make_of, post, with_each, with_every_class},
};

/// Classes in which no operation blocks.
const QUEUEING: [Class; 3] = [Class::Default, Class::TrulyOneSided, Class::Deferred];

/// Classes in which what was queued goes out before COMPLETE.
const PROMPT: [Class; 2] = [Class::Default, Class::TrulyOneSided];

/// More operations than any queue holds.
const MANY: usize = 150;

/// An origin puts and gets before its targets post, and they post only after it has done something else: no deadlock
/// as long as the queue
/// has room.
pub fn operations_do_not_block<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    with_each(context, &QUEUEING, |context, class| {
        let (rank, size) = (context.rank(), context.size());
        let (window, mut view) = make_of::<_, u32>(context, class, 2)?;
        let targets = Group::of((1..size).take(30))?;
        for round in 0..3 {
            if rank == 0 {
                let mut got = vec![0; targets.len() + 1];
                let access = window.start(&targets)?;
                for (target, got) in got.chunks_mut(1).enumerate().skip(1) {
                    access.put_value(target, 0, round + 1)?;
                    access.get(target, 1, got)?;
                }
                // The targets wait for this.
                context.comm.barrier();
                access.complete();
                for (target, got) in got.iter().enumerate().skip(1) {
                    check_eq!(*got, round * 1000 + target as u32, "what was got from rank {target} in round {round}");
                }
            } else {
                context.comm.barrier();
                if !targets.contains(rank) {
                    continue;
                }
                view.store(1, round * 1000 + rank as u32);
                view = post(context, &window, view, &Group::of([0])?)?.wait(context.caches);
                check_eq!(view.load(0), round + 1, "what was put in round {round}");
            }
        }
        window.free(view, context.caches)?;
        Ok(())
    })
}

/// What was queued goes out from a later call: the targets see it while the origin has not completed.
pub fn queued_operations_go_out_before_complete<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    with_each(context, &PROMPT, |context, class| {
        let (rank, size) = (context.rank(), context.size());
        let (window, mut view) = make_of::<_, u32>(context, class, 3)?;
        // A put and its notification for each of them fill the queue.
        let targets = Group::of((1..size).take(32))?;
        for round in 1..4u32 {
            if rank == 0 {
                let values = [round, round + 1];
                let access = window.start(&targets)?;
                for target in targets.iter() {
                    access.put_notify(target, 1, &values, 2)?;
                }
                context.comm.barrier();
                // Now all have posted, and any call does: a progress, or an operation on one of them.
                context.comm.barrier();
                match round {
                    1 => access.progress(),
                    _ => targets.iter().take(1).try_for_each(|target| access.put_value(target, 0, round))?,
                }
                context.comm.barrier();
                access.complete();
            } else if targets.contains(rank) {
                context.comm.barrier();
                let exposure = post(context, &window, view, &Group::of([0])?)?;
                context.comm.barrier();
                window.await_notifications(2, round, Deadline::Never)?;
                let mut seen = [0; 2];
                exposure.read(1, &mut seen)?;
                check_eq!(seen, [round, round + 1], "what was there before the epoch of round {round} was complete");
                // The origin completes after this.
                context.comm.barrier();
                view = exposure.wait(context.caches);
            } else {
                (0..3).for_each(|_| context.comm.barrier());
            }
        }
        window.free(view, context.caches)?;
        Ok(())
    })
}

/// An origin that has queued operations for a late target reaches one that has posted at once.
pub fn a_late_target_holds_up_no_other<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    with_each(context, &PROMPT, |context, class| {
        let (rank, last) = (context.rank(), context.size() - 1);
        if last < 2 {
            return Ok(());
        }
        let (window, mut view) = make_of::<_, u32>(context, class, 1)?;
        if rank == 0 {
            let access = window.start(&Group::of([1, last])?)?;
            access.put_value(last, 0, 5)?;
            context.comm.barrier();
            access.put_notify(1, 0, &[6], 0)?;
            context.comm.barrier();
            access.complete();
        } else if rank == 1 {
            let exposure = post(context, &window, view, &Group::of([0])?)?;
            context.comm.barrier();
            window.await_notifications(0, 1, Deadline::Never)?;
            context.comm.barrier();
            view = exposure.wait(context.caches);
            check_eq!(view.load(0), 6, "what was put to the early target");
        } else {
            context.comm.barrier();
            context.comm.barrier();
            if rank == last {
                view = post(context, &window, view, &Group::of([0])?)?.wait(context.caches);
                check_eq!(view.load(0), 5, "what was put to the late target");
            }
        }
        window.free(view, context.caches)?;
        Ok(())
    })
}

/// More operations than a queue holds are carried out all the same, those on one target in the order in which they
/// were asked for.
pub fn operations_keep_their_order<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    with_every_class(context, |context, class| {
        let (rank, size) = (context.rank(), context.size());
        let (window, mut view) = make_of::<_, u32>(context, class, 2)?;
        // Few targets, of which some are late.
        let targets = Group::of((1..size).take(3))?;
        for _ in 0..2 {
            let operands: Vec<u32> = (0..MANY as u32).map(|index| index * 7 + 3).collect();
            if rank == 0 {
                let mut fetched = vec![0; MANY * size];
                let mut places = fetched.iter_mut();
                let access = window.start(&targets)?;
                for (index, operand) in operands.chunks(1).enumerate() {
                    for target in targets.iter() {
                        let operator = if index % 2 == 0 { Operator::SUM } else { Operator::PRODUCT };
                        let Some(fetched) = places.next() else { break };
                        access.fetch_and_op(target, 0, operand[0], fetched, operator)?;
                        access.put(target, 1, operand)?;
                    }
                }
                access.complete();
                for (turn, target) in targets.iter().enumerate() {
                    let mut wanted = 1;
                    for (index, operand) in operands.iter().enumerate() {
                        let got = fetched[index * targets.len() + turn];
                        check_eq!(got, wanted, "what operation {index} found at rank {target}");
                        wanted = combined(wanted, index, *operand);
                    }
                }
            } else if targets.contains(rank) {
                view.store(0, 1);
                if rank % 2 == 1 {
                    context.hal().compute(200_000);
                }
                view = post(context, &window, view, &Group::of([0])?)?.wait(context.caches);
                let all =
                    operands.iter().enumerate().fold(1, |there, (index, operand)| combined(there, index, *operand));
                check_eq!(view.load(0), all, "the result of all operations");
                check_eq!(view.load(1), operands[MANY - 1], "what was put last");
            }
        }
        window.free(view, context.caches)?;
        Ok(())
    })
}

/// What operation `index` makes of what is there.
fn combined(there: u32, index: usize, operand: u32) -> u32 {
    if index.is_multiple_of(2) { there.wrapping_add(operand) } else { there.wrapping_mul(operand) }
}

/// A full queue for two targets of which only the one that was addressed last has posted: the origin waits for a post,
/// and for no more.
pub fn a_full_queue_is_progressed<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    with_each(context, &QUEUEING, |context, class| {
        let (rank, size) = (context.rank(), context.size());
        if size < 3 {
            return Ok(());
        }
        let (window, mut view) = make_of::<_, u32>(context, class, MANY)?;
        if rank == 0 {
            let values: Vec<u32> = (1..=MANY as u32).collect();
            let access = window.start(&Group::of([1, 2])?)?;
            for (index, value) in values.chunks(1).enumerate() {
                access.put(1 + index % 2, index, value)?;
            }
            access.complete();
        } else if rank < 3 {
            context.hal().compute(if rank == 1 { 300_000 } else { 1_000 });
            view = post(context, &window, view, &Group::of([0])?)?.wait(context.caches);
            let is_right = |index: usize| view.load(index) == if index % 2 + 1 == rank { index as u32 + 1 } else { 0 };
            check!((0..MANY).all(is_right), "puts were lost or went to the wrong target");
        }
        window.free(view, context.caches)?;
        Ok(())
    })
}
