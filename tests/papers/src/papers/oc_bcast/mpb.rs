//! What single puts and gets cost, alone and beside others: Petrović et al., *High-Performance RMA-Based Broadcast on
//! the Intel SCC*, section 3.

use crate::bench::{Bench, Claim, Finding, Missing, On, Rows, Run};

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
                let completion = |routers| rows.median("get-to-mpb", "completion", routers, LINES_128);
                // 3 points of 30 percent.
                Ok(Finding::within_percent((completion(9)? / completion(1)? - 1.0) * 100.0, 30.0, 10.0, "%"))
            },
        },
        Claim {
            // That nothing can be measured is what the service of the ports is fitted on; the bound is ours.
            text: "up to 24 cores that get from one MPB do not slow each other down (fig. 4a)",
            on: On::Scc,
            check: |rows| {
                let most = [2, 4, 8, 16, 20, 24].into_iter().map(|count| growth(rows, "get", count, LINES_128));
                let most = most.collect::<Result<Vec<_>, _>>()?.into_iter().fold(0.0, f64::max);
                Ok(Finding::at_most(most, 3.0, "%"))
            },
        },
        Claim {
            text: "48 do, by a third and more on the average (fig. 4a)",
            on: On::Scc,
            check: |rows| Ok(Finding::at_least(growth(rows, "get", 48, LINES_128)?, 33.0, "%")),
        },
        Claim {
            text: "the slowest of 48 that get takes more than twice the time of the fastest (fig. 4a)",
            on: On::Scc,
            check: |rows| Ok(Finding::at_least(unfairness(rows, "get", LINES_128)?, 2.0, "x")),
        },
        Claim {
            text: "the slowest of 48 that put a line takes more than four times the time of the fastest (fig. 4b)",
            on: On::Scc,
            check: |rows| Ok(Finding::at_least(unfairness(rows, "put", 32)?, 4.0, "x")),
        },
        Claim {
            text: "a loaded link shows nothing (3.3)",
            on: On::Scc,
            check: |rows| {
                let [free, loaded] =
                    ["free", "loaded"].map(|metric| rows.median("get+contention", metric, 2, LINES_128));
                Ok(Finding::at_most((loaded? / free? - 1.0) * 100.0, 1.0, "%"))
            },
        },
    ],
    ..Bench::PLAIN
};

/// By how many percent the mean of `cores` cores at one MPB is longer with contention.
pub(super) fn growth(rows: &Rows, operation: &str, cores: u64, bytes: u64) -> Result<f64, Missing> {
    let average = |name: &str| rows.median(name, "average", cores, bytes);
    Ok((average(&format!("{operation}+contention"))? / average(operation)? - 1.0) * 100.0)
}

/// How many times as long as the fastest of 48 cores at one MPB the slowest takes.
pub(super) fn unfairness(rows: &Rows, operation: &str, bytes: u64) -> Result<f64, Missing> {
    let quartiles = rows.line(&format!("{operation}+contention"), "completion")?.row(48, bytes)?.quartiles;
    Ok(quartiles.max / quartiles.min)
}
