//! All collective operations, each by its default, by its algorithms for short and for long data, and by two-sided
//! messages.

use crate::bench::{Bench, Column, Finding, Line, Missing, Rows, Sweep, excess, extremes, on_scc};

/// Reading a line of private memory and writing one, at the least distance, in microseconds (table 1 of the OC-Bcast
/// paper).
const LINE_IN_AND_OUT_US: f64 = 0.218 + 0.471;

/// The ranks that the claims are about.
const RANKS: u64 = 48;

const REDUCTIONS: &str = "algorithm={default|tree|blocks|two-sided}";
const EXCHANGES: &str = "algorithm={default|long|two-sided}";

/// What is compared with what: operations, and their algorithms besides the default.
const ALTERNATIVES: [(&str, &[&str]); 9] = [
    ("reduce", &["tree", "blocks", "two-sided"]),
    ("allreduce", &["tree", "blocks", "two-sided"]),
    ("reduce-scatter", &["tree", "blocks", "two-sided"]),
    ("scan", &["doubling", "chain", "two-sided"]),
    ("exscan", &["doubling", "chain", "two-sided"]),
    ("gather", &["long", "two-sided"]),
    ("scatter", &["long", "two-sided"]),
    ("allgather", &["long", "two-sided"]),
    ("alltoall", &["long", "two-sided"]),
];

/// Latencies by bytes of a block.
pub(crate) const COLLECTIVES: Bench = Bench {
    name: "collectives",
    about: "barrier, broadcast, reductions, scans and exchanges of 8 B to 64 KB, by algorithm",
    // The longest ones come first.
    runs: &[
        Sweep("bench-collectives", &["operation={alltoall|allgather}", EXCHANGES]),
        Sweep("bench-collectives", &["operation=reduce-scatter", REDUCTIONS]),
        Sweep("bench-collectives", &["operation={gather|scatter}", EXCHANGES]),
        Sweep("bench-collectives", &["operation={scan|exscan}", "algorithm={default|doubling|chain|two-sided}"]),
        Sweep("bench-collectives", &["operation={allreduce|reduce}", REDUCTIONS]),
        Sweep("bench-collectives", &["operation=broadcast", "algorithm={default|oc-k7|binomial}"]),
        Sweep("bench-collectives", &["operation=barrier", "algorithm={default|dissemination}"]),
    ],
    columns: &[
        Column("no data (us)", "latency", 0),
        Column("8 B", "latency", 8),
        Column("64 B", "latency", 64),
        Column("1 KB", "latency", 1 << 10),
        Column("4 KB", "latency", 4 << 10),
        Column("16 KB", "latency", 16 << 10),
        Column("64 KB", "latency", 64 << 10),
    ],
    claims: &[
        on_scc(
            "allreduce of 8 bytes, less a line read from memory and written there: at most 1.6 dissemination barriers",
        )
        .at_most(1.6, "of it", |rows| allreduce_in_barriers(rows, "dissemination")),
        on_scc("the same in default barriers, whose flags share lines as operands cannot")
            .reports(|rows| Ok(format!("{:.2}", allreduce_in_barriers(rows, "default")?))),
        on_scc("defaults: not slower than two-sided messages, at any size")
            .holds(|rows| worst_default(rows, |algorithm| algorithm == "two-sided")),
        on_scc("defaults: not slower than any other algorithm, at any size")
            .holds(|rows| worst_default(rows, |_| true)),
        on_scc("two-sided messages take so many times as long as defaults").reports(speedups),
    ],
    ..Bench::PLAIN
};

fn latencies<'r>(rows: &'r Rows, operation: &str, algorithm: &str) -> Result<Line<'r>, Missing> {
    rows.line_of(RANKS, &format!("{operation}-{algorithm}"), "latency")
}

/// The default allreduce of 8 bytes, less a line read from memory and one written there, in barriers of this name.
fn allreduce_in_barriers(rows: &Rows, barrier: &str) -> Result<f64, Missing> {
    let allreduce = latencies(rows, "allreduce", "default")?.at_bytes(8)? - LINE_IN_AND_OUT_US;
    Ok(allreduce / latencies(rows, "barrier", barrier)?.at_bytes(0)?)
}

/// How much more a default takes than another algorithm, where that is most.
fn worst_default(rows: &Rows, is_compared: fn(&str) -> bool) -> Result<Finding, Missing> {
    let mut excesses = Vec::new();
    for (operation, others) in ALTERNATIVES {
        let default = latencies(rows, operation, "default")?;
        for other in others.iter().filter(|other| is_compared(other)) {
            let theirs = latencies(rows, operation, other)?;
            for (bytes, latency) in default.by_bytes() {
                excesses.push((excess(latency, theirs.at_bytes(bytes)?), format!("{operation}, {other}, {bytes} B")));
            }
        }
    }
    Finding::worst(excesses, 5.0)
}

/// The least and the most speed-up of each default over two-sided messages.
fn speedups(rows: &Rows) -> Result<String, Missing> {
    let of = |(operation, _): (&str, _)| {
        let (default, two_sided) = (latencies(rows, operation, "default")?, latencies(rows, operation, "two-sided")?);
        let ratios = default.by_bytes().map(|(bytes, latency)| Ok(two_sided.at_bytes(bytes)? / latency));
        let (least, most) = extremes(ratios.collect::<Result<Vec<_>, Missing>>()?)?;
        Ok(format!("{operation} {least:.1} to {most:.1}"))
    };
    Ok(ALTERNATIVES.into_iter().map(of).collect::<Result<Vec<_>, _>>()?.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::testing::sample;

    /// Rows in which everything takes 10 us, but for these.
    fn rows(others: &[(&str, u64, u64)]) -> Rows {
        let names = ALTERNATIVES.iter().flat_map(|(operation, others)| {
            others.iter().chain(&["default"]).map(move |algorithm| format!("{operation}-{algorithm}"))
        });
        let value = |name: &str, bytes: u64| {
            let other = others.iter().find(|(other, at, _)| (*other, *at) == (name, bytes));
            other.map_or(10_000, |(_, _, value)| *value)
        };
        let names: Vec<String> =
            names.chain(["default", "dissemination"].map(|name| format!("barrier-{name}"))).collect();
        let lines = names.iter().flat_map(|name| [0, 8, 64].map(|bytes| (name, bytes)));
        Rows::pool(lines.map(|(name, bytes)| sample(name, [48, 0, bytes], "latency ns", value(name, bytes))))
    }

    fn check(number: usize, rows: &Rows) -> Finding {
        COLLECTIVES.claims[number].finding(rows).unwrap()
    }

    #[test]
    fn allreduce_is_compared_with_the_barrier() {
        assert!(check(0, &rows(&[("allreduce-default", 8, 16_600)])).holds());
        assert!(!check(0, &rows(&[("allreduce-default", 8, 16_800)])).holds());
    }

    #[test]
    fn defaults_are_compared_with_all_others() {
        let slow = rows(&[("scan-chain", 64, 9_000), ("gather-two-sided", 8, 40_000)]);
        assert!(check(2, &slow).holds());
        let finding = check(3, &slow);
        assert_eq!((finding.measured.as_str(), finding.holds()), ("+11.1 % (scan, chain, 64 B)", false));
        let speedups = check(4, &slow);
        assert!(speedups.holds() && speedups.measured.contains("gather 1.0 to 4.0"), "{}", speedups.measured);
    }

    #[test]
    fn every_alternative_is_run() {
        for (operation, others) in ALTERNATIVES {
            for algorithm in others.iter().chain(&["default"]) {
                let words = [format!("operation={operation}"), format!("algorithm={algorithm}")];
                assert!(COLLECTIVES.runs().iter().any(|run| run.words == words), "{words:?}");
            }
        }
    }
}
