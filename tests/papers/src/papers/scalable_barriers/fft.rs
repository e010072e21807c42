//! A Fourier transform on global memory: section VII, figures 12 and 13.

use crate::bench::{Bench, Finding, Key, Line, Missing, Row, Rows, Sweep, Unit, extremes, in_virtual_time, on_scc};

/// All kinds of memory, and the part of them that the figures have.
const MEMORIES: &str = "{memory=cached flush=whole|memory=cached flush=ranges|memory=combined|memory=uncached}";
const OF_NODES: &str = "{memory=uncached|memory=cached flush=whole|memory=cached flush=ranges}";
const OF_FIGURES: &str = "{memory=uncached|memory=cached flush=whole}";

/// The host needs no spectrum, and the energy is compared all the same.
const QUIET: &str = "output=none verify=false";

/// Values of the transforms that are compared in all ways, and bytes of one of their matrices.
const N: &str = "n=65536";
const BYTES: u64 = 65_536 * 16;

/// Those of the default input.
const LONG: &str = "n=262144";
const LONG_BYTES: u64 = 262_144 * 16;

/// The largest number of ranks of the figures for the SCC.
const RANKS: u64 = 48;

const CACHED: [&str; 2] = ["cached-ranges-local", "cached-ranges-random"];
const WHOLE: [&str; 2] = ["cached-whole-local", "cached-whole-random"];
const UNCACHED: [&str; 2] = ["uncached-local", "uncached-random"];

const TOTAL: &str = "total";
const SHARE: &str = "flush.share";
const SPEED_UP: &str = "speed-up";

/// Section VII, figures 12 and 13: time over ranks, in memory that is cached and that is not.
pub(crate) const FFT: Bench = Bench {
    name: "fft",
    about: "a Fourier transform on global memory, cached and not, with the share of flushes (barriers paper, section \
            VII)",
    // On nodes of the paper's cluster, with four ranks each and data dealt out over all nodes; in all kinds of memory and
    // both placements; and of a longer signal in caches that are near.
    runs: &[
        Sweep("fft", &["machine=cluster-fpga:{1|2|4|8|16|64}x4", OF_NODES, "placement=random", N, QUIET]),
        Sweep("fft", &["cores={1|2|4|8|16|32|48}", "placement={local|random}", MEMORIES, N, QUIET]),
        Sweep(
            "fft",
            &["cores={1|2|4|8|16|32|48}", "memory=cached flush={whole|ranges}", "placement=local", LONG, QUIET],
        ),
    ],
    shown: &[1, 4, 16],
    sizes: &[BYTES],
    derive: add_speed_ups,
    claims: &[
        on_scc("on 48 cores, flushing ranges beats flushing everything by a third at least").at_most(
            0.667,
            "of it",
            |rows| worst_share(rows, CACHED, WHOLE),
        ),
        in_virtual_time("cached memory, flushed by ranges, is faster than uncached memory on any number of cores")
            .holds(|rows| {
                let pairs = CACHED.into_iter().zip(UNCACHED);
                Finding::all(
                    pairs.map(|(cached, other)| Finding::below(&rows.line(cached, SHORT)?, &rows.line(other, SHORT)?)),
                )
            }),
        on_scc("data near its ranks is faster than data that is dealt out over all controllers, on 48 cores").at_most(
            1.0,
            "of it",
            |rows| worst_share(rows, [CACHED[0], UNCACHED[0]], [CACHED[1], UNCACHED[1]]),
        ),
        in_virtual_time("every doubling of the cores is a speed-up, in all kinds of memory").at_least(
            1.1,
            "times",
            |rows| {
                let names = CACHED.into_iter().chain(UNCACHED).chain(["combined-local", "combined-random"]);
                let lines = names.map(|name| least_step(&totals(&rows.line(name, SHORT)?)));
                Ok(extremes(lines.collect::<Result<Vec<_>, Missing>>()?)?.0)
            },
        ),
        on_scc("uncached memory scales nearly as the number of cores: speed-up on 48 of one core").at_least(
            24.0,
            "",
            |rows| rows.median(UNCACHED[0], SPEED_UP, RANKS, BYTES),
        ),
        on_scc("flushing ranges takes no longer than flushing everything, at any length and on any number of cores")
            .at_most(1.01, "of it", most_of_whole),
        on_scc("on nodes of four cores, cached memory is faster than uncached memory (figures 12 and 13)")
            .holds(|rows| Finding::below(&on_nodes(rows, CACHED[1])?, &on_nodes(rows, UNCACHED[1])?)),
        on_scc("from two nodes on, with data on all that there are, it is faster with more nodes at every step").holds(
            |rows| {
                let (cached, uncached) = (totals(&on_nodes(rows, CACHED[1])?), totals(&on_nodes(rows, UNCACHED[1])?));
                // On one node all data is near.
                let least = least_step(&cached[1..])?.min(least_step(&uncached[1..])?);
                let grown = |totals: &[f64]| totals[1] / totals[totals.len() - 1];
                let (cached, uncached) = (grown(&cached), grown(&uncached));
                let measured =
                    format!("{least:.2} times at least; {cached:.1} times cached and {uncached:.1} uncached in all");
                Ok(Finding::new(measured, ">= 1.05 times", least >= 1.05))
            },
        ),
        in_virtual_time("share of the time in flushes on 48 cores").reports(|rows| {
            let share = |name| Ok(100.0 * rows.median(name, SHARE, RANKS, BYTES)?);
            Ok(format!("{:.1} % everything, {:.1} % ranges", share(WHOLE[0])?, share(CACHED[0])?))
        }),
        // A range costs as many reads as there are ways, for each of its lines, and at most what everything costs.
        in_virtual_time("at the default input's length, where a rank's share fills much of its cache, on 48 cores")
            .reports(|rows| {
                let time = |name| rows.median(name, TOTAL, RANKS, LONG_BYTES);
                Ok(format!("{:.0} us everything, {:.0} us ranges", time(WHOLE[0])?, time(CACHED[0])?))
            }),
    ],
    ..Bench::PLAIN
};

/// What is computed besides: totals of the shorter signal alone, and speed-ups.
const SHORT: &str = "total.65536";

/// Adds a metric for the shorter signal's totals, so that it has a line, and speed-ups over one rank for both lengths.
fn add_speed_ups(rows: &mut Rows) {
    let totals = rows.iter().filter(|row| row.key.metric == TOTAL && row.key.variant.is_empty());
    let mut added = Vec::new();
    for Row { key, quartiles, .. } in totals {
        if key.bytes == BYTES {
            added.push((Key { metric: SHORT.into(), ..key.clone() }, quartiles.median));
        }
        if let Ok(alone) = rows.median(&key.algorithm, TOTAL, 1, key.bytes) {
            let key = Key { metric: SPEED_UP.into(), unit: Unit::Fraction, ..key.clone() };
            added.push((key, alone / quartiles.median));
        }
    }
    rows.add_known(added);
}

/// The totals of a transform on the paper's cluster, over nodes.
fn on_nodes<'r>(rows: &'r Rows, name: &str) -> Result<Line<'r>, Missing> {
    rows.line(&format!("{name}@cluster-fpga"), TOTAL)
}

/// The largest part that a transform with flushes of ranges takes of that with flushes of everything.
fn most_of_whole(rows: &Rows) -> Result<f64, Missing> {
    let mut shares = Vec::new();
    for (ranges, whole) in CACHED.into_iter().zip(WHOLE) {
        for Row { key, quartiles, .. } in rows.line(ranges, TOTAL)?.rows() {
            shares.push(quartiles.median / rows.median(whole, TOTAL, key.param, key.bytes)?);
        }
    }
    Ok(extremes(shares)?.1)
}

/// The largest part that one transform takes of another one's time on all ranks.
fn worst_share(rows: &Rows, names: [&str; 2], others: [&str; 2]) -> Result<f64, Missing> {
    let time = |name: &str| rows.median(name, TOTAL, RANKS, BYTES);
    let shares = names.into_iter().zip(others).map(|(name, other)| Ok(time(name)? / time(other)?));
    Ok(extremes(shares.collect::<Result<Vec<_>, Missing>>()?)?.1)
}

fn totals(line: &Line<'_>) -> Vec<f64> {
    line.points().map(|(_, total)| total).collect()
}

/// The least factor by which a time falls from one number of ranks or nodes to the next.
fn least_step(totals: &[f64]) -> Result<f64, Missing> {
    Ok(extremes(totals.windows(2).map(|pair| pair[0] / pair[1]))?.0)
}

/// Section VII, figures 12 and 13, by ranks of a node, too.
pub(crate) const FFT_NODES: Bench = Bench {
    name: "fft-nodes",
    about: "a Fourier transform over nodes and ranks of each, cached and not (barriers paper, figures 12 and 13)",
    runs: &[
        Sweep("fft", &["machine=cluster-fpga:{64|32}x{4|2|1}", OF_FIGURES, "placement=random", N, QUIET]),
        Sweep("fft", &["machine=cluster-fpga:{16|8|4|2|1}x{8|4|2|1}", OF_FIGURES, "placement=random", N, QUIET]),
    ],
    ..Bench::PLAIN
};
