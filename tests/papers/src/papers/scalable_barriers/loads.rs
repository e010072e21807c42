//! What a load takes: Fröning, Giese, Montaner, Silla and Duato, *Highly Scalable Barriers for Future High-Performance
//! Computing Clusters*, sections III.C, IV.B and IV.C.

use crate::bench::{Bench, Claim, Finding, Missing, On, Rows, Run};

/// How far a measured load may be from the published one, in percent: it has the call in it, which the price has not.
const CALL: f64 = 2.0;

/// Loads of one word, near and far, by cores that load at the same time.
pub(crate) const LOADS: Bench = Bench {
    name: "loads",
    about: "loads of uncached words near and far, by cores that load at a time; on the cluster of the scalable-barriers paper (III, IV)",
    runs: &[
        Run { program: "bench-loads", words: &[] },
        Run { program: "bench-loads", words: &["machine=cluster-fpga:2x16"] },
        Run { program: "bench-loads", words: &["machine=cluster-asic:2x16"] },
    ],
    claims: &[
        Claim {
            text: "a load from another node (section IV.B)",
            on: On::Scc,
            check: |rows| Ok(Finding::within_percent(load(rows, "far@cluster-fpga", 1)?, 1.89, CALL, "us")),
        },
        Claim {
            text: "a load from the own node over the engine (section IV.C)",
            on: On::Scc,
            check: |rows| Ok(Finding::within_percent(load(rows, "near@cluster-fpga", 1)?, 1.21, CALL, "us")),
        },
        Claim {
            text: "a load from another node with an ASIC (section IV.C)",
            on: On::Scc,
            check: |rows| Ok(Finding::within_percent(load(rows, "far@cluster-asic", 1)?, 0.534, CALL, "us")),
        },
        Claim {
            // A socket has one load under way, and there are four sockets.
            text: "16 cores of a node that load at a time take four times as long as one (section III.C)",
            on: On::Scc,
            check: |rows| {
                let name = "far@cluster-fpga";
                Ok(Finding::within_percent(load(rows, name, 16)? / load(rows, name, 1)?, 4.0, 10.0, "times"))
            },
        },
    ],
    ..Bench::PLAIN
};

/// Microseconds of a load by each of `cores` cores that load at a time.
fn load(rows: &Rows, name: &str, cores: u64) -> Result<f64, Missing> {
    rows.line(name, "load")?.at(cores)
}
