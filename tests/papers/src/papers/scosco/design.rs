//! What SCOSCo's design decisions cost and save (section IV.B of the paper).

use crate::bench::{Bench, Missing, Row, Rows, Sweep, excess, on_scc};

/// Placement, mapping and addresses of synchronisation data.
pub(crate) const PSCW_DESIGN: Bench = Bench {
    name: "pscw-design",
    about: "synchronisation data near or far, uncached or flushed, its places exchanged or looked up (SCOSCo, IV.B)",
    runs: &[Sweep("bench-pscw-design", &["{|machine=+contention}"])],
    shown: &[0, 2, 8, 24, 32],
    sizes: &[0],
    // The paper gives no number. Distance alone makes it a tenth; the bound is ours.
    claims: &[on_scc(
        "with contention, polls at one memory controller take a quarter longer than at each rank's nearest (IV.B.1)",
    )
    .at_least(25.0, "%", |rows| {
        Ok(excess(poll(rows, "one-controller+contention")?, poll(rows, "nearest+contention")?))
    })],
    ..Bench::PLAIN
};

/// What a poll of the own word takes while all others poll theirs.
fn poll(rows: &Rows, name: &str) -> Result<f64, Missing> {
    let is_it = |row: &&Row| (row.key.name().as_str(), row.key.metric.as_str(), row.key.param) == (name, "poll", 0);
    rows.iter().find(is_it).map(|row| row.quartiles.median).ok_or(Missing)
}
