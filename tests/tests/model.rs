//! The simulator against the LogP model of the OC-Bcast paper: all distances 1, no contention.
//!
//! They agree to a nanosecond, apart from single polls that come earlier or later: where ranks begin within a cycle
//! of each other, a flag that is set when a poll ends may be seen by it or by the next.

use std::ops::Range;

use collectives::{
    Comm, MpbLayout, OcBcast,
    model::{Allgather, OcBcastModel, Setting, Source, Time, TwoSidedModel},
};
use hal::{
    Clock, LINE_BYTES,
    sim::{Description, Machine, SimCore},
};

/// When the operation that is measured begins on all ranks.
const START_PS: u64 = 2_000_000_000;

/// A machine of one tile, where every MPB and every memory controller is behind one router.
fn flat_machine(cores: usize) -> Machine {
    let machine = Machine::new(Description::parse(&format!("mesh:1x1x{cores}")).expect("a mesh"));
    assert_eq!(machine.layout().cores(), cores);
    machine
}

/// Latency as in section 5.2: all ranks call at one time, to within a cycle, and the last one that returns ends it.
fn latency(machine: &Machine, operation: impl Fn(&Comm<'_, SimCore>)) -> Time {
    let ends = machine.run(|core| {
        let comm = Comm::world(core).expect("the machine is small enough");
        let until_start = START_PS.checked_sub(core.platform().now_ps()).expect("ranks are there before the start");
        core.compute(until_start * 533 / 1_000_000);
        operation(&comm);
        core.platform().now_ps()
    });
    let last = ends.expect("the operation ends").results().into_iter().max().expect("there are ranks");
    Time::from_ps(last - START_PS)
}

fn assert_close(measured: Time, modelled: Time, what: &str) {
    let off = measured.as_us() / modelled.as_us() - 1.0;
    assert!(off.abs() < 0.01, "{what}: {measured}, not {modelled}");
}

/// Broadcasts `len` bytes from rank 0.
fn broadcast_latency(machine: &Machine, len: usize, broadcast: impl Fn(&Comm<'_, SimCore>, &mut [u8])) -> Time {
    let sent: Vec<u8> = (0..len).map(|index| index as u8).collect();
    latency(machine, |comm| {
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
                    OcBcast::with_degree(k).broadcast(comm, message, 0).expect("the arguments are right");
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
                    OcBcast::with_degree(k).broadcast(comm, message, 0).expect("the arguments are right");
                }
            });
            assert_close(measured, model.back_to_back(48, lines, 5), &format!("k = {k}, 5 times {lines} lines"));
        }
    }
}

/// The model's binomial tree, as calls of send and receive.
fn binomial(comm: &Comm<'_, SimCore>, message: &mut [u8], among: Range<usize>) {
    let second = among.end - among.len() / 2;
    if among.len() > 1 {
        match comm.rank() {
            rank if rank == among.start => comm.send(message, second).expect("the rank exists"),
            rank if rank == second => comm.receive(message, among.start).expect("the rank exists"),
            _ => {}
        }
        let half = if comm.rank() < second { among.start..second } else { second..among.end };
        binomial(comm, message, half);
    }
}

fn scatter(comm: &Comm<'_, SimCore>, message: &mut [u8], slice: usize, among: Range<usize>) {
    let second = among.end - among.len() / 2;
    if among.len() > 1 {
        let slices = &mut message[second * slice..among.end * slice];
        match comm.rank() {
            rank if rank == among.start => comm.send(slices, second).expect("the rank exists"),
            rank if rank == second => comm.receive(slices, among.start).expect("the rank exists"),
            _ => {}
        }
        let half = if comm.rank() < second { among.start..second } else { second..among.end };
        scatter(comm, message, slice, half);
    }
}

fn allgather(comm: &Comm<'_, SimCore>, message: &mut [u8], slice: usize) {
    let (me, ranks) = (comm.rank(), comm.size());
    let (below, above) = ((me + ranks - 1) % ranks, (me + 1) % ranks);
    let bytes_of = |rank: usize| rank % ranks * slice..(rank % ranks + 1) * slice;
    for round in 0..ranks - 1 {
        let send = |message: &[u8]| comm.send(&message[bytes_of(me + round)], below).expect("the rank exists");
        if me % 2 == 0 {
            send(message);
        }
        comm.receive(&mut message[bytes_of(me + 1 + round)], above).expect("the rank exists");
        if me % 2 == 1 {
            send(message);
        }
    }
}

/// Sends and receives do not know what is in L1: all is read from memory.
/// A message goes in chunks of one staging buffer.
#[test]
fn two_sided_broadcasts_take_what_the_model_says() {
    for ranks in [2, 3, 8, 12, 47, 48] {
        let machine = flat_machine(ranks);
        let chunk_lines = MpbLayout::new(ranks).expect("few ranks").buffer_lines();
        let model = TwoSidedModel { chunk_lines, resent: Source::Memory, ..TwoSidedModel::new(Setting::SIGNALS) };
        for lines in [1, 48, 96, 97, 192] {
            let measured =
                broadcast_latency(&machine, lines * LINE_BYTES, |comm, message| binomial(comm, message, 0..ranks));
            let modelled = model.binomial_latency(ranks, lines);
            assert_close(measured, modelled, &format!("binomial tree, P = {ranks}, {lines} lines"));
        }
        for lines in [1, 4, 8] {
            let slice = lines * LINE_BYTES;
            let measured = broadcast_latency(&machine, ranks * slice, |comm, message| {
                scatter(comm, message, slice, 0..ranks);
                allgather(comm, message, slice);
            });
            let modelled = model.scatter_allgather_latency(ranks, ranks * lines, Allgather::OneByOne);
            assert_close(measured, modelled, &format!("scatter-allgather, P = {ranks}, slices of {lines} lines"));
        }
    }
}
