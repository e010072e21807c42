//! Choices: seeds repeat, recordings replay, explorations are complete.

use std::{collections::BTreeSet, fmt};

use super::*;
use crate::{
    Cached, Counted, Mpb, MpbCoherence, Place, Reason, TestAndSet, Topology, Uncached, Wait, sim::explore::walk,
};

/// A ring of flags with some cached and locked work: everything that chance can touch.
fn ring(core: &SimCore) -> (u64, Vec<u64>) {
    let (me, all) = (core.core().index(), core.layout().cores());
    let mut caches = core.take_caches().unwrap();
    for round in 1..=10_u8 {
        core.store(line((me + 1) % all, 1), 0, &[round]);
        core.drain();
        core.wait(&[Place::Line(line(me, 1))], Reason::new("a neighbour"), |poll| {
            (poll.line(0).0[0] >= round).then_some(())
        });
        let own = Region::new(SharedAddress::new(0, 32 * 4 * me), 128);
        core.claim::<u64>(own, 16).unwrap().store(usize::from(round), me as u64);
        core.write_back_invalidate(&mut caches, own);
        drop(core.lock(CoreId::new(0), "a turn"));
    }
    (core.platform().now_ps(), core.counters().values().collect())
}

#[test]
fn runs_of_one_seed_are_identical_and_seeds_differ() {
    for machine in [Machine::scc(9), Machine::scc(9).with_seed(3), Machine::scc(9).with_seed(4)] {
        let machine = machine.recording();
        assert_eq!(machine.run(ring).unwrap(), machine.run(ring).unwrap());
    }
    let times: BTreeSet<u64> = (0..10).map(|seed| Machine::scc(9).with_seed(seed).run(ring).unwrap().time_ps).collect();
    assert_eq!(times.len(), 10);
}

#[test]
fn a_recording_replays() {
    let first = Machine::scc(9).with_seed(11).recording().run(ring).unwrap();
    let recording = first.recording.clone().unwrap();
    assert!(recording.choices.len() > 1_000);
    let again = Machine::scc(9).with_strategy(Strategy::Replay(recording)).recording().run(ring).unwrap();
    assert_eq!(first, again);
}

#[test]
fn a_failing_seed_replays() {
    // A lost update: without the lock, some seeds interleave the two read-modify-writes.
    let program = |core: &SimCore| {
        for _ in 0..5 {
            let value = core.load_word(region(1), 0);
            core.store_word(region(1), 0, value + 1);
        }
        core.store_word(region(2), 8 + core.core().index(), 1);
        let places = [Place::Word(region(2), 8), Place::Word(region(2), 9)];
        core.wait(&places, Reason::new("both"), |poll| (poll.word(0) + poll.word(1) == 2).then_some(()));
        assert_eq!(core.load_word(region(1), 0), 10, "an update is lost");
    };
    let failure = (0..).find_map(|seed| Machine::scc(2).with_seed(seed).recording().run(program).err()).unwrap();
    let recording = failure.recording().unwrap().clone();
    let again = Machine::scc(2).with_strategy(Strategy::Replay(recording)).recording().run(program);
    assert_eq!(again.unwrap_err(), failure);
}

/// All outcomes of a litmus program.
fn outcomes<R: Ord>(
    cores: usize,
    spontaneous: Spontaneous,
    program: impl Fn(&SimCore) -> R,
) -> (BTreeSet<Vec<R>>, Exploration) {
    let mut all = BTreeSet::new();
    let exploration = explore_exhaustively(&Machine::scc(cores), spontaneous, 1_000_000, program, |result| {
        all.insert(result.unwrap_or_else(|failure| panic!("{failure}")).results());
    });
    assert!(exploration.complete);
    (all, exploration)
}

#[test]
fn store_buffering_of_words_is_sequentially_consistent() {
    let (all, exploration) = outcomes(2, Spontaneous::default(), |core| {
        let me = core.core().index();
        core.store_word(region(1), me, 1);
        core.load_word(region(1), 1 - me)
    });
    assert_eq!(all, BTreeSet::from([vec![0, 1], vec![1, 0], vec![1, 1]]));
    // Six interleavings; those that differ only in the order of independent operations count once.
    assert_eq!(exploration.runs, 3);
}

#[test]
fn store_buffering_of_mpb_lines_is_not() {
    let both = |drains: bool| {
        move |core: &SimCore| {
            let me = core.core().index();
            core.store(line(me, 1), 0, &[1]);
            if drains {
                core.drain();
            }
            core.load_line(line(1 - me, 1)).0[0]
        }
    };
    let all = |drained, drains| outcomes(2, Spontaneous { drains, ..Spontaneous::default() }, both(drained)).0;
    let consistent = BTreeSet::from([vec![0, 1], vec![1, 0], vec![1, 1]]);
    assert_eq!(all(true, false), consistent);
    assert_eq!(all(false, false), BTreeSet::from([vec![0, 0]]), "nothing ever leaves");
    assert_eq!(all(false, true), &consistent | &BTreeSet::from([vec![0, 0]]), "or it does, by itself");
}

#[test]
fn independent_reads_of_words_agree() {
    let (all, _) = outcomes(4, Spontaneous::default(), |core| match core.core().index() {
        writer @ (0 | 1) => {
            core.store_word(region(2), 8 * writer, 1);
            (2, 2)
        }
        reader => (core.load_word(region(2), 8 * (reader - 2)), core.load_word(region(2), 8 * (3 - reader))),
    });
    assert!(!all.contains(&vec![(2, 2), (2, 2), (1, 0), (1, 0)]), "two readers disagree on the order of two writes");
    assert_eq!(all.len(), 15);
}

#[test]
fn an_eviction_may_publish_a_store_at_any_time() {
    let program = |core: &SimCore| {
        if core.core().index() == 1 {
            return core.load_word(region(1), 0);
        }
        core.claim::<u32>(region(1), 8).unwrap().store(0, 7);
        core.load_word(region(2), 8)
    };
    let all = |evictions| outcomes(2, Spontaneous { evictions, ..Spontaneous::default() }, program).0;
    assert_eq!(all(false), BTreeSet::from([vec![0, 0]]));
    assert_eq!(all(true), BTreeSet::from([vec![0, 0], vec![0, 7]]));
}

#[test]
fn four_cores_of_four_operations_are_explored() {
    // Each pair passes a message back and forth; the pairs do not touch each other, so few orders differ.
    let (all, exploration) = outcomes(4, Spontaneous::default(), |core| {
        let (pair, side) = (core.core().index() / 2, core.core().index() % 2);
        let word = |index| Region::<kind::Uncached>::new(SharedAddress::new(pair, 64 * index), 32);
        core.store_word(word(side), 0, 1);
        let first = core.load_word(word(1 - side), 0);
        core.store_word(word(side), 0, 2);
        (first, core.load_word(word(1 - side), 0))
    });
    assert!(all.len() > 9, "{}", all.len());
    assert!(exploration.runs < 10_000, "{exploration:?}");
}

#[test]
fn waits_and_registers_are_explored_and_deadlocks_found() {
    let mut deadlocks = 0;
    let exploration = explore_exhaustively(
        &Machine::scc(2),
        Spontaneous::default(),
        10_000,
        |core| {
            let me = core.core().index();
            let _first = core.lock(CoreId::new(me), "the first");
            let _second = core.lock(CoreId::new(1 - me), "the second");
        },
        |result| match result {
            Ok(_) => {}
            Err(Failure::Deadlock(deadlock)) => {
                assert!(deadlock.cycle().is_some());
                deadlocks += 1;
            }
            Err(failure) => panic!("{failure}"),
        },
    );
    assert!(exploration.complete && deadlocks > 0 && exploration.runs > deadlocks, "{exploration:?}, {deadlocks}");

    let (all, _) = outcomes(3, Spontaneous { drains: true, evictions: false, ..Spontaneous::default() }, |core| {
        let me = core.core().index();
        core.store(line((me + 1) % 3, 1), 0, &[1]);
        core.drain();
        await_byte(core, line(me, 1), 0, 1);
    });
    assert_eq!(all.len(), 1);
}

/// How the runs of a litmus program end, by the results of its cores or by the failure, and how many runs there were.
fn endings<R: fmt::Debug>(
    cores: usize,
    spontaneous: Spontaneous,
    reduces: bool,
    program: &impl Fn(&SimCore) -> R,
) -> (BTreeSet<String>, u64) {
    let (mut all, mut runs) = (BTreeSet::new(), 0);
    let is_complete = walk(spontaneous, |chooser| {
        let chooser = if reduces { chooser } else { chooser.unreduced() };
        let run = Machine::scc(cores).run_with(chooser, None, program, &|_, _| {});
        runs += 1;
        match run.result {
            Some(Ok(outcome)) => _ = all.insert(format!("{:?}", outcome.results())),
            // When is not the question.
            Some(Err(Failure::Deadlock(deadlock))) => {
                let waiting: Vec<_> = deadlock.waiting.iter().map(|waiting| (waiting.core, waiting.reason)).collect();
                _ = all.insert(format!("{waiting:?}"));
            }
            Some(Err(Failure::Panic { message, .. })) => _ = all.insert(message),
            Some(Err(Failure::Fault { .. } | Failure::Stopped { .. })) | None => {}
        }
        (run.answers.unwrap_or_default(), runs < 1_000_000)
    });
    assert!(is_complete);
    (all, runs)
}

/// Runs are left out only if others end alike.
fn compare<R: fmt::Debug>(cores: usize, spontaneous: Spontaneous, program: impl Fn(&SimCore) -> R) {
    let (all, all_runs) = endings(cores, spontaneous, false, &program);
    let (reduced, runs) = endings(cores, spontaneous, true, &program);
    assert_eq!(all, reduced);
    assert!(all.len() > 1, "{all:?}: nothing could be lost");
    assert!(runs < all_runs, "{runs} of {all_runs} runs");
}

#[test]
fn what_is_left_out_would_end_as_something_that_is_not() {
    let nothing = Spontaneous::default();
    // Words of two ranks and one that both store to.
    compare(2, nothing, |core| {
        let me = core.core().index();
        core.store_word(region(2), 8 * me, 1);
        core.store_word(region(1), 1, me as u32);
        core.load_word(region(2), 8 * (1 - me));
        (core.load_word(region(1), 1), core.load_word(region(2), 8 * (1 - me)))
    });
    // Two locks, taken in two orders.
    compare(2, nothing, |core| {
        let me = core.core().index();
        let first = core.lock(CoreId::new(me), "the first");
        let second = core.lock(CoreId::new(1 - me), "the second");
        drop((second, first));
        core.load_word(region(1), 0)
    });
    // Lines, a wait, and buffers that drain by themselves.
    compare(2, Spontaneous { drains: true, ..nothing }, |core| {
        let me = core.core().index();
        core.store(line(me, 1), 0, &[1]);
        let seen = core.load_line(line(1 - me, 1)).0[0];
        core.drain();
        await_byte(core, line(1 - me, 1), 0, 1);
        seen
    });
    // Caches that evict.
    compare(2, Spontaneous { evictions: true, stores_through: true, ..nothing }, |core| {
        let me = core.core().index();
        let mut view = core.claim::<u32>(Region::new(SharedAddress::new(0, 0), 32), 8).unwrap();
        view.store(me, 1);
        view.store(me + 2, 2);
        core.load_word(region(1), 1 - me)
    });
}
