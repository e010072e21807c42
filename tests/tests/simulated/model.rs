//! The simulator against the LogP model of the OC-Bcast paper: all distances 1, no contention.
//!
//! They agree to a nanosecond, apart from single polls that come earlier or later: where ranks begin within a cycle
//! of each other, a flag that is set when a poll ends may be seen by it or by the next.

use collectives::{Broadcast, Comm, OcBcast, collective::broadcast::Rounds};
use hal::{
    Clock, LINE_BYTES,
    sim::{Description, Machine, SimCore},
};
use measurements::model::{Allgather, OcBcastModel, Setting, Time, TwoSidedModel};

/// When the operation that is measured begins on all ranks.
const START_PS: u64 = 2_000_000_000;

/// A machine of one tile, where every MPB and every memory controller is behind one router.
fn flat_machine(cores: usize) -> Machine {
    let machine = Machine::new(Description::parse(&format!("mesh:1x1x{cores}+ideal")).expect("a mesh"));
    assert_eq!(machine.layout().cores(), cores);
    machine
}

/// Latency as in section 5.2: all ranks call at one time, to within a cycle, and the last one that returns ends it.
/// With or without the profile of RCCE.
fn latency(machine: &Machine, profiled: bool, operation: impl Fn(&Comm<'_, SimCore>)) -> Time {
    let ends = machine.run(|core| {
        let comm = Comm::world(core, regions::of_a_test()).expect("the machine is small enough");
        let profile = profiled.then(|| comm.rcce_profile().expect("nobody has the lines"));
        let until_start = START_PS.checked_sub(core.now_ps()).expect("ranks are there before the start");
        core.compute(until_start * 533 / 1_000_000);
        operation(&comm);
        let end = core.now_ps();
        drop(profile);
        end
    });
    let last = ends.expect("the operation ends").results().into_iter().max().expect("there are ranks");
    Time::from_ps(last - START_PS)
}

fn assert_close(measured: Time, modelled: Time, what: &str) {
    assert_within(0.01, measured, modelled, what);
}

fn assert_within(share: f64, measured: Time, modelled: Time, what: &str) {
    let off = measured.as_us() / modelled.as_us() - 1.0;
    assert!(off.abs() < share, "{what}: {measured}, not {modelled}");
}

/// Broadcasts `len` bytes from rank 0.
fn broadcast_latency(machine: &Machine, len: usize, broadcast: impl Fn(&Comm<'_, SimCore>, &mut [u8])) -> Time {
    latency_of(machine, false, len, broadcast)
}

/// Broadcasts `len` bytes from rank 0 while the MPBs are laid out as RCCE has them.
fn profiled_latency(machine: &Machine, len: usize, broadcast: Broadcast) -> Time {
    latency_of(machine, true, len, |comm, message| {
        comm.using(broadcast, |comm| comm.broadcast(message, 0)).expect("the arguments are right");
    })
}

fn latency_of(
    machine: &Machine,
    profiled: bool,
    len: usize,
    broadcast: impl Fn(&Comm<'_, SimCore>, &mut [u8]),
) -> Time {
    let sent: Vec<u8> = (0..len).map(|index| index as u8).collect();
    latency(machine, profiled, |comm| {
        let mut message = if comm.rank() == 0 { sent.clone() } else { vec![0; len] };
        broadcast(comm, &mut message);
        assert!(message == sent, "rank {} has the message", comm.rank());
    })
}

#[test]
fn oc_bcast_takes_what_the_model_says() {
    for ranks in [2, 3, 8, 12, 48] {
        let machine = flat_machine(ranks);
        for k in [2, 7, 47] {
            let model = OcBcastModel::new(Setting::SIGNALS, k);
            for len in [1, 28].into_iter().chain([1, 48, 96, 97, 192, ranks * 96].map(|lines| lines * LINE_BYTES)) {
                let measured = broadcast_latency(&machine, len, |comm, message| {
                    comm.using(Broadcast::OcBcast(OcBcast::with_degree(k)), |comm| comm.broadcast(message, 0))
                        .expect("the arguments are right");
                });
                let modelled = model.latency(ranks, len.div_ceil(LINE_BYTES));
                assert_close(measured, modelled, &format!("P = {ranks}, k = {k}, {len} bytes"));
            }
        }
    }
}

/// Without a barrier in between, which is how the throughput of short messages shows.
#[test]
fn oc_bcast_back_to_back_takes_what_the_model_says() {
    let machine = flat_machine(48);
    for k in [2, 7, 47] {
        let model = OcBcastModel::new(Setting::SIGNALS, k);
        for lines in [1, 96, 97, 192] {
            let measured = broadcast_latency(&machine, lines * LINE_BYTES, |comm, message| {
                for _ in 0..5 {
                    comm.using(Broadcast::OcBcast(OcBcast::with_degree(k)), |comm| comm.broadcast(message, 0))
                        .expect("the arguments are right");
                }
            });
            assert_close(measured, model.back_to_back(48, lines, 5), &format!("k = {k}, 5 times {lines} lines"));
        }
    }
}

/// The baselines of two-sided messages, through the 251 lines that RCCE has for them, as long as the model says that L1
/// holds what is passed on, and beyond.
#[test]
fn two_sided_broadcasts_take_what_the_model_says() {
    let of_rings = |rounds, allgather| (Broadcast::ScatterAllgather(rounds), Some(allgather));
    let broadcasts = [
        (Broadcast::Binomial, None),
        of_rings(Rounds::InTurn, Allgather::OneByOne),
        of_rings(Rounds::Overlapped, Allgather::Overlapped),
    ];
    let model = TwoSidedModel::new(Setting::SIGNALS);
    for ranks in [2, 3, 8, 12, 47, 48] {
        let machine = flat_machine(ranks);
        for (broadcast, allgather) in broadcasts {
            for lines in [1, 48, 96, 97, 192, 251, 252, 600, 8 * ranks + 5, 96 * ranks] {
                let measured = profiled_latency(&machine, lines * LINE_BYTES, broadcast);
                let modelled = match allgather {
                    None => model.binomial_latency(ranks, lines),
                    Some(allgather) => model.scatter_allgather_latency(ranks, lines, allgather),
                };
                assert_within(0.03, measured, modelled, &format!("{broadcast}, P = {ranks}, {lines} lines"));
            }
        }
    }
}
