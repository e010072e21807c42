//! The hazards of a machine without cache coherence are all there, and the remedies work.

use super::*;
use crate::{
    Cached, Clock, Combined, Counted, Mpb, MpbCoherence, MpbCopy, Place, Reason, Topology, Uncached, Wait,
    emulated::{FetchUnit, Omit},
};

/// Runs two cores; core 1 goes first, core 0 follows after a millisecond.
fn first_then<R>(machine: Machine, first: impl Fn(&SimCore), then: impl Fn(&SimCore) -> R) -> R {
    let outcome = machine.with_cores(2).run(|core| match core.core().index() {
        1 => {
            first(core);
            None
        }
        _ => {
            core.compute(533_000);
            Some(then(core))
        }
    });
    outcome.unwrap().results().remove(0).unwrap()
}

#[test]
fn a_read_without_invalidate_is_stale() {
    let outcome = Machine::scc(2).run(|core| {
        if core.core().index() == 1 {
            core.compute(533);
            core.store(line(0, 1), 0, &[5; 32]);
            return [0; 3];
        }
        let before = core.load_line(line(0, 1)).0[0];
        core.compute(53_300);
        let stale = core.load_line(line(0, 1)).0[0];
        core.invalidate_mpb();
        [before, stale, core.load_line(line(0, 1)).0[0]]
    });
    assert_eq!(outcome.unwrap().results()[0], [0, 0, 5]);
}

#[test]
fn a_store_is_not_seen_until_drained() {
    for (drains, sees) in [(false, 0), (true, 5)] {
        let seen = first_then(
            Machine::scc(2),
            |core| {
                core.store(line(0, 1), 3, &[5]);
                if drains {
                    core.drain();
                }
            },
            |core| core.load_line(line(0, 1)).0[3],
        );
        assert_eq!(seen, sees);
    }
    let omitted = first_then(
        Machine::scc(2),
        |core| {
            core.omit(Omit::DRAIN);
            core.put(&[5; 33], line(0, 1));
            core.drain();
        },
        |core| (core.load_line(line(0, 1)).0[0], core.load_line(line(0, 2)).0[0]),
    );
    assert_eq!(omitted, (5, 0), "a full line drains itself, the rest stays");
}

#[test]
fn coherent_machines_show_everything_at_once() {
    let coherent = Machine::scc(2).with_options(Options { coherent: true, ..Options::default() });
    let seen = first_then(
        coherent,
        |core| {
            core.store(line(0, 1), 3, &[5]);
            core.claim::<u32>(region(2), 16).unwrap().store(0, 6);
        },
        |core| (core.load_line(line(0, 1)).0[3], core.claim::<u32>(region(2), 16).unwrap().load(0)),
    );
    assert_eq!(seen, (5, 6));
}

#[test]
fn cached_stores_are_private_until_flushed() {
    for fetch_unit in [FetchUnit::Line, FetchUnit::Page] {
        for (flushes, sees) in [(false, 0), (true, 9)] {
            let machine = Machine::scc(2).with_options(Options { fetch_unit, ..Options::default() });
            let seen = first_then(
                machine,
                |core| {
                    let mut caches = core.take_caches().unwrap();
                    let mut view = core.claim::<u32>(region(2), 16).unwrap();
                    view.store(3, 9);
                    assert_eq!(view.load(3), 9);
                    if flushes {
                        core.write_back_invalidate(&mut caches, region(2));
                    }
                },
                |core| core.claim::<u32>(region(2), 16).unwrap().load(3),
            );
            assert_eq!(seen, sees);
        }
    }
}

#[test]
fn cached_loads_are_stale_until_invalidated() {
    let outcome = Machine::scc(2).run(|core| {
        if core.core().index() == 1 {
            core.compute(53_300);
            core.store_word(region(1), 3, 9);
            return [0; 3];
        }
        let mut caches = core.take_caches().unwrap();
        let view = core.claim::<u32>(region(1), 8).unwrap();
        let before = view.load(3);
        core.compute(533_000);
        let stale = view.load(3);
        core.write_back_invalidate(&mut caches, region(1));
        [before, stale, view.load(3)]
    });
    assert_eq!(outcome.unwrap().results()[0], [0, 0, 9]);
}

/// Two cores each update their own word of one line. Returns the two words.
fn false_sharing(update: impl Fn(&SimCore, usize)) -> (u32, u32) {
    let outcome = Machine::scc(3).run(|core| {
        let me = core.core().index();
        if me < 2 {
            update(core, me);
            core.store_word(Region::new(SharedAddress::new(1, 0), 64), me, 1);
            return (0, 0);
        }
        let places = [0, 1].map(|index| Place::Word(Region::new(SharedAddress::new(1, 0), 64), index));
        core.wait(&places, Reason::new("both"), |poll| (poll.word(0) + poll.word(1) == 2).then_some(()));
        (core.load_word(region(1), 0), core.load_word(region(1), 1))
    });
    outcome.unwrap().results()[2]
}

#[test]
fn whole_line_write_back_loses_a_neighbours_update() {
    let (first, second) = false_sharing(|core, me| {
        let mut caches = core.take_caches().unwrap();
        core.claim::<u32>(region(1), 8).unwrap().store(me, 8);
        core.compute(1_000 * me as u64);
        core.write_back_invalidate(&mut caches, region(1));
    });
    assert_eq!((first, second), (0, 8), "the later write-back overwrites the earlier one's word");
}

#[test]
fn byte_masked_writes_lose_nothing() {
    let both = false_sharing(|core, me| {
        core.write(region(1), 4 * me, &8_u32.to_le_bytes());
        core.drain();
    });
    assert_eq!(both, (8, 8));
}

#[test]
fn a_small_cache_evicts_and_keeps_what_was_stored() {
    const PAGES: usize = 8;
    let machine = Machine::scc(1).with_options(Options { cache_frames: 2, ..Options::default() });
    let outcome = machine.run(|core| {
        let mut view = core.claim::<u32>(region(128 * PAGES), 1024 * PAGES).unwrap();
        for page in 0..PAGES {
            view.store(1024 * page, page as u32 + 1);
        }
        let evicted = core.counters().lines_evicted;
        (evicted, (0..PAGES).map(|page| view.load(1024 * page)).collect::<Vec<_>>())
    });
    assert_eq!(outcome.unwrap().results()[0], (6, (1..=PAGES as u32).collect()));
}

#[test]
fn an_eviction_can_be_provoked() {
    let seen = first_then(
        Machine::scc(2),
        |core| {
            let mut view = core.claim::<u32>(region(2), 16).unwrap();
            view.store(3, 9);
            core.provoke_eviction();
            view.store(4, 10);
        },
        |core| (core.load_word(region(2), 3), core.load_word(region(2), 4)),
    );
    assert_eq!(seen, (9, 0));
}
