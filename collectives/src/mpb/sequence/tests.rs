//! What operations get while others are under way.

use std::vec::Vec;

use hal::{
    Counted, MpbCoherence,
    sim::{Machine, SimCore},
};

use super::*;
use crate::{
    MpbLayout,
    testing::{Random, run},
};

/// What `program` returns on all of five ranks, which has to be the same.
fn on_all<R: PartialEq + core::fmt::Debug + Clone>(program: impl Fn(&Comm<'_, SimCore>) -> R) -> R {
    let results = run(&Machine::scc(5), program);
    assert!(results.iter().all(|result| *result == results[0]), "ranks disagree: {results:?}");
    results[0].clone()
}

/// Begins an operation; whether that took a barrier is told by what was signalled.
fn begin(comm: &Comm<'_, SimCore>, lines: usize, writers: Writers) -> (Turn, bool) {
    let before = comm.hal().counters().drains;
    let turn = comm.turn(lines, writers);
    (turn, comm.hal().counters().drains > before)
}

/// Lets all ranks come together, or says that all have entered the last operation, or neither; what is complete is under way no longer.
fn end_some<T>(comm: &Comm<'_, SimCore>, random: &mut Random, under_way: &mut Vec<T>) {
    match random.below(6) {
        0 => {
            comm.barrier();
            under_way.clear();
        }
        1..=3 => {
            comm.sequence().earlier_complete();
            under_way.drain(..under_way.len() - 1);
        }
        _ => {}
    }
}

#[test]
fn cells_come_around_after_a_barrier() {
    let turns = on_all(|comm| (0..3 * TURNS).map(|_| begin(comm, 0, Writers::Owner)).collect::<Vec<_>>());
    for (number, (turn, barrier)) in turns.iter().enumerate() {
        let number = number as u32;
        assert_eq!((turn.tag, *barrier), (number + 1, number > 0 && number.is_multiple_of(TURNS)));
        assert!(turn.staging.is_empty());
        for (other, _) in &turns[number as usize + 1..] {
            let together = other.tag < turn.tag + TURNS;
            assert_eq!(turn.cells == other.cells, other.tag % TURNS == turn.tag % TURNS);
            assert!(!together || turn.cells.iter().all(|cell| !other.cells.contains(cell)));
        }
    }
}

#[test]
fn a_barrier_of_the_program_serves_as_well() {
    let barriers = on_all(|comm| {
        let turn = |number: u32| {
            if number.is_multiple_of(5) {
                comm.barrier();
            }
            begin(comm, 10, Writers::Anyone).1
        };
        (0..40).map(turn).collect::<Vec<_>>()
    });
    assert_eq!(barriers, [false; 40]);
}

#[test]
fn staging_lines_of_operations_under_way_differ() {
    let sizes = [0, 40, 30, 26, 1, 96, 95, 1, 1, 50, 50, 0, 20, 90, 7, 7, 7, 7, 7, 7, 7, 7];
    let turns = on_all(|comm| sizes.map(|lines| begin(comm, lines, Writers::Anyone)));
    let second = MpbLayout::new(5).unwrap().buffer(1)..hal::MPB_LINES;
    let mut under_way: Vec<&Turn> = Vec::new();
    for ((turn, barrier), lines) in turns.iter().zip(sizes) {
        if *barrier {
            under_way.clear();
        }
        let lines_of = |turn: &Turn| turn.staging.clone();
        assert_eq!(turn.staging.len(), lines);
        assert!(lines == 0 || second.start <= turn.staging.start && turn.staging.end <= second.end);
        let overlaps = |other: &&Turn| lines_of(other).any(|line| turn.staging.contains(&line));
        assert!(!under_way.iter().any(overlaps), "{turn:?} of {under_way:?}");
        under_way.push(turn);
    }
    // 96 lines in 40, 30 and 26; then one, or what does not fit any more, is for after a barrier.
    let barriers: Vec<_> = turns.iter().map(|(_, barrier)| *barrier).take(7).collect();
    assert_eq!(barriers, [false, false, false, false, true, true, true]);
}

#[test]
fn staging_lines_differ_however_operations_are_told_complete() {
    for seed in 0..40_usize {
        on_all(|comm| {
            let mut random = Random(seed as u32 + 1);
            let mut under_way: Vec<Turn> = Vec::new();
            for _ in 0..100 {
                let lines = random.below([97, 40, 12][seed % 3]);
                let (turn, barrier) = begin(comm, lines, Writers::Owner);
                if barrier {
                    under_way.clear();
                }
                let overlaps = |other: &Turn| other.staging.clone().any(|line| turn.staging.contains(&line));
                assert!(!under_way.iter().any(overlaps), "{turn:?} of {under_way:?} with seed {seed}");
                under_way.push(turn);
                end_some(comm, &mut random, &mut under_way);
            }
        });
    }
}

/// On a communicator of some ranks: tagged data has cells as well.
#[test]
fn nobody_has_the_cells_that_tagged_data_is_in() {
    for seed in 0..40_usize {
        let borrowed = on_all(|world| {
            let (comm, mut random) = (world.dup().unwrap(), Random(seed as u32 + 1));
            let (own, tagged) = (comm.mpb_layout().shared().len(), comm.mpb_layout().tagged());
            let (mut under_way, mut borrowed): (Vec<Vec<usize>>, usize) = (Vec::new(), 0);
            for _ in 0..100 {
                let before = comm.hal().counters().drains;
                let lines: Vec<_> = match random.below(3) {
                    0 => {
                        let turn = comm.slots_turn([random.below(tagged.len() - 2), 2], false, 0);
                        (turn.written..turn.read + 2).collect()
                    }
                    lines => {
                        let turn = comm.turn((lines - 1) * random.below(own + 1), Writers::Anyone);
                        assert!(turn.staging.end <= comm.mpb_layout().cells().start);
                        turn.staging.chain(turn.cells).collect()
                    }
                };
                if comm.hal().counters().drains > before {
                    under_way.clear();
                }
                let is_taken = |line: &usize| under_way.iter().any(|other| other.contains(line));
                assert!(!lines.iter().any(is_taken), "{lines:?} of {under_way:?} with seed {seed}");
                borrowed += usize::from(lines.len() > own + CELLS);
                under_way.push(lines);
                end_some(&comm, &mut random, &mut under_way);
            }
            core::mem::forget(comm);
            borrowed
        });
        assert!(borrowed > 0);
    }
}

#[test]
fn an_operation_that_all_have_entered_keeps_its_own_cells() {
    let barriers = on_all(|comm| {
        begin(comm, 0, Writers::Owner);
        comm.sequence().earlier_complete();
        (0..TURNS).map(|_| begin(comm, 0, Writers::Owner).1).collect::<Vec<_>>()
    });
    assert_eq!(barriers.iter().position(|barrier| *barrier), Some(TURNS as usize - 1));
}

#[test]
fn staging_that_was_kept_is_waited_for_by_those_who_write_to_others() {
    let (owner, anyone, after) = on_all(|comm| {
        comm.own_staging_turn(2 * comm.mpb_layout().buffer_lines());
        let owner = begin(comm, 4, Writers::Owner).1;
        let anyone = begin(comm, 4, Writers::Anyone).1;
        (owner, anyone, begin(comm, 4, Writers::Anyone).1)
    });
    assert_eq!((owner, anyone, after), (false, true, false));
}

#[test]
fn tags_are_not_looked_for_among_other_data() {
    let barriers = on_all(|comm| {
        let tagged = |lines| {
            let before = comm.hal().counters().drains;
            let turn = comm.tagged_turn(lines);
            comm.hal().invalidate_mpb();
            let looks_like = turn.staging.clone().any(|line| {
                let line = comm.hal().load_line(comm.mpb_line(comm.rank(), line));
                crate::mpb::tagged::tagged_data(&line, turn.tag).is_some()
            });
            assert!(!looks_like, "{turn:?}");
            comm.hal().counters().drains > before
        };
        let fill = |turn: Turn| {
            for tag in 0..8 {
                let line = [turn.tag + tag; hal::LINE_BYTES / 4];
                let bytes: &[u8] = bytemuck::cast_slice(&line);
                for at in turn.staging.clone().filter(|line| line % 8 == tag as usize) {
                    comm.hal().put(bytes, comm.mpb_line(comm.rank(), at));
                }
            }
        };
        let mut barriers = Vec::from([tagged(20)]);
        fill(comm.turn(30, Writers::Owner));
        barriers.extend([tagged(46), tagged(20), tagged(30), tagged(47)]);
        comm.own_staging_turn(2 * comm.mpb_layout().buffer_lines());
        barriers.extend([tagged(10), tagged(10)]);
        comm.barrier();
        barriers.extend([tagged(60), tagged(20), tagged(10)]);
        barriers
    });
    // The first two turns get lines that were always clean. Then there is no room; then what was put is skipped, and then
    // it is in the way. The last turn gets lines that were cleared before.
    assert_eq!(barriers, [false, false, true, false, true, true, true, true, true, false]);
}

#[test]
fn a_first_buffer_is_no_matter_of_the_second_one() {
    let (before, after) = on_all(|comm| {
        let before = begin(comm, 4, Writers::Anyone).1;
        comm.own_staging_turn(comm.mpb_layout().buffer_lines());
        (before, begin(comm, 4, Writers::Anyone).1 || comm.sequence().shared.raw.get().count_ones() > 8)
    });
    assert_eq!((before, after), (false, false));
}

#[test]
fn operations_of_both_kinds_take_turns_without_clearing_lines() {
    let cleared = on_all(|comm| {
        let mut cleared = Vec::new();
        for _ in 0..12 {
            comm.turn(30, Writers::Owner);
            let before = comm.hal().counters().mpb_lines_written;
            comm.tagged_turn(30);
            let written = comm.hal().counters().mpb_lines_written - before;
            comm.sequence().earlier_complete();
            cleared.push(written);
        }
        cleared
    });
    assert_eq!(cleared, [0; 12], "lines cleared, and flags of barriers");
}

#[test]
fn an_operation_that_all_have_entered_completes_those_before() {
    let barriers = on_all(|comm| {
        let turns = (0..4 * TURNS).map(|_| {
            let barrier = begin(comm, 48, Writers::Anyone).1;
            comm.sequence().earlier_complete();
            barrier
        });
        turns.collect::<Vec<_>>()
    });
    // Of two halves, the last operation's and the next one's.
    assert_eq!(barriers, [false; 4 * TURNS as usize]);
}

#[test]
fn tags_wrap_around_past_zero() {
    let turns = on_all(|comm| {
        comm.sequence().begun.set(u32::MAX - 2);
        comm.sequence().complete.set(u32::MAX - 2);
        [(); 6].map(|()| begin(comm, 0, Writers::Owner).0)
    });
    let tags = turns.clone().map(|turn| turn.tag);
    assert_eq!(tags[..2], [u32::MAX - 1, u32::MAX]);
    assert!(!tags.contains(&0));
    for pair in turns.windows(2) {
        assert!(pair[0].cells != pair[1].cells && pair[0].tag != pair[1].tag, "{turns:?}");
    }
}
