//! Communicators of some ranks beside a machine that has no other ranks, where they sit.

use crate::bench::{Bench, Column, Finding, Missing, Row, Rows, Sweep, excess, on_scc};

const METRIC: &str = "latency";

const OPERATIONS: &str =
    "operation={barrier|broadcast|reduce|allreduce|reduce-scatter|scan|exscan|gather|scatter|allgather|alltoall}";

const SIZES: &str = "sizes=8,1024,16384";

/// A machine on whose cores the odd ones of the SCC sit.
const ODD: &str = "machine=mesh:6x4x1+ideal";

/// Which ranks have a communicator, and how many ranks a machine has that are where these are.
const MEMBERS: [(&str, u64); 5] = [("dup", 48), ("half", 24), ("row", 12), ("tile", 2), ("odd", 24)];

/// Per cent by which an operation on a communicator may take longer.
const MOST_PER_CENT: f64 = 15.0;

/// Operations on communicators and on machines of their size, and what communicators take to be made.
pub(crate) const COMMUNICATORS: Bench = Bench {
    name: "communicators",
    about: "all collective operations on half, odd, row and tile communicators, beside those of machines with no other ranks; dup and split",
    runs: &[
        Sweep("bench-collectives", &[OPERATIONS, SIZES, "members={dup|half|odd|row|tile}"]),
        Sweep("bench-collectives", &[OPERATIONS, SIZES, ODD]),
        Sweep("bench-collectives", &[OPERATIONS, SIZES, "cores={48|24|12|2}"]),
        Sweep("bench-collectives", &["operation={dup|split}", "cores={48|24|12|2}"]),
    ],
    columns: &[
        Column("no data (us)", METRIC, 0),
        Column("8 B", METRIC, 8),
        Column("1 KB", METRIC, 1 << 10),
        Column("16 KB", METRIC, 16 << 10),
    ],
    claims: &[on_scc("operations on communicators: not slower than those of all ranks of a machine that sit alike")
        .holds(worst)],
    ..Bench::PLAIN
};

/// How much more an operation takes on a communicator, where that is most.
fn worst(rows: &Rows) -> Result<Finding, Missing> {
    let mut excesses = Vec::new();
    for (members, ranks) in MEMBERS {
        for row in rows.iter().filter(|row| row.key.metric == METRIC) {
            let name = row.key.name();
            let Some(operation) = name.strip_suffix(&format!("-{members}")) else { continue };
            let is_world = |other: &&Row| {
                let (key, name) = (&other.key, other.key.name());
                let sits_alike =
                    if members == "odd" { name.starts_with(&format!("{operation}@")) } else { name == operation };
                key.metric == METRIC && key.ranks == ranks && key.bytes == row.key.bytes && sits_alike
            };
            let world = rows.iter().find(is_world).ok_or(Missing)?;
            let more = excess(row.quartiles.median, world.quartiles.median);
            excesses.push((more, format!("{name}, {} B", row.key.bytes)));
        }
    }
    Finding::worst(excesses, MOST_PER_CENT)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::testing::rows;

    fn measured(half_ns: u64, odd_ns: u64) -> Finding {
        worst(&rows(&[
            ("scan-default", [24, 0, 8], "latency ns", 1000),
            ("scan-default", [48, 0, 8], "latency ns", 5000),
            ("scan-default@mesh:6x4x1", [24, 0, 8], "latency ns", 2000),
            ("scan-default-half", [48, 24, 8], "latency ns", half_ns),
            ("scan-default-odd", [48, 24, 8], "latency ns", odd_ns),
        ]))
        .unwrap()
    }

    #[test]
    fn communicators_are_compared_with_machines_that_sit_alike() {
        assert!(measured(1140, 2280).holds());
        let slow = measured(1140, 2400);
        assert_eq!((slow.measured.as_str(), slow.holds()), ("+20.0 % (scan-default-odd, 8 B)", false));
        assert!(!measured(1200, 2000).holds());
    }
}
