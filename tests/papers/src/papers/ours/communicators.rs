//! Communicators of some ranks beside a machine that has no other ranks, where they sit.

use crate::bench::{Bench, Column, Missing, Row, Rows, Sweep, excess, on_scc};

const METRIC: &str = "latency";

const OPERATIONS: &str =
    "operation={barrier|broadcast|reduce|allreduce|reduce-scatter|scan|exscan|gather|scatter|allgather|alltoall}";

const SIZES: &str = "sizes=8,1024,16384";

/// What wants more lines than a communicator has for itself, or is lent, but no more than all ranks stage in.
const BETWEEN: [&str; 2] = ["operation={reduce|allreduce|reduce-scatter|scan|exscan|scatter}", "sizes=32,64,128"];

/// A machine on whose cores the odd ones of the SCC sit.
const ODD: &str = "machine=mesh:6x4x1+ideal";

/// Which ranks have a communicator, and how many ranks a machine has that are where these are.
const MEMBERS: [(&str, u64); 5] = [("dup", 48), ("half", 24), ("row", 12), ("tile", 2), ("odd", 24)];

/// Per cent by which any operation on a communicator may take longer.
const MOST_PER_CENT: f64 = 15.0;

/// Operations on communicators and on machines of their size, and what communicators take to be made.
pub(crate) const COMMUNICATORS: Bench = Bench {
    name: "communicators",
    about: "all collective operations on half, odd, row and tile communicators, beside those of machines with no other ranks; dup and split",
    runs: &[
        Sweep("bench-collectives", &[OPERATIONS, SIZES, "members={dup|half|odd|row|tile}"]),
        Sweep("bench-collectives", &[OPERATIONS, SIZES, ODD]),
        Sweep("bench-collectives", &[OPERATIONS, SIZES, "cores={48|24|12|2}"]),
        Sweep("bench-collectives", &[BETWEEN[0], BETWEEN[1], "members={dup|half|odd|row|tile}"]),
        Sweep("bench-collectives", &[BETWEEN[0], BETWEEN[1], ODD]),
        Sweep("bench-collectives", &[BETWEEN[0], BETWEEN[1], "cores={48|24|12|2}"]),
        Sweep("bench-collectives", &["operation={dup|split}", "cores={48|24|12|2}"]),
    ],
    columns: &[
        Column("no data (us)", METRIC, 0),
        Column("8 B", METRIC, 8),
        Column("32 B", METRIC, 32),
        Column("64 B", METRIC, 64),
        Column("128 B", METRIC, 128),
        Column("1 KB", METRIC, 1 << 10),
        Column("16 KB", METRIC, 16 << 10),
    ],
    claims: &[
        on_scc("operations on communicators that take at most 1.15 times as long as on machines that sit alike")
            .at_least(100.0, "% of all", within),
        on_scc("that which takes most more").reports(|rows| {
            let (more, about) =
                excesses(rows)?.into_iter().max_by(|one, other| one.0.total_cmp(&other.0)).ok_or(Missing)?;
            Ok(format!("{more:+.1} % ({about})"))
        }),
    ],
    ..Bench::PLAIN
};

/// Per cent of all operations that take not much longer.
fn within(rows: &Rows) -> Result<f64, Missing> {
    let all = excesses(rows)?;
    let count = all.iter().filter(|(more, _)| *more <= MOST_PER_CENT).count();
    if all.is_empty() { Err(Missing) } else { Ok(100.0 * count as f64 / all.len() as f64) }
}

/// By how many per cent each operation takes longer on a communicator.
fn excesses(rows: &Rows) -> Result<Vec<(f64, String)>, Missing> {
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
    Ok(excesses)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::testing::rows;

    #[test]
    fn communicators_are_compared_with_machines_that_sit_alike() {
        let rows = rows(&[
            ("scan-default", [24, 0, 8], "latency ns", 1000),
            ("scan-default", [48, 0, 8], "latency ns", 5000),
            ("scan-default@mesh:6x4x1", [24, 0, 8], "latency ns", 2000),
            ("scan-default-half", [48, 24, 8], "latency ns", 1140),
            ("scan-default-odd", [48, 24, 8], "latency ns", 2400),
        ]);
        let found: Vec<_> = excesses(&rows).unwrap().into_iter().map(|(more, about)| (more.round(), about)).collect();
        assert_eq!(found, [(14.0, "scan-default-half, 8 B".to_owned()), (20.0, "scan-default-odd, 8 B".to_owned())]);
        assert_eq!(within(&rows), Ok(50.0));
    }
}
