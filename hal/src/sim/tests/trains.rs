//! Polls that are skipped where accesses meet: everything is as if they were made.

use super::*;
use crate::{
    AtomicCounters, Clock, Deadline, Mpb, MpbCoherence, MpbCopy, Place, Poll, Reason, TestAndSet, Topology, Uncached,
    Wait,
};

fn contended() -> Machine {
    on("scc")
}

fn on(name: &str) -> Machine {
    Machine::new(Description::parse(name).unwrap())
}

/// Numbers that look like chance.
struct Random(u64);

impl Random {
    fn new(seed: usize) -> Self {
        Self(0x9E37_79B9_u64.wrapping_mul(seed as u64 + 1))
    }

    fn bits(&mut self, bits: u32) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.0 >> (64 - bits)
    }

    fn below(&mut self, bound: usize) -> usize {
        self.bits(32) as usize % bound
    }
}

/// Ranks that get from each other, go to private memory, and wait for lines of their own, of their tile and of others,
/// for words and registers, some with deadlines, at odd times.
fn crowd(core: &SimCore) -> Vec<u64> {
    let (me, all) = (core.core().index(), core.layout().cores());
    let mut random = Random::new(me);
    let mut next = |bits: u32| random.bits(bits);
    let mut times = Vec::new();
    for round in 1..=12_u8 {
        core.compute(next(14));
        for distance in [1, 3, 5] {
            core.store(line((me + distance) % all, distance), me % 32, &[round]);
            core.drain();
        }
        let from = |distance: usize| (me + 5 * all - distance) % all;
        let set = |poll: &Poll<'_>, place: usize, distance: usize| {
            (poll.line(place).0[from(distance) % 32] >= round).then_some(())
        };
        core.wait(&[Place::Line(line(me, 1))], Reason::new("a flag"), |poll| set(poll, 0, 1));
        times.push(core.platform().now_ps());
        // What has been found is not looked at again.
        let mut found = 0;
        core.wait(&[Place::Line(line(me, 3)), Place::Line(line(me, 5))], Reason::new("two flags"), |poll| {
            while found < 2 && set(poll, found, [3, 5][found]).is_some() {
                found += 1;
            }
            (found == 2).then_some(())
        });
        times.push(core.platform().now_ps());
        core.invalidate_mpb();
        core.get_to_own_mpb(line(next(16) as usize % all, 8), 100, 1 + next(4) as usize);
        core.account_memory(next(4) as usize, 1);
        // One that is on the tile or far away, and reads behind it.
        let other = if round % 2 == 0 { me ^ 1 } else { (me + all / 2) % all } % all;
        core.store(line(me, 7), 0, &[round]);
        core.drain();
        core.wait(&[Place::Line(line(other, 7))], Reason::new("another one"), |poll| {
            (poll.line(0).0[0] >= round).then_some(())
        });
        times.push(core.platform().now_ps());
        let lock = core.lock(CoreId::new(usize::from(round) % 3 % all), "a turn");
        core.compute(next(7));
        drop(lock);
        let deadline = Deadline::At(core.now() + next(13));
        let places = [Place::Line(line(me, 1)), Place::Word(region(40), me)];
        let timed = core.wait_until(&places, deadline, Reason::new("an early flag"), |poll| {
            (poll.word(1) > 0 || poll.line(0).0[from(1) % 32] > round).then_some(())
        });
        times.push(core.platform().now_ps() * 2 + u64::from(timed.is_ok()));
        let end = Deadline::At(core.now() + next(13));
        let _ = core.wait_until(&[], end, Reason::new("a moment to pass"), |_| None::<()>);
        times.push(core.platform().now_ps());
    }
    times
}

#[test]
fn skipping_ahead_equals_polling() {
    for cores in [1, 2, 3, 5, 16, 47, 48, 96] {
        for name in ["scc", "scc+flat", "mesh:3x3x3", "scc+domains=6"] {
            let machine = Machine::new(Description::parse(name).unwrap()).with_cores(cores);
            let skipping = machine.run(crowd).unwrap();
            let polling = machine.polling_for_real().run(crowd).unwrap();
            assert_eq!(skipping.time_ps, polling.time_ps, "{cores} cores of {name}");
            assert_eq!(skipping.cores, polling.cores, "{cores} cores of {name}");
            assert_eq!(polling.work.skipped_polls, 0);
            let fewer = skipping.work.skipped_polls > 0 && skipping.work.accesses < polling.work.accesses;
            assert!(fewer || cores == 1, "{cores} cores of {name}: {:?}, {:?}", skipping.work, polling.work);
        }
    }
}

/// Where software has prices, a core goes on after a store, and polls take longer.
#[test]
fn skipping_ahead_equals_polling_where_everything_is_priced() {
    for (name, cores) in [("scc", 2), ("scc", 5), ("scc", 48), ("mesh:3x3x3", 20)] {
        let machine = Machine::new(Description::parse(name).unwrap()).with_cores(cores);
        let machine = machine.with_options(Options { everything_priced: true, ..Options::default() });
        let skipping = machine.run(crowd).unwrap();
        assert_eq!(skipping, machine.run(crowd).unwrap());
        let polling = machine.polling_for_real().run(crowd).unwrap();
        assert_eq!(skipping.cores, polling.cores, "{cores} cores of {name}");
        assert!(skipping.work.skipped_polls > 0, "{cores} cores of {name}");
    }
}

#[test]
fn a_slow_port_does_not_change_what_is_skipped() {
    // Services that are longer than what lies between polls, and links that are slow.
    for (port_ps, write_ps, link_ps) in [(60_000, 90_000, 3_750), (125_000, 12_000, 50_000), (1, 1, 0)] {
        let mut description = Description::scc();
        let contention = Contention { mpb_port_ps: port_ps, mpb_port_write_ps: write_ps, link_ps, ..Contention::scc() };
        description.parameters.contention = Some(contention);
        for cores in [2, 7, 48] {
            let machine = Machine::new(description.clone()).with_cores(cores);
            let skipping = machine.run(crowd).unwrap();
            assert_eq!(skipping.cores, machine.polling_for_real().run(crowd).unwrap().cores, "{contention:?}, {cores}");
        }
    }
}

#[test]
fn long_waits_are_skipped() {
    let outcome = contended().run(|core| {
        let me = core.core().index();
        if me == 0 {
            core.compute(533_000_000);
            (1..48).for_each(|other| core.store(line(other, 1), 0, &[1]));
            core.drain();
        } else {
            await_byte(core, line(me, 1), 0, 1);
        }
    });
    let work = outcome.unwrap().work;
    assert!(work.skipped_polls > 47 * 7_000_000 && work.accesses < 47 * 20, "{work:?}");
}

/// A core that waits for nothing but its deadline makes no access that another one could meet.
#[test]
fn sleeps_are_skipped() {
    let outcome = contended().with_cores(2).run(|core| {
        let end = Deadline::At(core.now() + core.ticks_per_second() / 1_000);
        core.wait_until(&[], end, Reason::new("a moment to pass"), |_| None::<()>).is_err()
    });
    let outcome = outcome.unwrap();
    assert!(outcome.work.skipped_polls > 2 * 40_000, "{:?}", outcome.work);
    assert_eq!(outcome.results(), [true; 2]);
}

#[test]
fn two_that_poll_at_one_port_are_found_to_be_stuck() {
    let run = |core: &SimCore| {
        await_byte(core, line(core.core().index() & !1, 1), 0, 1);
    };
    for cores in [1, 2, 12] {
        let Failure::Deadlock(deadlock) = contended().with_cores(cores).run(run).unwrap_err() else {
            panic!("no deadlock")
        };
        assert_eq!(deadlock.waiting.len(), cores);
    }
}

/// A program of rounds that chance has put together. In each, all wait in one way for one core, which is busy, and some
/// of them keep others from their way meanwhile.
fn by_chance(core: &SimCore, seed: usize) -> Vec<u64> {
    const COUNTER: usize = 3;
    let (me, all) = (core.core().index(), core.layout().cores());
    let (mut common, mut own) = (Random::new(seed), Random::new(seed * 1009 + me + 7));
    let mut times = Vec::new();
    let noise = |own: &mut Random| match own.bits(3) {
        0 => core.get_to_own_mpb(line(own.below(all), 8), 100, 1 + own.below(9)),
        1 => core.put_from_own_mpb(8, line(own.below(all), 40), 1 + own.below(5)),
        2 => core.account_memory(own.below(20), 2),
        3 => _ = core.load_word(region::<kind::Uncached>(40), own.below(48)),
        _ => core.compute(own.bits(9)),
    };
    for round in 1..=10_u8 {
        let (way, root, next) = (common.below(7), common.below(all), (me + 1) % all);
        let (flag, busy, busier) = (line(root, 1), common.bits(13), common.below(6));
        let notify = |at: MpbLine| {
            core.store(at, 0, &[round]);
            core.drain();
        };
        core.invalidate_mpb();
        (0..own.below(4)).for_each(|_| noise(&mut own));
        if me == root {
            core.compute(busy);
            (0..busier).for_each(|_| noise(&mut own));
        }
        let is_set = |poll: &Poll<'_>, place: usize| poll.line(place).0[0] >= round;
        let reason = Reason::new("the round");
        match way {
            // Far lines of one port.
            0 => {
                if me == root {
                    notify(flag);
                } else if own.bits(2) > 0 {
                    core.wait(&[Place::Line(flag)], reason, |poll| is_set(poll, 0).then_some(()));
                }
            }
            // A word behind a controller.
            1 => {
                if me == root {
                    core.store_word(region(40), root, round.into());
                }
                let place = [Place::Word(region(40), root)];
                core.wait(&place, reason, |poll| (poll.word(0) >= round.into()).then_some(()));
            }
            // A counter that others raise, which meets nobody.
            2 => {
                core.increment_counter(COUNTER);
                if me == root {
                    core.compute(busy);
                    core.set_counter(COUNTER + 1, round.into());
                }
                let place = [Place::Counter(COUNTER + 1), Place::Counter(COUNTER)];
                core.wait(&place, reason, |poll| {
                    (poll.counter(0) >= round.into() && poll.counter(1) > 0).then_some(())
                });
            }
            // Two ports, one of which all go to.
            3 => {
                notify(line(me, 3));
                if me == root {
                    notify(flag);
                }
                let places = [Place::Line(line(next, 3)), Place::Line(flag)];
                core.wait(&places, reason, |poll| (is_set(poll, 0) & is_set(poll, 1)).then_some(()));
            }
            // A register.
            4 => {
                let lock = core.lock(CoreId::new(root), "a turn");
                core.compute(busy / 16);
                drop(lock);
            }
            // Until it is too late.
            5 => {
                let deadline = Deadline::At(core.now() + own.bits(13));
                if me == root {
                    notify(flag);
                }
                let places = [Place::Line(flag), Place::Word(region(40), me)];
                let set = core.wait_until(&places, deadline, reason, |poll| {
                    (is_set(poll, 0) || poll.word(1) > 1000).then_some(())
                });
                times.push(set.is_ok().into());
            }
            // A line at hand, a counter and a word.
            _ => {
                if me == root {
                    core.store_word(region(40), root, round.into());
                    (0..all).for_each(|other| notify(line(other, 4)));
                }
                let places = [Place::Line(line(me, 4)), Place::Counter(COUNTER), Place::Word(region(40), root)];
                core.wait(&places, reason, |poll| {
                    let word = poll.word(2);
                    (is_set(poll, 0) && poll.counter(1) < 1000 && word >= round.into()).then_some(())
                });
            }
        }
        times.push(core.platform().now_ps());
    }
    times
}

#[test]
fn whatever_waits_for_whatever() {
    let mut seed = 0;
    for name in ["scc", "scc+flat", "scc+ports", "scc+controllers", "mesh:5x2x3"] {
        for cores in [2, 3, 8, 30, 48] {
            for _ in 0..3 {
                seed += 1;
                let counting = Options { heat_map: true, ..Options::default() };
                let machine = on(name).with_cores(cores).with_options(counting);
                let skipping = machine.run(|core| by_chance(core, seed)).unwrap();
                let polling = machine.polling_for_real().run(|core| by_chance(core, seed)).unwrap();
                assert_eq!(skipping.cores, polling.cores, "seed {seed}, {cores} cores of {name}");
                assert_eq!(skipping.heat_map, polling.heat_map, "seed {seed}, {cores} cores of {name}");
                assert!(skipping.work.accesses * 2 < polling.work.accesses, "seed {seed}, {cores} cores of {name}");
            }
        }
    }
}

#[test]
fn who_waits_far_away_is_left_out_too() {
    let outcome = contended().run(|core| {
        if core.core().index() == 0 {
            core.compute(533_000);
            core.store(line(0, 1), 0, &[1]);
            core.drain();
        } else {
            await_byte(core, line(0, 1), 0, 1);
        }
    });
    let work = outcome.unwrap().work;
    assert!(work.skipped_polls > 80_000 && work.accesses < 47 * 10, "{work:?}");
}

/// Two cores of a tile. One waits for a counter; the other one does what a poll does `polls` times, and then raises it,
/// `late_ps` later than at once. Returns when they are done.
fn raised_after(machine: &Machine, polls: usize, late_ps: u64) -> Vec<u64> {
    const COUNTER: usize = 3;
    let outcome = machine.run(|core| {
        if core.core().index() == 0 {
            core.wait(&[Place::Counter(COUNTER)], Reason::new("a raise"), |poll| (poll.counter(0) >= 1).then_some(()));
        } else {
            for _ in 0..polls {
                core.invalidate_mpb();
                core.read_counter(COUNTER);
            }
            core.invalidate_mpb();
            core.platform().spend_ps(late_ps);
            core.increment_counter(COUNTER);
        }
        core.platform().now_ps()
    });
    outcome.unwrap().cores.into_iter().map(|core| core.result).collect()
}

#[test]
fn a_poll_comes_before_an_increment_of_its_time() {
    for name in ["scc", "scc+ideal"] {
        let skipping = on(name).with_cores(2);
        let polling = skipping.clone().polling_for_real();
        for polls in [0, 1, 2, 3, 10, 300] {
            let done_ps = |late_ps: u64| raised_after(&polling, polls, late_ps)[0];
            // The first increment that comes too late for a poll is the one that comes at its time.
            let (mut early_ps, mut tie_ps) = (0, 10_000_000);
            let first_ps = done_ps(early_ps);
            while early_ps + 1 < tie_ps {
                let middle_ps = early_ps.midpoint(tie_ps);
                if done_ps(middle_ps) == first_ps { early_ps = middle_ps } else { tie_ps = middle_ps }
            }
            for late_ps in [0, early_ps, tie_ps, tie_ps + 1] {
                let [skipped, polled] = [&skipping, &polling].map(|machine| raised_after(machine, polls, late_ps));
                assert_eq!(skipped, polled, "{name}, {polls} polls and {late_ps} ps, where {tie_ps} ps are a tie");
            }
        }
    }
}

/// Ranks whose checks go to private memory besides, where they are in each other's way.
fn on_errands(core: &SimCore) -> u64 {
    let (me, all) = (core.core().index(), core.layout().cores());
    if me == 0 {
        core.compute(20_000);
        (1..all).for_each(|other| core.store(line(other, 1), 0, &[1]));
        core.drain();
    } else if me % 2 == 1 {
        core.wait(&[Place::Line(line(me, 1))], Reason::new("a flag"), |poll| {
            core.account_memory(3, 1);
            (poll.line(0).0[0] == 1).then_some(())
        });
    } else {
        (0..20).for_each(|_| core.account_memory(10, 1));
    }
    core.platform().now_ps()
}

#[test]
fn errands_of_checks_keep_others_waiting() {
    for cores in [2, 3, 12] {
        let machine = contended().with_cores(cores);
        let skipping = machine.run(on_errands).unwrap();
        assert_eq!(skipping.cores, machine.polling_for_real().run(on_errands).unwrap().cores, "{cores} cores");
    }
}
