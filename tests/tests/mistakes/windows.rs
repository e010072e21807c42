//! Mistakes around windows and collective operations: what epochs order, and what not.

use collectives::{AccessEpoch, Blocks, Comm, Group, Lock, Operator, Window};
use hal::{Clock, Deadline, sim::SimCore};

use crate::{
    cases,
    machine::{LATE, caches, me},
};

cases! {
    Race on 3: puts_of_two_origins_overlap;
    Race on 3: a_put_meets_a_get;
    Race on 3: puts_under_a_shared_lock;
    Race on 2: an_exposed_part_is_read_too_early;
    OneSided on 2: two_puts_of_one_epoch;
    OneSided on 2: a_get_of_what_was_just_put;
    OneSided on 2: a_local_flush_completes_nothing_there;
    OneSided on 2: a_put_over_an_accumulated_element;
    OneSided on 2: vector_puts_overlap;
    OneSided on 2: an_answer_is_not_awaited;
}

/// Both put in one epoch of the target.
fn puts_of_two_origins_overlap(core: &SimCore, wrong: bool) {
    let comm = Comm::world(core, regions::of_a_test()).unwrap();
    let mut caches = caches(core);
    let (window, view) = Window::<_, u32>::create(&comm, &mut caches, 64).unwrap();
    if me(core) == 0 {
        let exposure = window.post(view, &mut caches, &Group::of([1, 2]).unwrap()).unwrap();
        let view = exposure.wait(&mut caches);
        window.free(view, &mut caches).map_err(|_| ()).unwrap();
        return;
    }
    let words = [5; 20];
    let access: AccessEpoch<'_, '_, '_, _, _> = window.start(&Group::of([0]).unwrap()).unwrap();
    core.compute(LATE * me(core) as u64);
    let first = (me(core) - 1) * if wrong { 16 } else { 32 };
    access.put(0, first, &words).unwrap(); // MISTAKE
    access.complete();
    window.free(view, &mut caches).map_err(|_| ()).unwrap();
}

fn a_put_meets_a_get(core: &SimCore, wrong: bool) {
    let comm = Comm::world(core, regions::of_a_test()).unwrap();
    let mut caches = caches(core);
    let (window, mut view) = Window::<_, u32>::create(&comm, &mut caches, 64).unwrap();
    if me(core) == 0 {
        view.copy_from(0, &[4; 64]);
        let exposure = window.post(view, &mut caches, &Group::of([1, 2]).unwrap()).unwrap();
        let view = exposure.wait(&mut caches);
        window.free(view, &mut caches).map_err(|_| ()).unwrap();
        return;
    }
    let (words, mut got) = ([5; 16], [0; 16]);
    let access = window.start(&Group::of([0]).unwrap()).unwrap();
    core.compute(LATE * me(core) as u64);
    if me(core) == 1 {
        access.put(0, 0, &words).unwrap();
    } else {
        access.get(0, if wrong { 8 } else { 16 }, &mut got).unwrap(); // MISTAKE
    }
    access.complete();
    window.free(view, &mut caches).map_err(|_| ()).unwrap();
}

/// Both have a shared lock, which is for gets.
fn puts_under_a_shared_lock(core: &SimCore, wrong: bool) {
    let comm = Comm::world(core, regions::of_a_test()).unwrap();
    let mut caches = caches(core);
    let (window, view) = Window::<_, u32>::create(&comm, &mut caches, 64).unwrap();
    let lent = window.lend(view, &mut caches).map_err(|returned| returned.error).unwrap();
    let words = [5; 16];
    core.compute(LATE * me(core) as u64);
    let epoch = window.lock(0, if wrong { Lock::Shared } else { Lock::Exclusive }).unwrap();
    epoch.put(0, 8, &words).unwrap(); // MISTAKE
    core.compute(3 * LATE);
    epoch.unlock();
    comm.barrier();
    let view = lent.take_back(&mut caches);
    window.free(view, &mut caches).map_err(|_| ()).unwrap();
}

/// A part is read while it is exposed, before its origins were awaited.
fn an_exposed_part_is_read_too_early(core: &SimCore, wrong: bool) {
    let comm = Comm::world(core, regions::of_a_test()).unwrap();
    let mut caches = caches(core);
    let (window, mut view) = Window::<_, u32>::create(&comm, &mut caches, 64).unwrap();
    let words = [5; 16];
    if me(core) == 1 {
        let access = window.start(&Group::of([0]).unwrap()).unwrap();
        access.put(0, 0, &words).unwrap();
        access.complete();
    } else {
        let origins = Group::of([1]).unwrap();
        let read = window.while_posted(&mut view, &mut caches, &origins, |exposed| {
            core.compute(LATE);
            if !wrong {
                exposed.await_origins();
            }
            exposed.read(0, &mut [0; 16]) // MISTAKE
        });
        read.unwrap().unwrap();
    }
    window.free(view, &mut caches).map_err(|_| ()).unwrap();
}

/// Each rank puts to its right neighbour, twice, and looks at what it has got; then all sum up.
pub(crate) fn ring(core: &SimCore) {
    let comm = Comm::world(core, regions::of_a_test()).unwrap();
    let mut caches = caches(core);
    let (left, right) = ((me(core) + comm.size() - 1) % comm.size(), (me(core) + 1) % comm.size());
    let (window, mut view) = Window::<_, u32>::create(&comm, &mut caches, 4).unwrap();
    view.store(0, me(core) as u32);
    for _ in 0..2 {
        let words = [view.load(0), 1, 2];
        let exposure = window.post(view, &mut caches, &Group::of([left]).unwrap()).map_err(|_| ()).unwrap();
        let access = window.start(&Group::of([right]).unwrap()).unwrap();
        access.put(right, 0, &words).unwrap();
        access.complete();
        view = exposure.wait(&mut caches);
    }
    comm.allreduce(&[view.load(0)], &mut [0], &Operator::SUM).unwrap();
    window.free(view, &mut caches).map_err(|_| ()).unwrap();
}

/// Makes a window of two cores, on which core 1 does something while core 0 has lent its part.
fn on_a_lent_part(core: &SimCore, act: impl Fn(&Window<'_, SimCore, u32>)) {
    let comm = Comm::world(core, regions::of_a_test()).unwrap();
    let mut caches = caches(core);
    let (window, view) = Window::<_, u32>::create(&comm, &mut caches, 64).unwrap();
    let lent = window.lend(view, &mut caches).map_err(|_| ()).unwrap();
    comm.barrier();
    if me(core) == 1 {
        act(&window);
    }
    comm.barrier();
    let view = lent.take_back(&mut caches);
    window.free(view, &mut caches).map_err(|_| ()).unwrap();
}

/// The library carries them out one after the other, another one need not.
fn two_puts_of_one_epoch(core: &SimCore, wrong: bool) {
    let (first, second) = ([1; 8], [2; 8]);
    on_a_lent_part(core, |window| {
        let mut epoch = window.lock(0, Lock::Exclusive).unwrap();
        epoch.put(0, 0, &first).unwrap();
        if !wrong {
            epoch = epoch.flush();
        }
        epoch.put(0, 7, &second).unwrap(); // MISTAKE
        epoch.unlock();
    });
}

fn a_get_of_what_was_just_put(core: &SimCore, wrong: bool) {
    let value = [1; 8];
    on_a_lent_part(core, |window| {
        let mut got = [0; 4];
        let epoch = window.lock_all().unwrap();
        epoch.put(0, 0, &value).unwrap();
        epoch.get(0, if wrong { 4 } else { 8 }, &mut got).unwrap(); // MISTAKE
        epoch.unlock_all();
    });
}

fn a_local_flush_completes_nothing_there(core: &SimCore, wrong: bool) {
    let value = [1; 8];
    on_a_lent_part(core, |window| {
        let mut epoch = window.lock(0, Lock::Shared).unwrap();
        epoch.put(0, 0, &value).unwrap();
        epoch = if wrong { epoch.flush_local() } else { epoch.flush() };
        epoch.put(0, 0, &value).unwrap(); // MISTAKE
        epoch.unlock();
    });
}

fn a_put_over_an_accumulated_element(core: &SimCore, wrong: bool) {
    let value = [1; 2];
    on_a_lent_part(core, |window| {
        let epoch = window.lock(0, Lock::Shared).unwrap();
        epoch.accumulate(0, 3, &value, Operator::SUM).unwrap();
        epoch.accumulate(0, 4, &value, Operator::SUM).unwrap();
        epoch.put_value(0, if wrong { 5 } else { 6 }, 1).unwrap(); // MISTAKE
        epoch.unlock();
    });
}

fn vector_puts_overlap(core: &SimCore, wrong: bool) {
    let values = [1; 8];
    let blocks = |first| Blocks { first, block: 2, stride: 4, count: 4 };
    on_a_lent_part(core, |window| {
        let epoch = window.lock(0, Lock::Exclusive).unwrap();
        epoch.put_blocks(0, blocks(0), &values).unwrap();
        epoch.put_blocks(0, blocks(if wrong { 1 } else { 2 }), &values).unwrap(); // MISTAKE
        epoch.unlock();
    });
}

/// Notified puts to and fro in one epoch: an answer says that what it answers is there.
fn an_answer_is_not_awaited(core: &SimCore, wrong: bool) {
    let comm = Comm::world(core, regions::of_a_test()).unwrap();
    let mut caches = caches(core);
    let (window, view) = Window::<_, u32>::create(&comm, &mut caches, 64).unwrap();
    let lent = window.lend(view, &mut caches).map_err(|_| ()).unwrap();
    comm.barrier();
    let (other, value) = (1 - me(core), [1; 8]);
    let epoch = window.lock_all().unwrap();
    if me(core) == 1 {
        epoch.put_notify(other, 0, &value, 0).unwrap();
        if !wrong {
            epoch.await_notifications(0, 1, Deadline::Never).unwrap();
        }
        epoch.put_notify(other, 0, &value, 0).unwrap(); // MISTAKE
        if wrong {
            epoch.await_notifications(0, 1, Deadline::Never).unwrap();
        }
    } else {
        epoch.await_notifications(0, 1, Deadline::Never).unwrap();
        epoch.put_notify(other, 0, &value, 0).unwrap();
        epoch.await_notifications(0, 1, Deadline::Never).unwrap();
    }
    epoch.unlock_all();
    comm.barrier();
    let view = lent.take_back(&mut caches);
    window.free(view, &mut caches).map_err(|_| ()).unwrap();
}
