//! Interrupts in virtual time.

use std::sync::{
    Arc,
    atomic::{AtomicU32, AtomicU64, Ordering::Relaxed},
};

use crate::{
    Clock, CoreId, Counted, Deadline, Interrupt, Mpb, MpbCoherence, MpbLine, Place, Reason, TestAndSet, Topology,
    Uncached, Wait,
    sim::{Description, Machine, Options, SimCore, Spontaneous, Strategy, explore_exhaustively, tests::region},
};

/// What a handler counts: how often it came, and when last.
#[derive(Default)]
struct Seen {
    times: AtomicU32,
    last: AtomicU64,
}

fn note(core: &SimCore, seen: &Arc<Seen>) {
    seen.times.fetch_add(1, Relaxed);
    seen.last.store(core.now(), Relaxed);
}

fn listen(core: &SimCore) -> (Arc<Seen>, crate::Shielded<'_, SimCore, Arc<Seen>>) {
    let seen = Arc::new(Seen::default());
    let shielded = core.handle_interrupts(seen.clone(), note).expect("there is no other handler");
    (seen, shielded)
}

/// Computation is cut where the interrupt arrives, and lasts longer by what the interrupt took.
#[test]
fn cut_a_computation_short() {
    const CYCLES: u64 = 533_000;
    let results = Machine::scc(2)
        .run(|core| {
            let (seen, _handler) = listen(core);
            if core.core().index() == 0 {
                core.compute(53_300);
                core.raise_interrupt(CoreId::new(1));
                return (core.now(), 0, 0);
            }
            core.compute(CYCLES);
            (seen.last.load(Relaxed), core.now(), seen.times.load(Relaxed))
        })
        .unwrap()
        .results();
    let (raised, (came, end, times)) = (results[0].0, results[1]);
    assert_eq!(times, 1);
    // Raised after 100 us; the register is freed after the bit is visible, so delivery has begun by then.
    assert!((100_000..102_000).contains(&raised), "raised at {raised}");
    let delay = came - raised;
    assert!((1_000..3_000).contains(&delay), "came {delay} ns later");
    assert!((1_000_900..1_001_200).contains(&end), "ended at {end}");
}

/// A core goes on after a store before that takes effect, and the interrupt may arrive in between. It is not missed, as a core that
/// can be interrupted looks after each operation, and to look waits for the store.
#[test]
fn cut_a_computation_short_that_began_before_a_store_was_over() {
    let came_ps = |computes_first: u64| {
        let options = Options { everything_priced: true, ..Options::default() };
        let outcome = Machine::scc(2).with_options(options).run(|core| {
            if core.core().index() == 0 {
                core.compute(5_330);
                core.raise_interrupt(CoreId::new(1));
                return 0;
            }
            let seen = Arc::new(Seen::default());
            let look = |core: &SimCore, seen: &Arc<Seen>| seen.last.store(core.now_ps(), Relaxed);
            let _handler = core.handle_interrupts(seen.clone(), look);
            core.compute(computes_first);
            core.store_word(region(1), 0, 7);
            core.compute(533_000);
            seen.last.load(Relaxed)
        });
        outcome.unwrap().results()[1]
    };
    let undisturbed_ps = came_ps(0);
    let came = undisturbed_ps * 533 / 1_000_000;
    for before in (0..3_000).step_by(20) {
        let late_ps = came_ps(came - before).abs_diff(undisturbed_ps);
        assert!(late_ps < 500_000, "{late_ps} ps, with a store {before} cycles before it");
    }
}

/// Whoever waits for nothing else waits for its handler.
#[test]
fn wake_a_core_that_waits() {
    let counters = Machine::scc(3)
        .run(|core| {
            let me = core.core().index();
            if me == 0 {
                core.compute(10_000);
                core.raise_interrupt(CoreId::new(1));
                return core.counters();
            }
            if me == 1 {
                let (seen, _handler) = listen(core);
                core.wait(&[], Reason::new("an interrupt"), |_| (seen.times.load(Relaxed) == 1).then_some(()));
            }
            core.counters()
        })
        .unwrap()
        .results();
    assert_eq!(counters.iter().map(|c| c.interrupts_raised).collect::<Vec<_>>(), [1, 0, 0]);
    assert_eq!(counters.iter().map(|c| c.interrupts_taken).collect::<Vec<_>>(), [0, 1, 0]);
}

/// A core without a handler goes on as if nothing had been, to the picosecond; it may look later.
#[test]
fn leave_others_alone() {
    let run = |raises: bool| {
        let outcome = Machine::scc(2).run(|core| {
            if core.core().index() == 0 {
                if raises {
                    core.raise_interrupt(CoreId::new(1));
                }
                return 0;
            }
            core.compute(10_000);
            let at = MpbLine::new(CoreId::new(1), 3);
            let late =
                core.wait_until(&[Place::Line(at)], Deadline::At(50_000), Reason::new("nothing"), |_| None::<()>);
            assert!(late.is_err());
            let time = core.platform().now_ps();
            let (seen, _handler) = listen(core);
            assert_eq!(seen.times.load(Relaxed), u32::from(raises));
            time
        });
        outcome.unwrap().results()[1]
    };
    assert_eq!(run(true), run(false));
}

/// Nothing comes between the operations of a deferred action, nor while a register is held; then it comes once.
#[test]
fn are_deferred_and_merged() {
    Machine::scc(2)
        .run(|core| {
            let me = core.core();
            let (seen, _handler) = listen(core);
            if me.index() == 0 {
                (0..5).for_each(|_| core.raise_interrupt(CoreId::new(1)));
                return;
            }
            core.defer_interrupts(|| {
                core.compute(10_000);
                core.invalidate_mpb();
                assert_eq!(seen.times.load(Relaxed), 0);
            });
            assert_eq!(seen.times.load(Relaxed), 1);
            let register = core.lock(CoreId::new(0), "a test");
            core.raise_interrupt(me);
            core.compute(10_000);
            assert_eq!(seen.times.load(Relaxed), 1);
            drop(register);
            assert_eq!(seen.times.load(Relaxed), 2);
        })
        .unwrap();
}

/// A handler that is taken away comes no more; another one finds what is pending.
#[test]
fn handlers_come_and_go() {
    Machine::scc(1)
        .run(|core| {
            let (first, handler) = listen(core);
            assert!(core.handle_interrupts((), |_, ()| {}).is_none());
            core.raise_interrupt(core.core());
            drop(handler);
            core.raise_interrupt(core.core());
            core.compute(10_000);
            let (second, _handler) = listen(core);
            assert_eq!((first.times.load(Relaxed), second.times.load(Relaxed)), (0, 1));
        })
        .unwrap();
}

/// Looks at a doorbell.
fn look(core: &SimCore, seen: &Arc<Seen>) {
    core.invalidate_mpb();
    let line = core.load_line(MpbLine::new(core.core(), 5));
    seen.times.store(line.word(0), Relaxed);
}

/// Doorbell, drain, interrupt: whatever the timing, the handler that comes last has seen the last doorbell.
#[test]
fn doorbells_are_seen() {
    let ring = |core: &SimCore| {
        if core.core().index() == 0 {
            for number in 1..=5_u32 {
                core.store(MpbLine::new(CoreId::new(1), 5), 0, &number.to_le_bytes());
                core.drain();
                core.raise_interrupt(CoreId::new(1));
                core.compute(500);
            }
            return;
        }
        let seen = Arc::new(Seen::default());
        let _handler = core.handle_interrupts(seen.clone(), look);
        core.compute(700);
        core.wait(&[], Reason::new("the last doorbell"), |_| (seen.times.load(Relaxed) == 5).then_some(()));
    };
    for seed in 0..200 {
        Machine::scc(2).with_seed(seed).run(ring).unwrap_or_else(|failure| panic!("seed {seed}: {failure}"));
    }
    Machine::scc(2).with_strategy(Strategy::Timed).run(ring).unwrap();
}

/// The same in every order of all operations there are; and without the drain there is an order in which it is not
/// seen.
#[test]
fn no_order_loses_a_doorbell() {
    let ring = |drains: bool| {
        move |core: &SimCore| {
            if core.core().index() == 0 {
                for number in 1..=2_u8 {
                    core.store(MpbLine::new(CoreId::new(1), 5), 0, &[number]);
                    if drains {
                        core.drain();
                    }
                    core.raise_interrupt(CoreId::new(1));
                }
                core.drain();
                return;
            }
            let seen = Arc::new(Seen::default());
            let _handler = core.handle_interrupts(seen.clone(), look);
            core.wait(&[], Reason::new("the last doorbell"), |_| (seen.times.load(Relaxed) == 2).then_some(()));
        }
    };
    for drains in [true, false] {
        let mut failures = 0;
        let machine = Machine::scc(2);
        let explored = explore_exhaustively(&machine, Spontaneous::default(), 1_000_000, ring(drains), |outcome| {
            failures += u32::from(outcome.is_err());
        });
        assert!(explored.complete && explored.runs > 10, "{explored:?}");
        assert_eq!(failures == 0, drains, "{failures} of {explored:?} fail");
    }
}

/// An interrupt that is on its way is something that will happen, however often all cores look in vain meanwhile.
#[test]
fn are_no_deadlock_while_they_are_on_their_way() {
    let machine = Machine::new(Description::parse("scc+contention").unwrap()).with_cores(2);
    let times = machine.run(|core| {
        let (seen, _handler) = listen(core);
        let peer = CoreId::new(1 - core.core().index());
        if core.core().index() == 0 {
            core.raise_interrupt(peer);
        }
        let own = [Place::Line(MpbLine::new(core.core(), 3))];
        core.wait(&own, Reason::new("an interrupt"), |_| (seen.times.load(Relaxed) == 1).then_some(()));
        if core.core().index() == 1 {
            core.raise_interrupt(peer);
        }
        seen.times.load(Relaxed)
    });
    assert_eq!(times.unwrap().results(), [1, 1]);
}
