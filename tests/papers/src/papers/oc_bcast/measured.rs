//! The paper's numbers as our rows have them.

use super::published;
use crate::bench::{Line, Missing, Rows, excess, extremes};

/// Bytes of a line.
pub(crate) const LINE: u64 = 32;

/// The lines of the gets of sections 3.2 and 3.3.
pub(crate) const MANY: u64 = 128;

/// The metric of an algorithm's peak: the largest throughput that its long messages have in a sequence of them.
pub(crate) const PEAK: &str = "throughput.peak";

/// Throughputs of broadcasts that follow each other at once.
pub(crate) const SEQUENCE: &str = "throughput.back-to-back";

/// Throughputs of broadcasts that follow each other at once, by the board's clock.
pub(crate) const SEQUENCE_BY_BOARD_CLOCK: &str = "throughput.back-to-back.board";

/// Latencies of broadcasts that are apart, in microseconds read from the board's clock, as the paper's authors did.
pub(crate) const BY_BOARD_CLOCK: &str = "latency.board";

/// Latencies of broadcasts that follow each other at once, in microseconds read from the board's clock.
pub(crate) const IN_SEQUENCE: &str = "latency.back-to-back.board";

/// What the algorithms of rows end with in which everything has its price.
pub(crate) const PRICED: &str = "@scc-priced";

/// How long a put or get takes.
pub(crate) fn completion(rows: &Rows, operation: &str, routers: u64, lines: u64) -> Result<f64, Missing> {
    rows.median(operation, "completion", routers, lines * LINE)
}

/// By how much a put or get takes longer over 9 routers than over 1, in percent.
pub(crate) fn farther(rows: &Rows, operation: &str, lines: u64) -> Result<f64, Missing> {
    Ok(excess(completion(rows, operation, 9, lines)?, completion(rows, operation, 1, lines)?))
}

/// By how many percent the mean of `cores` cores at one MPB is longer with contention.
pub(crate) fn growth(rows: &Rows, operation: &str, cores: u64, lines: u64) -> Result<f64, Missing> {
    let average = |name: &str| rows.median(name, "average", cores, lines * LINE);
    Ok(excess(average(&format!("{operation}+contention"))?, average(operation)?))
}

/// The most cores at one MPB that do not slow each other down.
pub(crate) fn threshold(rows: &Rows, operation: &str, lines: u64) -> Result<f64, Missing> {
    /// By how much a mean may grow before one calls it contention, in percent: what the service of the ports was fitted
    /// with.
    const MEASURABLE: f64 = 3.0;
    let line = rows.line(&format!("{operation}+contention"), "average")?;
    let mut counts: Vec<_> = line.points().map(|(cores, _)| cores).collect();
    counts.sort_unstable();
    let mut most = 0;
    for cores in counts {
        if growth(rows, operation, cores, lines)? > MEASURABLE {
            break;
        }
        most = cores;
    }
    Ok(most as f64)
}

/// How many times as long as the fastest of 48 cores at one MPB the slowest takes.
pub(crate) fn unfairness(rows: &Rows, operation: &str, lines: u64) -> Result<f64, Missing> {
    let line = rows.line(&format!("{operation}+contention"), "completion")?;
    let quartiles = line.row(published::RANKS, lines * LINE)?.quartiles;
    Ok(quartiles.max / quartiles.min)
}

/// By how much a get over the loaded link takes longer than over the free one, in percent.
pub(crate) fn loaded_link(rows: &Rows) -> Result<f64, Missing> {
    let of = |metric| rows.median("get+contention", metric, 2, MANY * LINE);
    Ok(excess(of("loaded")?, of("free")?))
}

/// A line of the SCC's 48 ranks.
pub(crate) fn line<'r>(rows: &'r Rows, name: &str, metric: &str) -> Result<Line<'r>, Missing> {
    rows.line_of(published::RANKS, name, metric)
}

/// A number of messages of `lines` lines.
pub(crate) fn at(rows: &Rows, name: &str, metric: &str, lines: u64) -> Result<f64, Missing> {
    line(rows, name, metric)?.at_bytes(lines * LINE)
}

/// The largest throughput of long messages in a sequence.
pub(crate) fn peak(rows: &Rows, name: &str) -> Result<f64, Missing> {
    at(rows, name, PEAK, 0)
}

/// The same in times of another one.
pub(crate) fn peak_ratio(rows: &Rows, name: &str, other: &str) -> Result<f64, Missing> {
    Ok(peak(rows, name)? / peak(rows, other)?)
}

/// The latency of one line.
pub(crate) fn one_line(rows: &Rows, name: &str, metric: &str) -> Result<f64, Missing> {
    at(rows, name, metric, 1)
}

/// By how much one line takes longer by one algorithm or metric than by another.
pub(crate) fn difference(rows: &Rows, of: (&str, &str), than: (&str, &str)) -> Result<f64, Missing> {
    Ok(one_line(rows, of.0, of.1)? - one_line(rows, than.0, than.1)?)
}

/// The notification degree with which one line takes least time.
pub(crate) fn best_degree(rows: &Rows, tree: &str, degrees: [u64; 3]) -> Result<f64, Missing> {
    // Two is what the name does not say.
    let name = |degree| if degree == 2 { tree.to_owned() } else { format!("{tree}+notify{degree}") };
    let latencies = degrees.map(|degree| Ok((one_line(rows, &name(degree), "latency")?, degree)));
    let latencies = latencies.into_iter().collect::<Result<Vec<_>, Missing>>()?;
    let best = latencies.into_iter().reduce(|best, one| if one.0 < best.0 { one } else { best });
    Ok(best.ok_or(Missing)?.1 as f64)
}

/// By how much one line takes longer with another notification degree than 2, in percent.
pub(crate) fn degree_costs(rows: &Rows, tree: &str, degree: &str) -> Result<f64, Missing> {
    Ok(excess(one_line(rows, &format!("{tree}+{degree}"), "latency")?, one_line(rows, tree, "latency")?))
}

/// How many times as long a sequence of long messages from one core to another takes where there is one buffer.
pub(crate) fn two_cores_buffers(rows: &Rows) -> Result<f64, Missing> {
    two_cores_buffers_on(rows, "")
}

/// The same on the machine that names end with.
pub(crate) fn two_cores_buffers_on(rows: &Rows, machine: &str) -> Result<f64, Missing> {
    let period = |name| rows.line(&format!("{name}{machine}"), "back-to-back")?.at_bytes(1 << 20);
    Ok(period("oc-k1+leaves+single")? / period("oc-k1+leaves")?)
}

/// How many times as long 192 lines to all take where there is one buffer.
pub(crate) fn buffers(rows: &Rows) -> Result<f64, Missing> {
    Ok(at(rows, "oc-k7+single", "latency", 192)? / at(rows, "oc-k7", "latency", 192)?)
}

/// What is lost of the throughput of 1 MiB from one machine to another, in percent.
pub(crate) fn lost(rows: &Rows, before: &str, after: &str) -> Result<f64, Missing> {
    let throughput = |name| line(rows, name, SEQUENCE)?.at_bytes(1 << 20);
    Ok(-excess(throughput(after)?, throughput(before)?))
}

/// By how much one tree takes less time than another, with contention, in percent of the other, at each length from
/// `least` bytes to 192 lines. Beyond 32 lines those are equally far apart.
pub(crate) fn gaps(rows: &Rows, metric: &str, trees: [&str; 2], least: u64) -> Result<Vec<(u64, f64)>, Missing> {
    let [ours, theirs] = trees.map(|tree| line(rows, &format!("{tree}+contention"), metric));
    let (ours, theirs) = (ours?, theirs?);
    let wanted = ours.by_bytes().filter(|(bytes, _)| (least..=192 * LINE).contains(bytes));
    wanted.map(|(bytes, latency)| Ok((bytes, 100.0 * (1.0 - latency / theirs.at_bytes(bytes)?)))).collect()
}

/// The same by the board's clock. One line more than a chunk is there for its throughput.
pub(crate) fn gaps_by_board_clock(rows: &Rows, trees: [&str; 2], least: u64) -> Result<Vec<f64>, Missing> {
    let all = gaps(rows, BY_BOARD_CLOCK, trees, least)?;
    Ok(all.into_iter().filter(|(bytes, _)| *bytes != 97 * LINE).map(|(_, gap)| gap).collect())
}

/// The same at one length.
pub(crate) fn gap(rows: &Rows, metric: &str, trees: [&str; 2], lines: u64) -> Result<f64, Missing> {
    let all = gaps(rows, metric, trees, lines * LINE)?;
    all.into_iter().find(|(bytes, _)| *bytes == lines * LINE).map(|(_, gap)| gap).ok_or(Missing)
}

/// The throughput of a sequence of 97 lines in parts of that of 96, with contention, where it drops least.
pub(crate) fn dip(rows: &Rows, trees: [&str; 3], metric: &str) -> Result<f64, Missing> {
    let left = trees.map(|tree| {
        let name = format!("{tree}+contention");
        Ok(at(rows, &name, metric, 97)? / at(rows, &name, metric, 96)?)
    });
    Ok(extremes(left.into_iter().collect::<Result<Vec<_>, Missing>>()?)?.1)
}
