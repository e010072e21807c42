use super::*;
use crate::testing::{refused, run};
use collectives::Class;
use std::{format, vec::Vec};

const ALGORITHMS: [&str; 6] = ["default", "truly-one-sided", "scosco", "immediate", "deferred", "two-sided"];

#[test]
fn algorithms_have_names() {
    for class in Class::ALL {
        assert_eq!(class.name().parse(), Ok(Algorithm::Windows(class)));
    }
    assert_eq!("two-sided".parse(), Ok(Algorithm::TwoSided));
    let message = "three-sided".parse::<Algorithm>().unwrap_err();
    assert!(message.starts_with("no such algorithm; there are default") && message.ends_with("two-sided"), "{message}");
}

#[test]
fn ping_pongs_of_all_algorithms_are_measured_at_all_sizes() {
    for algorithm in ALGORITHMS {
        let printed =
            run::<Latency>(&format!("cores=48 machine=scc+ideal algorithm={algorithm} most=4096 repetitions=2"));
        for metric in ["put.latency", "get.latency"] {
            let found = printed.samples(algorithm, metric);
            assert_eq!(found.len(), 3 * 13);
            assert!(found.values().all(|values| values.len() == 2));
            // Larger and farther is slower.
            assert!(
                found[&(1, 4096)] > found[&(1, 1)]
                    && found[&(9, 64)] > found[&(5, 64)]
                    && found[&(5, 64)] > found[&(1, 64)],
                "{algorithm} {metric}"
            );
        }
    }
}

#[test]
fn an_epoch_writes_each_line_of_a_put_once() {
    let printed = run::<Latency>("cores=2 algorithm=default most=1024");
    assert_eq!(printed.value("default", "put.combined_lines_written", (1, 1024)), 32);
    assert_eq!(printed.value("default", "get.combined_lines_read", (1, 1024)), 32);
    assert_eq!(printed.value("default", "put.tsr_acquired", (1, 1024)), 0);
}

#[test]
fn bursts_are_as_fast_as_lines_where_they_are_long() {
    for algorithm in ALGORITHMS {
        let printed = run::<Bandwidth>(&format!("cores=2 algorithm={algorithm} most=65536"));
        let fastest = printed.value("lines", "put.throughput", (1, 1 << 20));
        let found = printed.value(algorithm, "put.throughput", (1, 65536));
        // Both ends of a message copy at the same time, through the MPB, which is faster than shared memory.
        assert_eq!(found > fastest, algorithm == "two-sided", "{algorithm}: {found} of {fastest}");
        assert!(found * 10 > fastest * 9, "{algorithm}: {found} of {fastest}");
    }
}

#[test]
fn only_messages_wait_for_a_busy_target() {
    for algorithm in ALGORITHMS {
        let printed = run::<Skew>(&format!("cores=2 algorithm={algorithm} bytes=16384"));
        let bytes = 16384;
        let [idle, busy] = [0, 256].map(|n| printed.value(algorithm, "origin", (n, bytes)));
        let computation = printed.value(algorithm, "compute", (256, bytes));
        // 2 × 256³ operations of three cycles, at 533 MHz.
        assert!(computation.abs_diff(188_861_718) < 1000);
        let waits = busy > idle + computation / 10 * 9;
        assert_eq!(waits, algorithm == "two-sided", "{algorithm}: {idle}, then {busy}");
        assert!(waits || busy * 10 <= idle * 11, "{algorithm}: {idle}, then {busy}");
    }
}

#[test]
fn what_an_origin_copies_itself_overlaps_with_nothing() {
    for algorithm in ALGORITHMS {
        let printed = run::<Overlap>(&format!("cores=2 algorithm={algorithm} most=16384"));
        let at = |metric: &str| printed.value(algorithm, metric, (120, 16384)) as f64;
        let overlap = |side: &str| {
            let at = |what| at(&format!("{side}.{what}"));
            (at("comm") + at("compute") - at("total")) / at("comm")
        };
        assert!(overlap("origin").abs() < 0.01, "{algorithm}: {}", overlap("origin"));
        assert_eq!(overlap("target") > 0.5, algorithm != "two-sided", "{algorithm}: {}", overlap("target"));
    }
}

#[test]
fn many_origins_are_faster_together_only_without_the_target() {
    for algorithm in ALGORITHMS {
        let printed = run::<Crowd>(&format!("cores=9 algorithm={algorithm} bytes=4096"));
        let [one, eight] = [1, 8].map(|k| printed.value(algorithm, "put.throughput", (k, 4096)));
        assert_eq!(eight > 3 * one, algorithm != "two-sided", "{algorithm}: {one}, then {eight}");
    }
    let printed = run::<Crowd>("cores=5 bytes=64 least=4");
    assert!(printed.samples("default", "put.throughput").keys().eq(&[(4, 64)]));
}

#[test]
fn a_window_for_each_rank_is_synchronised() {
    for algorithm in ALGORITHMS {
        let printed = run::<Synchronisation>(&format!("cores=5 algorithm={algorithm} repetitions=2 most=3"));
        for side in ["origin", "target"] {
            let found = printed.samples(algorithm, side);
            assert!(found.keys().eq(&[(1, 0), (2, 0), (3, 0)]), "{algorithm}");
            assert!(found.values().all(|values| values.len() == 2), "{algorithm}");
        }
    }
    let printed = run::<Synchronisation>("cores=5 algorithm=default");
    assert_eq!(printed.value("default", "target.mpb_lines_written", (4, 0)), 4);
}

#[test]
fn lines_are_counted_over_all_ranks() {
    let printed = run::<Lines>("cores=8 algorithm=default most=256");
    // 7 origins, 16 puts of 8 lines.
    for metric in ["combined_lines_written", "lines_fetched"] {
        assert_eq!(printed.value("default", metric, (7, 256)), 7 * 16 * 8, "{metric}");
    }
    let printed = run::<Lines>("cores=8 algorithm=two-sided most=256");
    // Data, the head, a signal that it is there, and one that it has been taken; head and signals are polled.
    for (metric, lines) in [("mpb_lines_written", 8 + 1 + 2), ("mpb_lines_read", 8)] {
        assert_eq!(printed.value("two-sided", metric, (7, 256)), 7 * 16 * lines, "{metric}");
    }
}

#[test]
fn what_cannot_be_measured_is_said_once() {
    refused::<Latency>(&[
        ("cores=4 algorithm=other", "option `algorithm=other`: no such algorithm; there are default"),
        ("cores=1", "this takes 2 cores or more, and there are 1"),
    ]);
    refused::<Synchronisation>(&[("cores=1", "this takes 2 cores or more, and there are 1")]);
    refused::<Lines>(&[
        ("cores=7", "this takes 8 cores or more, and there are 7"),
        ("cores=8 most=262144", "`most=262144`: a put has 131072 bytes at most"),
    ]);
    refused::<Bandwidth>(&[("cores=2 most=4194304", "`most=4194304`: one operation has 2097152")]);
    refused::<Skew>(&[("cores=2 bytes=0", "`bytes=0`: a put has 1 to 524288 bytes")]);
    refused::<Crowd>(&[
        ("cores=2 bytes=9999999", "`bytes=9999999`: a put has 1 to 8388608 bytes"),
        ("cores=4 least=3", "`least=3`: none of [1, 2, 4, 8, 16, 32, 46] origins"),
    ]);
    refused::<Overlap>(&[("cores=2 most=9999999", "`most=9999999`: a put has 8388608 bytes at most")]);
}

#[test]
fn pairs_are_near_and_far_and_half_way() {
    let printed = run::<Latency>("cores=2 most=1");
    assert_eq!(printed.samples("default", "put.latency").len(), 1);
    let found = run::<Latency>("machine=mesh:3x3x1 cores=9 most=1");
    let routers: Vec<_> = found.samples("default", "put.latency").into_keys().map(|(routers, _)| routers).collect();
    assert_eq!(routers, [2, 4, 5]);
}
