//! What a machine of threads does where a program goes wrong.

use hal::{
    Cached, CoreId, Deadline, Interrupt, Mpb, MpbCoherence, MpbLine, Place, Reason, Regions, SharedAddress, TestAndSet,
    Topology, Uncached, Wait, kind,
};
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use threads::{Machine, ThreadCore};

fn flag(core: usize) -> MpbLine {
    MpbLine::new(CoreId::new(core), 1)
}

fn wait_for_flag(core: &ThreadCore, from: usize) {
    let own = flag(core.core().index());
    let reason = Reason::new("a flag").from(CoreId::new(from));
    core.wait(&[Place::Line(own)], reason, |poll| (poll.line(0).0[0] == 1).then_some(()));
}

fn raise_flag(core: &ThreadCore, at: usize) {
    core.store(flag(at), 0, &[1]);
    core.drain();
}

#[test]
fn a_flag_goes_round() {
    let results = Machine::new(5).run(|core| {
        let me = core.core().index();
        if me > 0 {
            wait_for_flag(core, me - 1);
        }
        raise_flag(core, (me + 1) % 5);
        if me == 0 {
            wait_for_flag(core, 4);
        }
        me
    });
    assert_eq!(results.unwrap(), [0, 1, 2, 3, 4]);
}

#[test]
fn who_waits_in_a_circle_is_said() {
    let failure = Machine::new(3).run(|core| {
        let me = core.core().index();
        if me == 2 {
            core.store(flag(0), 0, &[1]);
        }
        wait_for_flag(core, [1, 0, 0][me]);
    });
    let failure = failure.unwrap_err();
    let line = failure.summary();
    assert!(line.starts_with("deadlock: 3 of 3 cores wait; core 0 waits for core 1 waits for core 0; core "), "{line}");
    assert!(line.contains("core 2 has not drained"), "{line}");
    assert!(failure.to_string().contains("core 2 waits for a flag from core 0"), "{failure}");
}

#[test]
fn a_register_that_is_never_freed_is_said() {
    let failure = Machine::new(2).run(|core| {
        let register = CoreId::new(0);
        if core.core().index() == 0 {
            std::mem::forget(core.lock(register, "a register"));
            raise_flag(core, 1);
        } else {
            wait_for_flag(core, 0);
            drop(core.lock(register, "a register"));
        }
    });
    let failure = failure.unwrap_err().to_string();
    assert!(failure.contains("core 1 waits for a register from core 0"), "{failure}");
}

#[test]
fn a_panic_ends_all_and_says_where() {
    let failure = Machine::new(4).run(|core| {
        assert!(core.core().index() != 2, "two is one too many");
        wait_for_flag(core, 2);
    });
    let failure = failure.unwrap_err();
    assert!(failure.summary().starts_with("core 2 panicked: two is one too many (at "), "{failure}");
    assert!(failure.summary().contains("machine.rs:"), "{failure}");
}

#[test]
fn a_deadline_is_no_deadlock() {
    let timed_out = Machine::new(2).run(|core| {
        let deadline = Deadline::At(hal::Clock::now(core) + 2_000_000);
        core.wait_until(&[Place::Line(flag(0))], deadline, Reason::new("nothing"), |_| None::<()>).is_err()
    });
    assert_eq!(timed_out.unwrap(), [true, true]);
}

#[test]
fn who_is_interrupted_in_a_wait_goes_on() {
    let results = Machine::new(2).run(|core| {
        if core.core().index() == 1 {
            wait_for_flag(core, 0);
            core.raise_interrupt(CoreId::new(0));
            return true;
        }
        let count = std::sync::atomic::AtomicU32::new(0);
        let handler = |_: &ThreadCore, count: &std::sync::atomic::AtomicU32| {
            count.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        };
        let shielded = core.handle_interrupts(count, handler).expect("there is no handler yet");
        raise_flag(core, 1);
        core.wait(&[], Reason::new("an interrupt"), |_| {
            (shielded.with(|count| count.load(std::sync::atomic::Ordering::Relaxed)) > 0).then_some(())
        });
        true
    });
    assert_eq!(results.unwrap(), [true, true]);
}

/// Stores of several cores to one line, while another one looks.
#[test]
fn lines_are_whole_and_no_byte_of_theirs_is_lost() {
    const TIMES: usize = 20_000;
    const LAST: u8 = u8::MAX;
    let [bytes, whole] = [2, 3].map(|line| MpbLine::new(CoreId::new(0), line));
    let all = [Machine::new(4), Machine::new(4).with_coherence(true), Machine::new(4).with_seeds(0, 1)];
    let written_back = hal::emulated::HostLines::of_host().map(|lines| Machine::new(4).with_write_backs(lines));
    for machine in all.into_iter().chain(written_back) {
        let results = machine.run(|core| {
            let me = core.core().index();
            if me > 0 {
                for time in 0..TIMES {
                    core.store(bytes, me, &[(time % 255) as u8]);
                    core.store(whole, 0, &[(time % 64 + me * 64) as u8; 32]);
                }
                core.store(bytes, me, &[LAST]);
                core.drain();
                return;
            }
            core.wait(&[Place::Line(bytes), Place::Line(whole)], Reason::new("the last bytes"), |poll| {
                let line = poll.line(1).0;
                assert!(line.iter().all(|byte| *byte == line[0]), "{line:?}");
                (poll.line(0).0[1..4] == [LAST; 3]).then_some(())
            });
        });
        assert_eq!(results, Ok(vec![(); 4]));
    }
}

/// Each of two cores stores, and then looks whether the other one has: one of both sees it at least.
#[test]
fn no_load_passes_what_was_stored_before() {
    const ROUNDS: u32 = 4_000;
    /// Alone, each waits for the other one to come this far.
    fn meet(own: &AtomicU32, other: &AtomicU32, round: u32) {
        own.store(round, SeqCst);
        for turn in 1_u32.. {
            match other.load(SeqCst) {
                came if came >= round => return,
                _ if turn.is_multiple_of(1000) => std::thread::yield_now(),
                _ => std::hint::spin_loop(),
            }
        }
    }
    for (of_words, machine) in [(true, Machine::new(2)), (false, Machine::new(2).with_coherence(true))] {
        let [begun, ended] = [(); 2].map(|()| [(); 2].map(|()| AtomicU32::new(0)));
        let results = machine.run(|core| {
            let me = core.core().index();
            let lines = [0, 1].map(|core| MpbLine::new(CoreId::new(core), 2));
            // SAFETY: nobody has other regions of this memory.
            let words = unsafe { Regions::new(4) }.region(SharedAddress::new(0, 0), 256);
            let look = |round: u32| {
                if of_words {
                    core.store_word(words, 32 * me, round);
                    return core.load_word(words, 32 * (1 - me));
                }
                core.store(lines[me], 0, &round.to_ne_bytes());
                core.drain();
                core.invalidate_mpb();
                core.load_line(lines[1 - me]).word(0)
            };
            let seen = (1..=ROUNDS).map(|round| {
                meet(&begun[me], &begun[1 - me], round);
                let seen = look(round) == round;
                meet(&ended[me], &ended[1 - me], round);
                seen
            });
            seen.collect::<Vec<_>>()
        });
        let results = results.unwrap();
        let missed = results[0].iter().zip(&results[1]).position(|seen| seen == (&false, &false));
        assert_eq!(missed, None, "words: {of_words}");
    }
}

#[test]
fn nobody_stores_to_what_a_slice_looks_at() {
    let end = |is_gone: bool| {
        Machine::new(2).with_coherence(true).run(|core| {
            // SAFETY: the view and the words are two names of the region, which is what this is about.
            let regions = unsafe { Regions::new(4) };
            let start = SharedAddress::new(0, 64);
            if core.core().index() == 1 {
                wait_for_flag(core, 0);
                core.store_word(regions.region(start, 64), 3, 1);
                return raise_flag(core, 0);
            }
            let mut caches = core.take_caches().expect("it is asked for once");
            let view = core.claim::<u32>(regions.region::<kind::Cached>(start, 64), 16).expect("it is the only one");
            // SAFETY: who stores meanwhile is refused.
            assert_eq!(unsafe { view.as_slice(&caches) }[3], 0);
            if is_gone {
                core.write_back_invalidate(&mut caches, view.region());
            }
            raise_flag(core, 1);
            wait_for_flag(core, 1);
        })
    };
    let conflict = end(false).unwrap_err();
    assert!(conflict.summary().contains("slice conflict: a store to memory that a slice of core 0"), "{conflict}");
    assert!(end(true).is_ok());
}

/// Nobody else may look at it, and the core itself only by the slice.
#[test]
fn what_a_mutable_slice_looks_at_is_not_evicted() {
    let results = Machine::new(1).run(|core| {
        // SAFETY: the view and the words are two names of the region, which is what this is about.
        let regions = unsafe { Regions::new(4) };
        let start = SharedAddress::new(0, 64);
        let mut caches = core.take_caches().expect("it is asked for once");
        let mut view = core.claim::<u32>(regions.region::<kind::Cached>(start, 32), 8).expect("it is the only one");
        // SAFETY: there is no other core, and this one looks past the view when the slice is gone.
        let slice = unsafe { view.as_mut_slice(&caches) };
        slice[0] = 1;
        core.provoke_eviction();
        slice[1] = 2;
        let evicted = core.load_word(regions.region(start, 32), 0);
        core.write_back_invalidate(&mut caches, view.region());
        [evicted, core.load_word(regions.region(start, 32), 0)]
    });
    assert_eq!(results, Ok(vec![[0, 1]]));
}
