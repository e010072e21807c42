//! What single puts and gets cost, alone and beside others: Petrović et al., *High-Performance RMA-Based Broadcast on
//! the Intel SCC*, section 3.

use crate::bench::{Bench, Claim, Finding, Missing, On, Row, Rows, Run};

/// Bytes of the 128 lines of sections 3.2 and 3.3.
const LINES_128: u64 = 128 * 32;

/// Figures 3 and 4, and the loaded link.
pub(crate) const MPB: Bench = Bench {
    name: "mpb",
    about: "puts and gets over each distance, at one MPB beside others, and over a loaded link (OC-Bcast, section 3)",
    runs: &[
        Run { program: "bench-mpb-distance", words: &[] },
        Run { program: "bench-mpb-model", words: &[] },
        Run { program: "bench-mpb-contention", words: &[] },
        Run { program: "bench-mpb-contention", words: &["machine=+contention"] },
        Run { program: "bench-mesh-link", words: &["machine=+contention"] },
    ],
    shown: &[1, 2, 9, 16, 24, 32, 48],
    sizes: &[32, LINES_128],
    claims: &[
        Claim {
            text: "a get of 128 lines over 9 routers takes 30 % longer than over 1 (fig. 3)",
            on: On::Scc,
            check: |rows| {
                let completion =
                    |routers| Ok(row(rows, "get-to-mpb", "completion", routers, LINES_128)?.quartiles.median);
                // 3 points of 30 percent.
                Ok(Finding::within_percent((completion(9)? / completion(1)? - 1.0) * 100.0, 30.0, 10.0, "%"))
            },
        },
        Claim {
            // That nothing can be measured is what the service of the ports is fitted on; the bound is ours.
            text: "up to 24 cores that get from one MPB do not slow each other down (fig. 4a)",
            on: On::Scc,
            check: |rows| {
                let most = [2, 4, 8, 16, 20, 24].into_iter().map(|count| growth(rows, "get", count));
                let most = most.collect::<Result<Vec<_>, _>>()?.into_iter().fold(0.0, f64::max);
                Ok(Finding::at_most(most, 3.0, "%"))
            },
        },
        Claim {
            text: "48 do, by a third and more on the average (fig. 4a)",
            on: On::Scc,
            check: |rows| Ok(Finding::at_least(growth(rows, "get", 48)?, 33.0, "%")),
        },
        Claim {
            text: "the slowest of 48 that get takes more than twice the time of the fastest (fig. 4a)",
            on: On::Scc,
            check: |rows| Ok(Finding::at_least(unfairness(rows, "get+contention", LINES_128)?, 2.0, "x")),
        },
        Claim {
            text: "the slowest of 48 that put a line takes more than four times the time of the fastest (fig. 4b)",
            on: On::Scc,
            check: |rows| Ok(Finding::at_least(unfairness(rows, "put+contention", 32)?, 4.0, "x")),
        },
        Claim {
            text: "a loaded link shows nothing (3.3)",
            on: On::Scc,
            check: |rows| {
                let [free, loaded] = ["free", "loaded"].map(|metric| row(rows, "get+contention", metric, 2, LINES_128));
                Ok(Finding::at_most((loaded?.quartiles.median / free?.quartiles.median - 1.0) * 100.0, 1.0, "%"))
            },
        },
    ],
    ..Bench::PLAIN
};

fn row<'r>(rows: &'r Rows, name: &str, metric: &str, param: u64, bytes: u64) -> Result<&'r Row, Missing> {
    let is_it = |row: &&Row| row.key.name() == name && row.key.metric == metric;
    rows.iter().filter(is_it).find(|row| (row.key.param, row.key.bytes) == (param, bytes)).ok_or(Missing)
}

/// By how much so many cores take longer than they would if each were alone, in percent.
fn growth(rows: &Rows, operation: &str, count: u64) -> Result<f64, Missing> {
    let average = |name: &str| Ok(row(rows, name, "average", count, LINES_128)?.quartiles.median);
    Ok((average(&format!("{operation}+contention"))? / average(operation)? - 1.0) * 100.0)
}

/// How many times as long as the fastest of 48 cores the slowest takes.
fn unfairness(rows: &Rows, name: &str, bytes: u64) -> Result<f64, Missing> {
    let quartiles = row(rows, name, "completion", 48, bytes)?.quartiles;
    Ok(quartiles.max / quartiles.min)
}
