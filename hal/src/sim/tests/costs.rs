//! Every operation takes exactly the model's time.

use super::*;
use crate::{
    Cached, Clock, Combined, Deadline, Mpb, MpbCoherence, MpbCopy, Place, Reason, Software, TestAndSet, Topology,
    Uncached, Wait,
};

// OC-Bcast, Table 1, in picoseconds.
const HOP: u64 = 5_000;
const MPB: u64 = 126_000;
const MEM_WRITE: u64 = 461_000;
const MEM_READ: u64 = 208_000;
const PUT_MPB: u64 = 69_000;
const GET_MPB: u64 = 330_000;
const PUT_MEM: u64 = 190_000;
const GET_MEM: u64 = 95_000;

/// What a call costs that accesses a word or a register, beside the access.
fn call() -> u64 {
    cycles(12)
}

/// A cycle of 533 MHz, as often as it is needed.
fn cycles(count: u64) -> u64 {
    count * 1_000_000 / 533
}

fn mpb(routers: u64) -> u64 {
    MPB + 2 * routers * HOP
}

/// What core 0 of an SCC needs for `operation`.
fn time(operation: impl Fn(&SimCore)) -> u64 {
    let outcome = Machine::scc(48)
        .run(|core| {
            if core.core().index() == 0 {
                operation(core);
            }
        })
        .unwrap();
    outcome.cores[0].time_ps
}

/// A core at each distance from core 0, with the distance.
fn distances() -> impl Iterator<Item = (usize, u64)> {
    let scc = crate::Layout::scc();
    (0..48).map(move |core| (core, u64::from(scc.distance(CoreId::new(0), CoreId::new(core)))))
}

#[test]
fn put_and_get_between_mpbs_follow_the_model() {
    for (core, d) in distances() {
        for m in [1, 3, 96, 128] {
            // Formula 7: o_put + m C_r(1) + m C_w(d); formula 11: o_get + m C_r(d) + m C_w(1).
            let put = time(|c| c.put_from_own_mpb(1, line(core, 1), m as usize));
            assert_eq!(put, PUT_MPB + m * mpb(1) + m * mpb(d), "put of {m} lines to core {core}");
            let get = time(|c| c.get_to_own_mpb(line(core, 1), 100, m as usize));
            assert_eq!(get, GET_MPB + m * mpb(d) + m * mpb(1), "get of {m} lines from core {core}");
        }
    }
}

#[test]
fn put_and_get_with_memory_follow_the_model() {
    for (core, d) in distances() {
        let bytes = [7; 32 * 5];
        // Formulas 8 and 12; core 0 is on the tile of its controller.
        let put = time(|c| c.put(&bytes, line(core, 1)));
        assert_eq!(put, PUT_MEM + 5 * (MEM_READ + 2 * HOP) + 5 * mpb(d), "put to core {core}");
        let get = time(|c| c.get(line(core, 1), &mut [0; 32 * 5]));
        assert_eq!(get, GET_MEM + 5 * mpb(d) + 5 * (MEM_WRITE + 2 * HOP), "get from core {core}");
    }
}

#[test]
fn a_flag_costs_a_put_of_one_line_and_a_poll_one_read() {
    for (core, d) in distances() {
        let set = time(|c| {
            c.store(line(core, 1), 3, &[1]);
            c.drain();
        });
        assert_eq!(set, PUT_MPB + mpb(1) + mpb(d));
        let poll = time(|c| {
            c.wait(&[Place::Line(line(core, 1))], Reason::new("nothing"), |poll| Some(poll.line(0).0[0]));
        });
        assert_eq!(poll, cycles(1) + mpb(d));
        assert_eq!(time(|c| _ = c.load_line(line(core, 1))), mpb(d));
    }
}

#[test]
fn a_register_costs_a_line_read_at_its_distance() {
    for (core, d) in distances() {
        assert_eq!(time(|c| assert!(c.try_acquire_register(CoreId::new(core)))), call() + mpb(d));
        assert_eq!(time(|c| c.acquire_register(CoreId::new(core), "a test")), call() + mpb(d));
        assert_eq!(time(|c| c.free_register(CoreId::new(core))), call() + mpb(d));
    }
}

#[test]
fn words_cost_what_was_measured_and_lie_between_elsewhere() {
    let word = |controller: usize| Region::<kind::Uncached>::new(SharedAddress::new(controller, 64), 32);
    for (controller, measured) in [97, 121, 105, 134].into_iter().enumerate() {
        assert_eq!(time(|c| _ = c.load_word(word(controller), 1)), call() + cycles(measured));
        assert_eq!(time(|c| c.store_word(word(controller), 1, 5)), call() + cycles(measured));
    }
    // By distance: the interpolated table, then two hops per router.
    let outcome = Machine::scc(48).run(|c| {
        let before = c.platform().now_ps();
        c.load_word(word(0), 0);
        (c.layout().controller_distance(c.core(), 0), c.platform().now_ps() - before)
    });
    for (d, took) in outcome.unwrap().results() {
        let expected = match d {
            1 => cycles(97),
            2 => (cycles(97) + cycles(105)) / 2,
            3 => cycles(105),
            4 => cycles(105) + (cycles(121) - cycles(105)) / 3,
            5 => cycles(105) + (cycles(121) - cycles(105)) * 2 / 3,
            6 => cycles(121),
            7 => (cycles(121) + cycles(134)) / 2,
            8 => cycles(134),
            _ => cycles(134) + 2 * HOP * (u64::from(d) - 8),
        };
        assert_eq!(took, call() + expected, "at distance {d}");
    }
}

#[test]
fn memory_lines_and_purges_follow_the_model() {
    let combined = Region::<kind::Combined>::new(SharedAddress::new(1, 0), 64);
    let d = 6;
    let write = time(|c| c.write(combined, 0, &[1; 64]));
    assert_eq!(write, PUT_MEM + 2 * (MEM_READ + 2 * HOP) + 2 * (MEM_WRITE + 2 * d * HOP));
    let read = time(|c| c.read(combined, 0, &mut [0; 64]));
    assert_eq!(read, GET_MEM + 2 * (MEM_READ + 2 * d * HOP) + 2 * (MEM_WRITE + 2 * HOP));

    let copied = time(|c| {
        // The 36 bytes touch three lines here and two there.
        c.copy(region(3), 30, combined, 1, 36);
        c.drain();
    });
    assert_eq!(copied, PUT_MEM + 3 * (MEM_READ + 2 * HOP) + 2 * (MEM_WRITE + 2 * d * HOP));

    let all = time(|c| c.write_back_invalidate_all(&mut c.take_caches().unwrap()));
    assert_eq!(all, 8192 * (MEM_READ + 2 * HOP));
    let some = time(|c| c.write_back_invalidate(&mut c.take_caches().unwrap(), region(3)));
    assert_eq!(some, 3 * 4 * (MEM_READ + 2 * HOP));
    let fetched = time(|c| _ = c.claim::<u32>(region(3), 24).unwrap().load(9));
    assert_eq!(fetched, MEM_READ + 2 * HOP);
    assert_eq!(time(|c| c.compute(533)), 1_000_000);
    assert_eq!(time(|c| c.invalidate_mpb()), cycles(1));
}

#[test]
fn a_written_line_is_visible_before_its_write_completes() {
    // Core 47 writes a full line to core 0 (d = 9); core 0 polls. The write takes effect one way before it completes.
    let outcome = Machine::scc(48)
        .run(|core| match core.core().index() {
            47 => {
                core.put_from_own_mpb(1, line(0, 1), 1);
                core.platform().now_ps()
            }
            _ => 0,
        })
        .unwrap();
    let completes = PUT_MPB + mpb(1) + mpb(9);
    assert_eq!(outcome.cores[47].result, completes);
    let visible = completes - 9 * HOP;
    // Somebody who reads at the moment of visibility sees it, and one picosecond earlier does not.
    for (shift, sees) in [(0, true), (1, false)] {
        let machine = Machine::scc(48);
        let outcome = machine
            .run(|core| match core.core().index() {
                47 => {
                    core.store(line(47, 1), 0, &[9; 32]);
                    core.invalidate_mpb();
                    core.compute(533);
                    core.put_from_own_mpb(1, line(0, 1), 1);
                    core.platform().now_ps() - 9 * HOP
                }
                0 => {
                    let start = PUT_MPB + mpb(1) + mpb(1) + cycles(1) + 1_000_000;
                    core.platform().spend_ps(start + visible - shift - mpb(1));
                    u64::from(core.load_line(line(0, 1)).0[0])
                }
                _ => 0,
            })
            .unwrap();
        assert_eq!(outcome.cores[0].result, if sees { 9 } else { 0 });
    }
}

#[test]
fn software_costs_time_only_where_it_was_fitted() {
    let accounted = |machine: &str| {
        let machine = Machine::new(Description::parse(machine).unwrap().with_cores(1));
        machine.run(|core| core.account(Software::Packet)).unwrap().time_ps
    };
    assert_eq!((accounted("scc"), accounted("mesh:1x1x1")), (0, 0));
    assert_eq!(accounted("scc-calibrated"), 3_108_000);
}

#[test]
fn the_clock_counts_nanoseconds() {
    let outcome = Machine::scc(1).run(|core| {
        core.compute(533_000);
        let end = core.now() + 2_000;
        let waited =
            core.wait_until(&[Place::Line(line(0, 1))], Deadline::At(end), Reason::new("nothing"), |_| None::<()>);
        assert!(waited.is_err());
        (core.now(), end, core.ticks_per_second())
    });
    let (now, end, rate) = outcome.unwrap().results()[0];
    assert_eq!((end, rate), (1_002_000, 1_000_000_000));
    assert!(now >= end && now < end + 3, "{now}");
}

#[test]
fn on_a_flat_machine_all_distances_are_one() {
    let machine = Machine::new(Description::parse("scc+ideal+flat").unwrap());
    let time = |peer: usize, operation: fn(&SimCore, usize)| {
        let run = |core: &SimCore| {
            if core.core().index() == 0 {
                operation(core, peer)
            }
        };
        machine.run(run).unwrap().cores[0].time_ps
    };
    for peer in [0, 1, 2, 47] {
        assert_eq!(time(peer, |core, peer| _ = core.load_line(line(peer, 1))), mpb(1));
        assert_eq!(time(peer, |core, peer| core.free_register(CoreId::new(peer))), call() + mpb(1));
    }
    let word = |controller| Region::<kind::Uncached>::new(SharedAddress::new(controller, 64), 32);
    let outcome = machine.run(|core| (0..4).for_each(|controller| _ = core.load_word(word(controller), 0))).unwrap();
    assert!(outcome.cores.iter().all(|core| core.time_ps == 4 * (call() + cycles(97))));
    assert_eq!((machine.layout().rows(), machine.layout().columns()), (4, 6));
}
