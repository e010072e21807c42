//! The private caching region under pressure: evictions, slices, and what becomes of a machine that fails.

use std::{cell::Cell, collections::BTreeSet};

use collectives::{AccessEpoch, Comm, Group, Window};
use hal::{
    Cached, Combined, Counted, LINE_BYTES, MpbCoherence, Region, SharedAddress, Topology, Uncached, kind,
    sim::{Failure, Machine, Options, SimCore, Spontaneous, explore_exhaustively},
};

const PAGE: usize = 4096;

/// Line 0 of page `page` of shared memory.
fn line_of_page(page: usize) -> Region<kind::Cached> {
    regions::of_a_test().region(SharedAddress::new(0, page * PAGE), LINE_BYTES)
}

/// One core with `cache_frames` frames.
fn alone<R>(cache_frames: usize, program: impl Fn(&SimCore) -> R) -> Result<R, Failure> {
    let machine = Machine::scc(1).with_options(Options { cache_frames, ..Options::default() });
    machine.run(program).map(|outcome| outcome.results().remove(0))
}

#[test]
fn an_eviction_writes_one_line() {
    let evicted = alone(4, |core| {
        let region = regions::of_a_test().region::<kind::Cached>(SharedAddress::new(0, 0), 2 * LINE_BYTES);
        let mut view = core.claim::<u32>(region, 16).unwrap();
        view.store(0, 1);
        view.store(8, 1);
        core.provoke_eviction();
        let first = core.counters().lines_evicted;
        let in_memory = [0, 8].map(|word| core.load_word(region.mapped(), word));
        (first, in_memory.iter().sum::<u32>())
    });
    assert_eq!(evicted.unwrap(), (1, 1));
}

#[test]
fn what_a_slice_looks_at_is_not_evicted() {
    let seen = alone(2, |core| {
        let mut caches = core.take_caches().unwrap();
        let [mut a, b, c] = [0, 1, 2].map(|page| core.claim::<u32>(line_of_page(page), 8).unwrap());
        // SAFETY: there is no other core.
        let slice = unsafe { a.as_mut_slice(&caches) };
        let _ = (b.load(0), c.load(0), b.load(0));
        slice[0] = 5;
        core.write_back_invalidate(&mut caches, line_of_page(0));
        (core.load_word(line_of_page(0).mapped(), 0), a.load(0))
    });
    assert_eq!(seen.unwrap(), (5, 5));
}

/// Making room for one page of a store does not take another one's.
#[test]
fn a_store_over_pages_is_stored_on_all_of_them() {
    let words = 2 * PAGE / 4;
    let seen = alone(2, |core| {
        let mut caches = core.take_caches().unwrap();
        let region = regions::of_a_test().region::<kind::Cached>(SharedAddress::new(0, 0), 6 * PAGE);
        let mut view = core.claim::<u32>(region, 3 * words).unwrap();
        let stored: Vec<u32> = (1..=words as u32).collect();
        (0..3).for_each(|part| view.copy_from(part * words, &stored));
        core.write_back_invalidate_all(&mut caches);
        (0..3 * words).all(|word| core.load_word(region.mapped(), word) == (word % words) as u32 + 1)
    });
    assert!(seen.unwrap());
}

/// Copies go page by page, so that they may be larger than what can be cached.
#[test]
fn a_store_of_more_than_fits_is_stored_as_well() {
    const WORDS: usize = 3 * PAGE / 4;
    let seen = alone(2, |core| {
        let mut caches = core.take_caches().unwrap();
        let region = regions::of_a_test().region::<kind::Cached>(SharedAddress::new(0, 0), 3 * PAGE);
        let stored: Vec<u32> = (1..=WORDS as u32).collect();
        core.claim::<u32>(region, WORDS).unwrap().copy_from(0, &stored);
        core.write_back_invalidate_all(&mut caches);
        (0..WORDS).all(|word| core.load_word(region.mapped(), word) == word as u32 + 1)
    });
    assert!(seen.unwrap());
}

#[test]
fn slices_of_more_than_fits_are_refused_by_a_panic() {
    let failure = alone(2, |core| {
        let caches = core.take_caches().unwrap();
        let [a, b, c] = [0, 1, 2].map(|page| core.claim::<u32>(line_of_page(page), 8).unwrap());
        // SAFETY: there is no other core.
        (unsafe { a.as_slice(&caches) }[0], unsafe { b.as_slice(&caches) }[0], unsafe { c.as_slice(&caches) }[0])
    });
    assert!(failure.unwrap_err().to_string().contains("slices look at all 2 pages"));
}

/// Each value that a held slice had between two operations may have been evicted.
#[test]
fn what_was_stored_through_a_slice_may_be_evicted_any_time() {
    let mut seen = BTreeSet::new();
    let spontaneous = Spontaneous { evictions: true, ..Spontaneous::default() };
    let exploration = explore_exhaustively(
        &Machine::scc(2),
        spontaneous,
        1_000_000,
        |core| {
            let (line, elsewhere) = (line_of_page(0), line_of_page(9).mapped::<kind::Uncached>());
            if core.core().index() == 1 {
                return [core.load_word(line.mapped(), 0), core.load_word(line.mapped(), 0)];
            }
            let caches = core.take_caches().unwrap();
            let mut view = core.claim::<u32>(line, 8).unwrap();
            for value in 1..=3 {
                // SAFETY: nobody else stores to the line.
                let slice = unsafe { view.as_mut_slice(&caches) };
                slice[0] = value;
                // It shows that the slice is gone: nothing looks under one that may be there.
                view.load(0);
                core.load_word(elsewhere, 0);
                core.load_word(elsewhere, 0);
            }
            [0; 2]
        },
        |outcome| {
            seen.insert(outcome.unwrap().results().remove(1));
        },
    );
    assert!(exploration.complete);
    for expected in [[0, 0], [0, 1], [1, 2], [1, 3], [3, 3]] {
        assert!(seen.contains(&expected), "{expected:?} is not in {seen:?}");
    }
    assert!(seen.iter().all(|[first, second]| first <= second), "{seen:?}");
}

#[test]
#[should_panic = "are not those of core 1"]
fn caches_stay_with_their_core() {
    let stray = Cell::new(None);
    let outcome = Machine::scc(2).run(|core| {
        let own = core.take_caches();
        if core.core().index() == 0 {
            stray.set(own);
        } else if let Some(mut caches) = stray.take() {
            core.write_back_invalidate(&mut caches, line_of_page(0));
        }
    });
    panic!("{}", outcome.unwrap_err());
}

/// A destructor that communicates must not take the report of the failure away.
#[test]
fn destructors_may_communicate_on_a_dying_machine() {
    struct Meets<'c>(Comm<'c, SimCore>);
    impl Drop for Meets<'_> {
        fn drop(&mut self) {
            self.0.barrier();
        }
    }
    let failure = Machine::scc(3).run(|core| {
        let meets = Meets(Comm::world(core, regions::of_a_test()).unwrap());
        assert!(core.core().index() != 1, "the reason");
        meets.0.barrier();
    });
    assert!(failure.map(drop).unwrap_err().to_string().contains("the reason"));
}

/// The same with an access epoch: COMPLETE would otherwise count down a counter that a dying machine shows as 0.
#[test]
fn destructors_may_complete_epochs_on_a_dying_machine() {
    struct Completes<'w, 'c>(Option<AccessEpoch<'w, 'w, 'c, SimCore, u32>>);
    impl Drop for Completes<'_, '_> {
        fn drop(&mut self) {
            self.0.take().into_iter().for_each(AccessEpoch::complete);
        }
    }
    let failure = Machine::scc(2).run(|core| {
        let comm = Comm::world(core, regions::of_a_test()).unwrap();
        let mut caches = core.take_caches().unwrap();
        let (window, _view) = Window::<_, u32>::create(&comm, &mut caches, 1).unwrap();
        let _completes = Completes(Some(window.start(&Group::of([1]).unwrap()).unwrap()));
        assert!(core.core().index() != 1, "the reason");
        comm.barrier();
    });
    assert!(failure.map(drop).unwrap_err().to_string().contains("the reason"));
}

#[test]
fn the_world_is_joined_once() {
    let second = alone(4, |core| {
        let _first = Comm::world(core, regions::of_a_test()).unwrap();
        Comm::world(core, regions::of_a_test()).err()
    });
    assert_eq!(second.unwrap(), Some(collectives::Error::SecondWorld));
}

/// A run of stores to a line is one line written, however often the buffer drains by itself meanwhile.
#[test]
fn spontaneous_drains_do_not_count() {
    for seed in 1..40 {
        let outcome = Machine::scc(1).with_seed(seed).run(|core| {
            let region = regions::of_a_test().region::<kind::Combined>(SharedAddress::new(0, 0), 2 * LINE_BYTES);
            for byte in 0..2 * LINE_BYTES {
                core.write(region, byte, &[1]);
            }
            core.write(region, 0, &[2]);
            core.drain();
            core.counters().combined_lines_written
        });
        assert_eq!(outcome.unwrap().results(), [3], "seed {seed}");
    }
}
