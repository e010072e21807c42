//! What private memory costs behind L1 and L2.

use super::*;
use crate::{Cached, Clock, LINE_BYTES, MpbCopy, Span, Topology, Trace};

// OC-Bcast, Table 1: a line of memory one router away, read and written.
const MEM_READ: u64 = 208_000 + 2 * 5_000;
const MEM_WRITE: u64 = 461_000 + 2 * 5_000;
/// L2 takes 18 cycles of 533 MHz.
const L2_CYCLES: u64 = 18;

/// What core 0 of an SCC needs for each of some operations, one after the other.
fn times(private_caches: bool, operations: &[&dyn Fn(&SimCore)]) -> Vec<u64> {
    let machine = Machine::scc(1).with_options(Options { private_caches, ..Options::default() });
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

/// Puts a buffer of its own, by calls of 3 KB, as one operation.
fn put(core: &SimCore, bytes: usize) {
    let _span = core.span(Span::new("send").of(bytes));
    vec![0; bytes].chunks(96 * LINE_BYTES).for_each(|chunk| core.put(chunk, line(0, 1)));
}

fn get(core: &SimCore, bytes: usize) {
    let _span = core.span(Span::new("receive").of(bytes));
    vec![0; bytes].chunks_mut(96 * LINE_BYTES).for_each(|chunk| core.get(line(0, 1), chunk));
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
    let (plain, cached) = (times(false, &operations), times(true, &operations));
    let lines = (small / LINE_BYTES) as u64;
    let saved: Vec<u64> = plain.iter().zip(&cached).map(|(plain, cached)| plain - cached).collect();
    // The clock has each line's cycles rounded down.
    let in_l2 = lines * (MEM_READ - L2_CYCLES * 1_000_000 / 533);
    let written = lines / 2 * (MEM_WRITE - MEM_READ);
    assert_eq!(saved, [0, lines * MEM_READ, lines * MEM_WRITE, 0, in_l2, 0, 0, 0, written]);
}

#[test]
fn what_is_accounted_for_is_cached_and_a_flush_takes_it_away() {
    let account = |core: &SimCore| core.account_memory(100, 0);
    let flush = |core: &SimCore| core.write_back_invalidate_all(&mut core.take_caches().unwrap());
    let found = times(true, &[&account, &account, &flush, &account]);
    assert_eq!([found[0], found[1], found[3]], [100 * MEM_READ, 0, 100 * MEM_READ]);
    let never = times(false, &[&account, &account]);
    assert_eq!(never, [100 * MEM_READ; 2]);
}

/// Buffers lie elsewhere in each run, and runs are the same.
#[test]
fn no_time_depends_on_where_memory_lies() {
    let run = |offset: usize| {
        let machine = Machine::scc(4).with_options(Options { private_caches: true, ..Options::default() });
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

#[test]
fn a_cluster_has_its_own_prices_of_memory() {
    let time = |private_caches: bool| {
        let machine = Machine::new(Description::parse("cluster-fpga:1x1").unwrap());
        let machine = machine.with_options(Options { private_caches, ..Options::default() });
        machine.run(|core| (0..3).for_each(|_| core.account_memory(100, 50))).unwrap().time_ps
    };
    assert_eq!(time(true), time(false));
}
