//! What a load takes: sections III.C, IV.B and IV.C.

use super::published::{FAR, FAR_WITH_ASIC, NEAR};
use crate::bench::{Bench, Missing, Rows, Sweep, on_scc};

/// How far a measured load may be from the published one, in percent: it has the call in it, which the price has not.
const CALL: f64 = 2.0;

/// Loads of one word, near and far, by cores that load at the same time.
pub(crate) const LOADS: Bench = Bench {
    name: "loads",
    about: "loads of uncached words near and far, by cores that load at a time; on the cluster of the \
            scalable-barriers paper (III, IV)",
    runs: &[Sweep("bench-loads", &["{|machine=cluster-fpga:2x16|machine=cluster-asic:2x16}"])],
    claims: &[
        on_scc("a load from another node (section IV.B)")
            .within_percent(CALL, FAR, "us", |rows| load(rows, "far@cluster-fpga", 1)),
        on_scc("a load from the own node over the engine (section IV.C)")
            .within_percent(CALL, NEAR, "us", |rows| load(rows, "near@cluster-fpga", 1)),
        on_scc("a load from another node with an ASIC (section IV.C)").within_percent(
            CALL,
            FAR_WITH_ASIC,
            "us",
            |rows| load(rows, "far@cluster-asic", 1),
        ),
        // A socket has one load under way, and there are four sockets.
        on_scc("16 cores of a node that load at a time take four times as long as one (section III.C)").within_percent(
            10.0,
            4.0,
            "times",
            |rows| Ok(load(rows, "far@cluster-fpga", 16)? / load(rows, "far@cluster-fpga", 1)?),
        ),
    ],
    ..Bench::PLAIN
};

/// Microseconds of a load by each of `cores` cores that load at a time.
pub(crate) fn load(rows: &Rows, name: &str, cores: u64) -> Result<f64, Missing> {
    rows.line(name, "load")?.at(cores)
}
