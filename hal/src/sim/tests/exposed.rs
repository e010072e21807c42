//! Private memory that others reach: what is refused, what it costs, and what a slot that changes hands takes with it.

use super::*;
use crate::{
    Cached, Combined, Counted, Exposable, Expose, ExposeError, LINE_BYTES, Lines, MpbCoherence, Topology, Uncached,
    exposed::{MAPPED_SLOTS, SLOT_BYTES},
};

/// Part of a buffer.
struct Part(Lines<u8>, std::ops::Range<usize>);

// SAFETY: 1. to 3. as for `Lines`, of whose memory it is a part.
unsafe impl Exposable for Part {
    fn bytes(&mut self) -> &mut [u8] {
        &mut self.0[self.1.clone()]
    }
}

#[test]
fn parts_of_lines_are_refused() {
    let outcome = Machine::scc(1).run(|core| {
        let mut caches = core.take_caches().unwrap();
        let mut expose = |range| match core.expose(&mut caches, Part(Lines::zeroed(96), range)) {
            Ok(exposure) => {
                let len_bytes = exposure.region().len_bytes();
                exposure.end(&mut caches);
                Ok(len_bytes)
            }
            Err(refused) => Err(refused.error),
        };
        assert_eq!((expose(0..96), expose(32..64), expose(32..32)), (Ok(96), Ok(32), Ok(0)));
        for (range, before) in [(8..40, 8), (8..32, 8), (0..40, 0)] {
            let len_bytes = range.len();
            assert_eq!(expose(range), Err(ExposeError::PartOfALine { before, len_bytes }));
        }
    });
    outcome.unwrap();
}

/// Core 0 exposes four lines for a millisecond, core 47 does `origin` with them meanwhile. Returns what they have
/// become, and what `origin` returned.
fn exposed_to_47<R: Default>(origin: impl Fn(&SimCore, Region<kind::Combined>) -> R) -> (Vec<u8>, R) {
    let outcome = Machine::scc(48).run(|core| match core.core().index() {
        0 => {
            let mut caches = core.take_caches().unwrap();
            let exposure = core.expose(&mut caches, Lines::<u8>::zeroed(128)).unwrap();
            core.platform().spend_ps(1_000_000_000);
            (exposure.end(&mut caches).to_vec(), R::default())
        }
        47 => {
            core.platform().spend_ps(100_000_000);
            let region = Region::new(SharedAddress::exposed(CoreId::new(0), 0), 128);
            let returned = origin(core, region);
            core.let_go(region);
            (Vec::new(), returned)
        }
        _ => Default::default(),
    });
    let mut results = outcome.unwrap().results();
    (std::mem::take(&mut results[0].0), results.remove(47).1)
}

#[test]
fn a_mapping_costs_a_register_and_an_access_the_way_to_the_owners_memory() {
    const HOP: u64 = 5_000;
    let (_, times) = exposed_to_47(|core, region| {
        let mut last = core.platform().now_ps();
        let mut took = || {
            let now = core.platform().now_ps();
            now - std::mem::replace(&mut last, now)
        };
        let mut times = Vec::new();
        for _ in 0..2 {
            core.map(region).unwrap();
            times.push(took());
        }
        core.read(region, 0, &mut [0; 64]);
        times.push(took());
        core.write(region, 64, &[1; 64]);
        times.push(took());
        core.load_word(region.mapped(), 3);
        times.push(took());
        times
    });
    // Core 47 is 9 routers away from the controller behind which core 0's memory lies, and 2 from its own.
    let read = 95_000 + 2 * (208_000 + 18 * HOP) + 2 * (461_000 + 4 * HOP);
    let write = 190_000 + 2 * (208_000 + 4 * HOP) + 2 * (461_000 + 18 * HOP);
    // A word's price has that of its call in it.
    let word = 12 * 1_000_000 / 533 + 134 * 1_000_000 / 533 + 2 * HOP;
    assert_eq!(times, [126_000 + 2 * HOP, 0, read, write, word]);
}

#[test]
fn exposing_and_taking_back_cost_a_flush_each() {
    let outcome = Machine::scc(48).run(|core| {
        let mut caches = core.take_caches().unwrap();
        let exposure = core.expose(&mut caches, Lines::<u8>::zeroed(128)).unwrap();
        let exposed = (core.platform().now_ps(), core.counters().flushes);
        exposure.end(&mut caches);
        (exposed, (core.platform().now_ps(), core.counters().flushes))
    });
    let flush = 4 * 4 * (208_000 + 10_000);
    assert_eq!(outcome.unwrap().results()[0], ((flush, 1), (2 * flush, 2)));
}

#[test]
fn a_slot_that_changes_hands_leaves_nothing_behind() {
    let (memory, (undrained, mappings, stale)) = exposed_to_47(|core, region| {
        core.map(region).unwrap();
        let mut byte = [9];
        core.read(region, 3, &mut byte);
        core.write(region, 3, &[5]);
        let before = core.counters().mappings;
        // All slots but one and one more: the table is full, and ours has been the least recently used.
        for index in 0..MAPPED_SLOTS {
            assert!(core.undrained().is_some(), "drained after {index} mappings");
            let other = SharedAddress::exposed(CoreId::new(1 + index / 4), index % 4 * SLOT_BYTES);
            core.map(Region::new(other, LINE_BYTES)).unwrap();
        }
        let after = (core.undrained().is_some(), core.counters().mappings - before);
        core.map(region).unwrap();
        core.write(region, 4, &[6]);
        core.drain();
        core.read(region, 4, &mut byte);
        (after.0, after.1, byte[0])
    });
    assert_eq!((undrained, mappings, stale), (false, MAPPED_SLOTS as u64, 6));
    assert_eq!(memory[2..6], [0, 5, 6, 0]);
}

#[test]
fn unmapping_drains_too() {
    let (memory, _) = exposed_to_47(|core, region| {
        core.map(region).unwrap();
        core.write(region, 100, &[7, 8]);
        core.unmap(region);
    });
    assert_eq!(memory[99..103], [0, 7, 8, 0]);
}

#[test]
fn letting_go_drains_and_leaves_slots_mapped() {
    let (memory, mappings) = exposed_to_47(|core, region| {
        core.map(region).unwrap();
        core.write(region, 100, &[7, 8]);
        core.let_go(region);
        assert_eq!(core.undrained(), None);
        core.map(region).unwrap();
        core.write(region, 98, &[6]);
        core.counters().mappings
    });
    assert_eq!((&memory[98..103], mappings), (&[6, 0, 7, 8, 0][..], 1));
}

#[test]
fn memory_does_not_come_back_before_all_have_let_go_of_it() {
    let said = |lets_go: bool| {
        let outcome = Machine::scc(2).run(|core| {
            let mut caches = core.take_caches().unwrap();
            if core.core().index() == 0 {
                let exposure = core.expose(&mut caches, Lines::<u8>::zeroed(64)).unwrap();
                core.platform().spend_ps(1_000_000_000);
                exposure.end(&mut caches);
                return;
            }
            core.platform().spend_ps(100_000_000);
            let region: Region<kind::Combined> = Region::new(SharedAddress::exposed(CoreId::new(0), 0), 64);
            core.map(region).unwrap();
            core.read(region, 40, &mut [0]);
            if lets_go {
                core.let_go(region.lines_around(0, 1));
            }
        });
        outcome.map_or_else(|failure| failure.to_string(), |_| String::new())
    };
    assert_eq!(said(true), "");
    assert!(said(false).contains("core 1 has not let go of exposed memory 0x0 of core 0, whose exposure ends"));
}
