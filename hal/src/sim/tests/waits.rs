//! Waiting: nothing is missed, and skipping ahead changes nothing.

use super::*;
use crate::{
    Clock, Counted, Deadline, Line, Mpb, MpbCoherence, Place, Poll, Reason, TestAndSet, Topology, Uncached, Wait,
};

const PERIOD: u64 = 126_000 + 10_000 + 1_876;

#[test]
fn polls_lie_on_a_grid_and_missed_ones_are_counted() {
    let outcome = Machine::scc(2)
        .run(|core| {
            if core.core().index() == 1 {
                core.compute(533 * 10);
                core.store(line(0, 1), 0, &[1]);
                core.drain();
            } else {
                await_byte(core, line(0, 1), 0, 1);
            }
            core.counters()
        })
        .unwrap();
    // Flag store: o_put + read of the own MPB, then visible after o + d hops.
    let visible: u64 = 10_000_000 + 69_000 + 136_000 + 126_000 + 5_000;
    let polls = visible.div_ceil(PERIOD);
    assert_eq!(outcome.cores[0].time_ps, polls * PERIOD);
    assert_eq!(outcome.cores[0].result.failed_polls, polls - 1);
    assert_eq!((outcome.cores[0].result.lines_polled, outcome.cores[0].result.mpb_lines_read), (1, 0));
}

/// A poll that looks anew again and again finds what was stored since its first look.
#[test]
fn what_is_looked_at_anew_is_read_anew() {
    let outcome = Machine::scc(2).run(|core| {
        if core.core().index() == 1 {
            core.compute(20_000);
            core.set_flag(line(0, 1), 0, 1);
            return true;
        }
        core.wait(&[Place::Line(line(0, 1))], Reason::new("a flag"), |poll| {
            let is_set = |line: Line| line.0[0] == 1;
            if is_set(poll.line(0)) {
                return Some(false);
            }
            let is_set_anew = |_| {
                poll.anew();
                is_set(poll.line(0))
            };
            (0..1_000).any(is_set_anew).then_some(true)
        })
    });
    assert_eq!(outcome.unwrap().results(), [true, true]);
}

/// Ranks that wait for flags of several others, words and registers, at odd times.
fn chatter(core: &SimCore) -> Vec<u64> {
    let (me, all) = (core.core().index(), core.layout().cores());
    let mut random = 0x9E37_79B9_u64.wrapping_mul(me as u64 + 1);
    let mut times = Vec::new();
    for round in 1..=20_u8 {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        core.compute(random >> 52);
        for distance in [1, 3] {
            core.store(line((me + distance) % all, distance), me % 32, &[round]);
        }
        core.drain();
        core.store_word(region(40), me, u32::from(round));
        let left = (me + all - 1) % all;
        let places = [Place::Line(line(me, 3)), Place::Line(line(me, 1)), Place::Word(region(40), (me + 2) % all)];
        let far = (me + 3 * all - 3) % all;
        let check = |poll: &Poll<'_>| {
            let first = poll.line(0).0[far % 32] >= round;
            if !first {
                return None;
            }
            (poll.word(2) >= u32::from(round) || poll.line(1).0[left % 32] >= round).then_some(())
        };
        core.wait(&places, Reason::new("two flags"), check);
        times.push(core.platform().now_ps());
        let lock = core.lock(CoreId::new(round as usize % 3 % all), "a turn");
        core.compute(random >> 54 & 127);
        drop(lock);
        let deadline = Deadline::At(core.now() + (random >> 50 & 0xFFF));
        let timed = core.wait_until(&places[2..], deadline, Reason::new("a word"), |poll| {
            (poll.word(0) > u32::from(round)).then_some(())
        });
        times.push(core.platform().now_ps() * 2 + u64::from(timed.is_ok()));
    }
    times.push(core.counters().failed_polls);
    times.push(core.counters().failed_acquires);
    times
}

#[test]
fn skipping_ahead_equals_polling() {
    for cores in [1, 2, 3, 5, 16, 48] {
        let machine = Machine::scc(cores);
        let skipping = machine.run(chatter).unwrap();
        let polling = machine.polling_for_real().run(chatter).unwrap();
        assert_eq!(skipping.time_ps, polling.time_ps, "{cores} cores");
        assert_eq!(skipping.cores, polling.cores, "{cores} cores");
    }
}

#[test]
fn no_seed_misses_a_wake_up() {
    for seed in 0..60 {
        for cores in [2, 7] {
            if let Err(failure) = Machine::scc(cores).with_seed(seed).run(chatter) {
                panic!("seed {seed}: {failure}");
            }
        }
    }
}

#[test]
fn a_check_that_looks_around_is_not_stuck() {
    // It looks at one place in each poll, and the last one has been written long ago when it gets there.
    let outcome = Machine::scc(2).run(|core| {
        if core.core().index() == 1 {
            core.store(line(0, 5), 0, &[1; 32]);
            return 0;
        }
        let places: Vec<Place> = (1..=5).map(|number| Place::Line(line(0, number))).collect();
        let mut next = 0;
        core.wait(&places, Reason::new("any of five"), |poll| {
            next = (next + 1) % 5;
            (poll.line(next).0[0] == 1).then_some(next)
        })
    });
    assert_eq!(outcome.unwrap().results(), [4, 0]);
}

#[test]
fn a_deadline_ends_a_wait_at_the_end_of_a_poll() {
    let outcome = Machine::scc(1).run(|core| {
        let places = [Place::Line(line(0, 1))];
        let waited = core.wait_until(&places, Deadline::At(1_000), Reason::new("nothing"), |poll| {
            (poll.line(0).0[0] > 0).then_some(())
        });
        (waited.unwrap_err().reason.what, core.platform().now_ps())
    });
    assert_eq!(outcome.unwrap().results(), [("nothing", 1_000_000_u64.div_ceil(PERIOD) * PERIOD)]);
}

#[test]
fn a_write_before_the_deadline_ends_the_wait_instead() {
    let outcome = Machine::scc(2).run(|core| {
        if core.core().index() == 1 {
            core.store_word(region(1), 3, 8);
            return Ok(0);
        }
        core.wait_until(&[Place::Word(region(1), 3)], Deadline::At(50_000), Reason::new("a word"), |poll| {
            Some(poll.word(0)).filter(|word| *word != 0)
        })
    });
    assert_eq!(outcome.unwrap().results(), [Ok(8), Ok(0)]);
}

#[test]
fn a_combined_line_wakes_who_waits_for_a_word_in_it() {
    use crate::Combined;
    let outcome = Machine::scc(2).run(|core| {
        if core.core().index() == 1 {
            core.compute(10_000);
            core.write(region(1), 12, &7_u32.to_le_bytes());
            core.drain();
            return 7;
        }
        core.wait(&[Place::Word(region(1), 3)], Reason::new("a word"), |poll| {
            Some(poll.word(0)).filter(|word| *word != 0)
        })
    });
    assert_eq!(outcome.unwrap().results(), [7, 7]);
}

#[test]
fn a_register_excludes_and_is_handed_over() {
    const TURNS: u32 = 25;
    let program = |core: &SimCore| {
        for _ in 0..TURNS {
            let _turn = core.lock(CoreId::new(2), "a counter");
            let count = core.load_word(region(1), 0);
            core.compute(count as u64 * 7 % 50);
            core.store_word(region(1), 0, count + 1);
        }
        core.counters().tsr_acquired
    };
    let check = |machine: Machine, cores: u32, name: String| {
        let total = machine.run(|core| {
            let acquired = program(core);
            core.wait(&[Place::Word(region(1), 0)], Reason::new("all"), |poll| {
                (poll.word(0) == cores * TURNS).then_some(())
            });
            acquired
        });
        assert!(total.unwrap().results().iter().all(|acquired| *acquired == u64::from(TURNS)), "{name}");
    };
    check(Machine::scc(48), 48, "by time".into());
    for seed in 0..40 {
        check(Machine::scc(6).with_seed(seed), 6, format!("seed {seed}"));
    }
}
