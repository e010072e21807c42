//! Stale loads of MPBs and combined memory: what stays in a write-combine buffer, and what L1 kept.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use hal::{
    AtomicCounters, Clock, Combined, CoreId, Interrupt, Mpb, MpbCoherence, MpbCopy, Place, Reason, TestAndSet,
    Uncached, Wait,
    sim::{Failure, Machine, SimCore},
};

use crate::{
    cases,
    machine::{data, me, more, mpb, spin, tell, wait},
};

cases! {
    Stale on 2: a_put_is_not_drained;
    Stale on 2: the_last_part_of_a_line_stays;
    Stale on 2: a_write_is_not_drained;
    Stale on 2: a_drain_comes_before_the_store;
    Stale on 2: a_copy_is_not_drained;
    Stale on 2: words_of_a_line_are_not_drained;
    Stale on 2: a_counter_drains_nothing;
    Stale on 2: an_interrupt_drains_nothing;
    Stale on 3: what_is_passed_on_is_not_drained;
    Stale on 2: a_flag_is_not_drained;
    Stale on 1: the_own_store_is_not_seen;
    Stale on 2: l1_has_an_mpb_line_from_before;
    Stale on 2: l1_has_a_line_of_memory_from_before;
    Stale on 2: l1_has_the_neighbour_from_before;
    Stale on 2: a_register_invalidates_nothing;
    Stale on 2: a_counter_invalidates_nothing;
    Stale on 2: a_copy_takes_from_l1;
    Stale on 2: an_invalidation_comes_before_the_flag;
    Stale on 2: the_second_round_is_not_invalidated;
    Stale on 2: a_spin_does_not_invalidate;
    Stale on 2: a_look_is_answered_by_l1;
    Stale on 1: the_own_flag_is_not_drained;
    Stale on 2: a_look_finds_what_l1_had_before_the_own_store;
}

fn a_put_is_not_drained(core: &SimCore, wrong: bool) {
    if me(core) == 1 {
        core.put(&[5; 12], mpb(0, 8)); // MISTAKE
        if !wrong {
            core.drain();
        }
        tell(core, 0);
    } else {
        wait(core, 0);
        core.get(mpb(0, 8), &mut [0; 12]);
    }
}

/// Whole lines leave the buffer by themselves, the rest does not.
fn the_last_part_of_a_line_stays(core: &SimCore, wrong: bool) {
    let len = if wrong { 40 } else { 64 };
    if me(core) == 1 {
        core.put(&vec![5; len], mpb(0, 8)); // MISTAKE
        tell(core, 0);
    } else {
        wait(core, 0);
        core.get(mpb(0, 8), &mut vec![0; len]);
    }
}

fn a_write_is_not_drained(core: &SimCore, wrong: bool) {
    if me(core) == 1 {
        core.write(data(), 4, &[5; 8]); // MISTAKE
        if !wrong {
            core.drain();
        }
        tell(core, 0);
    } else {
        wait(core, 0);
        core.read(data(), 4, &mut [0; 8]);
    }
}

fn a_drain_comes_before_the_store(core: &SimCore, wrong: bool) {
    if me(core) == 1 {
        core.write(data(), 0, &[5; 8]);
        core.drain();
        core.write(data(), 8, &[5; 8]); // MISTAKE
        if !wrong {
            core.drain();
        }
        tell(core, 0);
    } else {
        wait(core, 0);
        core.read(data(), 0, &mut [0; 16]);
    }
}

fn a_copy_is_not_drained(core: &SimCore, wrong: bool) {
    if me(core) == 1 {
        core.write(more(), 0, &[5; 48]);
        core.drain();
        core.copy(more(), 0, data(), 0, 48); // MISTAKE
        if !wrong {
            core.drain();
        }
        tell(core, 0);
    } else {
        wait(core, 0);
        core.read(data(), 0, &mut [0; 48]);
    }
}

fn words_of_a_line_are_not_drained(core: &SimCore, wrong: bool) {
    if me(core) == 0 {
        core.store_words(mpb(1, 9), 2, [1, 2, 3].into_iter()); // MISTAKE
        if !wrong {
            core.drain();
        }
        tell(core, 0);
    } else {
        wait(core, 0);
        core.get(mpb(1, 9), &mut [0; 20]);
    }
}

fn a_counter_drains_nothing(core: &SimCore, wrong: bool) {
    if me(core) == 1 {
        core.put(&[5; 12], mpb(0, 8)); // MISTAKE
        if !wrong {
            core.drain();
        }
        core.increment_counter(0);
    } else {
        core.wait(&[Place::Counter(0)], Reason::new("a counter"), |poll| (poll.counter(0) == 1).then_some(()));
        core.get(mpb(0, 8), &mut [0; 12]);
    }
}

fn an_interrupt_drains_nothing(core: &SimCore, wrong: bool) {
    if me(core) == 1 {
        spin(core, 0);
        core.write(data(), 0, &[5; 8]); // MISTAKE
        if !wrong {
            core.drain();
        }
        core.raise_interrupt(CoreId::new(0));
        return;
    }
    let handler = |_: &SimCore, seen: &AtomicBool| seen.store(true, Relaxed);
    let seen = core.handle_interrupts(AtomicBool::new(false), handler).expect("there is no handler yet");
    tell(core, 0);
    while !seen.with(|seen| seen.load(Relaxed)) {
        core.relax();
    }
    core.read(data(), 0, &mut [0; 8]);
}

/// The rank in between has nothing to do with the data.
fn what_is_passed_on_is_not_drained(core: &SimCore, wrong: bool) {
    match me(core) {
        0 => {
            core.write(data(), 0, &[5; 8]); // MISTAKE
            if !wrong {
                core.drain();
            }
            tell(core, 0);
        }
        1 => {
            wait(core, 0);
            tell(core, 1);
        }
        _ => {
            wait(core, 1);
            core.read(data(), 0, &mut [0; 8]);
        }
    }
}

/// Nothing pushes it out: the other one waits for ever.
fn a_flag_is_not_drained(core: &SimCore, wrong: bool) {
    if me(core) == 1 {
        core.store(mpb(0, 8), 0, &[1]); // MISTAKE
        if !wrong {
            core.drain();
        }
    } else {
        let flag = [Place::Line(mpb(0, 8))];
        core.wait(&flag, Reason::new("a flag"), |poll| (poll.line(0).0[0] == 1).then_some(()));
    }
}

fn the_own_store_is_not_seen(core: &SimCore, wrong: bool) {
    core.write(data(), 0, &[5; 8]); // MISTAKE
    if !wrong {
        core.drain();
    }
    core.read(data(), 0, &mut [0; 8]);
}

fn l1_has_an_mpb_line_from_before(core: &SimCore, wrong: bool) {
    if me(core) == 1 {
        core.put(&[4; 32], mpb(0, 8));
        tell(core, 0);
        spin(core, 1);
        core.put(&[5; 32], mpb(0, 8));
        tell(core, 2);
        return;
    }
    for flag in [0, 2] {
        spin(core, flag);
        if !wrong {
            core.invalidate_mpb();
        }
        core.get(mpb(0, 8), &mut [0; 32]); // MISTAKE
        tell(core, flag + 1);
    }
}

fn l1_has_a_line_of_memory_from_before(core: &SimCore, wrong: bool) {
    if me(core) == 1 {
        core.write(data(), 0, &[4; 32]);
        tell(core, 0);
        spin(core, 1);
        core.write(data(), 0, &[5; 32]);
        tell(core, 2);
        return;
    }
    spin(core, 0);
    core.read(data(), 0, &mut [0; 8]);
    tell(core, 1);
    spin(core, 2);
    if !wrong {
        core.invalidate_mpb();
    }
    core.read(data(), 0, &mut [0; 8]); // MISTAKE
}

/// A line comes to L1 as a whole.
fn l1_has_the_neighbour_from_before(core: &SimCore, wrong: bool) {
    if me(core) == 1 {
        core.write(data(), 0, &[4; 8]);
        core.drain();
        tell(core, 0);
        spin(core, 1);
        core.write(data(), 8, &[5; 8]);
        core.drain();
        tell(core, 2);
        return;
    }
    spin(core, 0);
    core.read(data(), 0, &mut [0; 8]);
    tell(core, 1);
    spin(core, 2);
    if !wrong {
        core.invalidate_mpb();
    }
    core.read(data(), 8, &mut [0; 8]); // MISTAKE
}

fn a_register_invalidates_nothing(core: &SimCore, wrong: bool) {
    let counter = data();
    let mut byte = [0];
    if me(core) == 0 {
        core.write(counter, 0, &[0]);
        core.drain();
        core.read(counter, 0, &mut byte);
        tell(core, 0);
    }
    spin(core, 0);
    for _ in 0..2 {
        let _guard = core.lock(CoreId::new(0), "the counter");
        if !wrong {
            core.invalidate_mpb();
        }
        core.read(counter, 0, &mut byte); // MISTAKE
        core.write(counter, 0, &[byte[0] + 1]);
        core.drain();
        core.compute(5_000);
    }
}

fn a_counter_invalidates_nothing(core: &SimCore, wrong: bool) {
    if me(core) == 1 {
        core.put(&[4; 32], mpb(1, 8));
        tell(core, 0);
        spin(core, 1);
        core.put(&[5; 32], mpb(1, 8));
        core.increment_counter(3);
        return;
    }
    spin(core, 0);
    core.get(mpb(1, 8), &mut [0; 32]);
    tell(core, 1);
    while core.read_counter(3) == 0 {
        core.relax();
    }
    if !wrong {
        core.invalidate_mpb();
    }
    core.get(mpb(1, 8), &mut [0; 32]); // MISTAKE
}

fn a_copy_takes_from_l1(core: &SimCore, wrong: bool) {
    if me(core) == 1 {
        core.write(data(), 0, &[4; 32]);
        tell(core, 0);
        spin(core, 1);
        core.write(data(), 0, &[5; 32]);
        tell(core, 2);
        return;
    }
    spin(core, 0);
    core.copy(data(), 0, more(), 0, 32);
    tell(core, 1);
    spin(core, 2);
    if !wrong {
        core.invalidate_mpb();
    }
    core.copy(data(), 0, more(), 0, 32); // MISTAKE
}

/// What is looked at in between comes to L1 again.
fn an_invalidation_comes_before_the_flag(core: &SimCore, wrong: bool) {
    if me(core) == 1 {
        core.put(&[4; 32], mpb(0, 8));
        tell(core, 0);
        spin(core, 1);
        core.put(&[5; 32], mpb(0, 8));
        tell(core, 2);
        return;
    }
    spin(core, 0);
    core.invalidate_mpb();
    core.get(mpb(0, 8), &mut [0; 32]);
    tell(core, 1);
    spin(core, 2);
    if !wrong {
        core.invalidate_mpb();
    }
    core.get(mpb(0, 8), &mut [0; 32]); // MISTAKE
}

/// The first round's wait invalidates, the second one's flag is looked at without one.
fn the_second_round_is_not_invalidated(core: &SimCore, wrong: bool) {
    let rounds = data::<hal::kind::Uncached>();
    if me(core) == 0 {
        for round in 1..=2 {
            core.write(more(), 0, &[round as u8; 32]);
            core.store_word(rounds, 0, round);
            wait(core, round as usize);
        }
        return;
    }
    for round in 1..=2 {
        if round == 1 || !wrong {
            core.wait(&[Place::Word(rounds, 0)], Reason::new("a round"), |poll| (poll.word(0) == round).then_some(()));
        } else {
            while core.load_word(rounds, 0) != round {
                core.relax();
            }
        }
        core.read(more(), 0, &mut [0; 32]); // MISTAKE
        tell(core, round as usize);
    }
}

/// It would spin for ever: L1 has the flag as it was.
fn a_spin_does_not_invalidate(core: &SimCore, wrong: bool) {
    if me(core) == 1 {
        core.compute(50_000);
        core.set_flag(mpb(0, 8), 3, 1);
        core.drain();
        return;
    }
    loop {
        let flags = core.load_line(mpb(0, 8)); // MISTAKE
        if flags.0[3] == 1 {
            break;
        }
        core.relax();
        if !wrong {
            core.invalidate_mpb();
        }
    }
}

/// The rank was told of the store before it looks, and not by the line itself.
fn a_look_is_answered_by_l1(core: &SimCore, wrong: bool) {
    if me(core) == 1 {
        tell(core, 0);
        core.load_line(mpb(0, 8));
        tell(core, 1);
        spin(core, 2);
        if !wrong {
            core.invalidate_mpb();
        }
        core.load_line(mpb(0, 8)); // MISTAKE
        tell(core, 3);
    } else {
        spin(core, 1);
        core.store(mpb(0, 8), 0, &[5]);
        core.drain();
        tell(core, 2);
    }
}

/// A rank waits for what it has stored to its own MPB itself.
fn the_own_flag_is_not_drained(core: &SimCore, wrong: bool) {
    core.store(mpb(0, 8), 0, &[5]); // MISTAKE
    if !wrong {
        core.drain();
    }
    let place = Place::Line(mpb(0, 8));
    core.wait(&[place], Reason::new("the own flag"), |poll| (poll.line_word(0, 0) == 5).then_some(()));
}

/// The right one has stored to the byte itself since then, and L1 shows that.
fn a_look_finds_what_l1_had_before_the_own_store(core: &SimCore, wrong: bool) {
    if me(core) == 1 {
        core.load_line(mpb(0, 8));
        tell(core, 0);
        spin(core, 1);
        if !wrong {
            core.store(mpb(0, 8), 0, &[6]);
        }
        core.load_line(mpb(0, 8)); // MISTAKE
        core.drain();
    } else {
        spin(core, 0);
        core.store(mpb(0, 8), 0, &[5]);
        core.drain();
        tell(core, 1);
    }
}

/// A rank that waits for ever for one byte has another one of that line in its write-combine buffer, which nobody misses.
#[test]
fn a_standstill_is_not_blamed_on_other_bytes() {
    for is_whole in [false, true] {
        let checked = Machine::scc(2).check(|core, _| {
            if me(core) == 0 {
                core.store(mpb(0, 8), 0, &[1]);
                let is_set =
                    |poll: &hal::Poll<'_>| if is_whole { poll.line(0).0[4] } else { poll.line_word(0, 1) as u8 };
                let flag = [Place::Line(mpb(0, 8))];
                core.wait(&flag, Reason::new("a flag"), |poll| (is_set(poll) == 1).then_some(()));
            }
        });
        assert!(matches!(checked.result, Err(Failure::Deadlock(_))), "{:?}", checked.result);
        assert!(checked.findings.is_empty(), "{:#?}", checked.findings);
    }
}
