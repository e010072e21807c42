//! What is no collective operation and no window: messages, locks, shared memory, notifications, copy engines.

use alloc::{format, vec};

use collectives::{CopyEngines, Group, Mutex, Placement, SharedBuffer, Subscription, Window, lock};
use hal::{Core, CoreId, Deadline, Region, kind};

use super::{
    neighbours,
    recorder::{Recorder, Timing},
};
use kernel::{Failure, Rank};

/// Words under a mutex.
const WORDS: usize = 12;

/// Who finds nobody before it tells nobody that it waits, and who finds nobody behind it leaves the queue empty: how often
/// that is so depends on when ranks come.
const QUEUE: Timing = Timing::HowOften(&[
    "mpb_lines_read",
    "mpb_lines_written",
    "mpb_invalidations",
    "drains",
    "tsr_acquired",
    "words_read",
    "words_written",
]);

/// Bytes that copy engines move.
const COPIED: usize = 1000;

pub(super) fn run<C: Core>(rank: &mut Rank<'_, C>, recorder: &mut Recorder<'_, C>) -> Result<(), Failure> {
    messages(rank, recorder)?;
    locks(rank, recorder)?;
    notifications(rank, recorder)?;
    copy_engines(rank, recorder)
}

/// Messages round the ring: even ranks send first.
fn messages<C: Core>(rank: &Rank<'_, C>, recorder: &mut Recorder<'_, C>) -> Result<(), Failure> {
    let (comm, me, size) = (rank.comm, rank.comm.rank(), rank.comm.size());
    if size == 1 {
        return Ok(());
    }
    let (right, left) = neighbours(comm);
    for len in [0, 1, 32, 33, 10_000] {
        let (message, mut received) = (vec![me as u8; len], vec![0; len]);
        recorder.step(format!("two-sided/{len}"), || {
            // The last of an odd number has two even neighbours.
            if me.is_multiple_of(2) && me + 1 < size || me == 0 {
                comm.send(&message, right)?;
                comm.receive(&mut received, left)?;
            } else {
                comm.receive(&mut received, left)?;
                comm.send(&message, right)?;
            }
            if received.iter().all(|byte| *byte == left as u8) { Ok(()) } else { Err(Failure::new("another message")) }
        })?;
    }
    Ok(())
}

/// Mutexes that all ranks want at once.
fn locks<C: Core>(rank: &mut Rank<'_, C>, recorder: &mut Recorder<'_, C>) -> Result<(), Failure> {
    let comm = rank.comm;
    let region = recorder
        .step("shared-memory/allocate", || Ok(comm.share_zeroed(WORDS * 4, Placement::Near(CoreId::new(0)))?))?;
    let register = comm.register_lock(0)?;
    recorder.step("mutex/register", || count(rank, register, region, false))?;
    let queue = comm.queue_lock(0)?;
    recorder.step("mutex/queue-in-turn", || count(rank, queue, region, true))?;
    let queue = comm.queue_lock(0)?;
    recorder.timed_step("mutex/queue", QUEUE, || count(rank, queue, region, false))?;
    recorder.step("shared-memory/free", || {
        if comm.rank() == 0 {
            comm.allocator().free(region)?;
        }
        Ok(())
    })?;
    Ok(())
}

/// Every rank raises all words: one after the other, or all at once.
fn count<C: Core, L: lock::Lock>(
    rank: &mut Rank<'_, C>,
    lock: L,
    region: Region<kind::Cached>,
    in_turn: bool,
) -> Result<(), Failure> {
    let comm = rank.comm;
    let mut mutex = Mutex::<u32, _, _>::new(comm, lock, region, WORDS)?;
    for turn in 0..if in_turn { comm.size() } else { 1 } {
        if !in_turn || turn == comm.rank() {
            let mut words = mutex.lock(&mut rank.caches);
            for index in 0..WORDS {
                let raised = words.load(index) + 1;
                words.store(index, raised);
            }
        }
        // A lock may be dropped when nobody wants it any more.
        comm.barrier();
    }
    Ok(())
}

/// One rank notifies all others.
fn notifications<C: Core>(rank: &Rank<'_, C>, recorder: &mut Recorder<'_, C>) -> Result<(), Failure> {
    let (comm, root) = (rank.comm, rank.comm.size() / 2);
    let members = recorder.step("notify/subscribe", || Ok(comm.subscribe(&comm.group(), Subscription::default())?))?;
    for len in [8, 700] {
        recorder.step(format!("notify/{len}"), || {
            // An interrupt may come as soon as the root has left the barrier: that belongs to this step, too.
            comm.barrier();
            if comm.rank() == root {
                return Ok(members.notify_all(&vec![3; len])?);
            }
            let message = members.take(Deadline::Never)?;
            if message.bytes == vec![3; len] { Ok(()) } else { Err(Failure::new("another message")) }
        })?;
    }
    recorder.step("notify/close", || {
        members.close();
        Ok(())
    })?;
    Ok(())
}

/// Every third rank copies for the others.
fn copy_engines<C: Core>(rank: &mut Rank<'_, C>, recorder: &mut Recorder<'_, C>) -> Result<(), Failure> {
    let comm = rank.comm;
    let engines = Group::of((0..comm.size()).filter(|rank| rank % 3 == 1))?;
    if engines.is_empty() {
        return Ok(());
    }
    let engines = recorder.step("engines/assign", || Ok(CopyEngines::assign(comm, &engines)?))?;
    copy(rank, comm, &engines, recorder)?;
    recorder.step("engines/free", || {
        engines.free();
        Ok(())
    })
}

/// Each client puts to the next one.
fn copy<'e, C: Core>(
    rank: &mut Rank<'_, C>,
    comm: &'e collectives::Comm<'e, C>,
    engines: &'e CopyEngines<'e, C>,
    recorder: &mut Recorder<'_, C>,
) -> Result<(), Failure> {
    let clients = engines.clients();
    let caches = &mut rank.caches;
    let (window, mut view) = Window::<C, u8>::with_engines(comm, caches, COPIED, collectives::Class::Default, engines)?;
    let mut buffer = SharedBuffer::new(comm, COPIED)?;
    comm.barrier();
    view = recorder.step("engines/pscw-ring", || {
        let Some(position) = clients.position_of(comm.rank()) else {
            engines.serve();
            return Ok(view);
        };
        let neighbour = |steps: usize| clients.rank_at((position + steps) % clients.len()).unwrap_or(comm.rank());
        let (right, left) = (neighbour(1), neighbour(clients.len() - 1));
        for epoch in 1..=3 {
            buffer.write(0, &[epoch; COPIED])?;
            let exposure = window.post(view, caches, &Group::of([left])?)?;
            let access = window.start(&Group::of([right])?)?;
            access.put_shared(right, 0, &buffer, 0..COPIED)?;
            access.complete();
            view = exposure.wait(caches);
            if view.load(COPIED - 1) != epoch {
                return Err(Failure::new("another byte"));
            }
        }
        engines.dismiss();
        Ok(view)
    })?;
    window.free(view, caches).map_err(|refused| Failure::new(refused.error))?;
    Ok(())
}
