use super::{
    super::scaling::{ENGINE, ENGINE_ASIC},
    *,
};
use crate::bench::{Finding, Samples, testing::sample};

/// A latency in nanoseconds, or a count, on `ranks` ranks in `param` domains.
fn samples(name: &str, ranks: u64, param: u64, metric: &str, value: u64) -> Samples {
    let unit = if metric == "latency" { "ns" } else { "count" };
    sample(name, [ranks, param, 0], &format!("{metric} {unit}"), value)
}

/// Rows as the paper would have them: Eq. 2, and a flat barrier that breaks at 40 nodes; with some of the latencies
/// replaced.
fn rows(others: &[(&str, u64, u64, u64)]) -> Rows {
    let mut all = Vec::new();
    for cores in [2, 48] {
        for (name, time) in [("world", 1_000), ("default", 1_010), ("rcce-linear", 12_000), ("dissemination", 3_000)] {
            all.push(samples(name, cores, cores, "latency", time));
            all.push(samples(&format!("{name}@scc-board"), cores, cores, "latency", time));
        }
    }
    for cores in [1, 8, 16] {
        for nodes in [1_u64, 2, 8, 24, 40, 48, 64] {
            let time = (Scaling::PAPER.latency(nodes as f64, cores as f64) * 1000.0) as u64;
            let flat = 3 * time + 400 * nodes + 600 * nodes.saturating_sub(40);
            for (name, time) in [("default", time), ("hierarchical", time), ("flat", flat)] {
                all.push(samples(&format!("{name}@{FPGA}"), nodes * cores, nodes, "latency", time));
            }
        }
    }
    for (name, time) in [(ENGINE, 94_000), (ENGINE_ASIC, 43_000)] {
        all.push(samples(name, 16, 1, "latency", time));
        all.push(samples(name, 16, 1, "writes", 17));
    }
    for (name, ranks, param, time) in others {
        let new = samples(name, *ranks, *param, "latency", *time);
        all.retain(|old| old.key != new.key);
        all.push(new);
    }
    let mut rows = Rows::pool(all);
    (BARRIER.derive)(&mut rows);
    rows
}

fn check(about: &str, rows: &Rows) -> Finding {
    let claim = BARRIER.claims.iter().find(|claim| claim.text.contains(about)).unwrap();
    claim.finding(rows).unwrap()
}

#[test]
fn what_the_paper_measured_makes_all_claims_true() {
    let rows = rows(&[]);
    for claim in BARRIER.claims.iter().filter(|claim| !claim.text.contains("where accesses meet")) {
        let finding = claim.finding(&rows).unwrap();
        assert!(finding.holds(), "{}: {}", claim.text, finding.measured);
    }
    let report = report::all(&rows);
    let ours = "ours, up to 64 nodes: t = (0.0216 cores +2.492";
    assert!(report.contains(ours) && report.contains("281.5"), "{report}");
    assert!(rows.line(&format!("lookout@{FPGA}"), "printed").unwrap().at(13_750).is_ok());
}

#[test]
fn bounds_are_bounds() {
    for (about, other) in [
        ("6.5 times as fast", ("rcce-linear@scc-board", 48, 48, 6_400)),
        ("0.68 of dissemination", ("dissemination@scc-board", 48, 48, 1_400)),
        ("10 times as fast", ("rcce-linear", 48, 48, 9_900)),
        ("0.6 of dissemination", ("dissemination", 48, 48, 1_600)),
        ("barrier of all cores: not slower", ("tree-k2-pull", 2, 2, 970)),
        ("default for groups: not slower", ("tree-k2-pull", 48, 48, 980)),
        ("at most 15 us", ("default@cluster-fpga", 1024, 64, 15_100)),
        ("on 8 nodes of 8 cores", ("hierarchical@cluster-fpga", 64, 8, 7_500)),
        ("on 64 nodes of 16 cores", ("hierarchical@cluster-fpga", 1024, 64, 15_100)),
        ("extrapolated", ("hierarchical@cluster-fpga", 1024, 64, 30_000)),
        ("on 64 nodes of a core", ("hierarchical@cluster-fpga", 64, 64, 9_100)),
        ("on nodes: not slower", ("flat@cluster-fpga", 2, 2, 1_000)),
        ("16 threads through one engine", ("central@cluster-fpga", 16, 1, 70_000)),
        ("same with an ASIC", ("central@cluster-asic", 16, 1, 60_000)),
        ("is logarithmic", ("hierarchical@cluster-fpga", 64, 64, 40_000)),
        ("beyond 40 nodes", ("flat@cluster-fpga", 64, 64, 1_000)),
    ] {
        let (found, holds) = (check(about, &rows(&[other])), check(about, &rows(&[])).holds());
        assert!(!found.holds() && holds, "{about}: {}", found.measured);
    }
}

#[test]
fn variants_and_groups_are_no_competitors() {
    let others = [("tree-k2-pull@x", 48, 48, 10), ("dissemination/half", 48, 48, 10)];
    assert_eq!(claims::fastest(&rows(&others), "", 48), Some(("dissemination", 3.0)));
}

#[test]
fn a_report_shows_what_there_is() {
    let few = Rows::pool([samples("world", 4, 4, "latency", 700), samples("flat", 4, 4, "latency", 900)]);
    let report = report::all(&few);
    let lines: Vec<_> = report.lines().map(|line| line.split_whitespace().collect::<Vec<_>>()).collect();
    assert_eq!(lines[1..4], [vec!["cores", "4"], vec!["world", "0.700"], vec!["flat", "0.900"]]);
    assert_eq!(report::all(&Rows::default()), "");
}
