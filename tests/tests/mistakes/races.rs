//! Accesses that nothing orders.

use hal::{Cached, Clock, Combined, CoreId, Mpb, MpbCoherence, MpbCopy, TestAndSet, Uncached, kind, sim::SimCore};

use crate::{
    cases,
    machine::{LATE, caches, data, me, mpb, tell, wait},
};

cases! {
    Race on 2: a_get_does_not_wait;
    Race on 2: two_puts_to_one_place;
    Race on 2: two_writes_that_overlap;
    Race on 2: a_read_does_not_wait;
    Race on 2: a_view_does_not_wait;
    Race on 2: two_views_store;
    Race on 2: a_buffer_is_used_again_too_early;
    Race on 2: a_window_is_written_while_it_is_read;
    Race on 2: a_word_is_counted_without_a_lock;
    Race on 2: a_word_is_counted_under_two_locks;
    Race on 3: one_of_two_readers_waits;
    Race on 3: one_of_two_readers_is_not_awaited;
    Race on 2: two_ranks_set_one_flag;
    Race on 2: a_copy_does_not_wait;
    Race on 2: a_word_is_written_before_it_was_read;
    Race on 2: the_last_round_is_not_awaited;
}

fn a_get_does_not_wait(core: &SimCore, wrong: bool) {
    if me(core) == 1 {
        core.put(&[5; 32], mpb(0, 8));
        tell(core, 0);
    } else {
        core.compute(LATE);
        if !wrong {
            wait(core, 0);
        }
        core.get(mpb(0, 8), &mut [0; 32]); // MISTAKE
    }
}

fn two_puts_to_one_place(core: &SimCore, wrong: bool) {
    core.compute(LATE * me(core) as u64);
    let line = if wrong { 8 } else { 8 + me(core) };
    core.put(&[5; 32], mpb(0, line)); // MISTAKE
    core.drain();
}

fn two_writes_that_overlap(core: &SimCore, wrong: bool) {
    core.compute(LATE * me(core) as u64);
    let len = if wrong { 20 } else { 16 };
    core.write(data(), me(core) * 16, &vec![5; len]); // MISTAKE
    core.drain();
}

fn a_read_does_not_wait(core: &SimCore, wrong: bool) {
    if me(core) == 1 {
        core.write(data(), 0, &[5; 64]);
        tell(core, 0);
    } else {
        core.compute(LATE);
        if !wrong {
            wait(core, 0);
        }
        core.read(data(), 0, &mut [0; 64]); // MISTAKE
    }
}

fn a_view_does_not_wait(core: &SimCore, wrong: bool) {
    let mut view = core.claim::<u32>(data(), 32).unwrap();
    if me(core) == 1 {
        view.store(0, 5);
        core.write_back_invalidate(&mut caches(core), data());
        tell(core, 0);
    } else {
        core.compute(LATE);
        if !wrong {
            wait(core, 0);
        }
        view.load(0); // MISTAKE
    }
}

fn two_views_store(core: &SimCore, wrong: bool) {
    let mut caches = caches(core);
    let mut view = core.claim::<u32>(data(), 32).unwrap();
    core.compute(LATE * me(core) as u64);
    if me(core) == 1 && !wrong {
        wait(core, 0);
    }
    view.store(0, 5); // MISTAKE
    core.write_back_invalidate(&mut caches, data());
    if me(core) == 0 {
        tell(core, 0);
    }
}

/// The sender does not wait until its last message was taken.
fn a_buffer_is_used_again_too_early(core: &SimCore, wrong: bool) {
    if me(core) == 1 {
        core.put(&[4; 32], mpb(0, 8));
        tell(core, 0);
        core.compute(LATE);
        if !wrong {
            wait(core, 1);
        }
        core.put(&[5; 32], mpb(0, 8)); // MISTAKE
        core.drain();
    } else {
        wait(core, 0);
        core.get(mpb(0, 8), &mut [0; 32]);
        tell(core, 1);
    }
}

fn a_window_is_written_while_it_is_read(core: &SimCore, wrong: bool) {
    if me(core) == 1 {
        core.write(data(), 0, &[4; 32]);
        tell(core, 0);
        core.compute(LATE);
        if !wrong {
            wait(core, 1);
        }
        core.write(data(), 8, &[5; 4]); // MISTAKE
        core.drain();
    } else {
        wait(core, 0);
        core.read(data(), 0, &mut [0; 32]);
        tell(core, 1);
    }
}

fn a_word_is_counted_without_a_lock(core: &SimCore, wrong: bool) {
    let word = data::<kind::Uncached>();
    let guard = (!wrong).then(|| core.lock(CoreId::new(0), "the word"));
    let before = core.load_word(word, 0);
    core.compute(50_000);
    core.store_word(word, 0, before + 1); // MISTAKE
    drop(guard);
}

fn a_word_is_counted_under_two_locks(core: &SimCore, wrong: bool) {
    let word = data::<kind::Uncached>();
    let register = if wrong { me(core) } else { 0 };
    let _guard = core.lock(CoreId::new(register), "the word");
    let before = core.load_word(word, 0);
    core.compute(50_000);
    core.store_word(word, 0, before + 1); // MISTAKE
}

fn one_of_two_readers_waits(core: &SimCore, wrong: bool) {
    if me(core) == 0 {
        core.put(&[5; 32], mpb(0, 8));
        tell(core, 0);
        return;
    }
    core.compute(LATE);
    if me(core) == 1 || !wrong {
        wait(core, 0);
    }
    core.get(mpb(0, 8), &mut [0; 32]); // MISTAKE
}

fn one_of_two_readers_is_not_awaited(core: &SimCore, wrong: bool) {
    if me(core) > 0 {
        wait(core, 0);
        core.get(mpb(0, 8), &mut [0; 32]);
        tell(core, me(core));
        return;
    }
    core.put(&[4; 32], mpb(0, 8));
    tell(core, 0);
    wait(core, 1);
    core.compute(LATE);
    if !wrong {
        wait(core, 2);
    }
    core.put(&[5; 32], mpb(0, 8)); // MISTAKE
    core.drain();
}

fn two_ranks_set_one_flag(core: &SimCore, wrong: bool) {
    core.compute(LATE * me(core) as u64);
    let byte = if wrong { 0 } else { me(core) };
    core.set_flag(mpb(0, 8), byte, 1); // MISTAKE
    core.drain();
}

fn a_copy_does_not_wait(core: &SimCore, wrong: bool) {
    let second = hal::LINE_BYTES;
    if me(core) == 1 {
        core.write(data(), 0, &[5; 32]);
        tell(core, 0);
    } else {
        core.compute(LATE);
        if !wrong {
            wait(core, 0);
        }
        core.copy(data(), 0, data(), second, 32); // MISTAKE
    }
}

/// What another rank copies from uncached memory is overwritten by words.
fn a_word_is_written_before_it_was_read(core: &SimCore, wrong: bool) {
    if me(core) == 1 {
        core.store_word(data(), 2, 4);
        tell(core, 0);
        core.compute(LATE);
        if !wrong {
            wait(core, 1);
        }
        core.store_word(data(), 2, 5); // MISTAKE
        core.drain();
    } else {
        wait(core, 0);
        core.read(data(), 8, &mut [0; 4]);
        tell(core, 1);
    }
}

/// Two buffers take turns; a third message goes to the first one before it was taken.
fn the_last_round_is_not_awaited(core: &SimCore, wrong: bool) {
    for round in 0..3 {
        if me(core) == 1 {
            if round == 2 {
                core.compute(LATE);
                if !wrong {
                    wait(core, 4);
                }
            }
            core.put(&[round as u8; 32], mpb(0, 8 + round % 2)); // MISTAKE
            tell(core, round);
        } else {
            wait(core, round);
            core.get(mpb(0, 8 + round % 2), &mut [0; 32]);
            tell(core, 4 + round);
        }
    }
}
