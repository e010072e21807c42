use super::*;
use crate::bench::{Finding, testing};

/// Rows of 48 ranks: name, bytes, metric, value.
fn rows(lines: &[(&str, u64, &str, u64)]) -> Rows {
    let unit = |metric: &str| if metric.contains("throughput") { "kBps" } else { "ns" };
    let sample = |(name, bytes, metric, value): &(&str, u64, &str, u64)| {
        testing::sample(name, [48, 0, *bytes], &format!("{metric} {}", unit(metric)), *value)
    };
    let mut rows = Rows::pool(lines.iter().map(sample));
    (BROADCAST.derive)(&mut rows);
    rows
}

/// What is found of the claim that begins like this.
fn find(rows: &Rows, text: &str) -> Option<Finding> {
    let claims: Vec<_> = BROADCAST.claims.iter().filter(|claim| claim.text.starts_with(text)).collect();
    assert_eq!(claims.len(), 1, "{text}");
    claims[0].finding(rows).ok()
}

#[test]
fn published_numbers_and_peaks_are_rows() {
    let rows = rows(&[
        ("oc-k7", 128 << 10, SEQUENCE, 99_000),
        ("oc-k7", 48 * 96 * 32, SEQUENCE, 34_000),
        ("oc-k7", 1 << 20, SEQUENCE, 33_999),
        ("oc-k7+contention", 1 << 20, SEQUENCE, 33_000),
    ]);
    let peak = |name: &str| rows.line(name, PEAK).unwrap().at_bytes(0);
    assert_eq!(["published-oc-k7", "oc-k7", "oc-k7+contention"].map(peak), [Ok(34.3), Ok(34.0), Ok(33.0)]);
    assert_eq!(rows.line("published-binomial", "latency").unwrap().at_bytes(32), Ok(21.6));
    let mut small = testing::rows(&[("a", [4, 0, 1], "latency ns", 1)]);
    (BROADCAST.derive)(&mut small);
    assert_eq!(small.iter().count(), 1, "there is nothing to compare with");
}

#[test]
fn peaks_are_compared_with_the_published_ones() {
    let text = "distances and contention: the peaks";
    let peaks =
        |k2, k7| rows(&[("oc-k2+contention", 1 << 20, SEQUENCE, k2), ("oc-k7+contention", 1 << 20, SEQUENCE, k7)]);
    assert!(find(&peaks(35_220, 31_000), text).unwrap().holds());
    let finding = find(&peaks(39_000, 34_000), text).unwrap();
    assert_eq!((finding.measured.as_str(), finding.holds()), ("39.000 MB/s (+10.7 %)", false));
    assert_eq!(find(&rows(&[("oc-k2+contention", 1 << 20, SEQUENCE, 1)]), text), None);
}

#[test]
fn the_model_is_compared_at_every_length() {
    let text = "distances 1, no contention: so does the binomial";
    let metric = "latency.together";
    let measured = |at_64| {
        rows(&[
            ("model-signals-binomial", 32, metric, 1000),
            ("model-signals-binomial", 64, metric, 2000),
            ("model-signals-binomial", 96, metric, 3000),
            ("model-signals-binomial", 1 << 20, metric, 9000),
            ("binomial+flat", 32, metric, 1010),
            ("binomial+flat", 64, metric, at_64),
            ("binomial+flat", 1 << 20, metric, 9009),
        ])
    };
    assert!(find(&measured(1950), text).unwrap().holds());
    let finding = find(&measured(1930), text).unwrap();
    assert_eq!((finding.measured.as_str(), finding.holds()), ("-3.50 % (binomial, 64 B)", false));
}

#[test]
fn the_default_is_compared_with_all_others() {
    let measured = |at_64| {
        rows(&[
            ("default", 1, "latency", 1000),
            ("default", 64, "latency", at_64),
            ("oc-k7", 1, "latency", 2500),
            ("oc-k7", 64, "latency", 2000),
            ("binomial", 64, "latency", 1000),
        ])
    };
    assert!(find(&measured(1029), "default: not slower").unwrap().holds());
    let finding = find(&measured(1040), "default: not slower").unwrap();
    assert_eq!((finding.measured.as_str(), finding.holds()), ("+4.0 % (binomial, 64 B)", false));
    let short = find(&measured(9999), "default: k = 7 takes").unwrap();
    assert_eq!((short.measured.as_str(), short.holds()), ("2.500 times", true));
}

#[test]
fn what_distance_and_contention_take_is_told_apart() {
    let lines = ["oc-k2", "oc-k7", "oc-k47"].iter().flat_map(|name| {
        [("+flat", 40_000), ("", 30_000), ("+contention", 15_000)]
            .map(|(variant, peak)| (format!("{name}{variant}"), peak))
    });
    let lines: Vec<_> = lines.collect();
    let lines: Vec<_> = lines.iter().map(|(name, peak)| (name.as_str(), 1 << 20, SEQUENCE, *peak)).collect();
    let finding = find(&rows(&lines), "what distance and then").unwrap();
    assert_eq!(finding.measured, ["25.0 % and 50.0 %"; 3].join(", "));
    assert_eq!((finding.bound.as_str(), finding.holds()), ("none", true));
}

#[test]
fn the_board_is_compared_with_itself() {
    let measured = |default_ns, oc_bcast_kbps| {
        rows(&[
            ("default@scc-board", 28, "latency", default_ns),
            ("oc-k7@scc-board", 28, "latency", 12_000),
            ("oc-k7", 28, "latency", 1),
            ("default@scc-board", 147_456, SEQUENCE, 48_000),
            ("oc-k7@scc-board", 147_456, SEQUENCE, oc_bcast_kbps),
        ])
    };
    for (text, default_ns, oc_bcast_kbps, holds) in [
        ("on the board, everything priced: k = 7 takes", 3_990, 1, true),
        ("on the board, everything priced: k = 7 takes", 4_010, 1, false),
        ("on the board, everything priced: at least", 1, 36_900, true),
        ("on the board, everything priced: at least", 1, 37_000, false),
    ] {
        assert_eq!(find(&measured(default_ns, oc_bcast_kbps), text).unwrap().holds(), holds, "{text}");
    }
    let through_mpb = |us: u64| {
        let get = |name, ns| testing::sample(name, [2, 1, 128 * 32], "completion ns", ns);
        let peak = testing::sample("default@scc-board", [48, 0, 147_456], &format!("{SEQUENCE} kBps"), 64_000);
        let gets = [get("get-to-mpb@scc-board", 1_000 * us), get("get-to-memory@scc-board", 8_000)];
        let mut rows = Rows::pool(gets.into_iter().chain([peak]));
        (BROADCAST.derive)(&mut rows);
        find(&rows, "on the board, everything priced: 60 %").unwrap().measured
    };
    assert_eq!([32, 24].map(through_mpb), ["62.500 %", "50.000 %"]);
}

#[test]
fn roots_are_compared_with_rank_0() {
    let of = |name, opposite| {
        [(0, 1000), (16, 990), (46, opposite)].map(|(root, value)| (name, [48, root, 32], "latency ns", value))
    };
    let rows = testing::rows(&[of("oc-k7", 1100), of("default", 1000)].concat());
    let finding = find(&rows, "other roots").unwrap();
    assert_eq!(finding.measured, "oc-k7 -1.0 to +10.0 %, default -1.0 to +0.0 %");
}

#[test]
fn claims_are_about_48_ranks() {
    let rows = testing::rows(&["default", "oc-k7"].map(|name| (name, [4, 0, 1], "latency ns", 1)));
    assert!(BROADCAST.claims.iter().all(|claim| claim.finding(&rows).is_err()));
}

#[test]
fn every_algorithm_that_claims_name_is_run() {
    let is_run = |name: &str| {
        let word = format!("algorithm={name}");
        BROADCAST.runs().iter().any(|run| run.words.contains(&word))
    };
    assert!(claims::OTHERS.iter().all(|name| is_run(name)) && is_run("default"));
    // Two-sided ones have RCCE's payload, as published.
    for run in BROADCAST.runs() {
        let is_two_sided = ["binomial", "scatter-allgather", "scatter-allgather-overlapped"]
            .iter()
            .any(|name| run.words[0] == format!("algorithm={name}"));
        assert_eq!(run.words.contains(&"profile".to_owned()), is_two_sided, "{:?}", run.words);
    }
}
