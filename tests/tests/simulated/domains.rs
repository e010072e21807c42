//! Coherence domains in the simulator: every order of what their cores do to one line, what other domains push there,
//! and what becomes of programs that leave their flushes out.

use std::collections::BTreeSet;

use crate::common::run;
use hal::{
    Cached, Combined, CoreId, LINE_BYTES, Layout, MpbCoherence, MpbLine, Place, Reason, Region, SharedAddress,
    TestAndSet, Tile, Topology, Uncached, Wait,
    emulated::Omit,
    kind,
    sim::{Description, Machine, Parameters, SimCore, Spontaneous, explore_exhaustively},
};
use tests::{
    litmus::{Care, LOAD_BUFFERING, MESSAGE_PASSING, Memory, STORE_BUFFERING, Variables},
    suite,
};

/// The SCC in `domains` domains.
fn machine(cores: usize, domains: usize) -> Machine {
    let description = Description::parse(&format!("scc+ideal+domains={domains}")).expect("there is such a machine");
    Machine::new(description).with_cores(cores)
}

/// Line `line` of shared memory behind a controller.
fn line_of(controller: usize, line: usize) -> Region<kind::Cached> {
    regions::of_a_test().region(SharedAddress::new(controller, line * LINE_BYTES), LINE_BYTES)
}

/// What all orders of the operations of a program come to.
fn in_all_orders<R: Ord>(machine: &Machine, program: impl Fn(&SimCore) -> R) -> BTreeSet<Vec<R>> {
    let mut seen = BTreeSet::new();
    let exploration = explore_exhaustively(machine, Spontaneous::default(), 3_000_000, program, |outcome| {
        seen.insert(outcome.expect("the program comes to its end").results());
    });
    assert!(exploration.complete, "too many runs");
    seen
}

/// Cached memory inside a domain needs no care, as if it were uncached.
#[test]
fn cached_memory_is_sequentially_consistent_inside() {
    for shape in [&STORE_BUFFERING, &MESSAGE_PASSING, &LOAD_BUFFERING] {
        for care in [Care::NoPublish, Care::NoRefresh] {
            let lines = [MpbLine::new(CoreId::new(0), 10), MpbLine::new(CoreId::new(1), 11)];
            let seen = in_all_orders(&machine(2, 1), |core| {
                let mut caches = core.take_caches().expect("it is asked for once");
                let shared = regions::of_a_test().region(SharedAddress::new(0, 0), 2 * LINE_BYTES);
                let mut variables =
                    Variables::at(core, Memory::Cached, lines, shared).expect("there are no other views");
                variables.execute(core, &mut caches, shape.cores[core.core().index()], care, || {})
            });
            let seen: BTreeSet<Vec<u32>> = seen.into_iter().map(|outcome| outcome.concat()).collect();
            assert!(!seen.contains(shape.forbidden), "{} with {care:?}", shape.name);
            assert_eq!(seen.len(), (1 << shape.loads()) - 1, "{} with {care:?} saw {seen:?}", shape.name);
        }
    }
}

/// Two cores of a domain store to one line and flush it: neither loses a store of its own or of the other.
#[test]
fn no_store_is_lost_to_a_flush_of_another_core() {
    let seen = in_all_orders(&machine(2, 1), |core| {
        let me = core.core().index();
        let mut caches = core.take_caches().expect("it is asked for once");
        let mut view = core.claim::<u32>(line_of(0, 0), 8).expect("there is no other view");
        view.store(me, 1);
        core.write_back_invalidate(&mut caches, line_of(0, 0));
        (view.load(me), core.load_word(line_of(0, 0).mapped(), me))
    });
    assert_eq!(seen, BTreeSet::from([vec![(1, 1); 2]]));
}

/// What a core holds a slice of stays where it is when another core of its domain flushes the line: what is stored
/// before is written back, what is stored afterwards is in the cache.
#[test]
fn slices_stay_valid_when_another_core_flushes() {
    let seen = in_all_orders(&machine(2, 1), |core| {
        let mut caches = core.take_caches().expect("it is asked for once");
        if core.core().index() == 1 {
            core.write_back_invalidate(&mut caches, line_of(0, 0));
            return 0;
        }
        let mut view = core.claim::<u32>(line_of(0, 0), 8).expect("there is no other view");
        // SAFETY: the neighbour only flushes meanwhile.
        let slice = unsafe { view.as_mut_slice(&caches) };
        slice[3] = 1;
        let between = core.load_word(line_of(0, 0).mapped(), 3);
        slice[3] += 1;
        core.write_back_invalidate(&mut caches, line_of(0, 0));
        assert_eq!(core.load_word(line_of(0, 0).mapped(), 3), 2);
        between
    });
    // Nor does a flush look under it.
    assert_eq!(seen, BTreeSet::from([vec![0, 0]]));
}

/// Two nodes of two cores, each with a controller of its own.
fn cluster() -> Machine {
    let tiles = [0, 1].map(|x| Tile { x, y: 0 });
    let layout = Layout::mesh(2, 1, 2).with_controllers(&tiles).with_domains_of(2);
    Machine::new(Description { name: "two nodes".into(), layout, parameters: Parameters::scc() })
}

/// Waits until a word of a phase counter is at least `phase`, without touching a cache.
fn reach_phase(core: &SimCore, phase: u32) {
    let counter = regions::of_a_test().region::<kind::Uncached>(SharedAddress::new(0, 4096), LINE_BYTES);
    {
        let _guard = core.lock(CoreId::new(0), "the counter");
        core.store_word(counter, 0, core.load_word(counter, 0) + 1);
    }
    let all = phase * core.layout().cores() as u32;
    core.wait(&[Place::Word(counter, 0)], Reason::new("all"), |poll| (poll.word(0) >= all).then_some(()));
}

/// What other nodes push to a node's memory, and what it does itself past its caches, changes the node's own copy, and
/// nobody else's.
#[test]
fn pushed_stores_change_the_copy_at_home() {
    let seen = cluster().run(|core| {
        let (me, home) = (core.core().index(), line_of(0, 0));
        let mut caches = core.take_caches().expect("it is asked for once");
        let mut view = core.claim::<u32>(home, 8).expect("there is no other view");
        let _ = (view.load(0), view.load(1));
        reach_phase(core, 1);
        if me == 0 {
            // A dirty word, which nothing that is pushed may harm.
            view.store(5, 50);
        }
        reach_phase(core, 2);
        match me {
            2 => {
                core.store_word(home.mapped(), 0, 10);
                core.write(home.mapped(), 4, &[11, 0, 0, 0]);
                core.drain();
            }
            1 => core.store_word(home.mapped(), 2, 12),
            _ => {}
        }
        reach_phase(core, 3);
        let seen = [0, 1, 2, 5].map(|word| view.load(word));
        // And a write-back, which is a whole line: node 1's, of a line of its own.
        if me == 3 {
            let mut other = core.claim::<u32>(line_of(0, 7), 8).expect("there is no other view");
            other.store(4, 13);
            core.write_back_invalidate(&mut caches, line_of(0, 7));
        }
        reach_phase(core, 4);
        core.write_back_invalidate(&mut caches, home);
        reach_phase(core, 5);
        let in_memory = [0, 1, 2, 5].map(|word| core.load_word(home.mapped(), word));
        (seen, in_memory)
    });
    let seen = seen.expect("the program comes to its end").results();
    let [at_home, elsewhere] = [[10, 11, 12, 50], [0; 4]];
    assert_eq!(seen.iter().map(|seen| seen.0).collect::<Vec<_>>(), [at_home, at_home, elsewhere, elsewhere]);
    assert!(seen.iter().all(|seen| seen.1 == at_home), "{seen:?}");
}

/// A core spins on cached memory of its own node until another node has written it back there.
#[test]
fn local_spinning_ends_by_a_write_back_from_elsewhere() {
    let done = cluster().run(|core| {
        let mut caches = core.take_caches().expect("it is asked for once");
        let mut view = core.claim::<u32>(line_of(0, 3), 8).expect("there is no other view");
        match core.core().index() {
            0 | 1 => {
                while view.load(2) == 0 {
                    core.relax();
                }
            }
            2 => {
                view.store(2, 1);
                core.write_back_invalidate(&mut caches, line_of(0, 3));
            }
            _ => {}
        }
        view.load(2)
    });
    assert_eq!(done.expect("the spinning ends").results()[..3], [1; 3]);
}

#[test]
fn flushes_are_needed_between_domains_only() {
    for omitted in [Omit::empty(), Omit::FLUSH] {
        for domains in [1, 2, 4, 8] {
            let result = run(&machine(8, domains), |context| {
                context.hal().omit(omitted);
                suite::run_simulated("domains::flushes_hand_data_over", context)
            });
            if omitted.is_empty() || domains == 1 {
                assert_eq!(result, Ok(()), "{omitted:?} in {domains} domains");
            } else {
                let failure = result.expect_err("it relies on nothing");
                assert!(failure.contains("the word that was handed over"), "{failure}");
            }
        }
    }
}

/// A drain is needed inside a domain as well: the write-combine buffer is the core's.
#[test]
fn drains_are_needed_everywhere() {
    for domains in [1, 2] {
        let result = run(&machine(4, domains), |context| {
            context.hal().omit(Omit::DRAIN);
            suite::run_simulated("barrier::separates_phases", context)
        });
        let failure = result.expect_err("a barrier without drains");
        assert!(failure.contains("has not drained"), "{failure}");
    }
}

/// Invalidations of lines at home are not needed in a domain, and between domains they are.
#[test]
fn polls_need_their_invalidation_between_domains_only() {
    for (domains, passes) in [(1, true), (4, false)] {
        let result = run(&machine(4, domains), |context| {
            context.hal().omit(Omit::INVALIDATE_MPB);
            suite::run_simulated("barrier::separates_phases", context)
        });
        assert_eq!(result.is_ok(), passes, "{domains} domains: {result:?}");
    }
}

/// Machines whose domains have one core each are those without the word, to the last count and picosecond.
#[test]
fn domains_of_one_core_are_nothing_new() {
    let job = |core: &SimCore| {
        let mut caches = core.take_caches().expect("it is asked for once");
        let me = core.core().index();
        let mut view = core.claim::<u32>(line_of(0, me), 8).expect("there is no other view");
        for round in 1..=5 {
            view.store(me, round);
            core.write_back_invalidate(&mut caches, line_of(0, me));
            reach_phase(core, round);
        }
        view.load(me)
    };
    assert_eq!(machine(6, 6).run(job).unwrap(), Machine::scc(6).run(job).unwrap());
}
