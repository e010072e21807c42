//! Clusters whose nodes share their copies of other nodes' memory: what one core writes back, the others have not lost.

use super::*;
use crate::{Cached, Clock, Mpb, MpbCoherence, Topology};

/// Lines of node 2 that a flush writes back before the one that a test is about, so that this is late.
const LINES: usize = 4000;

fn memory() -> Region<kind::Cached> {
    Region::new(SharedAddress::new(2, 0), LINES * 32)
}

/// The line that a test is about, of another node, whose engine is idle.
fn last_line() -> Region<kind::Cached> {
    Region::new(SharedAddress::new(1, 0), 32)
}

fn machine(nodes: u16) -> Machine {
    Machine::new(Description::parse(&format!("cluster-fpga:{nodes}x2")).unwrap())
}

fn set(core: &SimCore, flag: MpbLine) {
    core.store(flag, 0, &[1]);
    core.drain();
}

/// Makes all lines but the last one dirty, and when the last one is dirty, too, flushes them.
fn dirty_and_flush(core: &SimCore) {
    let mut caches = core.take_caches().unwrap();
    let mut view = core.claim::<u32>(memory(), LINES * 8).unwrap();
    (0..LINES).for_each(|line| view.store(line * 8, 1));
    await_byte(core, line(0, 1), 0, 1);
    set(core, line(1, 1));
    core.write_back_invalidate_all(&mut caches);
}

#[test]
fn what_a_neighbour_flushes_stays_visible_in_the_node() {
    machine(3)
        .run(|core| match core.core().index() {
            0 => dirty_and_flush(core),
            1 => {
                let mut view = core.claim::<u32>(last_line(), 8).unwrap();
                view.store(0, 5);
                set(core, line(0, 1));
                await_byte(core, line(1, 1), 0, 1);
                for round in 0..20_000 {
                    assert_eq!(view.load(0), 5, "in round {round}");
                    core.compute(200);
                }
            }
            _ => {}
        })
        .unwrap();
}

#[test]
fn a_flush_waits_for_what_a_neighbour_is_writing_back() {
    for delay in (1_600_000..2_200_000).step_by(40_000) {
        let outcome = machine(4).run(|core| match core.core().index() {
            0 => dirty_and_flush(core),
            1 => {
                let mut caches = core.take_caches().unwrap();
                let mut view = core.claim::<u32>(last_line(), 8).unwrap();
                view.store(0, 5);
                set(core, line(0, 1));
                await_byte(core, line(1, 1), 0, 1);
                core.compute(delay);
                core.write_back_invalidate(&mut caches, last_line());
                set(core, line(6, 1));
            }
            6 => {
                let view = core.claim::<u32>(last_line(), 8).unwrap();
                await_byte(core, line(6, 1), 0, 1);
                assert_eq!(view.load(0), 5, "after {delay} cycles");
            }
            _ => {}
        });
        outcome.unwrap();
    }
}

#[test]
fn large_elements_are_not_held_any_longer_than_they_are_stored() {
    type Element = [u64; 4_096];
    let machine = machine(2).with_options(Options { cache_frames: 6, ..Options::default() });
    machine
        .run(|core| {
            if core.core().index() == 0 {
                let region = Region::new(SharedAddress::new(1, 0), 4 * size_of::<Element>());
                let mut view = core.claim::<Element>(region, 4).unwrap();
                (0..4).for_each(|index| view.store(index, [index as u64; 4_096]));
                assert!((0..4).all(|index| view.load(index)[4_095] == index as u64));
            }
        })
        .unwrap();
}
