//! A Fourier transform on global memory: *Highly Scalable Barriers for Future High-Performance Computing Clusters*, section
//! VII, figures 12 and 13.

use crate::bench::{Bench, Claim, Finding, Key, Line, Missing, On, Row, Rows, Run, Unit};

/// Runs on each of some numbers of nodes of the paper's cluster, with four ranks each and data dealt out over all nodes;
/// and on each of some numbers of ranks, in all kinds of memory and both placements, and of a longer signal in caches that
/// are near.
macro_rules! transforms {
    ($($nodes:literal)*; $($ranks:literal)*) => {
        &[$(
            fft(&[concat!("machine=cluster-fpga:", $nodes, "x4"), "memory=uncached", "placement=random", N, QUIET, FAST]),
            fft(&[
                concat!("machine=cluster-fpga:", $nodes, "x4"), "memory=cached", "flush=whole", "placement=random", N, QUIET, FAST
            ]),
            fft(&[
                concat!("machine=cluster-fpga:", $nodes, "x4"), "memory=cached", "flush=ranges", "placement=random", N, QUIET, FAST
            ]),
        )* $(
            fft(&[concat!("cores=", $ranks), "memory=cached", "flush=whole", "placement=local", N, QUIET, FAST]),
            fft(&[concat!("cores=", $ranks), "memory=cached", "flush=ranges", "placement=local", N, QUIET, FAST]),
            fft(&[concat!("cores=", $ranks), "memory=combined", "placement=local", N, QUIET, FAST]),
            fft(&[concat!("cores=", $ranks), "memory=uncached", "placement=local", N, QUIET, FAST]),
            fft(&[concat!("cores=", $ranks), "memory=cached", "flush=whole", "placement=random", N, QUIET, FAST]),
            fft(&[concat!("cores=", $ranks), "memory=cached", "flush=ranges", "placement=random", N, QUIET, FAST]),
            fft(&[concat!("cores=", $ranks), "memory=combined", "placement=random", N, QUIET, FAST]),
            fft(&[concat!("cores=", $ranks), "memory=uncached", "placement=random", N, QUIET, FAST]),
            fft(&[concat!("cores=", $ranks), "memory=cached", "flush=whole", "placement=local", LONG, QUIET, FAST]),
            fft(&[concat!("cores=", $ranks), "memory=cached", "flush=ranges", "placement=local", LONG, QUIET, FAST]),
        )*]
    };
}

/// Values of the transforms that are compared in all ways, and bytes of one of their matrices.
const N: &str = "n=65536";
const BYTES: u64 = 65_536 * 16;

/// Those of the default input.
const LONG: &str = "n=262144";
const LONG_BYTES: u64 = 262_144 * 16;

/// The host needs no spectrum, and the energy is compared all the same.
const QUIET: &str = "output=none";
const FAST: &str = "verify=false";

/// The largest number of ranks of the figures for the SCC.
const RANKS: u64 = 48;

const CACHED: [&str; 2] = ["cached-ranges-local", "cached-ranges-random"];
const WHOLE: [&str; 2] = ["cached-whole-local", "cached-whole-random"];
const UNCACHED: [&str; 2] = ["uncached-local", "uncached-random"];

const TOTAL: &str = "total";
const SHARE: &str = "flush.share";
const SPEED_UP: &str = "speed-up";

const fn fft(words: &'static [&'static str]) -> Run {
    Run { program: "fft", words }
}

/// Section VII, figures 12 and 13: time over ranks, in memory that is cached and that is not.
pub(crate) const FFT: Bench = Bench {
    name: "fft",
    about: "a Fourier transform on global memory, cached and not, with the share of flushes (barriers paper, section VII)",
    runs: transforms!(1 2 4 8 16 64; 1 2 4 8 16 32 48),
    shown: &[1, 4, 16],
    sizes: &[BYTES],
    derive: add_speed_ups,
    claims: &[
        Claim {
            text: "on 48 cores, flushing ranges beats flushing everything by a third at least",
            on: On::Scc,
            check: |rows| worst_share(rows, CACHED, WHOLE, 0.667),
        },
        Claim {
            text: "cached memory, flushed by ranges, is faster than uncached memory on any number of cores",
            on: On::VirtualTime,
            check: |rows| {
                let mut findings = Vec::new();
                for (cached, uncached) in CACHED.into_iter().zip(UNCACHED) {
                    findings.push(Finding::below(&rows.line(cached, SHORT)?, &rows.line(uncached, SHORT)?)?);
                }
                // The one that fails, if there is one, or else the last.
                findings.into_iter().min_by_key(|finding| finding.holds()).ok_or(Missing)
            },
        },
        Claim {
            text: "data near its ranks is faster than data that is dealt out over all controllers, on 48 cores",
            on: On::Scc,
            check: |rows| worst_share(rows, [CACHED[0], UNCACHED[0]], [CACHED[1], UNCACHED[1]], 1.0),
        },
        Claim {
            text: "every doubling of the cores is a speed-up, in all kinds of memory",
            on: On::VirtualTime,
            check: |rows| {
                let names = CACHED.into_iter().chain(UNCACHED).chain(["combined-local", "combined-random"]);
                let steps = names.map(|name| least_step(rows, name)).collect::<Result<Vec<_>, _>>()?;
                Ok(Finding::at_least(steps.into_iter().fold(f64::INFINITY, f64::min), 1.1, "times"))
            },
        },
        Claim {
            text: "uncached memory scales nearly as the number of cores: speed-up on 48 of one core",
            on: On::Scc,
            check: |rows| Ok(Finding::at_least(rows.median(UNCACHED[0], SPEED_UP, RANKS, BYTES)?, 24.0, "")),
        },
        Claim {
            text: "flushing ranges takes no longer than flushing everything, at any length and on any number of cores",
            on: On::Scc,
            check: |rows| Ok(Finding::at_most(most_of_whole(rows)?, 1.01, "of it")),
        },
        Claim {
            text: "on nodes of four cores, cached memory is faster than uncached memory (figures 12 and 13)",
            on: On::Scc,
            check: |rows| Finding::below(&on_nodes(rows, CACHED[1])?, &on_nodes(rows, UNCACHED[1])?),
        },
        Claim {
            text: "from two nodes on, with data on all that there are, it is faster with more nodes at every step",
            on: On::Scc,
            check: |rows| {
                let points = |name| Ok(on_nodes(rows, name)?.points().map(|(_, total)| total).collect::<Vec<_>>());
                let (cached, uncached) = (points(CACHED[1])?, points(UNCACHED[1])?);
                // On one node all data is near.
                let steps =
                    |totals: &[f64]| totals[1..].windows(2).map(|pair| pair[0] / pair[1]).fold(f64::MAX, f64::min);
                let grown = |totals: &[f64]| totals[1] / totals[totals.len() - 1];
                let least = steps(&cached).min(steps(&uncached));
                let (cached, uncached) = (grown(&cached), grown(&uncached));
                let measured =
                    format!("{least:.2} times at least; {cached:.1} times cached and {uncached:.1} uncached in all");
                Ok(Finding::new(measured, ">= 1.05 times", least >= 1.05))
            },
        },
        Claim {
            text: "share of the time in flushes on 48 cores",
            on: On::VirtualTime,
            check: |rows| {
                let share = |name| Ok(100.0 * rows.median(name, SHARE, RANKS, BYTES)?);
                let (whole, ranges) = (share(WHOLE[0])?, share(CACHED[0])?);
                Ok(Finding::reported(format!("{whole:.1} % everything, {ranges:.1} % ranges")))
            },
        },
        Claim {
            // A range costs as many reads as there are ways, for each of its lines, and at most what everything costs.
            text: "at the default input's length, where a rank's share fills much of its cache, on 48 cores",
            on: On::VirtualTime,
            check: |rows| {
                let time = |name| rows.median(name, TOTAL, RANKS, LONG_BYTES);
                let (whole, ranges) = (time(WHOLE[0])?, time(CACHED[0])?);
                Ok(Finding::reported(format!("{whole:.0} us everything, {ranges:.0} us ranges")))
            },
        },
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
    added.into_iter().for_each(|(key, value)| rows.add_known(key, value));
}

/// The totals of a transform on the paper's cluster, over nodes.
fn on_nodes<'r>(rows: &'r Rows, name: &str) -> Result<Line<'r>, Missing> {
    rows.line(&format!("{name}@cluster-fpga"), TOTAL)
}

/// The largest part that a transform with flushes of ranges takes of that with flushes of everything.
fn most_of_whole(rows: &Rows) -> Result<f64, Missing> {
    let mut most = Err(Missing);
    for (ranges, whole) in CACHED.into_iter().zip(WHOLE) {
        for found in rows.iter().filter(|row| row.key.name() == ranges && row.key.metric == TOTAL) {
            let (ranks, bytes) = (found.key.param, found.key.bytes);
            let share = found.quartiles.median / rows.median(whole, TOTAL, ranks, bytes)?;
            most = Ok(most.map_or(share, |most: f64| most.max(share)));
        }
    }
    most
}

/// The largest part that one transform takes of another one's time on all ranks, which must not be above a bound.
fn worst_share(rows: &Rows, names: [&str; 2], others: [&str; 2], most: f64) -> Result<Finding, Missing> {
    let share = |(name, other): (&str, &str)| {
        Ok(rows.median(name, TOTAL, RANKS, BYTES)? / rows.median(other, TOTAL, RANKS, BYTES)?)
    };
    let shares = names.into_iter().zip(others).map(share).collect::<Result<Vec<f64>, Missing>>()?;
    Ok(Finding::at_most(shares.into_iter().fold(0.0, f64::max), most, "of it"))
}

/// The least factor by which the speed-up grows from one number of ranks to the next.
fn least_step(rows: &Rows, name: &str) -> Result<f64, Missing> {
    let line = rows.line(name, SHORT)?;
    let points: Vec<_> = line.points().map(|(_, total)| total).collect();
    points.windows(2).map(|pair| pair[0] / pair[1]).min_by(f64::total_cmp).ok_or(Missing)
}

/// Runs on clusters, given as `NODESxRANKS` with the ranks of each node, on data that is dealt out over all nodes.
macro_rules! on_nodes {
    ($($machine:literal)*) => {
        &[$(
            fft(&[concat!("machine=cluster-fpga:", $machine), "memory=uncached", "placement=random", N, QUIET, FAST]),
            fft(&[
                concat!("machine=cluster-fpga:", $machine),
                "memory=cached",
                "flush=whole",
                "placement=random",
                N,
                QUIET,
                FAST
            ]),
        )*]
    };
}

/// Section VII, figures 12 and 13, by ranks of a node, too.
pub(crate) const FFT_NODES: Bench = Bench {
    name: "fft-nodes",
    about: "a Fourier transform over nodes and ranks of each, cached and not (barriers paper, figures 12 and 13)",
    runs: on_nodes!(
        "64x4" "64x2" "64x1" "32x4" "32x2" "32x1" "16x8" "16x4" "16x2" "16x1"
        "8x8" "8x4" "8x2" "8x1" "4x8" "4x4" "4x2" "4x1" "2x8" "2x4" "2x2" "2x1" "1x8" "1x4" "1x2" "1x1"
    ),
    ..Bench::PLAIN
};
