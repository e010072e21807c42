//! The model against what the paper prints, and against its simplified formulas.

mod critical;

use super::*;

/// All distances 1, and flags that are polled by one line read, at once.
const LINE_READS: Setting = Setting { flags: Flags { poll_overhead: Time::ZERO, ..Flags::PAPER }, ..Setting::PAPER };

fn within(percent: f64, value: f64, expected: f64) -> bool {
    (value / expected - 1.0).abs() <= percent / 100.0
}

#[test]
fn the_parameters_are_those_of_the_simulator() {
    let (model, simulated) = (Parameters::SCC, hal::sim::Parameters::scc());
    let costs = simulated.costs;
    let pairs = [
        (model.hop, costs.hop_ps),
        (model.mpb, costs.mpb_ps),
        (model.memory_write, costs.memory_write_ps),
        (model.memory_read, costs.memory_read_ps),
        (model.put_from_mpb, costs.put_from_mpb_ps),
        (model.put_from_memory, costs.put_from_memory_ps),
        (model.get_to_memory, costs.get_to_memory_ps),
    ];
    for (index, (model, simulated)) in pairs.into_iter().enumerate() {
        assert_eq!(model.as_ps(), simulated.into(), "parameter {index}");
    }
    assert_eq!(model.get_to_mpb.as_ps(), simulated.get_to_mpb_ps);
    assert_eq!(Flags::SIGNALS.poll_overhead.as_ps(), 1_000_000 / u64::from(costs.core_mhz));
}

#[test]
fn lines_puts_and_gets() {
    let scc = Parameters::SCC;
    let ns = |time: Time| time.as_ps() / 1_000;
    assert_eq!([1, 9].map(|d| ns(scc.write_mpb_line_latency(d))), [131, 171], "formula 1");
    assert_eq!([1, 9].map(|d| ns(scc.write_mpb_line(d))), [136, 216], "formula 2");
    assert_eq!([1, 9].map(|d| ns(scc.read_mpb_line(d))), [136, 216], "formula 3");
    assert_eq!([1, 4].map(|d| ns(scc.write_memory_line_latency(d))), [466, 481], "formula 4");
    assert_eq!([1, 4].map(|d| ns(scc.write_memory_line(d))), [471, 501], "formula 5");
    assert_eq!([1, 4].map(|d| ns(scc.read_memory_line(d))), [218, 248], "formula 6");
    assert_eq!(ns(scc.put_from_mpb_completion(1, 1)), 341, "formula 7");
    assert_eq!(ns(scc.put_from_memory_completion(10, 2, 3)), 190 + 10 * (228 + 156), "formula 8");
    assert_eq!(ns(scc.put_from_mpb_latency(3, 9)), 69 + 3 * (136 + 216) - 45, "formula 9");
    assert_eq!(ns(scc.put_from_memory_latency(1, 2, 3)), 190 + 228 + 141, "formula 10");
    assert_eq!(ns(scc.get_to_mpb_completion(128, 9)), 330 + 128 * (216 + 136), "formula 11");
    assert_eq!(ns(scc.get_to_memory_completion(2, 1, 4)), 95 + 2 * (136 + 501), "formula 12");
    assert_eq!(scc.put_from_mpb_latency(0, 9), scc.put_from_mpb, "nothing to acknowledge");
}

/// Section 3.2: between 1 and 9 hops "the performance difference is only 30 %".
#[test]
fn distance_makes_30_percent() {
    let get = |d| Parameters::SCC.get_to_mpb_completion(128, d).as_us();
    assert!(within(1.0, get(9) / get(1), 1.30), "{}", get(9) / get(1));
}

#[test]
fn table_2_of_oc_bcast() {
    for (k, expected) in [(2, 35.22), (7, 34.30), (47, 35.88)] {
        let model = OcBcastModel::new(Setting::PAPER, k);
        assert!(within(1.0, model.peak_throughput(48), expected), "k = {k}: {}", model.peak_throughput(48));
        let slowest = (0..48).map(|position| model.round(48, position).without_forwarding()).max().unwrap();
        let as_printed = megabytes_per_second(96, slowest);
        assert!((as_printed - expected).abs() < 0.005, "k = {k} without step (i): {as_printed}");
        let line_reads = OcBcastModel::new(LINE_READS, k).peak_throughput(48);
        assert!(within(2.3, line_reads, expected), "k = {k} with polls of one line read: {line_reads}");
        let signals = OcBcastModel::new(Setting::SIGNALS, k).peak_throughput(48);
        assert!(within(3.3, signals, expected), "k = {k} with packed flags: {signals}");
    }
}

#[test]
fn table_2_of_scatter_allgather() {
    for setting in [Setting::PAPER, Setting::SIGNALS] {
        let model = TwoSidedModel::new(setting);
        let throughput = model.scatter_allgather_throughput(48, 48 * 96, Allgather::OneByOne);
        assert!(within(3.0, throughput, 13.38), "{throughput}");
        let overlapped = model.scatter_allgather_throughput(48, 48 * 96, Allgather::Overlapped);
        assert!((18.5..19.0).contains(&overlapped), "{overlapped}");
    }
    let formula = critical::scatter_allgather_throughput(&Setting::PAPER, 48, 96);
    assert!((formula - 13.303).abs() < 0.001, "{formula}");
}

/// The slowest node decides: in the steady state a long message moves at the peak throughput.
#[test]
fn long_messages_reach_the_peak() {
    for setting in [Setting::PAPER, Setting::SIGNALS] {
        for k in [1, 2, 7, 47] {
            let model = OcBcastModel::new(setting, k);
            let (long, longer) = (model.latency(48, 96 * 200), model.latency(48, 96 * 1200));
            let rate = megabytes_per_second(96 * 1000, longer - long);
            assert!(within(0.5, rate, model.peak_throughput(48)), "k = {k}: {rate}");
        }
    }
}

/// Sections 5.2 and 5.2.3 on Figure 6.
#[test]
fn figure_6() {
    let setting = Setting::PAPER;
    let oc = |k, lines| OcBcastModel::new(setting, k).latency(48, lines);
    let binomial = |lines| TwoSidedModel::new(setting).binomial_latency(48, lines);
    let slope = |k, from, to| (oc(k, to) - oc(k, from)).as_us() / (to - from) as f64;
    for lines in 1..=192 {
        assert!(oc(7, lines) < binomial(lines), "k = 7 is below the binomial tree at {lines} lines");
        assert!(oc(7, lines) < oc(2, lines), "k = 7 is below k = 2 at {lines} lines");
    }
    for k in [2, 7] {
        assert!(oc(47, 1) > oc(k, 1) && oc(47, 2) > oc(k, 2), "k = 47 is the slowest for very small messages");
    }
    assert!(oc(47, 1) > binomial(1));
    assert!(oc(47, 96) < oc(7, 96), "and faster for longer ones");
    for k in [2, 7, 47] {
        assert!(slope(k, 110, 192) < 0.95 * slope(k, 48, 96), "k = {k}: the slope changes at 96 lines");
    }
    let advantage = |lines| 1.0 - oc(7, lines).as_us() / oc(2, lines).as_us();
    assert!((0.24..0.36).contains(&advantage(96)) && (0.24..0.36).contains(&advantage(192)), "{}", advantage(96));
}

/// With the flags packed into lines, the root of a flat tree polls two lines.
#[test]
fn packed_flags_make_flat_trees_fast() {
    let oc = |k| OcBcastModel::new(Setting::SIGNALS, k).latency(48, 1);
    assert!(oc(47) < oc(7) && oc(7) < oc(2));
}

/// Section 6.2.2: "the OC-Bcast performance drop for a message of 97 cache lines is due to the chunk size", and
/// becomes negligible.
#[test]
fn throughput_drops_at_97_lines() {
    for setting in [Setting::PAPER, Setting::SIGNALS] {
        for k in [2, 7, 47] {
            let model = OcBcastModel::new(setting, k);
            let rate = |lines| model.throughput_back_to_back(48, lines);
            assert!(rate(97) < 0.75 * rate(96), "k = {k}: {} and {}", rate(96), rate(97));
            assert!(rate(96 * 40 + 1) > 0.97 * rate(96 * 40), "k = {k}: {} and {}", rate(3840), rate(3841));
        }
    }
}

#[test]
fn what_double_buffering_is_worth() {
    let two = OcBcastModel::new(Setting::PAPER, 7);
    let one = OcBcastModel { buffers: 1, ..two };
    let large = OcBcastModel { buffers: 1, chunk_lines: 192, ..two };
    let us = [two, one, large].map(|model| model.latency(48, 192).as_us());
    assert_eq!(us.map(|us| us as u32), [237, 240, 294]);
    assert!(within(0.1, one.throughput(48, 32768), two.throughput(48, 32768)));

    let free_writes = Parameters { memory_write: Time::ZERO, ..Parameters::SCC };
    let setting = Setting { parameters: free_writes, ..Setting::PAPER };
    let rate = |model| OcBcastModel { setting, ..model }.throughput(48, 32768);
    assert!(within(2.0, rate(two) / rate(one), 1.5), "{}", rate(two) / rate(one));
}

/// Section 5.4. It spares the leaves C_get^mpb, but inner nodes are as slow as before.
#[test]
fn what_direct_leaves_are_worth() {
    let latency =
        |k, direct_leaves| OcBcastModel { direct_leaves, ..OcBcastModel::new(Setting::PAPER, k) }.latency(48, 96);
    let peak =
        |k, direct_leaves| OcBcastModel { direct_leaves, ..OcBcastModel::new(Setting::PAPER, k) }.peak_throughput(48);
    for k in [2, 7, 47] {
        assert!(latency(k, true) < latency(k, false), "k = {k}");
    }
    assert_eq!([2, 7].map(|k| peak(k, true)), [2, 7].map(|k| peak(k, false)));
    assert!(peak(47, true) > 1.4 * peak(47, false));
}

#[test]
fn notification_degrees() {
    let latency = notification_latency;
    for children in 1..=61 {
        for degree in 3..=children {
            let (binary, other) =
                (latency(&Setting::SIGNALS, children, 2), latency(&Setting::SIGNALS, children, degree));
            assert!(binary <= other, "{children} children, degree {degree}: {binary} and {other}");
        }
    }
    assert!(latency(&Setting::SIGNALS, 62, 3) < latency(&Setting::SIGNALS, 62, 2), "but no further");
    for children in [7, 47] {
        let flat = latency(&Setting::SIGNALS, children, children);
        let chain = latency(&Setting::SIGNALS, children, 1);
        let binary = latency(&Setting::SIGNALS, children, 2);
        assert!(binary < flat && binary < chain, "{children} children");
    }
    let best = |setting, children| (2..=children).map(|degree| latency(setting, children, degree)).min().unwrap();
    let us = |time: Time| (time.as_us() * 100.0).round() as u32;
    assert_eq!([2, 3].map(|degree| us(latency(&Setting::SIGNALS, 7, degree))), [138, 152]);
    assert_eq!([2, 3].map(|degree| us(latency(&Setting::SIGNALS, 47, degree))), [317, 331]);
    assert_eq!([latency(&LINE_READS, 7, 2), latency(&LINE_READS, 7, 3), best(&LINE_READS, 7)].map(us), [163, 163, 163]);
    assert_eq!([latency(&LINE_READS, 47, 2), best(&LINE_READS, 47)].map(us), [372, 346]);
    let never_better = |children| latency(&Setting::PAPER, children, 2) >= latency(&Setting::PAPER, children, 3);
    assert!((3..=64).all(never_better));
    assert_eq!([latency(&Setting::PAPER, 7, 2), best(&Setting::PAPER, 7)].map(us), [241, 217]);
    assert_eq!([latency(&Setting::PAPER, 47, 2), best(&Setting::PAPER, 47)].map(us), [537, 445]);
}

/// The full formulas have all terms of the simplified ones.
#[test]
fn the_critical_path_is_a_lower_bound() {
    for setting in [Setting::PAPER, Setting::SIGNALS] {
        for ranks in [2, 3, 5, 16, 47, 48, 255] {
            for lines in [1, 48, 96] {
                for k in [1, 2, 7, 47] {
                    let critical = critical::oc_bcast_latency(&setting, ranks, lines, k);
                    assert!(critical < OcBcastModel::new(setting, k).latency(ranks, lines), "OC-Bcast of {ranks}");
                }
                let full = TwoSidedModel::new(setting).binomial_latency(ranks, lines);
                assert!(critical::binomial_latency(&setting, ranks, lines) < full, "binomial tree of {ranks}");
            }
        }
    }
    assert!(critical::oc_bcast_throughput(&Setting::PAPER, 96) < critical::copy_bound(&Setting::PAPER));
    assert!(within(0.01, critical::copy_bound(&Setting::PAPER), 32.0 / 0.607));
}

#[test]
fn nothing_takes_no_time_and_everything_ends() {
    for setting in [Setting::PAPER, Setting::SIGNALS] {
        let oc = OcBcastModel::new(setting, 7);
        let two_sided = TwoSidedModel::new(setting);
        assert_eq!([oc.latency(1, 5), oc.latency(0, 5), oc.latency(5, 0)], [Time::ZERO; 3]);
        assert!(oc.peak_throughput(1).is_infinite() && oc.peak_throughput(0).is_infinite());
        for ranks in [0, 1] {
            assert_eq!(two_sided.binomial_latency(ranks, 5), Time::ZERO);
            assert_eq!(two_sided.scatter_allgather_latency(ranks, 5, Allgather::OneByOne), Time::ZERO);
            assert_eq!(two_sided.scatter_allgather_latency(ranks, 5, Allgather::Overlapped), Time::ZERO);
        }
        for ranks in [2, 3, 5, 16, 47, 48, 255] {
            for lines in [1, 31, ranks, 2 * ranks + 1, 251, 300] {
                let one_by_one = two_sided.scatter_allgather_latency(ranks, lines, Allgather::OneByOne);
                let overlapped = two_sided.scatter_allgather_latency(ranks, lines, Allgather::Overlapped);
                assert!(overlapped <= one_by_one, "{ranks} ranks, {lines} lines: {overlapped} and {one_by_one}");
            }
            let strange = OcBcastModel { k: 0, chunk_lines: 0, buffers: 0, ..oc };
            let chain = OcBcastModel { k: 1, chunk_lines: 1, buffers: 1, ..oc };
            assert_eq!(strange.latency(ranks, 3), chain.latency(ranks, 3));
            let flat = |k| OcBcastModel::new(setting, k).latency(ranks, 200);
            assert_eq!(flat(usize::MAX), flat(ranks - 1));
        }
    }
}

#[test]
fn depths_of_trees() {
    let depth = |k| OcBcastModel::new(Setting::PAPER, k).depth(48);
    assert_eq!([1, 2, 7, 24, 47].map(depth), [47, 5, 2, 2, 1]);
    assert_eq!(OcBcastModel::new(Setting::PAPER, 7).depth(1), 0);
}
