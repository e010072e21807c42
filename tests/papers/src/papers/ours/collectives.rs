//! All collective operations, each by its default, by its algorithms for short and for long data, and by two-sided
//! messages.

use crate::bench::{Bench, Claim, Column, Finding, Missing, On, Rows, Run};

/// One run for each operation and algorithm.
macro_rules! each {
    ($([$operation:literal: $($algorithm:literal),+])+) => {
        &[$($( Run { program: "bench-collectives", words: &[$operation, $algorithm] }, )+)+]
    };
}

/// Reading a line of private memory and writing one, at the least distance, in microseconds (table 1 of the OC-Bcast
/// paper).
const LINE_IN_AND_OUT_US: f64 = 0.218 + 0.471;

/// The ranks that the claims are about.
const RANKS: u64 = 48;

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
    runs: each!(
        ["operation=alltoall": "algorithm=default", "algorithm=long", "algorithm=two-sided"]
        ["operation=allgather": "algorithm=default", "algorithm=long", "algorithm=two-sided"]
        ["operation=reduce-scatter": "algorithm=default", "algorithm=tree", "algorithm=blocks", "algorithm=two-sided"]
        ["operation=gather": "algorithm=default", "algorithm=long", "algorithm=two-sided"]
        ["operation=scatter": "algorithm=default", "algorithm=long", "algorithm=two-sided"]
        ["operation=scan": "algorithm=default", "algorithm=doubling", "algorithm=chain", "algorithm=two-sided"]
        ["operation=exscan": "algorithm=default", "algorithm=doubling", "algorithm=chain", "algorithm=two-sided"]
        ["operation=allreduce": "algorithm=default", "algorithm=tree", "algorithm=blocks", "algorithm=two-sided"]
        ["operation=reduce": "algorithm=default", "algorithm=tree", "algorithm=blocks", "algorithm=two-sided"]
        ["operation=broadcast": "algorithm=default", "algorithm=oc-k7", "algorithm=binomial"]
        ["operation=barrier": "algorithm=default", "algorithm=dissemination"]
    ),
    columns: &[
        Column { title: "no data (us)", metric: "latency", bytes: 0 },
        Column { title: "8 B", metric: "latency", bytes: 8 },
        Column { title: "64 B", metric: "latency", bytes: 64 },
        Column { title: "1 KB", metric: "latency", bytes: 1 << 10 },
        Column { title: "4 KB", metric: "latency", bytes: 4 << 10 },
        Column { title: "16 KB", metric: "latency", bytes: 16 << 10 },
        Column { title: "64 KB", metric: "latency", bytes: 64 << 10 },
    ],
    claims: &[
        Claim {
            text: "allreduce of 8 bytes, less a line read from memory and written there: at most 1.6 dissemination barriers",
            on: On::Scc,
            check: |rows| Ok(Finding::at_most(allreduce_in_barriers(rows, "dissemination")?, 1.6, "of it")),
        },
        Claim {
            text: "the same in default barriers, whose flags share lines as operands cannot",
            on: On::Scc,
            check: |rows| Ok(Finding::reported(format!("{:.2}", allreduce_in_barriers(rows, "default")?))),
        },
        Claim {
            text: "defaults: not slower than two-sided messages, at any size",
            on: On::Scc,
            check: |rows| worst_default(rows, |algorithm| algorithm == "two-sided"),
        },
        Claim {
            text: "defaults: not slower than any other algorithm, at any size",
            on: On::Scc,
            check: |rows| worst_default(rows, |_| true),
        },
        Claim { text: "two-sided messages take so many times as long as defaults", on: On::Scc, check: speedups },
    ],
    ..Bench::PLAIN
};

/// The default allreduce of 8 bytes, less a line read from memory and one written there, in barriers of this name.
fn allreduce_in_barriers(rows: &Rows, barrier: &str) -> Result<f64, Missing> {
    let allreduce = rows.line_of(RANKS, "allreduce-default", "latency")?.at_bytes(8)? - LINE_IN_AND_OUT_US;
    Ok(allreduce / rows.line_of(RANKS, &format!("barrier-{barrier}"), "latency")?.at_bytes(0)?)
}

/// How much more a default takes than another algorithm, where that is most.
fn worst_default(rows: &Rows, is_compared: fn(&str) -> bool) -> Result<Finding, Missing> {
    const MOST: f64 = 5.0;
    let mut worst: Option<(f64, String)> = None;
    for (operation, others) in ALTERNATIVES {
        let default = rows.line_of(RANKS, &format!("{operation}-default"), "latency")?;
        for other in others.iter().filter(|other| is_compared(other)) {
            let theirs = rows.line_of(RANKS, &format!("{operation}-{other}"), "latency")?;
            for (bytes, latency) in default.by_bytes() {
                let excess = 100.0 * (latency / theirs.at_bytes(bytes)? - 1.0);
                if worst.as_ref().is_none_or(|(most, _)| excess > *most) {
                    worst = Some((excess, format!("{excess:+.1} % ({operation}, {other}, {bytes} B)")));
                }
            }
        }
    }
    let (excess, measured) = worst.ok_or(Missing)?;
    Ok(Finding::new(measured, format!("<= {MOST} %"), excess <= MOST))
}

/// The least and the most speed-up of each default over two-sided messages.
fn speedups(rows: &Rows) -> Result<Finding, Missing> {
    let mut parts = Vec::new();
    for (operation, _) in ALTERNATIVES {
        let line = |algorithm| rows.line_of(RANKS, &format!("{operation}-{algorithm}"), "latency");
        let (default, two_sided) = (line("default")?, line("two-sided")?);
        let ratios = default.by_bytes().map(|(bytes, latency)| Ok(two_sided.at_bytes(bytes)? / latency));
        let ratios = ratios.collect::<Result<Vec<f64>, _>>()?;
        let (least, most) = (ratios.iter().copied().reduce(f64::min), ratios.iter().copied().reduce(f64::max));
        let (least, most) = least.zip(most).ok_or(Missing)?;
        parts.push(format!("{operation} {least:.1} to {most:.1}"));
    }
    Ok(Finding::reported(parts.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::Samples;

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
        Rows::pool(lines.map(|(name, bytes)| {
            let value = value(name, bytes);
            let line = format!("algorithm={name} ranks=48 param=0 bytes={bytes} metric=latency unit=ns {value}");
            Samples::parse(&line).unwrap()
        }))
    }

    fn check(number: usize, rows: &Rows) -> Finding {
        (COLLECTIVES.claims[number].check)(rows).unwrap()
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
                assert!(COLLECTIVES.runs.iter().any(|run| run.words == words), "{words:?}");
            }
        }
    }
}
