//! What happens where accesses meet, compared with section 3.3 of the OC-Bcast paper.

use std::cell::Cell;

use super::*;
use crate::{
    Cached, Clock, Combined, Deadline, Mpb, MpbCoherence, MpbCopy, Place, Poll, Reason, TestAndSet, Tile, Topology,
    Uncached, Wait,
};

fn contended() -> Machine {
    Machine::new(Description::parse("scc+contention").unwrap())
}

/// Mean time that each of the first `cores` cores needs for one of several equal operations, while all are at it.
fn means_of(machine: &Machine, cores: usize, span_us: u64, operation: impl Fn(&SimCore)) -> Vec<f64> {
    let outcome = machine.run(|core| {
        let me = core.core().index();
        if me >= cores {
            return 0.0;
        }
        // Not all at the same picosecond.
        core.compute(me as u64 * 37 % 101);
        let (start, end) = (core.platform().now_ps(), span_us * 1_000_000);
        let mut count = 0;
        while core.platform().now_ps() < end {
            // Else L1 would answer.
            core.invalidate_mpb();
            operation(core);
            count += 1;
        }
        (core.platform().now_ps() - start) as f64 / f64::from(count)
    });
    outcome.unwrap().results()[..cores].to_vec()
}

fn get(core: &SimCore) {
    core.get_to_own_mpb(line(0, 1), 128, 64);
}

fn put(core: &SimCore) {
    core.put_from_own_mpb(1, line(0, 2 + core.core().index()), 1);
}

/// By how much the mean over the cores is above that without contention, in percent.
fn growth(cores: usize, span_us: u64, operation: impl Fn(&SimCore) + Copy) -> f64 {
    let mean = |machine| means_of(&machine, cores, span_us, operation).iter().sum::<f64>();
    (mean(contended()) / mean(Machine::scc(48)) - 1.0) * 100.0
}

/// How many times as long as the fastest of 48 cores the slowest one needs.
fn unfairness(machine: &Machine, span_us: u64, operation: impl Fn(&SimCore)) -> f64 {
    let means = means_of(machine, 48, span_us, operation);
    let (least, most) =
        means.iter().fold((f64::MAX, 0.0_f64), |(least, most), mean| (least.min(*mean), most.max(*mean)));
    most / least
}

#[test]
fn up_to_24_readers_show_next_to_nothing_and_more_do() {
    for (readers, least, most) in [(1, 0.0, 0.0), (8, 0.0, 1.0), (24, 0.0, 3.1), (32, 5.0, 10.0), (48, 40.0, 90.0)] {
        let growth = growth(readers, 500, get);
        assert!((least..=most).contains(&growth), "{readers} readers: {growth:.2} %");
    }
}

#[test]
fn a_crowded_port_is_unfair_to_those_who_share_far_arms() {
    assert!(unfairness(&Machine::scc(48), 500, get) < 1.4);
    let gets = unfairness(&contended(), 500, get);
    assert!((2.0..4.0).contains(&gets), "{gets}");
    let puts = unfairness(&contended(), 500, put);
    assert!((4.0..8.0).contains(&puts), "{puts}");
}

fn on(name: &str) -> Machine {
    Machine::new(Description::parse(name).unwrap())
}

/// When each of these cores of a machine is done that all do the same at the same time.
fn all_at_once(machine: &Machine, cores: &[usize], operation: impl Fn(&SimCore)) -> Vec<u64> {
    let run = |core: &SimCore| {
        if cores.contains(&core.core().index()) {
            operation(core);
        }
        core.platform().now_ps()
    };
    let times = machine.run(run).unwrap().results();
    cores.iter().map(|core| times[*core]).collect()
}

const WORD: usize = 3;

fn load_word(core: &SimCore) {
    core.load_word(region::<kind::Uncached>(1), WORD);
}

fn store_word(core: &SimCore) {
    core.store_word(region::<kind::Uncached>(1), WORD, 1);
}

#[test]
fn a_controller_serves_one_access_at_a_time() {
    let (plain, contended) = (Machine::scc(48), on("scc+controllers"));
    let service = Contention::scc().controller_ps;
    // Cores of one tile, so equally far from the controller, with memory that is shared and with their own.
    let cores: [usize; 2] = [14, 15];
    let operations: [fn(&SimCore); 5] = [
        load_word,
        store_word,
        |core| core.account_memory(1, 0),
        |core| core.account_memory(0, 1),
        |core| {
            core.write(region(1), 0, &[1; 32]);
        },
    ];
    for (index, operation) in operations.iter().enumerate() {
        let alone = all_at_once(&plain, &cores, operation);
        assert_eq!(all_at_once(&contended, &cores[..1], operation), alone[..1], "{index}");
        let both = all_at_once(&contended, &cores, operation);
        assert_eq!(both, [alone[0], alone[1] + service], "{index}");
    }
    // All that have a controller, however far, one after the other: the last one waits for those before it.
    let quadrant: Vec<usize> =
        (0..48).filter(|core| contended.layout().nearest_controller(CoreId::new(*core)) == 0).collect();
    assert_eq!(quadrant.len(), 12);
    let read = |core: &SimCore| core.account_memory(1, 0);
    let mut waits: Vec<_> = all_at_once(&contended, &quadrant, read)
        .iter()
        .zip(all_at_once(&plain, &quadrant, read))
        .map(|(contended, plain)| contended - plain)
        .collect();
    waits.sort_unstable();
    // They come in threes or so, by their distance, 5 ns apart, and each is served for 10 ns.
    assert_eq!((waits[0], waits[11]), (0, 11 * service - 4 * 5_000 + 5_000));
}

#[test]
fn a_long_errand_meets_others_line_by_line() {
    let (plain, contended) = (Machine::scc(48), on("scc+controllers"));
    let errands: [fn(&SimCore); 3] = [
        |core| core.account_memory(100, 7),
        |core| core.put(&[3; 640], line(3, 9)),
        |core| {
            let mut caches = core.take_caches().unwrap();
            core.write_back_invalidate(&mut caches, region(4));
        },
    ];
    for errand in errands {
        assert_eq!(all_at_once(&contended, &[20], errand), all_at_once(&plain, &[20], errand));
    }
    // Two cores of a tile that start together stay out of each other's way after the first line.
    let both = all_at_once(&contended, &[20, 21], |core| core.account_memory(100, 0));
    let alone = all_at_once(&plain, &[20], |core| core.account_memory(100, 0))[0];
    assert_eq!(both, [alone, alone + Contention::scc().controller_ps]);
}

#[test]
fn a_crowded_controller_is_as_fast_as_it_can_be_and_fair() {
    let (plain, contended) = (Machine::scc(48), on("scc+controllers"));
    let [alone, crowd] = [&plain, &contended].map(|machine| means_of(machine, 48, 100, load_word));
    // It never idles, and keeps near and far cores waiting alike.
    let served_per_ns: f64 = crowd.iter().map(|mean| 1_000.0 / mean).sum();
    let most_per_ns = 1_000.0 / Contention::scc().controller_ps as f64;
    assert!((0.99..1.01).contains(&(served_per_ns / most_per_ns)), "{served_per_ns} of {most_per_ns}");
    let waits: Vec<_> = crowd.iter().zip(alone).map(|(crowd, alone)| crowd - alone).collect();
    let mean = waits.iter().sum::<f64>() / 48.0;
    assert!(mean > 200_000.0 && waits.iter().all(|wait| (wait / mean - 1.0).abs() < 0.05), "{mean}: {waits:?}");
    // The four controllers are apart: 12 cores each hardly notice.
    let read = |core: &SimCore| core.account_memory(1, 0);
    let [plain, contended] = [plain, contended].map(|machine| means_of(&machine, 48, 100, read));
    let slower: Vec<_> = plain.iter().zip(contended).map(|(plain, contended)| contended / plain).collect();
    assert!(slower.iter().all(|slower| *slower < 1.15) && slower.iter().sum::<f64>() < 48.0 * 1.05, "{slower:?}");
}

#[test]
fn polls_of_one_word_load_its_controller_and_no_other() {
    let time = |machine: &Machine, controller: usize| {
        let word = Region::<kind::Uncached>::new(SharedAddress::new(controller, 64), 32);
        let polled = region::<kind::Uncached>(1);
        let run = |core: &SimCore| match core.core().index() {
            0 => {
                core.compute(30_000);
                core.store_word(polled, 0, 1);
                0
            }
            47 => {
                (0..50).for_each(|_| _ = core.load_word(word, 0));
                core.platform().now_ps()
            }
            _ => {
                core.wait(&[Place::Word(polled, 0)], Reason::new("the end"), |poll| (poll.word(0) == 1).then_some(()));
                0
            }
        };
        machine.run(run).unwrap().results()[47]
    };
    let (plain, contended) = (Machine::scc(48), on("scc+contention"));
    assert_eq!(time(&contended, 3), time(&plain, 3));
    assert!(time(&contended, 0) > time(&plain, 0) * 3 / 2);
    // Switched off, no queue.
    assert_eq!(time(&on("scc+ports"), 0), time(&plain, 0));
}

#[test]
fn each_kind_of_contention_is_off_where_it_is_not_named() {
    let all: Vec<usize> = (0..48).collect();
    let mpb = |name| all_at_once(&on(name), &all, |core| _ = core.load_line(line(0, 1)));
    let memory = |name| all_at_once(&on(name), &all, load_word);
    let (no_mpb, no_memory) = (mpb("scc+ideal"), memory("scc+ideal"));
    assert_eq!((mpb("scc+controllers") == no_mpb, memory("scc+controllers") == no_memory), (true, false));
    assert_eq!((mpb("scc+ports") == no_mpb, memory("scc+ports") == no_memory), (false, true));
    assert_eq!((mpb("scc+links") == no_mpb, memory("scc+links") == no_memory), (false, false));
}

#[test]
fn who_meets_nobody_pays_the_plain_price() {
    let alone = |machine: &Machine, peer: usize| {
        let run = |core: &SimCore| {
            if core.core().index() != 20 {
                return 0;
            }
            core.get_to_own_mpb(line(peer, 1), 100, 5);
            core.put_from_own_mpb(1, line(peer, 3), 7);
            core.get(line(peer, 1), &mut [0; 70]);
            core.put(&[1; 40], line(peer, 9));
            core.store(line(peer, 30), 3, &[1]);
            core.drain();
            core.invalidate_mpb();
            core.load_line(line(peer, 30));
            core.platform().now_ps()
        };
        machine.run(run).unwrap().results()[20]
    };
    for peer in 0..48 {
        assert_eq!(alone(&contended(), peer), alone(&Machine::scc(48), peer), "core {peer}");
    }
    let [flat, contended] = ["scc+ideal+flat", "scc+flat"].map(|name| Machine::new(Description::parse(name).unwrap()));
    assert_eq!(alone(&contended, 47), alone(&flat, 47));
}

#[test]
fn a_port_serves_one_access_at_a_time() {
    // Two cores of a tile read at the same time: the second one is served after the first.
    let machine = contended().with_cores(4);
    let times = |readers: [usize; 2]| {
        let run = |core: &SimCore| {
            if readers.contains(&core.core().index()) {
                core.load_line(line(0, 1));
            }
            core.platform().now_ps()
        };
        let times = machine.run(run).unwrap().results();
        readers.map(|reader| times[reader])
    };
    let service = Contention::scc().mpb_port_ps;
    assert_eq!(times([2, 3]), [146_000, 146_000 + service]);
    // One that is nearer comes first and one that is farther after it: 5 ns each way.
    assert_eq!(times([0, 2]), [136_000, 146_000 + service - 5_000]);
}

/// What a core at one end of the middle link needs for gets over it, while all others use the link as section 3.3 says.
fn over_a_loaded_link(contention: Option<Contention>, loaded: bool) -> u64 {
    let mut description = Description::scc();
    description.parameters.contention = contention;
    let ends = [Tile { x: 2, y: 2 }, Tile { x: 3, y: 2 }];
    let first_core = |tile: Tile| 2 * (6 * usize::from(tile.y) + usize::from(tile.x));
    let is_over = Cell::new(false);
    let outcome = Machine::new(description).run(|core| {
        let me = core.core();
        let tile = core.layout().tile(me);
        let gets = |peer| {
            core.invalidate_mpb();
            core.get_to_own_mpb(line(peer, 1), 128, 128);
        };
        if me.index() == first_core(ends[0]) {
            (0..4).for_each(|_| gets(first_core(ends[1])));
            is_over.set(true);
        } else if loaded && !ends.contains(&tile) {
            let opposite = Tile { x: 5 - tile.x, y: 2 };
            while !is_over.get() {
                // From the other core of the tile, so that only the link is shared.
                gets(first_core(opposite) + 1);
            }
        }
        core.platform().now_ps()
    });
    outcome.unwrap().results()[first_core(ends[0])]
}

#[test]
fn a_loaded_link_shows_nothing_unless_it_is_slow() {
    let share = |link_ps| {
        let contention = Some(Contention { link_ps, ..Contention::scc() });
        over_a_loaded_link(contention, true) as f64 / over_a_loaded_link(contention, false) as f64
    };
    assert_eq!(over_a_loaded_link(Some(Contention::scc()), false), over_a_loaded_link(None, true));
    let scc = share(Contention::scc().link_ps);

    assert!((1.0..1.01).contains(&scc), "{scc}");
    let slow = share(25_000);
    assert!(slow > 1.5, "{slow}");
}

#[test]
fn polls_keep_others_waiting() {
    let time = |pollers: usize| {
        let run = |core: &SimCore| {
            let me = core.core().index();
            if me == 0 {
                core.compute(30_000);
                core.store(line(0, 1), 0, &[1]);
                core.drain();
            } else if me <= pollers {
                await_byte(core, line(0, 1), 0, 1);
            } else if me == 47 {
                core.get_to_own_mpb(line(0, 2), 128, 100);
                return core.platform().now_ps();
            }
            0
        };
        contended().run(run).unwrap().results()[47]
    };
    let (alone, crowded) = (time(0), time(46));
    assert!(crowded > alone * 5 / 4, "{alone} ps alone, {crowded} ps beside 46 pollers");
}

/// Rounds of a ring of flags, with a wait that times out on the way.
fn ring(core: &SimCore) -> u64 {
    let (me, count) = (core.core().index(), core.layout().cores());
    let place = [Place::Line(line(me, 1))];
    let mut never = |_: &Poll<'_>| None::<()>;
    let deadline = Deadline::At(core.now() + 700);
    assert!(core.wait_until(&place, deadline, Reason::new("nothing"), &mut never).is_err());
    for round in 1..4 {
        if me > 0 {
            core.wait(&place, Reason::new("the one before"), |poll| (poll.line(0).0[0] == round).then_some(()));
        }
        core.store(line((me + 1) % count, 1), 0, &[round]);
        core.drain();
        if me == 0 {
            core.wait(&place, Reason::new("the last one"), |poll| (poll.line(0).0[0] == round).then_some(()));
        }
    }
    core.platform().now_ps()
}

#[test]
fn equal_runs_take_equal_times() {
    for machine in [contended(), contended().with_seed(3), contended().with_seed(4).with_cores(60)] {
        let outcome = machine.run(ring).unwrap();
        assert_eq!(outcome, machine.run(ring).unwrap());
        let crowd = |core: &SimCore| {
            (0..5).for_each(|_| get(core));
            put(core);
            core.platform().now_ps()
        };
        assert_eq!(machine.run(crowd).unwrap(), machine.run(crowd).unwrap());
    }
}

#[test]
fn a_core_without_company_waits_as_elsewhere() {
    let machine = contended().with_cores(1);
    assert_eq!(machine.run(ring).unwrap().cores, Machine::scc(1).run(ring).unwrap().cores);
}

#[test]
fn a_deadlock_is_found_though_all_poll_on() {
    let run = |core: &SimCore| {
        let me = core.core().index();
        let places = [Place::Line(line(me, 1)), Place::Line(line(me, 2))];
        match me {
            0 => core.acquire_register(CoreId::new(9), "the test"),
            1 => core.acquire_register(CoreId::new(9), "the test"),
            2 => return,
            // Looks at one place, then at the other, then at none.
            _ => {
                let polls = Cell::new(0);
                core.wait(&places, Reason::new("nobody"), |poll| {
                    polls.set(polls.get() + 1);
                    let place = polls.get() % 3;
                    (place < 2 && poll.line(place).0[0] != 0).then_some(())
                });
            }
        }
        if me == 0 {
            core.wait(&places, Reason::new("nobody"), |_| None::<()>);
        }
    };
    let Failure::Deadlock(deadlock) = contended().with_cores(12).run(run).unwrap_err() else { panic!("no deadlock") };
    assert_eq!((deadlock.waiting.len(), deadlock.finished.len()), (11, 1));
    assert_eq!(deadlock.waiting[1].holder, Some(CoreId::new(0)));
}

#[test]
fn schedules_without_time_have_no_contention() {
    let litmus = |core: &SimCore| {
        core.store(line(0, 1), core.core().index(), &[1]);
        core.drain();
        core.load_line(line(0, 1)).0[1]
    };
    let spontaneous = Spontaneous { drains: true, evictions: false, stores_through: false };
    let runs = |machine: &Machine| explore_exhaustively(machine, spontaneous, 10_000, litmus, |_| ());
    assert_eq!(runs(&contended().with_cores(2)), runs(&Machine::scc(2)));
}
