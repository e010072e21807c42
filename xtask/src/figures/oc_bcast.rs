//! Figures of *High-Performance RMA-Based Broadcast on the Intel SCC* (OC-Bcast, Petrović, Shahmirzadi, Ropars and
//! Schiper).

use super::figure::{Axis, Content, Figure, Paper, Plot, Scale, Series};
use crate::bench::{Evidence, Missing, Rows};
use anyhow::Result;

/// Bytes of a line.
const LINE: u64 = 32;

/// Lines of the longest message of figures 6a and 8a: two chunks.
const SHORT: u64 = 192;

pub(super) const FIGURES: &[Figure] = &[Figure {
    id: "oc-bcast-fig-8",
    paper: Paper::OcBcast,
    number: "Fig. 8",
    title: "Broadcasts measured: latency of short messages, throughput of long ones",
    note: "",
    content: measured,
}];

/// A metric of an algorithm over lengths, in lines; lengths of parts of lines are left out.
fn by_lines(rows: &Rows, algorithm: &str, metric: &str, most: u64) -> Result<Vec<(f64, f64)>, Missing> {
    let line = rows.line(algorithm, metric)?;
    let whole = line.by_bytes().filter(|(bytes, _)| *bytes > 0 && bytes % LINE == 0 && *bytes <= most * LINE);
    Ok(whole.map(|(bytes, value)| ((bytes / LINE) as f64, value)).collect())
}

fn measured(evidence: &mut Evidence) -> Result<Content> {
    let rows = evidence.rows("broadcast", "scc")?;
    let series = vec![Series::ours("k = 7", by_lines(rows, "oc-k7+contention", "latency", SHORT)?)];
    let x = Axis { label: "message (lines)", scale: Scale::Linear };
    let y = Axis { label: "latency (us)", scale: Scale::Linear };
    Ok(Content::Plots(vec![Plot { title: "latency".into(), x, y, series }]))
}
