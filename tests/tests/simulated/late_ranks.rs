//! Nobody goes on without the last: each rank in turn comes late, on numbers of ranks around those whose flags, marks and
//! signals fill words and lines. What compares four bytes at a time must not leave one out.

use collectives::{Barrier, Broadcast, Comm, Group, Window};
use hal::{
    Cached, Clock,
    sim::{Machine, SimCore},
};

const RANKS: [usize; 5] = [4, 31, 32, 33, 48];

/// Cycles by which the one is late: longer than everything else takes.
const LATE_CYCLES: u64 = 20_000_000;

/// Runs something on machines of each of these numbers of ranks, once for each rank that is late.
fn each_late(ranks: &[usize], program: impl Fn(&Comm<'_, SimCore>, usize) + Sync) {
    for (size, late) in ranks.iter().flat_map(|size| (0..*size).map(move |late| (*size, late))) {
        let outcome = Machine::scc(size).run(|core| {
            let comm = Comm::world(core, regions::of_a_test()).expect("the machine is small enough");
            program(&comm, late);
        });
        outcome.unwrap_or_else(|failure| panic!("{size} ranks, rank {late} late: {failure}"));
    }
}

/// Lets the rank be late, and returns when it comes at the earliest.
fn come(comm: &Comm<'_, SimCore>, late: usize) -> u64 {
    comm.barrier();
    let begin = comm.hal().now();
    if comm.rank() == late {
        comm.hal().compute(LATE_CYCLES);
    }
    // At 533 MHz and more, in ticks of a nanosecond.
    begin + LATE_CYCLES
}

fn assert_waited(comm: &Comm<'_, SimCore>, until: u64, what: &str) {
    let now = comm.hal().now();
    assert!(now >= until, "rank {} has left {what} {} ns before the last came", comm.rank(), until - now);
}

#[test]
fn barriers() {
    each_late(&RANKS, |comm, late| {
        let until = come(comm, late);
        comm.barrier();
        assert_waited(comm, until, "the default barrier");
    });
    for name in ["central-push", "tree-k7-pull", "dissemination", "rcce-linear", "tournament"] {
        let named: Barrier = name.parse().expect("it has this name");
        each_late(&[33, 48], |comm, late| {
            let mut barrier = comm.barrier_of(&comm.group(), named).expect("there is room");
            let until = come(comm, late);
            barrier.wait();
            assert_waited(comm, until, name);
        });
    }
}

#[test]
fn origins_wait_for_all_posts_and_targets_for_all_completions() {
    each_late(&RANKS, |comm, late| {
        let mut caches = comm.hal().take_caches().expect("nobody has them");
        let (window, mut view) = Window::<_, u32>::create(comm, &mut caches, 1).expect("there is room");
        let all = comm.group();
        // The first epochs find out where marks are from then on.
        for epoch in 0..3 {
            let until = if epoch == 2 { come(comm, late) } else { 0 };
            let exposure = window.post(view, &mut caches, &all).expect("it is not open");
            let access = window.start(&all).expect("it is not open");
            access.complete();
            assert_waited(comm, until, "COMPLETE");
            view = exposure.wait(&mut caches);
            assert_waited(comm, until, "WAIT");
        }
        window.free(view, &mut caches).expect("it is this window's");
    });
}

#[test]
fn one_origin_waits_for_each_of_its_targets() {
    each_late(&RANKS, |comm, late| {
        let mut caches = comm.hal().take_caches().expect("nobody has them");
        let (window, mut view) = Window::<_, u32>::create(comm, &mut caches, 1).expect("there is room");
        let others = Group::of(1..comm.size()).expect("they are ranks");
        let origin = Group::of([0]).expect("it is a rank");
        for epoch in 0..4 {
            let until = if epoch == 3 { come(comm, late) } else { 0 };
            if comm.rank() == 0 {
                window.start(&others).expect("it is not open").complete();
                assert_waited(comm, until, "COMPLETE");
            } else {
                let exposure = window.post(view, &mut caches, &origin).expect("it is not open");
                view = exposure.wait(&mut caches);
            }
        }
        window.free(view, &mut caches).expect("it is this window's");
    });
}

#[test]
fn a_root_waits_for_the_signals_of_all_its_children() {
    let algorithm: Broadcast = "oc-k47".parse().expect("it has this name");
    each_late(&[33, 48], |comm, late| {
        let mut message = vec![comm.rank() as u8; 3 * 96 * 32];
        let until = come(comm, late);
        // A third chunk goes only where the first was taken by all.
        comm.using(algorithm, |comm| comm.broadcast(&mut message, 0)).expect("there is such a root");
        if comm.rank() == 0 {
            assert_waited(comm, until, "the broadcast");
        }
        assert!(message.iter().all(|byte| *byte == 0), "rank {} has another message", comm.rank());
    });
}

/// A rank that only its neighbour notifies comes late to as many broadcasts as there are roots: its neighbour is not so far ahead that
/// its signals cannot be told apart.
#[test]
fn oc_bcast_from_all_roots_in_chains() {
    let chain: Broadcast = "oc-k47+notify1".parse().expect("it has this name");
    let outcome = Machine::scc(48).run(|core| {
        let comm = Comm::world(core, regions::of_a_test()).expect("the machine is small enough");
        come(&comm, 47);
        for root in 0..48 {
            let mut message = [if comm.rank() == root { root as u8 } else { 0xEE }; 6000];
            comm.using(chain, |comm| comm.broadcast(&mut message, root)).expect("there is such a root");
            assert_eq!(message, [root as u8; 6000]);
        }
    });
    outcome.unwrap_or_else(|failure| panic!("{failure}"));
}
