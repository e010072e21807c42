//! The paper's numbers as our rows have them.

use super::mpb;
use crate::bench::{Evidence, Missing};
use anyhow::Result;

const SCC: &str = "scc";

const LINE_BYTES: u64 = 32;

/// By how much a mean may grow before one calls it contention, in percent: what the service of the ports was fitted
/// with.
const MEASURABLE: f64 = 3.0;

/// Latencies of broadcasts that are apart, in microseconds read from the board's clock, as the paper's authors did.
const BY_BOARD_CLOCK: &str = "latency.board";

/// A latency where broadcasts follow each other at once.
pub(crate) const IN_SEQUENCE: &str = "latency.back-to-back.board";

/// By how much a put or get takes longer over 9 routers than over 1, in percent.
pub(crate) fn farther(evidence: &mut Evidence, operation: &str, lines: u64) -> Result<f64> {
    let rows = evidence.rows("mpb", SCC)?;
    let completion = |routers| rows.median(operation, "completion", routers, lines * LINE_BYTES);
    Ok(excess(completion(9)?, completion(1)?))
}

/// How long a put or get takes over one router.
pub(crate) fn nearest(evidence: &mut Evidence, operation: &str, lines: u64) -> Result<f64> {
    Ok(evidence.rows("mpb", SCC)?.median(operation, "completion", 1, lines * LINE_BYTES)?)
}

/// The most cores at one MPB that do not slow each other down.
pub(crate) fn threshold(evidence: &mut Evidence, operation: &str, lines: u64) -> Result<f64> {
    let rows = evidence.rows("mpb", SCC)?;
    let with = rows.line(&format!("{operation}+contention"), "average")?;
    let mut counts: Vec<_> = with.rows().filter(|row| row.key.bytes == lines * LINE_BYTES).collect();
    counts.sort_by_key(|row| row.key.param);
    let mut most = 0;
    for row in counts {
        let alone = rows.median(operation, "average", row.key.param, lines * LINE_BYTES)?;
        if excess(row.quartiles.median, alone) > MEASURABLE {
            break;
        }
        most = row.key.param;
    }
    Ok(most as f64)
}

/// [`mpb::growth`] of a number of lines.
pub(crate) fn growth(evidence: &mut Evidence, operation: &str, cores: u64, lines: u64) -> Result<f64> {
    Ok(mpb::growth(evidence.rows("mpb", SCC)?, operation, cores, lines * LINE_BYTES)?)
}

/// [`mpb::unfairness`] of a number of lines.
pub(crate) fn unfairness(evidence: &mut Evidence, operation: &str, lines: u64) -> Result<f64> {
    Ok(mpb::unfairness(evidence.rows("mpb", SCC)?, operation, lines * LINE_BYTES)?)
}

/// By how much a get over the loaded link takes longer than over the free one, in percent.
pub(crate) fn loaded_link(evidence: &mut Evidence) -> Result<f64> {
    let rows = evidence.rows("mpb", SCC)?;
    let of = |metric| rows.median("get+contention", metric, 2, 128 * LINE_BYTES);
    Ok(excess(of("loaded")?, of("free")?))
}

/// The notification degree with which one line takes least time.
pub(crate) fn best_degree(evidence: &mut Evidence, tree: &str, degrees: &[u64]) -> Result<f64> {
    let rows = evidence.rows("oc-bcast", SCC)?;
    let mut best: Option<(f64, u64)> = None;
    for degree in degrees {
        // Two is what the name does not say.
        let name = if *degree == 2 { tree.to_owned() } else { format!("{tree}+notify{degree}") };
        let latency = rows.line(&name, "latency")?.at_bytes(LINE_BYTES)?;
        if best.is_none_or(|(least, _)| latency < least) {
            best = Some((latency, *degree));
        }
    }
    Ok(best.ok_or(Missing)?.1 as f64)
}

/// By how much one line takes longer with another notification degree than 2, in percent.
pub(crate) fn degree_costs(evidence: &mut Evidence, tree: &str, degree: u64) -> Result<f64> {
    let other = latency(evidence, &format!("{tree}+notify{degree}"), "latency")?;
    Ok(excess(other, latency(evidence, tree, "latency")?))
}

/// How many times as long a sequence of long messages from one core to another takes where there is one buffer.
pub(crate) fn two_cores_buffers(evidence: &mut Evidence) -> Result<f64> {
    let rows = evidence.rows("oc-bcast", SCC)?;
    let period = |name| rows.line(name, "back-to-back")?.at_bytes(1 << 20);
    Ok(period("oc-k1+leaves+single")? / period("oc-k1+leaves")?)
}

/// How many times as long 192 lines to all take where there is one buffer.
pub(crate) fn buffers(evidence: &mut Evidence) -> Result<f64> {
    let rows = evidence.rows("oc-bcast", SCC)?;
    let latency = |name| rows.line(name, "latency")?.at_bytes(192 * LINE_BYTES);
    Ok(latency("oc-k7+single")? / latency("oc-k7")?)
}

/// The largest throughput of long messages in a sequence.
pub(crate) fn peak(evidence: &mut Evidence, name: &str) -> Result<f64> {
    Ok(evidence.rows("oc-bcast", SCC)?.line(name, "throughput.peak")?.at_bytes(0)?)
}

/// What is lost of the throughput of 1 MiB from one machine to another, in percent.
pub(crate) fn lost(evidence: &mut Evidence, before: &str, after: &str) -> Result<f64> {
    let rows = evidence.rows("oc-bcast", SCC)?;
    let throughput = |name| rows.line(name, "throughput.back-to-back")?.at_bytes(1 << 20);
    Ok(-excess(throughput(after)?, throughput(before)?))
}

/// The latency of one line.
pub(crate) fn latency(evidence: &mut Evidence, name: &str, metric: &str) -> Result<f64> {
    Ok(evidence.rows("oc-bcast", SCC)?.line(name, metric)?.at_bytes(LINE_BYTES)?)
}

/// Microseconds of a broadcast of one line, read from the board's clock.
pub(crate) fn latency_by_board_clock(evidence: &mut Evidence, name: &str) -> Result<f64> {
    latency(evidence, name, BY_BOARD_CLOCK)
}

/// By how much one tree takes less time than another, in percent of the other, at each length from
/// `least` to 192 lines. Beyond 32 lines those are equally far apart.
pub(crate) fn gaps(evidence: &mut Evidence, name: &str, other: &str, least: u64) -> Result<Vec<f64>> {
    let rows = evidence.rows("oc-bcast", SCC)?;
    let of = |name: &str| rows.line(&format!("{name}+contention"), BY_BOARD_CLOCK);
    let (ours, theirs) = (of(name)?, of(other)?);
    // One line more than a chunk is there for its throughput.
    let is_wanted = |lines: u64| lines != 97 && (least..=192).contains(&lines);
    let wanted = ours.by_bytes().filter(|(bytes, _)| is_wanted(bytes / LINE_BYTES));
    let gaps = wanted.map(|(bytes, latency)| Ok(-excess(latency, theirs.at_bytes(bytes)?)));
    let gaps = gaps.collect::<Result<Vec<_>, Missing>>()?;
    if gaps.is_empty() { Err(Missing.into()) } else { Ok(gaps) }
}

/// The share of time that a tree saves at `lines` lines, in percent of the other, broadcasts being apart.
pub(crate) fn gap(evidence: &mut Evidence, name: &str, other: &str, lines: u64) -> Result<f64> {
    gap_of(evidence, BY_BOARD_CLOCK, name, other, lines)
}

/// As [`gap`], where broadcasts follow each other at once.
pub(crate) fn gap_in_sequence(evidence: &mut Evidence, name: &str, other: &str, lines: u64) -> Result<f64> {
    gap_of(evidence, IN_SEQUENCE, name, other, lines)
}

fn gap_of(evidence: &mut Evidence, metric: &str, name: &str, other: &str, lines: u64) -> Result<f64> {
    let rows = evidence.rows("oc-bcast", SCC)?;
    let of = |name: &str| rows.line(&format!("{name}+contention"), metric)?.at_bytes(lines * LINE_BYTES);
    Ok(-excess(of(name)?, of(other)?))
}

/// The throughput of a sequence of 97 lines in parts of that of 96, where it drops least.
pub(crate) fn dip(evidence: &mut Evidence, trees: &[&str]) -> Result<f64> {
    let rows = evidence.rows("oc-bcast", SCC)?;
    let mut least: f64 = 0.0;
    for tree in trees {
        let line = rows.line(&format!("{tree}+contention"), "throughput.back-to-back.board")?;
        least = least.max(line.at_bytes(97 * LINE_BYTES)? / line.at_bytes(96 * LINE_BYTES)?);
    }
    Ok(least)
}

/// By how much a number is larger than another, in percent.
pub(crate) fn excess(value: f64, than: f64) -> f64 {
    (value / than - 1.0) * 100.0
}
