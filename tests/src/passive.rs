//! Passive targets: locks as mutual exclusion, parts that are lent and taken back, and targets that do something else
//! meanwhile.

use alloc::{vec, vec::Vec};

use collectives::{Error, Group, Lock, Operator, Returned, Window};
use hal::{Core, Deadline, LINE_BYTES, Place, Reason};

use crate::{
    Context, Failed, check,
    check::Outcome,
    check_eq,
    epochs::{make, post, ring, take_back_together},
    memory::spare_line,
    random::Numbers,
};

/// Gets an element of a part under a lock of its own, and puts back what `change` makes of it.
fn update<C: Core>(
    window: &Window<'_, C, u32>,
    target: usize,
    index: usize,
    change: impl FnOnce(u32) -> u32,
) -> Result<u32, Failed> {
    let mut got = [0];
    let epoch = window.lock(target, Lock::Exclusive)?;
    epoch.get(target, index, &mut got)?;
    let epoch = epoch.flush();
    epoch.put_value(target, index, change(got[0]))?;
    epoch.unlock();
    Ok(got[0])
}

/// Does nothing until the clock shows `ticks`.
fn sleep_until<C: Core>(context: &Context<'_, '_, C>, ticks: u64) {
    let own = [Place::Line(spare_line(context, context.rank(), 0))];
    // What it ends with is that the time has come.
    let _ = context.hal().wait_until::<()>(&own, Deadline::At(ticks), Reason::new("a moment"), |_| None);
}

/// An exclusive lock is mutual exclusion: read, modify, write by all ranks loses no update, whoever owns the part. The
/// owner takes no part in it.
pub fn exclusive_locks_exclude<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    const TURNS: usize = 4;
    let size = context.size();
    let (window, view) = make::<_, u32>(context, 20)?;
    let lent = window.lend(view, context.caches)?;
    for turn in 0..TURNS {
        for hub in [0, size / 2] {
            update(&window, hub, turn % 2 * 19, |there| there + 1)?;
        }
    }
    context.comm.barrier();
    let view = lent.take_back(context.caches);
    let hubs = [0, size / 2].iter().filter(|hub| **hub == context.rank()).count();
    let wanted = (hubs * TURNS / 2 * size) as u32;
    check_eq!((view.load(0), view.load(10), view.load(19)), (wanted, 0, wanted), "updates of all ranks");
    window.free(view, context.caches)?;
    Ok(())
}

/// Readers share a lock: all hold it at the same time. A writer that came while they did sees them gone.
pub fn shared_locks_are_shared<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    let (rank, size) = (context.rank(), context.size());
    let (window, mut view) = make::<_, u32>(context, size)?;
    view.store(0, 7);
    let lent = window.lend(view, context.caches)?;
    for round in 0..3 {
        let hub = round % size;
        let mut got = [0];
        let epoch = window.lock(hub, Lock::Shared)?;
        // Nobody would come out of this if anybody had been kept out.
        context.comm.barrier();
        epoch.get(hub, 0, &mut got)?;
        epoch.unlock();
        // Some of the others are readers still.
        let there = update(&window, hub, rank, |there| there + if rank == 0 { 0 } else { 1 })?;
        check_eq!(there, if rank == 0 { 7 } else { 0 }, "what this rank's element was in round {round}");
        check_eq!(got, [7], "what readers got in round {round}");
        context.comm.barrier();
        if rank != 0 {
            update(&window, hub, rank, |there| there - 1)?;
        }
    }
    context.comm.barrier();
    drop(lent);
    let view = window.view(context.caches)?;
    check!((1..size).all(|index| view.load(index) == 0), "an update was lost");
    window.free(view, context.caches)?;
    Ok(())
}

/// All ranks accumulate on all parts in one epoch without excluding each other, and flush in between.
pub fn all_parts_at_once<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    let (rank, size) = (context.rank(), context.size());
    let (window, view) = make::<_, u64>(context, 2)?;
    let lent = window.lend(view, context.caches)?;
    let mut before = vec![0; size];
    let epoch = window.lock_all()?;
    for (turn, before) in before.iter_mut().enumerate() {
        let target = (rank + turn) % size;
        epoch.fetch_and_op(target, 0, 1 << 33 | 1, before, Operator::SUM)?;
    }
    let epoch = epoch.flush_all();
    check!(
        before.iter().all(|before| (*before as u32) < size as u32),
        "more ranks than there are came before: {before:?}"
    );
    for target in 0..size {
        epoch.accumulate(target, 1, &[2], Operator::SUM)?;
    }
    let epoch = epoch.flush_local_all();
    epoch.unlock_all();
    context.comm.barrier();
    let view = lent.take_back(context.caches);
    let wanted = ((size as u64) << 33 | size as u64, 2 * size as u64);
    check_eq!((view.load(0), view.load(1)), wanted, "the sums of all contributions");
    window.free(view, context.caches)?;
    Ok(())
}

/// A counter that is raised by compare and swap, again until it succeeds, counts exactly.
pub fn swaps_count<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    const TURNS: u32 = 3;
    let size = context.size() as u32;
    let (window, view) = make::<_, u32>(context, 3)?;
    let lent = window.lend(view, context.caches)?;
    for _ in 0..TURNS {
        let mut expected = 0;
        loop {
            let mut found = 0;
            let epoch = window.lock(0, Lock::Shared)?;
            epoch.compare_and_swap(0, 1, expected, expected + 1, &mut found)?;
            epoch.unlock();
            if found == expected {
                break;
            }
            check!(found > expected, "the counter went from {expected} back to {found}");
            expected = found;
        }
    }
    context.comm.barrier();
    let view = lent.take_back(context.caches);
    let wanted = if context.rank() == 0 { TURNS * size } else { 0 };
    check_eq!((view.load(0), view.load(1), view.load(2)), (0, wanted, 0), "the counter and its neighbours");
    window.free(view, context.caches)?;
    Ok(())
}

/// An owner takes its part back, changes it through its view, and lends it again, while others lock it whenever they
/// want to: everybody always sees
/// whole updates, the owner's and the others'.
pub fn owners_take_turns<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    const TURNS: u32 = 6;
    // Two elements in different lines, which are always equal.
    const FAR: usize = 3 * LINE_BYTES / 4;
    let (rank, size) = (context.rank(), context.size());
    let (window, mut view) = make::<_, u32>(context, FAR + 1)?;
    if rank == 0 {
        for turn in 0..TURNS {
            check_eq!(view.load(0), view.load(FAR), "halves of an update that the owner sees in turn {turn}");
            let next = view.load(0) + 1;
            view.store(0, next);
            view.store(FAR, next);
            let lent = window.lend(view, context.caches)?;
            if turn.is_multiple_of(2) {
                context.hal().compute(5_000);
            }
            if turn == TURNS - 1 {
                context.comm.barrier();
            }
            view = lent.take_back(context.caches);
        }
        let others = size as u32 - 1;
        check_eq!(view.load(FAR), TURNS + others * 3, "updates of the owner and of the others");
    } else {
        for turn in 0..3 {
            let (mut near, mut far) = ([0], [0]);
            let epoch = window.lock(0, Lock::Exclusive)?;
            epoch.get(0, 0, &mut near)?;
            epoch.get(0, FAR, &mut far)?;
            let epoch = epoch.flush();
            check_eq!(near, far, "halves of an update in turn {turn}");
            epoch.put_value(0, 0, near[0] + 1)?;
            epoch.put_value(0, FAR, far[0] + 1)?;
            drop(epoch);
            let (mut near, mut far) = ([0], [0]);
            let epoch = window.lock(0, Lock::Shared)?;
            epoch.get(0, FAR, &mut far)?;
            epoch.get(0, 0, &mut near)?;
            epoch.unlock();
            check_eq!(near, far, "halves of an update that a reader sees in turn {turn}");
        }
        context.comm.barrier();
    }
    window.free(view, context.caches)?;
    Ok(())
}

/// Whoever wants a part before its owner has lent it waits for that; an owner locks its own part like everybody else.
pub fn owners_lock_their_own_parts<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    let (rank, size) = (context.rank(), context.size());
    let (right, _) = ring(context);
    let (window, mut view) = make::<_, u32>(context, 1)?;
    for round in 1..4u32 {
        view.store(0, 0);
        context.hal().compute(if (rank + round as usize).is_multiple_of(2) { 30_000 } else { 0 });
        let lent = window.lend(view, context.caches)?;
        update(&window, rank, 0, |there| there + 100)?;
        update(&window, right, 0, |there| there + round)?;
        let mut got = [0];
        let epoch = window.lock(rank, Lock::Shared)?;
        epoch.get(rank, 0, &mut got)?;
        epoch.unlock();
        check!([100, 100 + round].contains(&got[0]), "the owner got {} in round {round} of {size} ranks", got[0]);
        view = take_back_together(context, lent);
        check_eq!(view.load(0), 100 + round, "both updates of round {round}");
    }
    window.free(view, context.caches)?;
    Ok(())
}

/// A lock goes to whoever came first: readers and writers that arrive one after another, while it is taken, get it in
/// that order.
pub fn locks_are_fair<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    // So long that everybody has taken its ticket before the next one comes. A host that leaves a core without a processor
    // for longer upsets the order of arrival, and says nothing about locks: there, once more with longer pauses.
    const APART: [u64; 4] = [3_000_000, 12_000_000, 48_000_000, 192_000_000];
    let comers = context.size().min(6);
    let mut orders = Vec::new();
    for apart in APART {
        let order = order_of_entries(context, comers, apart)?;
        if order.iter().copied().eq(1..comers) {
            return Ok(());
        }
        orders.push(order);
    }
    check!(false, "ranks came in ascending order and got in as {orders:?}");
    Ok(())
}

/// The ranks from 1 to `comers` come `apart` ticks after each other for a lock that rank 0 holds. Returns, on all ranks,
/// the ranks in the order in which they got it.
fn order_of_entries<C: Core>(
    context: &mut Context<'_, '_, C>,
    comers: usize,
    apart: u64,
) -> Result<Vec<usize>, Failed> {
    let rank = context.rank();
    let (window, view) = make::<_, u32>(context, comers + 1)?;
    let lent = window.lend(view, context.caches)?;
    let held = if rank == 0 { Some(window.lock(0, Lock::Exclusive)?) } else { None };
    context.comm.barrier();
    let begin = context.hal().now();
    if (1..comers).contains(&rank) {
        sleep_until(context, begin + rank as u64 * apart);
        // Element 0 counts those that are through, the others say who it was.
        let mut place = 0;
        let epoch = window.lock(0, if rank % 3 == 2 { Lock::Shared } else { Lock::Exclusive })?;
        epoch.fetch_and_op(0, 0, 1, &mut place, Operator::SUM)?;
        let epoch = epoch.flush();
        epoch.put_value(0, 1 + place as usize, rank as u32)?;
        epoch.unlock();
    } else if rank == 0 {
        sleep_until(context, begin + comers as u64 * apart);
    }
    drop(held);
    context.comm.barrier();
    let view = lent.take_back(context.caches);
    let mut order: Vec<u32> = (1..comers).map(|place| view.load(place)).collect();
    context.comm.broadcast(&mut order, 0)?;
    window.free(view, context.caches)?;
    Ok(order.into_iter().map(|rank| rank as usize).collect())
}

/// What was flushed is in the target's memory while the epoch goes on: others that are told see it, and the buffers
/// are free.
pub fn flushed_operations_are_there<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    let (rank, size) = (context.rank(), context.size());
    let (right, left) = ring(context);
    let (window, view) = make::<_, u32>(context, size)?;
    let lent = window.lend(view, context.caches)?;
    let (mut value, mut got) = ([5], [0]);
    let epoch = window.lock(0, Lock::Shared)?;
    epoch.put(0, rank, &value)?;
    let epoch = epoch.flush();
    value[0] = rank as u32 + 1;
    context.comm.barrier();
    epoch.get(0, right, &mut got)?;
    let epoch = epoch.flush_local();
    check_eq!(got, [5], "what was got of the first put");
    context.comm.barrier();
    epoch.put(0, rank, &value)?;
    let epoch = epoch.flush_local().flush();
    context.comm.barrier();
    epoch.get(0, left, &mut got)?;
    epoch.unlock();
    check_eq!(got, [left as u32 + 1], "what was got of the second put");
    let view = take_back_together(context, lent);
    window.free(view, context.caches)?;
    Ok(())
}

/// A target that waits for something else, or for a notification, is accessed meanwhile.
pub fn targets_take_no_part<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    let (rank, size) = (context.rank(), context.size());
    let (window, view) = make::<_, u32>(context, size)?;
    let lent = window.lend(view, context.caches)?;
    if rank == 0 {
        window.await_notifications(5, size as u32 - 1, Deadline::Never)?;
        let mut got = vec![0; size];
        let epoch = window.lock(0, Lock::Shared)?;
        epoch.get(0, 0, &mut got)?;
        epoch.unlock();
        check!((1..size).all(|origin| got[origin] == origin as u32), "what was notified: {got:?}");
    } else {
        let value = [rank as u32];
        let epoch = window.lock(0, Lock::Shared)?;
        epoch.put_notify(0, rank, &value, 5)?;
        // It is there although the epoch goes on.
        context.comm.barrier();
        epoch.unlock();
    }
    if rank == 0 {
        context.comm.barrier();
    }
    context.comm.barrier();
    let view = lent.take_back(context.caches);
    window.free(view, context.caches)?;
    Ok(())
}

/// Many ranks lock parts by chance, one way or the other, and move amounts between two of them, in ascending order:
/// nothing gets lost.
pub fn amounts_are_moved<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    const EACH: u32 = 1000;
    let (rank, size) = (context.rank(), context.size());
    if size < 2 {
        return Ok(());
    }
    let (window, mut view) = make::<_, u32>(context, 1)?;
    view.store(0, EACH);
    let lent = window.lend(view, context.caches)?;
    let mut numbers = Numbers::new(&[rank, size]);
    for _ in 0..5 {
        let low = numbers.below(size - 1);
        let high = low + 1 + numbers.below(size - 1 - low);
        let (mut at_low, mut at_high) = ([0], [0]);
        let (first, second) = (window.lock(low, Lock::Exclusive)?, window.lock(high, Lock::Exclusive)?);
        first.get(low, 0, &mut at_low)?;
        second.get(high, 0, &mut at_high)?;
        let (first, second) = (first.flush_local(), second.flush_local());
        let amount = at_low[0].min(numbers.below(50) as u32);
        first.put_value(low, 0, at_low[0] - amount)?;
        second.put_value(high, 0, at_high[0] + amount)?;
        first.unlock();
        second.unlock();
    }
    context.comm.barrier();
    let mut all = vec![0; size];
    let epoch = window.lock_all()?;
    for (target, amount) in all.chunks_mut(1).enumerate() {
        epoch.get(target, 0, amount)?;
    }
    epoch.unlock_all();
    check_eq!(all.iter().sum::<u32>(), EACH * size as u32, "all amounts together");
    context.comm.barrier();
    let view = lent.take_back(context.caches);
    check_eq!(view.load(0), all[rank], "the own amount");
    window.free(view, context.caches)?;
    Ok(())
}

/// Misuse that types cannot stop gets an error value.
pub fn misuse_is_refused<C: Core>(context: &mut Context<'_, '_, C>) -> Outcome {
    let (rank, size) = (context.rank(), context.size());
    let (right, _) = ring(context);
    let (window, view) = make::<_, u32>(context, 1)?;
    let (other, other_view) = make::<_, u32>(context, 1)?;
    let number = window.number();
    let not_lent = Error::NotLent { window: number };
    check_eq!(window.lock(rank, Lock::Shared).err(), Some(not_lent), "a lock of the own part");
    check_eq!(window.lock_all().err(), Some(not_lent), "a lock of all parts");
    check_eq!(
        window.lock(size, Lock::Shared).err(),
        Some(Error::NoSuchRank { rank: size, size }),
        "a lock of nobody's"
    );
    let Err(Returned { error, taken: other_view }) = window.lend(other_view, context.caches) else {
        return Err(Failed("another window's view was lent".into()));
    };
    check_eq!(error, Error::ForeignView { window: number }, "a foreign view");
    let exposure = post(context, &window, view, &Group::empty())?;
    check_eq!(window.lock(rank, Lock::Exclusive).err(), Some(not_lent), "a lock of an exposed part");
    let view = exposure.wait(context.caches);

    let lent = window.lend(view, context.caches)?;
    let exposed = Error::ExposureEpochOpen { window: number };
    check_eq!(window.view(context.caches).err(), Some(exposed), "a view of a part that is lent");
    let epoch = window.lock(right, Lock::Shared)?;
    let locked = |rank| Some(Error::Locked { rank, window: number });
    check_eq!(window.lock(right, Lock::Exclusive).err(), locked(right), "a second lock");
    check_eq!(window.lock_all().err(), locked(right), "a lock of all parts, one of which is locked");
    drop(epoch);
    let epoch = window.lock_all()?;
    check_eq!(window.lock(right, Lock::Shared).err(), locked(right), "a lock of one of all parts");
    check_eq!(window.lock_all().err(), locked(rank), "a second lock of all parts");
    epoch.put_value(right, 0, 3)?;
    drop(epoch);
    // Another window has its own locks.
    let other_lent = other.lend(other_view, context.caches)?;
    let both = (window.lock(right, Lock::Shared)?, other.lock(right, Lock::Shared)?);
    drop(both);
    context.comm.barrier();
    let other_view = other_lent.take_back(context.caches);
    let view = lent.take_back(context.caches);
    check_eq!((view.load(0), other_view.load(0)), (3, 0), "what was put while all parts were locked");
    check_eq!(window.lock(rank, Lock::Shared).err(), Some(not_lent), "a lock of a part that was taken back");
    other.free(other_view, context.caches)?;
    window.free(view, context.caches)?;
    Ok(())
}
