//! Flags that are set before the data is where it has to be, and data that nobody has written.

use hal::{
    AtomicCounters, Cached, Clock, Combined, LocalView, Mpb, MpbCoherence, MpbCopy, Place, Reason, Wait, kind,
    sim::SimCore,
};

use crate::{
    cases,
    machine::{LATE, caches, data, me, more, mpb, tell, wait},
};

cases! {
    FlagBeforeData on 2: a_flag_is_set_before_the_put;
    FlagBeforeData on 2: a_word_is_stored_before_the_put;
    FlagBeforeData on 2: a_word_is_stored_before_the_write;
    FlagBeforeData on 2: a_counter_is_raised_before_the_put;
    FlagBeforeData on 2: a_drain_comes_after_the_flag;
    FlagBeforeData on 2: a_write_back_comes_after_the_flag;
    FlagBeforeData on 2: the_next_message_pushes_the_last_one_out;
    FlagBeforeData on 2: the_second_half_comes_after_the_flag;
    NeverWritten on 2: nobody_puts;
    NeverWritten on 1: fresh_memory_is_read;
    NeverWritten on 1: fresh_memory_is_loaded;
    NeverWritten on 2: more_is_read_than_was_written;
    NeverWritten on 2: another_line_is_read_than_was_written;
    NeverWritten on 2: a_view_is_longer_than_what_was_written;
}

/// A flag in the MPB of core 0, and the reader comes late.
fn await_flag(core: &SimCore) {
    core.wait(&[Place::Line(mpb(0, 9))], Reason::new("a flag"), |poll| (poll.line(0).0[0] == 1).then_some(()));
    core.compute(LATE);
}

fn a_flag_is_set_before_the_put(core: &SimCore, wrong: bool) {
    if me(core) == 0 {
        await_flag(core);
        core.get(mpb(0, 8), &mut [0; 32]);
        return;
    }
    if wrong {
        core.set_flag(mpb(0, 9), 0, 1);
    }
    core.put(&[5; 32], mpb(0, 8)); // MISTAKE
    if !wrong {
        core.set_flag(mpb(0, 9), 0, 1);
    }
    core.drain();
}

fn a_word_is_stored_before_the_put(core: &SimCore, wrong: bool) {
    if me(core) == 0 {
        wait(core, 0);
        core.compute(LATE);
        core.get(mpb(0, 8), &mut [0; 32]);
        return;
    }
    if wrong {
        tell(core, 0);
    }
    core.put(&[5; 32], mpb(0, 8)); // MISTAKE
    tell(core, if wrong { 1 } else { 0 });
}

fn a_word_is_stored_before_the_write(core: &SimCore, wrong: bool) {
    if me(core) == 0 {
        wait(core, 0);
        core.compute(LATE);
        core.read(data(), 4, &mut [0; 8]);
        return;
    }
    if wrong {
        tell(core, 0);
    }
    core.write(data(), 0, &[5; 16]); // MISTAKE
    core.drain();
    tell(core, if wrong { 1 } else { 0 });
}

fn a_counter_is_raised_before_the_put(core: &SimCore, wrong: bool) {
    if me(core) == 0 {
        core.wait(&[Place::Counter(0)], Reason::new("a counter"), |poll| (poll.counter(0) == 1).then_some(()));
        core.compute(LATE);
        core.get(mpb(0, 8), &mut [0; 32]);
        return;
    }
    if wrong {
        core.increment_counter(0);
    }
    core.put(&[5; 32], mpb(0, 8)); // MISTAKE
    if !wrong {
        core.increment_counter(0);
    }
    core.drain();
}

fn a_drain_comes_after_the_flag(core: &SimCore, wrong: bool) {
    if me(core) == 0 {
        wait(core, 0);
        core.compute(LATE);
        core.read(data(), 0, &mut [0; 8]);
        return;
    }
    core.write(data(), 0, &[5; 8]); // MISTAKE
    if !wrong {
        core.drain();
    }
    tell(core, 0);
    core.drain();
}

fn a_write_back_comes_after_the_flag(core: &SimCore, wrong: bool) {
    let mut caches = caches(core);
    let mut view: LocalView<'_, u32> = core.claim(data(), 32).unwrap();
    if me(core) == 0 {
        wait(core, 0);
        core.compute(LATE);
        view.load(0);
        return;
    }
    view.store(0, 5); // MISTAKE
    if !wrong {
        core.write_back_invalidate(&mut caches, data());
    }
    tell(core, 0);
    core.write_back_invalidate(&mut caches, data());
}

/// All works by luck as long as there is a next message.
fn the_next_message_pushes_the_last_one_out(core: &SimCore, wrong: bool) {
    for message in 0..2 {
        if me(core) == 0 {
            wait(core, message);
            core.compute(LATE);
            core.get(mpb(0, 8 + message), &mut [0; 12]);
        } else {
            core.put(&[5; 12], mpb(0, 8 + message)); // MISTAKE
            if !wrong {
                core.drain();
            }
            tell(core, message);
        }
    }
    if me(core) == 1 {
        core.drain();
    }
}

fn the_second_half_comes_after_the_flag(core: &SimCore, wrong: bool) {
    if me(core) == 0 {
        await_flag(core);
        core.get(mpb(0, 10), &mut [0; 64]);
        return;
    }
    core.put(&[5; 32], mpb(0, 10));
    if wrong {
        core.set_flag(mpb(0, 9), 0, 1);
    }
    core.put(&[5; 32], mpb(0, 11)); // MISTAKE
    if !wrong {
        core.set_flag(mpb(0, 9), 0, 1);
    }
    core.drain();
}

fn nobody_puts(core: &SimCore, wrong: bool) {
    if me(core) == 1 {
        if !wrong {
            core.put(&[5; 32], mpb(0, 8));
        }
        tell(core, 0);
    } else {
        wait(core, 0);
        core.get(mpb(0, 8), &mut [0; 32]); // MISTAKE
    }
}

fn fresh_memory_is_read(core: &SimCore, wrong: bool) {
    if !wrong {
        core.write(data(), 0, &[0; 128]);
    }
    core.read(data(), 8, &mut [0; 8]); // MISTAKE
}

fn fresh_memory_is_loaded(core: &SimCore, wrong: bool) {
    let mut view = core.claim::<u32>(more(), 32).unwrap();
    if !wrong {
        view.copy_from(0, &[0; 32]);
    }
    view.load(9); // MISTAKE
}

fn more_is_read_than_was_written(core: &SimCore, wrong: bool) {
    if me(core) == 1 {
        core.put(&vec![5; if wrong { 32 } else { 64 }], mpb(0, 8));
        tell(core, 0);
    } else {
        wait(core, 0);
        core.get(mpb(0, 8), &mut [0; 64]); // MISTAKE
    }
}

fn another_line_is_read_than_was_written(core: &SimCore, wrong: bool) {
    if me(core) == 1 {
        core.put(&[5; 32], mpb(0, 8));
        tell(core, 0);
    } else {
        wait(core, 0);
        core.get(mpb(0, if wrong { 9 } else { 8 }), &mut [0; 32]); // MISTAKE
    }
}

fn a_view_is_longer_than_what_was_written(core: &SimCore, wrong: bool) {
    if me(core) == 1 {
        core.write(data::<kind::Combined>(), 0, &[5; 96]);
        core.drain();
        tell(core, 0);
    } else {
        wait(core, 0);
        let view = core.claim::<u8>(data(), 128).unwrap();
        view.copy_to(0, &mut vec![0; if wrong { 128 } else { 96 }]); // MISTAKE
    }
}
