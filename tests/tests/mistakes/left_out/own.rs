//! Programs of which each needs calls that no test of the suite needs in its plain run: what they do is rare, not wrong.

use collectives::{
    Assertions, Barrier, Delivery, Group, Lock, Mutex, Placement, Scope, SharedBuffer, Source, Subscription, Tag,
    Window, lock::Lock as _,
};
use hal::{
    Cached, Clock, Combined, Deadline, LINE_BYTES, Reason, Region, Topology, Uncached, Wait, kind, sim::SimCore,
};
use tests::{Context, check::Outcome, memory::shared};

use crate::machine::LATE;

/// What is run.
pub(super) type Own = fn(&mut Context<'_, '_, SimCore>) -> Outcome;

/// Each by its name, with its machine.
pub(super) const PROGRAMS: &[(&str, Own, &str)] = &[
    ("a queue lock that nobody waits for", a_queue_lock_that_nobody_waits_for, "scc:2"),
    ("turns to notify", turns_to_notify, "scc:2"),
    ("tickets to notify", tickets_to_notify, "scc:3"),
    ("buffers without engines", buffers_without_engines, "scc:2"),
    ("one rank", one_rank, "scc:1"),
    ("memory of a window is somebody else's", memory_of_a_window_is_somebody_elses, "scc:2"),
    ("phases that are split", phases_that_are_split, "scc:2"),
    ("ranges as large as the cache", ranges_as_large_as_the_cache, "scc:2"),
    ("barriers that poll nothing", barriers_that_poll_nothing, "scc:2"),
    ("lines of a program", lines_of_a_program, "scc:2"),
    ("messages that come early", messages_that_come_early, "scc:2"),
    ("flushes that follow no wait", flushes_that_follow_no_wait, "scc:2"),
    ("a mutex beside other data", a_mutex_beside_other_data, "scc:2/pages"),
    ("parts beside other data", parts_beside_other_data, "scc:2/pages"),
];

/// Waits by loads, which invalidate nothing.
fn spin(core: &SimCore, flags: Region<kind::Uncached>, flag: usize) {
    while core.load_word(flags, flag) == 0 {
        core.relax();
    }
}

/// Rank 1 comes when rank 0 has gone: it learns of that by the tail of the queue alone.
fn a_queue_lock_that_nobody_waits_for(context: &mut Context<'_, '_, SimCore>) -> Outcome {
    let (rank, hal) = (context.rank(), context.hal());
    let data = shared::<_, kind::Combined>(context, 32)?;
    let mut bytes = [0; 16];
    let mut lock = context.comm.queue_lock(0)?;
    if rank == 1 {
        // L1 has the line, of which the other half is this rank's.
        hal.read(data, 16, &mut bytes);
        hal.compute(LATE);
    }
    let guard = lock.lock();
    if rank == 0 {
        hal.write(data, 0, &[3; 16]);
    } else {
        hal.read(data, 0, &mut bytes);
    }
    drop(guard);
    Ok(())
}

/// Rank 0 has had its turn, and does nothing more until rank 1 has had its own.
fn turns_to_notify(context: &mut Context<'_, '_, SimCore>) -> Outcome {
    for delivery in [Delivery::Interrupts, Delivery::Polling] {
        let subscription = Subscription { delivery, ..Subscription::default() };
        let notifications = context.comm.subscribe(&context.comm.group(), subscription)?;
        if context.rank() == 1 {
            notifications.take(Deadline::Never)?;
        }
        notifications.notify_all(&[5])?;
        if context.rank() == 0 {
            notifications.take(Deadline::Never)?;
        }
        notifications.close();
    }
    Ok(())
}

/// All draw their tickets at once, one right after the other.
fn tickets_to_notify(context: &mut Context<'_, '_, SimCore>) -> Outcome {
    let notifications = context.comm.subscribe(&context.comm.group(), Subscription::default())?;
    notifications.notify_all(&[5])?;
    (1..context.size()).try_for_each(|_| notifications.take(Deadline::Never).map(|_| ()))?;
    notifications.close();
    Ok(())
}

/// Each rank copies for itself, less than a line each time, which stays in its write-combine buffer; it reads what it has got, and lets go of a
/// buffer, before the epoch is over. That memory is the other rank's next.
fn buffers_without_engines(context: &mut Context<'_, '_, SimCore>) -> Outcome {
    let (comm, hal, rank) = (context.comm, context.hal(), context.rank());
    let flag = shared::<_, kind::Uncached>(context, 4)?;
    let (window, mut view) = Window::<_, u32>::create(comm, context.caches, 16)?;
    view.copy_from(0, &[4; 16]);
    let (mut from, mut to, mut other) =
        (SharedBuffer::new(comm, 8)?, SharedBuffer::new(comm, 8)?, SharedBuffer::new(comm, 8)?);
    let lent = window.lend(view, context.caches).map_err(|returned| returned.error)?;
    from.write(0, &[7; 5])?;
    let epoch = window.lock(1 - rank, Lock::Exclusive)?;
    epoch.put_shared(1 - rank, 0, &from, 0..5)?;
    epoch.get_shared(1 - rank, 8, &mut to, 0..5)?;
    let epoch = epoch.flush_local();
    to.read(0, &mut [0; 5])?;
    epoch.get_shared(1 - rank, 8, &mut other, 0..5)?;
    let epoch = epoch.flush_local();
    if rank == 0 {
        drop(other);
        hal.store_word(flag, 0, 1);
    } else {
        spin(hal, flag, 0);
        let mut again: Vec<SharedBuffer<'_, _, u32>> = Vec::new();
        for _ in 0..8 {
            let mut one = SharedBuffer::new(comm, 8)?;
            one.write(0, &[7; 5])?;
            again.push(one);
        }
    }
    epoch.unlock();
    comm.barrier();
    let view = lent.take_back(context.caches);
    window.free(view, context.caches).map_err(|returned| returned.error)?;
    Ok(())
}

/// Nobody is waited for, so no poll invalidates anything.
fn one_rank(context: &mut Context<'_, '_, SimCore>) -> Outcome {
    let (window, mut view) = Window::<_, u32>::create(context.comm, context.caches, 8)?;
    for value in [1, 2] {
        view.copy_from(0, &[value; 8]);
        let mut got = [0; 8];
        let epoch = window.fence(view, context.caches, Assertions::empty()).map_err(|returned| returned.error)?;
        epoch.get(0, 0, &mut got)?;
        view = epoch.close(context.caches, Assertions::empty());
    }
    let nobody = Group::of([])?;
    for value in [3, 4] {
        view.copy_from(0, &[value; 8]);
        window.while_posted(&mut view, context.caches, &nobody, |exposed| {
            exposed.await_origins();
            exposed.read(0, &mut [0; 8])
        })??;
    }
    window.free(view, context.caches).map_err(|returned| returned.error)?;
    Ok(())
}

/// Rank 1 looks at a line between its arrival and the release, and rank 0 has not written it back before.
fn phases_that_are_split(context: &mut Context<'_, '_, SimCore>) -> Outcome {
    let (rank, hal) = (context.rank(), context.hal());
    let region = shared::<_, kind::Cached>(context, 64)?;
    let mut view = hal.claim::<u32>(region, 16)?;
    let mut barrier = context.comm.barrier_of(&context.comm.group(), Barrier::Default)?;
    for (line, scope) in [(0, Scope::Whole), (8, Scope::Ranges(&[region]))] {
        if rank == 0 {
            hal.compute(LATE);
            view.store(line + 4, 1);
        }
        let arrived = barrier.coherent_arrive(context.caches, scope);
        // The half that nobody stores to.
        view.load(line);
        arrived.wait(context.caches);
        view.load(line + 4);
        context.comm.barrier();
    }
    Ok(())
}

/// So many lines are flushed all at once.
fn ranges_as_large_as_the_cache(context: &mut Context<'_, '_, SimCore>) -> Outcome {
    let hal = context.hal();
    let lines = hal.layout().cache_sets();
    let region = shared::<_, kind::Cached>(context, lines * LINE_BYTES)?;
    let mut view = hal.claim::<u32>(region, lines * 8)?;
    if context.rank() == 0 {
        view.store(0, 5);
    }
    context.comm.coherent_barrier(context.caches, Scope::Ranges(&[region]));
    view.load(0);
    Ok(())
}

/// Who comes last has the line from before, and waits for nobody.
fn barriers_that_poll_nothing(context: &mut Context<'_, '_, SimCore>) -> Outcome {
    let hal = context.hal();
    for barrier in [Barrier::AtomicCounters, Barrier::Registers] {
        for last in 0..2 {
            let data = shared::<_, kind::Combined>(context, 32)?;
            let mut barrier = context.comm.barrier_of(&context.comm.group(), barrier)?;
            let mut bytes = [0; 16];
            if context.rank() == last {
                // The half that nobody stores to.
                hal.read(data, 16, &mut bytes);
                hal.compute(LATE);
            } else {
                hal.write(data, 0, &[3; 16]);
            }
            barrier.wait();
            hal.read(data, 0, &mut bytes);
        }
    }
    Ok(())
}

/// Rank 1 has looked at all lines, and looks again when rank 0 has changed one, of which it learns without a wait.
fn lines_of_a_program(context: &mut Context<'_, '_, SimCore>) -> Outcome {
    let (hal, rank) = (context.hal(), context.rank());
    let (ready, done) = (shared::<_, kind::Uncached>(context, 32)?, shared::<_, kind::Uncached>(context, 32)?);
    let lines = context.comm.reserve_lines(4)?;
    let mut all = [0; 128];
    for step in 0..4 {
        if rank == 1 {
            lines.get(if step == 3 { 1 } else { 0 }, 0, &mut all)?;
            hal.store_word(ready, step, 1);
            spin(hal, done, step);
            match step {
                0 => lines.get(0, 33, &mut all[..5])?,
                1 => lines.get_to_own(0, 0, 96, 32)?,
                2 => _ = lines.load_word(0, 24)?,
                _ => lines.put_own(0, 0, 64, 32)?,
            }
        } else {
            spin(hal, ready, step);
            match step {
                0 => lines.put(&[7; 5], 0, 33)?,
                1 => lines.put(&[7; 32], 0, 0)?,
                2 => lines.store_word(0, 24, 9)?,
                _ => lines.put(&[7; 32], 1, 0)?,
            }
            hal.store_word(done, step, 1);
        }
    }
    // Who has told the other does nothing more until it answers.
    let reason = Reason::new("the other rank");
    if rank == 0 {
        lines.store_word(0, 25, 1)?;
        lines.wait_for_word(26, reason, |word| word == 1)?;
    } else {
        lines.wait_for_word_of(0, 25, reason, Deadline::Never, |word| word == 1)?;
        lines.store_word(0, 26, 1)?;
    }
    Ok(())
}

/// The sender has gone on, or waits already, when the receiver comes.
fn messages_that_come_early(context: &mut Context<'_, '_, SimCore>) -> Outcome {
    let (comm, hal) = (context.comm, context.hal());
    let _messages = comm.open_messages()?;
    for len in [9001, 1001] {
        for round in 0..2 {
            if context.rank() == 0 {
                comm.send_tagged_buffered(&vec![1_u8; len], 1, round)?;
                comm.send_tagged(&vec![2_u8; len], 1, 5)?;
            } else {
                hal.compute(LATE);
                comm.receive_tagged(&mut vec![0_u8; len], Source::Rank(0), Tag::Is(round))?;
                hal.compute(LATE);
                comm.receive_tagged(&mut vec![0_u8; len], Source::Rank(0), Tag::Is(5))?;
            }
        }
    }
    comm.barrier();
    Ok(())
}

/// What rank 0 has stored to its part, and shown to nobody, must not come to memory when that is rank 1's.
fn memory_of_a_window_is_somebody_elses(context: &mut Context<'_, '_, SimCore>) -> Outcome {
    for owner in 0..2 {
        let len = if context.rank() == owner { 1024 } else { 0 };
        let (window, mut view) = Window::<_, u32>::create(context.comm, context.caches, len)?;
        if len > 0 {
            // Parts that are made in turn overlap, if they are not at the same place.
            view.copy_from(0, &[4; 1024]);
        }
        window.free(view, context.caches).map_err(|returned| returned.error)?;
    }
    Ok(())
}

/// Rank 0 learns of puts by other means than a wait, and has the line from before.
fn flushes_that_follow_no_wait(context: &mut Context<'_, '_, SimCore>) -> Outcome {
    let (comm, hal, rank) = (context.comm, context.hal(), context.rank());
    let flags = shared::<_, kind::Uncached>(context, 32)?;
    let (window, mut view) = Window::<_, u32>::create(comm, context.caches, 8)?;
    view.copy_from(0, &[4; 8]);
    let lent = window.lend(view, context.caches).map_err(|returned| returned.error)?;
    comm.barrier();
    let (mut first, mut second) = ([0; 4], [0; 2]);
    let epoch = window.lock(1, Lock::Shared)?;
    if rank == 0 {
        // Elements that nobody puts.
        epoch.get(1, 4, &mut first)?;
        spin(hal, flags, 0);
        let epoch = epoch.flush_local();
        epoch.get(1, 0, &mut second)?;
        epoch.unlock();
    } else {
        hal.compute(LATE);
        epoch.put(1, 0, &[5; 2])?;
        let epoch = epoch.flush();
        hal.store_word(flags, 0, 1);
        epoch.unlock();
    }
    comm.barrier();
    let epoch = window.lock_all()?;
    if rank == 0 {
        epoch.get(1, 4, &mut first)?;
        spin(hal, flags, 1);
        let epoch = epoch.flush_local_all();
        epoch.get(1, 2, &mut second)?;
        epoch.unlock_all();
    } else {
        hal.compute(LATE);
        epoch.put(1, 2, &[5; 2])?;
        let epoch = epoch.flush_all();
        hal.store_word(flags, 1, 1);
        epoch.unlock_all();
    }
    comm.barrier();
    let view = lent.take_back(context.caches);
    window.free(view, context.caches).map_err(|returned| returned.error)?;
    Ok(())
}

/// Rank 1 has looked at what is on the same page, which brought the elements of the mutex with it.
fn a_mutex_beside_other_data(context: &mut Context<'_, '_, SimCore>) -> Outcome {
    let (rank, hal) = (context.rank(), context.hal());
    let all = shared::<_, kind::Cached>(context, 128)?;
    let other = hal.claim::<u32>(all.lines_around(64, 128), 16)?;
    let lock = context.comm.register_lock(0)?;
    let mut mutex = Mutex::<u32, _, _>::new(context.comm, lock, all.lines_around(0, 32), 8)?;
    if rank == 1 {
        other.load(0);
        hal.compute(LATE);
    }
    let mut guard = mutex.lock(context.caches);
    let value = guard.load(0);
    guard.store(0, value + 1);
    drop(guard);
    Ok(())
}

/// While its part is exposed, rank 0 looks at what is on the same page, which brings the part with it as it was before.
fn parts_beside_other_data(context: &mut Context<'_, '_, SimCore>) -> Outcome {
    let (comm, hal, rank) = (context.comm, context.hal(), context.rank());
    let (window, mut view) = Window::<_, u32>::create(comm, context.caches, 8)?;
    let beside = comm.allocator().allocate::<kind::Cached>(32, Placement::Near(hal.core()))?;
    let mut other = hal.claim::<u32>(beside, 8)?;
    view.copy_from(0, &[4; 8]);
    other.store(0, 1);
    hal.write_back_invalidate(context.caches, beside);
    let pair = Group::of([1 - rank])?;
    if rank == 0 {
        let exposure = window.post(view, context.caches, &pair)?;
        other.load(0);
        view = exposure.wait(context.caches);
        view.load(0);
        let exposure = window.post(view, context.caches, &pair)?;
        other.load(0);
        hal.compute(2 * LATE);
        drop(exposure);
        view = window.view(context.caches)?;
        view.load(0);
    } else {
        for value in [5, 6] {
            let values = [value; 4];
            let access = window.start(&pair)?;
            hal.compute(LATE);
            access.put(0, 0, &values)?;
            access.complete();
        }
    }
    window.free(view, context.caches).map_err(|returned| returned.error)?;
    Ok(())
}
