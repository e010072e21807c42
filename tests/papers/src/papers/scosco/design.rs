//! What SCOSCo's design decisions cost and save (section IV.B of the paper).

use crate::bench::{Bench, Claim, Finding, Missing, On, Row, Rows, Run};

/// Placement, mapping and addresses of synchronisation data.
pub(crate) const PSCW_DESIGN: Bench = Bench {
    name: "pscw-design",
    about: "synchronisation data near or far, uncached or flushed, its places exchanged or looked up (SCOSCo, IV.B)",
    runs: &[
        Run { program: "bench-pscw-design", words: &[] },
        Run { program: "bench-pscw-design", words: &["machine=+contention"] },
    ],
    shown: &[0, 2, 8, 24, 32],
    sizes: &[0],
    claims: &[Claim {
        // The paper gives no number. Distance alone makes it a tenth; the bound is ours.
        text: "with contention, polls at one memory controller take a quarter longer than at each rank's nearest (IV.B.1)",
        on: On::Scc,
        check: |rows| {
            let (one, nearest) = (poll(rows, "one-controller+contention")?, poll(rows, "nearest+contention")?);
            Ok(Finding::at_least((one / nearest - 1.0) * 100.0, 25.0, "%"))
        },
    }],
    ..Bench::PLAIN
};

/// What a poll of the own word takes while all others poll theirs.
fn poll(rows: &Rows, name: &str) -> Result<f64, Missing> {
    let is_it = |row: &&Row| (row.key.name().as_str(), row.key.metric.as_str(), row.key.param) == (name, "poll", 0);
    rows.iter().find(is_it).map(|row| row.quartiles.median).ok_or(Missing)
}
