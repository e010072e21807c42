//! What private memory costs behind L1 and L2.

use super::*;
use crate::{
    Cached, Clock, Combined, LINE_BYTES, Mpb, MpbCoherence, MpbCopy, Place, Reason, Span, Topology, Trace, Wait,
};

// OC-Bcast, Table 1: a line of memory one router away, read.
const MEM_READ: u64 = 208_000 + 2 * 5_000;
/// The same without software: 43 cycles of the core, and what memory takes.
const DRAM_READ: u64 = 43 * 1_000_000 / 533 + 97_000 + 2 * 5_000;
/// L2 takes 18 cycles of 533 MHz.
const L2_CYCLES: u64 = 18;

/// What core 0 of an SCC needs for each of some operations, one after the other.
fn times(everything_priced: bool, operations: &[&dyn Fn(&SimCore)]) -> Vec<u64> {
    let machine = Machine::scc(1).with_options(Options { everything_priced, ..Options::default() });
    let outcome = machine.run(|core| {
        let one = |operation: &&dyn Fn(&SimCore)| {
            let before = core.now_ps();
            operation(core);
            core.now_ps() - before
        };
        operations.iter().map(one).collect()
    });
    outcome.unwrap().cores.remove(0).result
}

/// Reads a buffer of its own, by calls of 3 KB, as one operation.
fn put(core: &SimCore, bytes: usize) {
    let _span = core.span(Span::new("an operation").of(bytes));
    vec![0; bytes].chunks(96 * LINE_BYTES).for_each(|chunk| core.account_memory(chunk.len() / LINE_BYTES, 0));
}

fn get(core: &SimCore, bytes: usize) {
    let _span = core.span(Span::new("an operation").of(bytes));
    vec![0; bytes].chunks(96 * LINE_BYTES).for_each(|chunk| core.account_memory(0, chunk.len() / LINE_BYTES));
}

#[test]
fn memory_costs_by_what_the_core_did_since_it_came_by() {
    let (small, large): (usize, usize) = (8 << 10, 512 << 10);
    let operations: [&dyn Fn(&SimCore); 9] = [
        &|core| put(core, small),
        &|core| put(core, small),
        &|core| get(core, small),
        // L2 still has it.
        &|core| put(core, 2 * small),
        &|core| put(core, small),
        // Nobody has it.
        &|core| put(core, large),
        &|core| put(core, large),
        &|core| put(core, small),
        // What is stored to is brought in.
        &|core| get(core, small / 2),
    ];
    let (lines, of_large) = ((small / LINE_BYTES) as u64, (large / LINE_BYTES) as u64 * DRAM_READ);
    // What L2 has in one call is one sum of cycles.
    let in_l2: u64 = [96, 96, 64].map(|lines| lines * L2_CYCLES * 1_000_000 / 533).iter().sum();
    let of_small = lines * DRAM_READ;
    let found = times(true, &operations);
    let in_l2_by_lines = lines * (L2_CYCLES * 1_000_000 / 533);
    assert!(found[4] == in_l2 || found[4] == in_l2_by_lines, "{} {in_l2} {in_l2_by_lines}", found[4]);
    let [first, second, third, fourth, _, sixth, seventh, eighth, ninth] = found[..] else { panic!("{found:?}") };
    assert_eq!([first, second, third, fourth], [of_small, 0, 0, 2 * of_small]);
    assert_eq!([sixth, seventh, eighth, ninth], [of_large, of_large, of_small, of_small / 2]);
}

#[test]
fn what_is_accounted_for_is_cached_and_a_flush_takes_it_away() {
    let account = |core: &SimCore| core.account_memory(100, 0);
    let flush = |core: &SimCore| core.write_back_invalidate_all(&mut core.take_caches().unwrap());
    let found = times(true, &[&account, &account, &flush, &account]);
    assert_eq!([found[0], found[1], found[3]], [100 * DRAM_READ, 0, 100 * DRAM_READ]);
    let never = times(false, &[&account, &account]);
    assert_eq!(never, [100 * MEM_READ; 2]);
}

/// Buffers lie elsewhere in each run, and runs are the same.
#[test]
fn no_time_depends_on_where_memory_lies() {
    let run = |offset: usize| {
        let machine = Machine::scc(4).with_options(Options { everything_priced: true, ..Options::default() });
        let kept = vec![0_u8; offset];
        let outcome = machine.run(|core| {
            let mut buffer = vec![0_u8; 5000 + offset];
            for turn in 0..20 {
                let _span = core.span(Span::new("both").of(5000));
                core.put(&buffer[offset..], line(core.core().index(), 1));
                core.get(line((core.core().index() + turn) % 4, 1), &mut buffer[offset..]);
            }
            core.now_ps()
        });
        assert_eq!(kept.len(), offset);
        outcome.unwrap().cores
    };
    let first = run(0);
    (1..40).for_each(|offset| assert_eq!(run(offset), first, "{offset}"));
}

/// Of the last poll only a part is made where the others are skipped; L1 has the lines that all of it has loaded all the same.
#[test]
fn lines_of_skipped_polls_take_places_of_l1() {
    const POLLED: usize = 8;
    let poll = |late: u64| {
        move |core: &SimCore| {
            if core.core().index() == 1 {
                core.compute(100_000 + late);
                core.store(line(0, POLLED), 0, &[1]);
                core.drain();
                return 0;
            }
            // All that L1 holds beside the lines that are polled, and seven lines more, as soon as these were.
            put(core, (512 - POLLED) * LINE_BYTES);
            let places: [Place; POLLED] = std::array::from_fn(|index| Place::Line(line(0, 1 + index)));
            core.wait(&places, Reason::new("the last of many lines"), |poll| {
                (0..POLLED).map(|place| poll.line(place).0[0]).last().filter(|flag| *flag == 1).map(drop)
            });
            put(core, (POLLED - 1) * LINE_BYTES);
            put(core, (512 - POLLED) * LINE_BYTES);
            core.now_ps()
        }
    };
    let machine = Machine::scc(2).with_options(Options { everything_priced: true, ..Options::default() });
    for late in (0..400).step_by(25) {
        let [skipping, polling] = [machine.clone(), machine.clone().polling_for_real()].map(|machine| {
            let outcome = machine.run(poll(late)).unwrap();
            (outcome.cores[0].result, outcome.work.skipped_polls)
        });
        assert!(skipping.1 > 0 && polling.1 == 0, "{skipping:?} {polling:?}");
        assert_eq!(skipping.0, polling.0, "{late} cycles later");
    }
}

/// A line of private memory for each piece of a line of the region, also where there are more of them than lines are filled.
#[test]
fn pieces_of_a_region_go_to_the_buffer_they_are_of() {
    // 64 bytes at an offset of 16 are three pieces, and two lines of the buffer, which the first time are in memory.
    let machine = Machine::scc(1).with_options(Options { everything_priced: true, ..Options::default() });
    let outcome = machine.run(|core| {
        let mut buffer = vec![0_u8; 64];
        // As the heap of a program does.
        core.platform().account().expect("it is counted").begins(buffer.as_ptr().addr(), buffer.len());
        let mut time = || {
            // L1 has lines of the region, too.
            core.invalidate_mpb();
            let before = core.now_ps();
            core.read(region(3), 16, &mut buffer);
            core.now_ps() - before
        };
        (time(), time())
    });
    let (first, second) = outcome.unwrap().results()[0];
    assert_eq!(first - second, 2 * DRAM_READ);
}

#[test]
fn a_cluster_has_its_own_prices_of_memory() {
    let time = |everything_priced: bool| {
        let machine = Machine::new(Description::parse("cluster-fpga:1x1").unwrap());
        let machine = machine.with_options(Options { everything_priced, ..Options::default() });
        machine.run(|core| (0..3).for_each(|_| core.account_memory(100, 50))).unwrap().time_ps
    };
    assert_eq!(time(true), time(false));
}
