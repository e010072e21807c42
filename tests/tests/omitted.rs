//! Protocols with one of their flushes, invalidations or drains taken away: each has to fail, or it was there for nothing.

mod common;

use std::collections::BTreeSet;

use collectives::{Group, Window};
use common::run;
use hal::{
    Clock, CoreId, LINE_BYTES, Region, SharedAddress, TestAndSet, Topology, Uncached,
    emulated::{FetchUnit, Omit},
    kind,
    sim::{Machine, Options, SimCore, Spontaneous, explore_exhaustively},
};
use tests::{Context, Failed, channel::Part, check_eq, suite};

const CORES: usize = 5;

/// Runs a test of the suite in which the operations are omitted from the beginning.
fn without(omitted: Omit, name: &str) -> Result<(), String> {
    run(&Machine::scc(CORES), |context| {
        context.hal().omit(omitted);
        suite::run(name, context)
    })
}

#[test]
fn everything_passes_when_nothing_is_omitted() {
    for name in ["barrier::separates_phases", "messages::ring_of_all_sizes", "broadcast::all_sizes"] {
        assert_eq!(without(Omit::empty(), name), Ok(()));
    }
    for case in [put_and_look as Case, get_and_look, page_neighbour, get_twice, put_by_packet] {
        assert_eq!(with_omission(case, Omit::empty()), Ok(()));
    }
    assert_eq!(get_from_itself_twice(Omit::empty()), Ok(()));
}

#[test]
fn signals_need_their_drain() {
    for name in ["barrier::separates_phases", "messages::ring_of_all_sizes", "broadcast::all_sizes"] {
        let failure = without(Omit::DRAIN, name).expect_err(name);
        assert!(failure.contains("has not drained"), "{name} failed for another reason: {failure}");
    }
}

#[test]
fn polls_need_their_invalidation() {
    for name in ["barrier::separates_phases", "messages::ring_of_all_sizes", "broadcast::all_sizes"] {
        assert!(without(Omit::INVALIDATE_MPB, name).is_err(), "{name} passes on stale lines");
    }
}

#[test]
fn owners_of_exposed_memory_need_their_flushes() {
    let name = "exposed::views_of_exposed_memory";
    assert_eq!(without(Omit::empty(), name), Ok(()));
    let failure = without(Omit::FLUSH, name).expect_err(name);
    assert!(failure.contains("first wrong word"), "{name} failed for another reason: {failure}");
}

#[test]
fn packets_need_their_drains_and_invalidations() {
    for name in ["channel::all_pairs", "channel::all_sizes", "channel::early_post_of_a_later_group"] {
        assert_eq!(without(Omit::empty(), name), Ok(()));
        let failure = without(Omit::DRAIN, name).expect_err(name);
        assert!(failure.contains("has not drained"), "{name} failed for another reason: {failure}");
        assert!(without(Omit::INVALIDATE_MPB, name).is_err(), "{name} passes on stale lines");
    }
}

/// A use of a window of 8 words by ranks 0 (origin) and 1 (target), in which `omitted` is left out where the case says.
type Case = fn(&mut Context<'_, '_, SimCore>, Omit) -> Result<(), Failed>;

fn with_omission(case: Case, omitted: Omit) -> Result<(), String> {
    // Pages as the unit: what a neighbour's access brings along is the reason of the invalidation after a wait.
    let options = Options { fetch_unit: FetchUnit::Page, ..Options::default() };
    run(&Machine::scc(2).with_options(options), |context| case(context, omitted))
}

/// The origin puts a word; the omission is in COMPLETE.
fn put_and_look(context: &mut Context<'_, '_, SimCore>, omitted: Omit) -> Result<(), Failed> {
    let hal = context.hal();
    let (window, view) = Window::<_, u32>::create(context.comm, context.caches, 8)?;
    let view = if context.rank() == 0 {
        let access = window.start(&Group::of([1])?)?;
        access.put(1, 3, &[77])?;
        hal.omit(omitted);
        access.complete();
        hal.omit(Omit::empty());
        // Whatever it stores next would push the put out.
        hal.compute(1_000_000);
        view
    } else {
        let exposure = window.post(view, context.caches, &Group::of([0])?)?;
        let view = exposure.wait(context.caches);
        check_eq!(view.load(3), 77, "the word that was put");
        view
    };
    window.free(view, context.caches)?;
    Ok(())
}

/// The origin gets what the target stored; the omission is in POST.
fn get_and_look(context: &mut Context<'_, '_, SimCore>, omitted: Omit) -> Result<(), Failed> {
    let hal = context.hal();
    let (window, mut view) = Window::<_, u32>::create(context.comm, context.caches, 8)?;
    let view = if context.rank() == 0 {
        let mut got = [0];
        let access = window.start(&Group::of([1])?)?;
        access.get(1, 3, &mut got)?;
        access.complete();
        check_eq!(got, [55], "the word that was got");
        view
    } else {
        view.store(3, 55);
        hal.omit(omitted);
        let exposure = window.post(view, context.caches, &Group::of([0])?)?;
        hal.omit(Omit::empty());
        exposure.wait(context.caches)
    };
    window.free(view, context.caches)?;
    Ok(())
}

/// During its exposure the target touches other memory on the same page; the omission is in WAIT.
fn page_neighbour(context: &mut Context<'_, '_, SimCore>, omitted: Omit) -> Result<(), Failed> {
    let hal = context.hal();
    let (window, view) = Window::<_, u32>::create(context.comm, context.caches, 8)?;
    let (neighbour, neighbour_view) = Window::<_, u32>::create(context.comm, context.caches, 8)?;
    let view = if context.rank() == 0 {
        context.comm.barrier();
        let access = window.start(&Group::of([1])?)?;
        access.put(1, 3, &[77])?;
        access.complete();
        view
    } else {
        let exposure = window.post(view, context.caches, &Group::of([0])?)?;
        check_eq!(neighbour_view.load(0), 0, "the neighbouring memory");
        context.comm.barrier();
        hal.omit(omitted);
        let view = exposure.wait(context.caches);
        hal.omit(Omit::empty());
        check_eq!(view.load(3), 77, "the word that was put");
        view
    };
    neighbour.free(neighbour_view, context.caches)?;
    window.free(view, context.caches)?;
    Ok(())
}

/// The origin gets the same word in two epochs, between which the target changed it; the omission is in the poll for the post.
fn get_twice(context: &mut Context<'_, '_, SimCore>, omitted: Omit) -> Result<(), Failed> {
    let hal = context.hal();
    let (window, mut view) = Window::<_, u32>::create(context.comm, context.caches, 8)?;
    for round in 1..=2u32 {
        if context.rank() == 0 {
            let mut got = [0];
            let access = window.start(&Group::of([1])?)?;
            hal.omit(omitted);
            access.get(1, 0, &mut got)?;
            hal.omit(Omit::empty());
            access.complete();
            check_eq!(got, [round], "the word that was got in round {round}");
        } else {
            view.store(0, round);
            let exposure = window.post(view, context.caches, &Group::of([0])?)?;
            view = exposure.wait(context.caches);
        }
    }
    window.free(view, context.caches)?;
    Ok(())
}

/// The origin puts a word by packet; the omission is in the target's wait for completions, which handles it.
fn put_by_packet(context: &mut Context<'_, '_, SimCore>, omitted: Omit) -> Result<(), Failed> {
    let hal = context.hal();
    let part = Part::open(context, 0, LINE_BYTES)?;
    let (origin, target) = (Group::of([0])?, Group::of([1])?);
    if context.rank() == 0 {
        part.put(context, 1, 12, &[77; 4]);
        part.complete(context, &target);
    } else {
        part.post(context, 0, &[], &origin)?;
        hal.omit(omitted);
        let bytes = part.wait(context, &origin)?;
        hal.omit(Omit::empty());
        check_eq!(bytes[12..16], [77; 4], "the word that was put by packet");
    }
    part.close(context)
}

/// A rank gets the same word of its own part in two epochs, between which it changed it; the omission is in the second get. On so
/// many cores that nothing else invalidates in between, because packets go through uncached memory.
fn get_from_itself_twice(omitted: Omit) -> Result<(), String> {
    run(&Machine::scc(151), |context| {
        let (hal, me) = (context.hal(), Group::of([context.rank()])?);
        let part = Part::open(context, 0, LINE_BYTES)?;
        for round in 1..=2 {
            part.post(context, 0, &[round; 8], &me)?;
            hal.omit(if round == 2 { omitted } else { Omit::empty() });
            let got = part.get(context, context.rank(), 4, 1);
            hal.omit(Omit::empty());
            check_eq!(got, [round], "the byte that was got in round {round}");
            part.complete(context, &me);
            part.wait(context, &me)?;
        }
        part.close(context)
    })
}

#[test]
fn completions_by_packet_need_their_drain() {
    let failure = with_omission(put_by_packet, Omit::DRAIN).expect_err("nothing was missed");
    assert!(failure.contains("the word that was put by packet"), "{failure}");
}

#[test]
fn gets_by_packet_need_their_invalidation() {
    let failure = get_from_itself_twice(Omit::INVALIDATE_MPB).expect_err("nothing was missed");
    assert!(failure.contains("the byte that was got in round 2"), "{failure}");
}

#[test]
fn complete_needs_its_drain() {
    let failure = with_omission(put_and_look, Omit::DRAIN).expect_err("nothing was missed");
    assert!(failure.contains("the word that was put"), "{failure}");
}

#[test]
fn post_needs_its_write_back() {
    let failure = with_omission(get_and_look, Omit::FLUSH).expect_err("nothing was missed");
    assert!(failure.contains("the word that was got"), "{failure}");
}

#[test]
fn wait_needs_its_invalidation() {
    let failure = with_omission(page_neighbour, Omit::FLUSH).expect_err("nothing was missed");
    assert!(failure.contains("the word that was put"), "{failure}");
}

#[test]
fn the_poll_for_a_post_needs_its_invalidation() {
    let failure = with_omission(get_twice, Omit::INVALIDATE_MPB).expect_err("nothing was missed");
    assert!(failure.contains("the word that was got in round 2"), "{failure}");
}

/// SCOSCo's Algorithm 2 resets the match-vector bit without the register. In some order of operations that erases the post of
/// another target in the same word; with the register it never does.
#[test]
fn the_reset_needs_the_register() {
    let word = Region::<kind::Uncached>::new(SharedAddress::new(0, 0), LINE_BYTES);
    let (consumed, posted) = (0b01, 0b10);
    let finals = |reset_locks: bool| {
        let mut finals = BTreeSet::new();
        let exploration = explore_exhaustively(
            &Machine::scc(2),
            Spontaneous::default(),
            1_000_000,
            |core| {
                let locked = |change: &dyn Fn(u32) -> u32| {
                    let _guard = core.lock(CoreId::new(0), "the match vector");
                    core.store_word(word, 0, change(core.load_word(word, 0)));
                };
                match (core.core().index(), reset_locks) {
                    (0, true) => locked(&|posts| posts & !consumed),
                    (0, false) => core.store_word(word, 0, core.load_word(word, 0) & !consumed),
                    _ => locked(&|posts| posts | posted),
                }
                // The last one to come here sees the result.
                core.load_word(word, 0)
            },
            |outcome| {
                let results = outcome.expect("two cores and one register cannot deadlock").results();
                finals.insert(results.iter().any(|posts| posts & posted != 0 && posts & consumed == 0));
            },
        );
        assert!(exploration.complete);
        finals
    };
    assert!(!finals(true).contains(&false), "a post got lost under the register");
    assert!(finals(false).contains(&false), "the reset without the register erases no post");
}
