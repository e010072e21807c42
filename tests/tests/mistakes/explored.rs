//! Mistakes that the plain run gets away with: it ends well, whatever the checker says of it, and only another order of accesses, or
//! hardware that does something by itself, makes the program stand still or come to a wrong result. Exploration has to find such a run, and
//! to say what is needed for it.

use hal::{
    Cached, Clock, Combined, CoreId, Mpb, MpbCoherence, Place, Reason, TestAndSet, Uncached, Wait, kind,
    sim::{Checked, Deviation, Explored, Failing, Failure, Machine, Mistake, Search, SimCore, Strategy, explore},
};

use crate::machine::{LATE, caches, data, me, more, mpb, tell, wait, wait_for_any};

use std::time::Duration;

/// How a run that goes wrong ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum End {
    StandsStill,
    Panics,
    /// Well, but with a mistake that only shows there.
    Well(Mistake),
}

/// A program, and what has to be found if it is wrong: how it ends, in how many runs at most, and what it takes.
struct Case {
    run: fn(&SimCore, bool),
    cores: usize,
    end: End,
    runs: u64,
    needs: &'static [&'static str],
}

const CASES: &[Case] = &[
    Case { run: two_locks_in_two_orders, cores: 2, end: End::StandsStill, runs: 20, needs: &["after"] },
    Case { run: a_count_is_read_before_it_is_locked, cores: 2, end: End::Panics, runs: 20, needs: &["after"] },
    Case { run: who_comes_first_is_taken_for_granted, cores: 3, end: End::Panics, runs: 20, needs: &["after"] },
    Case { run: a_request_is_cleared_after_it_was_made, cores: 2, end: End::StandsStill, runs: 20, needs: &["after"] },
    Case { run: a_line_is_told_before_it_is_whole, cores: 2, end: End::Panics, runs: 100, needs: &["after", "drain"] },
    Case { run: a_value_for_a_moment, cores: 2, end: End::Panics, runs: 300, needs: &["eviction"] },
    Case { run: the_rare_way_does_not_wait, cores: 3, end: End::Well(Mistake::Race), runs: 20, needs: &["after"] },
    Case { run: many_locks_in_two_orders, cores: 4, end: End::StandsStill, runs: 300, needs: &["behind"] },
];

const SEARCH: Search = Search { processor: Duration::from_secs(60), runs: 1_000, depth: 3 };

fn search(case: &Case, wrong: bool) -> Explored<()> {
    explore(&Machine::scc(case.cores), SEARCH, |core| (case.run)(core, wrong), |()| false)
}

fn kind_of(deviation: &Deviation) -> String {
    deviation.to_string().split(':').next().unwrap_or_default().to_owned()
}

fn end(checked: &Checked<()>) -> Option<End> {
    match &checked.result {
        Err(Failure::Deadlock(_)) => Some(End::StandsStill),
        Err(Failure::Panic { .. }) => Some(End::Panics),
        _ => checked.findings.first().map(|finding| End::Well(finding.mistake)),
    }
}

#[test]
fn what_the_plain_run_gets_away_with_is_found_and_repeats_itself() {
    for (number, case) in CASES.iter().enumerate() {
        let plain = Machine::scc(case.cores).check(|core, _| (case.run)(core, true));
        assert!(plain.result.is_ok(), "case {number}: {:?}", plain.result);
        let explored = search(case, true);
        let runs = explored.in_order + explored.by_chance;
        assert!(runs <= case.runs, "case {number}: {runs} runs");
        let Some(Failing { checked, deviations, met_with, is_least, story, .. }) = explored.failing else {
            panic!("case {number}: nothing was found in {runs} runs")
        };
        assert_eq!(end(&checked), Some(case.end), "case {number}");
        let kinds: Vec<_> = deviations.iter().map(kind_of).collect();
        assert_eq!(kinds, case.needs, "case {number}: {deviations:?}");
        assert!(is_least && met_with >= deviations.len(), "case {number}");
        assert!((2..=16).contains(&story.len()), "case {number}: {} steps", story.len());
        assert!(story.iter().any(|step| step.frames.iter().any(|frame| frame.file.ends_with("explored.rs"))));
        // The same once more, and nothing goes wrong without any of it.
        let repeat = |deviations: &[Deviation]| {
            let machine = Machine::scc(case.cores).with_strategy(Strategy::Deviating(deviations.to_vec()));
            machine.check(|core, _| (case.run)(core, true))
        };
        let again = repeat(&deviations);
        let mistakes =
            |checked: &Checked<()>| checked.findings.iter().map(|finding| finding.mistake).collect::<Vec<_>>();
        assert_eq!((&again.result, mistakes(&again)), (&checked.result, mistakes(&checked)), "case {number}");
        for index in 0..deviations.len() {
            let others = [&deviations[..index], &deviations[index + 1..]].concat();
            assert!(end(&repeat(&others)) != Some(case.end), "case {number}: {:?} is not needed", deviations[index]);
        }
    }
}

#[test]
fn nothing_goes_wrong_in_what_is_right() {
    for (number, case) in CASES.iter().enumerate() {
        let explored = search(case, false);
        assert!(explored.failing.is_none(), "case {number}: {:#?}", explored.failing);
        assert!(
            explored.is_complete || explored.in_order + explored.by_chance == SEARCH.runs,
            "case {number}: {explored:?}"
        );
    }
}

fn register(number: usize) -> CoreId {
    CoreId::new(number)
}

/// Far apart in time, each finds both free.
fn two_locks_in_two_orders(core: &SimCore, wrong: bool) {
    core.compute(LATE * me(core) as u64);
    let turned = wrong && me(core) == 1;
    let first = core.lock(register(usize::from(turned)), "the first");
    let second = core.lock(register(usize::from(!turned)), "the second");
    drop((second, first));
}

/// Each section is locked, and a look at a word is no race; but the other may have counted in between.
fn a_count_is_read_before_it_is_locked(core: &SimCore, wrong: bool) {
    core.compute(LATE * me(core) as u64);
    let count = |guard| {
        let count = core.load_word(data(), 0);
        drop(guard);
        count
    };
    if wrong {
        let before = count(core.lock(register(0), "the count"));
        let guard = core.lock(register(0), "the count");
        core.store_word(data(), 0, before + 1);
        drop(guard);
    } else {
        let guard = core.lock(register(0), "the count");
        core.store_word(data(), 0, core.load_word(data(), 0) + 1);
        drop(guard);
    }
    tell(core, me(core));
    if me(core) == 0 {
        wait(core, 1);
        assert_eq!(count(core.lock(register(0), "the count")), 2, "somebody was not counted");
    }
}

/// Rank 1 usually comes first.
fn who_comes_first_is_taken_for_granted(core: &SimCore, wrong: bool) {
    core.compute(LATE * me(core) as u64);
    if me(core) > 0 {
        core.store_word(data(), me(core) * 8, 10 * me(core) as u32);
        return;
    }
    let places = [Place::Word(data(), 8), Place::Word(data(), 16)];
    let first = core.wait(&places, Reason::new("the first answer"), |poll| {
        let answers = [poll.word(0), poll.word(1)];
        if wrong {
            answers.into_iter().find(|answer| *answer != 0)
        } else {
            Some(answers[0]).filter(|answer| *answer != 0)
        }
    });
    assert_eq!(first, 10, "the answer of the other one");
}

/// Who gets the second answer first does not wait for what belongs to the first one.
fn the_rare_way_does_not_wait(core: &SimCore, wrong: bool) {
    core.compute(LATE * me(core) as u64);
    if me(core) > 0 {
        if me(core) == 1 {
            core.write(more(), 0, &[5; 8]);
            core.drain();
        }
        tell(core, me(core));
        return;
    }
    let first = wait_for_any(core, [1, 2]);
    if first == 2 && !wrong {
        wait(core, 1);
    }
    core.read(more(), 0, &mut [0; 8]);
}

/// Rank 0 clears what asks it, and then waits to be asked.
fn a_request_is_cleared_after_it_was_made(core: &SimCore, wrong: bool) {
    if me(core) == 1 {
        core.compute(LATE);
        core.store_word(data(), 0, 1);
        return;
    }
    if wrong {
        core.store_word(data(), 0, 0);
    }
    let place = Place::Word(data(), 0);
    core.wait(&[place], Reason::new("a request"), |poll| (poll.word(0) == 1).then_some(()));
}

/// What is stored to one line leaves together, unless the buffer drains in between.
fn a_line_is_told_before_it_is_whole(core: &SimCore, wrong: bool) {
    if me(core) == 1 {
        let (tag, data) = (|| core.store(mpb(0, 8), 31, &[1]), || core.store(mpb(0, 8), 0, &[5]));
        if wrong {
            tag();
            data();
        } else {
            data();
            tag();
        }
        core.drain();
    } else {
        let place = Place::Line(mpb(0, 8));
        let line =
            core.wait(&[place], Reason::new("a message"), |poll| (poll.line(0).0[31] == 1).then_some(poll.line(0)));
        assert_eq!(line.0[0], 5, "the tag came before the message");
    }
}

/// What is in a cache for a moment only may be written back in that moment.
fn a_value_for_a_moment(core: &SimCore, wrong: bool) {
    if me(core) == 1 {
        let mut caches = caches(core);
        let mut view = core.claim::<u32>(data::<kind::Cached>(), 32).unwrap();
        if wrong {
            view.store(0, 4);
        }
        // Whatever takes a moment.
        core.load_word(more(), 0);
        view.store(0, 5);
        core.write_back_invalidate(&mut caches, data());
    } else {
        let place = Place::Word(data(), 0);
        let word = core.wait(&[place], Reason::new("a value"), |poll| Some(poll.word(0)).filter(|word| *word != 0));
        assert_eq!(word, 5, "it was not meant to be seen");
    }
}

/// Too much goes on to try all orders.
fn many_locks_in_two_orders(core: &SimCore, wrong: bool) {
    core.compute(LATE * me(core) as u64);
    for round in 0..30 {
        core.write(more::<kind::Combined>(), me(core) * 32, &[round; 32]);
        core.drain();
        drop(core.lock(register(me(core)), "what nobody else wants"));
    }
    two_locks_in_two_orders(core, wrong);
}
