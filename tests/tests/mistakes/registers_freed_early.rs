//! Test-and-set registers that are freed while what they protect is still in the write-combine buffer.

use hal::{Clock, Combined, CoreId, Mpb, MpbCoherence, MpbCopy, Place, Reason, TestAndSet, Wait, kind, sim::SimCore};

use crate::{
    cases,
    machine::{LATE, data, me, more, mpb},
};

const REGISTER: CoreId = CoreId::new(0);

cases! {
    ReleasedEarly on 2: a_write_under_a_guard;
    ReleasedEarly on 2: a_put_under_a_guard;
    ReleasedEarly on 2: a_register_is_freed_by_hand;
    ReleasedEarly on 2: only_the_first_of_two_writes_is_drained;
    ReleasedEarly on 2: the_drain_comes_after_the_register;
    ReleasedEarly on 3: the_lock_goes_round;
    ReleasedEarly on 2: a_ticket_is_drawn_under_a_guard;
    ReleasedEarly on 2: what_was_drawn_comes_to_memory_later;
    ReleasedEarly on 2: a_flag_is_looked_at_once_after_the_register;
}

fn a_write_under_a_guard(core: &SimCore, wrong: bool) {
    core.compute(LATE * me(core) as u64);
    let guard = core.lock(REGISTER, "the data");
    if me(core) == 0 {
        core.write(data(), 0, &[5; 8]); // MISTAKE
        if !wrong {
            core.drain();
        }
    } else {
        core.read(data(), 0, &mut [0; 8]);
    }
    drop(guard);
}

fn a_put_under_a_guard(core: &SimCore, wrong: bool) {
    core.compute(LATE * me(core) as u64);
    let guard = core.lock(REGISTER, "the data");
    if me(core) == 0 {
        core.put(&[5; 50], mpb(1, 8)); // MISTAKE
        if !wrong {
            core.drain();
        }
    } else {
        core.get(mpb(1, 8), &mut [0; 50]);
    }
    drop(guard);
}

fn a_register_is_freed_by_hand(core: &SimCore, wrong: bool) {
    core.compute(LATE * me(core) as u64);
    core.acquire_register(REGISTER, "the data");
    if me(core) == 0 {
        core.write(data(), 0, &[5; 8]); // MISTAKE
        if !wrong {
            core.drain();
        }
    } else {
        core.read(data(), 0, &mut [0; 8]);
    }
    core.free_register(REGISTER);
}

/// Stores to another line push the first out, and the last stays.
fn only_the_first_of_two_writes_is_drained(core: &SimCore, wrong: bool) {
    core.compute(LATE * me(core) as u64);
    let guard = core.lock(REGISTER, "the data");
    if me(core) == 0 {
        core.write(data(), 0, &[5; 8]);
        core.write(more(), 0, &[5; 8]); // MISTAKE
        if !wrong {
            core.drain();
        }
    } else {
        for region in [data::<kind::Combined>(), more()] {
            core.read(region, 0, &mut [0; 8]);
        }
    }
    drop(guard);
}

fn the_drain_comes_after_the_register(core: &SimCore, wrong: bool) {
    core.compute(LATE * me(core) as u64);
    let guard = core.lock(REGISTER, "the data");
    if me(core) == 0 {
        core.write(data(), 0, &[5; 8]); // MISTAKE
        if !wrong {
            core.drain();
        }
    } else {
        core.read(data(), 0, &mut [0; 8]);
    }
    drop(guard);
    core.drain();
}

/// Each rank stores under the lock, and the next one reads.
fn the_lock_goes_round(core: &SimCore, wrong: bool) {
    core.compute(LATE * me(core) as u64);
    let guard = core.lock(REGISTER, "the data");
    if me(core) > 0 {
        core.read(data(), me(core) * 8 - 8, &mut [0; 8]);
    }
    core.write(data(), me(core) * 8, &[5; 8]); // MISTAKE
    if !wrong {
        core.drain();
    }
    drop(guard);
}

/// Looks at the line that tells the next ticket.
fn a_ticket_is_drawn_under_a_guard(core: &SimCore, wrong: bool) {
    core.compute(LATE * me(core) as u64);
    let guard = core.lock(REGISTER, "a ticket");
    let ticket = core.load_line(mpb(0, 8)).0[0];
    if me(core) == 0 {
        core.store(mpb(0, 8), 0, &[ticket + 1]); // MISTAKE
        if !wrong {
            core.drain();
        }
    }
    drop(guard);
}

/// The same, and this run gets away with it.
fn what_was_drawn_comes_to_memory_later(core: &SimCore, wrong: bool) {
    core.compute(LATE * me(core) as u64);
    let guard = core.lock(REGISTER, "a ticket");
    let ticket = core.load_line(mpb(0, 8)).0[0];
    if me(core) == 0 {
        core.store(mpb(0, 8), 0, &[ticket + 1]); // MISTAKE
        if !wrong {
            core.drain();
        }
    }
    drop(guard);
    core.drain();
}

/// The right one waits for the flag, which may come to memory later.
fn a_flag_is_looked_at_once_after_the_register(core: &SimCore, wrong: bool) {
    core.compute(LATE * me(core) as u64);
    let guard = core.lock(REGISTER, "anything");
    if me(core) == 0 {
        core.store(mpb(0, 8), 0, &[1]); // MISTAKE
    }
    drop(guard);
    if me(core) == 0 {
        core.drain();
    } else if wrong {
        core.load_line(mpb(0, 8));
    } else {
        let flag = [Place::Line(mpb(0, 8))];
        core.wait(&flag, Reason::new("a flag"), |poll| (poll.line(0).0[0] == 1).then_some(()));
    }
}
