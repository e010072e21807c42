//! What is claimed of broadcasts: by the paper, and by us of our own.
//!
//! What the paper says of the SCC and a machine without its software and its polls need not show is reported as it
//! comes out.

use std::fmt;

use super::{broadcast::PEAK, published};
use crate::bench::{Claim, Finding, Line, Missing, On, Rows};

/// What the default is compared with.
pub(crate) const OTHERS: [&str; 10] = [
    "oc-k2",
    "oc-k7",
    "oc-k47",
    "oc-k7+leaves",
    "oc-k7+tiles",
    "oc-k7+single",
    "binomial",
    "scatter-allgather",
    "scatter-allgather-overlapped",
    "scatter-allgather-one-sided",
];

/// The degrees whose numbers the paper has.
const OC_BCAST: [&str; 3] = ["oc-k2", "oc-k7", "oc-k47"];

/// The two-sided ones with slices.
const SCATTER_ALLGATHER: [&str; 2] = ["scatter-allgather", "scatter-allgather-overlapped"];

/// All of them.
pub(crate) const ALL: &[Claim] = &[
    Claim {
        text: "model: OC-Bcast's peaks are those of table 2",
        on: On::Scc,
        check: |rows| worst_peak(rows, &OC_BCAST, |name| format!("model-{name}"), 3.0),
    },
    Claim {
        text: "model: scatter-allgather's peak is that of table 2",
        on: On::Scc,
        check: |rows| worst_peak(rows, &["scatter-allgather"], |name| format!("model-{name}"), 3.0),
    },
    Claim {
        text: "distances 1, no contention: OC-Bcast takes what its full formulas say, at every length",
        on: On::Scc,
        check: |rows| Ok(Deviation::worst(rows, &OC_BCAST)?.within(3.0)),
    },
    Claim {
        text: "distances 1, no contention: so does the binomial tree",
        on: On::Scc,
        check: |rows| Ok(Deviation::worst(rows, &["binomial"])?.within(3.0)),
    },
    Claim {
        text: "distances 1, no contention: so do the scatter-allgathers of two-sided messages",
        on: On::Scc,
        check: |rows| Ok(Deviation::worst(rows, &SCATTER_ALLGATHER)?.within(3.0)),
    },
    Claim {
        text: "distances and contention: the peaks of k = 2 and 7 are those of table 2",
        on: On::Scc,
        check: |rows| worst_peak(rows, &["oc-k2", "oc-k7"], |name| format!("{name}+contention"), 10.0),
    },
    Claim {
        text: "what distance and then contention take from the peaks of k = 2, 7 and 47 (paper: both together 16 % for k = 47)",
        on: On::Scc,
        check: losses,
    },
    Claim {
        text: "distances and contention: k = 7 has the paper's ratio of peaks to scatter-allgather",
        on: On::Scc,
        check: |rows| {
            let ratio = peak(rows, "oc-k7+contention")? / peak(rows, "scatter-allgather+contention")?;
            Ok(Finding::within_percent(ratio, published::PEAK_RATIO, 10.0, "times"))
        },
    },
    Claim {
        text: "distances and contention: peak of k = 7 to that of scatter-allgather where put and get of a round overlap",
        on: On::Scc,
        check: |rows| {
            let ratio = peak(rows, "oc-k7+contention")? / peak(rows, "scatter-allgather-overlapped+contention")?;
            Ok(Finding::reported(format!("{ratio:.3} times")))
        },
    },
    Claim {
        text: "default: k = 7 takes at least 2.5 times as long up to 28 bytes",
        on: On::Scc,
        check: |rows| Ok(Finding::at_least(least_speedup(rows, "")?, 2.5, "times")),
    },
    Claim {
        text: "default, with contention: k = 7 takes at least 2.5 times as long up to 28 bytes",
        on: On::Scc,
        check: |rows| Ok(Finding::at_least(least_speedup(rows, "+contention")?, 2.5, "times")),
    },
    Claim {
        text: "default: at least 1.3 times the peak of k = 7",
        on: On::Scc,
        check: |rows| Ok(Finding::at_least(peak(rows, "default")? / peak(rows, "oc-k7")?, 1.3, "times")),
    },
    Claim {
        text: "default, with contention: at least 1.3 times the peak of k = 7",
        on: On::Scc,
        check: |rows| {
            let ratio = peak(rows, "default+contention")? / peak(rows, "oc-k7+contention")?;
            Ok(Finding::at_least(ratio, 1.3, "times"))
        },
    },
    Claim {
        text: "default: 90 % of the bound of reading lines from an MPB one router away and writing them to memory",
        on: On::Scc,
        check: |rows| Ok(Finding::at_least(100.0 * peak(rows, "default")? / peak(rows, "bound-near")?, 90.0, "%")),
    },
    Claim {
        text: "default, with contention: 90 % of the same bound",
        on: On::Scc,
        check: |rows| {
            let share = peak(rows, "default+contention")? / peak(rows, "bound-near")?;
            Ok(Finding::at_least(100.0 * share, 90.0, "%"))
        },
    },
    Claim {
        text: "default: not slower than any other algorithm at any length from 1 B to 1 MiB",
        on: On::Scc,
        check: |rows| slowest_against_others(rows, ""),
    },
    Claim {
        text: "default, with contention: not slower than any other algorithm at any length from 1 B to 1 MiB",
        on: On::Scc,
        check: |rows| slowest_against_others(rows, "+contention"),
    },
    Claim {
        text: "k = 7, one line: a notification tree of degree 2 is not slower than one of degree 3, or none",
        on: On::Scc,
        check: |rows| {
            let (text, least) = notification(rows, "oc-k7", ["notify3", "notify7"])?;
            // Polls that just miss a flag make a difference of this size by themselves.
            Ok(Finding::new(text, ">= -1 %", least >= -1.0))
        },
    },
    Claim {
        text: "k = 47, one line: the same (paper: degree 2 is best)",
        on: On::Scc,
        check: |rows| Ok(Finding::reported(notification(rows, "oc-k47", ["notify3", "notify47"])?.0)),
    },
    Claim {
        // Of equal room: chunks of one buffer are twice as long, so that there are half as many.
        text: "k = 7: what two buffers of 96 lines add to one of 192 (paper: double buffering turns 2nδ into nδ)",
        on: On::Scc,
        check: |rows| {
            let latency = |name: &str| line(rows, name, "latency")?.at_bytes(192 * 32);
            let latency = 100.0 * (latency("oc-k7")? / latency("oc-k7+single")? - 1.0);
            let peak = 100.0 * (peak(rows, "oc-k7")? / peak(rows, "oc-k7+single")? - 1.0);
            Ok(Finding::reported(format!("192 lines {latency:+.1} %, peak {peak:+.1} %")))
        },
    },
    Claim {
        text: "k = 2, 7 and 47: the throughput of a sequence drops from 96 to 97 lines",
        on: On::Scc,
        check: |rows| {
            let mut most: f64 = 0.0;
            for name in OC_BCAST {
                let line = line(rows, &format!("{name}+contention"), "throughput.back-to-back")?;
                most = most.max(line.at_bytes(97 * 32)? / line.at_bytes(96 * 32)?);
            }
            Ok(Finding::at_most(most, 0.9, "of it"))
        },
    },
    Claim {
        text: "from 97 to 192 lines k = 7 takes less than k = 2 (paper: around 25 %)",
        on: On::Scc,
        check: |rows| gap(rows, "oc-k7", "oc-k2", 97 * 32),
    },
    Claim {
        text: "up to 192 lines k = 47 takes as long as k = 7 (paper: almost)",
        on: On::Scc,
        check: |rows| gap(rows, "oc-k47", "oc-k7", 32),
    },
    Claim {
        text: "one line: k = 7 takes less than the binomial tree (paper: 27 %)",
        on: On::Scc,
        check: |rows| {
            let latency = |name: &str| line(rows, name, "latency")?.at_bytes(32);
            let share = latency("oc-k7+contention")? / latency("binomial+contention")?;
            Ok(Finding::reported(format!("{:.1} % less", 100.0 * (1.0 - share))))
        },
    },
    Claim {
        text: "other roots: what the middle and the opposite corner change (paper: similar results)",
        on: On::Scc,
        check: |rows| Ok(Finding::reported(format!("{}, {}", by_root(rows, "oc-k7")?, by_root(rows, "default")?))),
    },
    Claim { text: "gains of what the paper leaves out of k = 7: 96 lines and peak", on: On::Scc, check: gains },
];

/// A line of the SCC's 48 ranks, which all claims are about.
fn line<'r>(rows: &'r Rows, name: &str, metric: &str) -> Result<Line<'r>, Missing> {
    rows.line_of(published::RANKS, name, metric)
}

fn peak(rows: &Rows, name: &str) -> Result<f64, Missing> {
    line(rows, name, PEAK)?.at_bytes(0)
}

/// The peak that deviates most from the published one of its algorithm, under other names.
fn worst_peak(rows: &Rows, of: &[&str], named: fn(&str) -> String, percent: f64) -> Result<Finding, Missing> {
    let published = |name: &str| published::PEAKS.iter().find(|(other, _)| *other == name).ok_or(Missing);
    let mut worst: Option<(f64, f64, f64)> = None;
    for name in of {
        let (measured, expected) = (peak(rows, &named(name))?, published(name)?.1);
        let deviation = (measured / expected - 1.0).abs();
        if worst.is_none_or(|(most, ..)| deviation > most) {
            worst = Some((deviation, measured, expected));
        }
    }
    worst.map(|(_, measured, expected)| Finding::within_percent(measured, expected, percent, "MB/s")).ok_or(Missing)
}

/// How far a latency is from the model's.
struct Deviation {
    percent: f64,
    algorithm: &'static str,
    bytes: u64,
}

impl Deviation {
    /// The largest one of these algorithms, at any length.
    fn worst(rows: &Rows, of: &[&'static str]) -> Result<Self, Missing> {
        const METRIC: &str = "latency.together";
        let mut all = Vec::new();
        for algorithm in of {
            let modelled = line(rows, &format!("model-signals-{algorithm}"), METRIC)?;
            let measured = line(rows, &format!("{algorithm}+flat"), METRIC)?;
            for (bytes, latency) in measured.by_bytes() {
                all.push(Self { percent: 100.0 * (latency / modelled.at_bytes(bytes)? - 1.0), algorithm, bytes });
            }
        }
        all.into_iter().max_by(|one, other| one.percent.abs().total_cmp(&other.percent.abs())).ok_or(Missing)
    }

    fn within(&self, percent: f64) -> Finding {
        let holds = self.percent.abs() <= percent;
        Finding::new(self.to_string(), format!("+- {percent} %"), holds)
    }
}

impl fmt::Display for Deviation {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{:+.2} % ({}, {} B)", self.percent, self.algorithm, self.bytes)
    }
}

/// What distances take from the peaks on a flat machine, and contention from what is left.
fn losses(rows: &Rows) -> Result<Finding, Missing> {
    let mut parts = Vec::new();
    for name in OC_BCAST {
        let [flat, far, contended] =
            [format!("{name}+flat"), name.into(), format!("{name}+contention")].map(|name: String| peak(rows, &name));
        let loss = |before: f64, after: f64| 100.0 * (1.0 - after / before);
        let (flat, far, contended) = (flat?, far?, contended?);
        parts.push(format!("{:.1} % and {:.1} %", loss(flat, far), loss(far, contended)));
    }
    Ok(Finding::reported(parts.join(", ")))
}

/// How many times as long k = 7 takes as the default, where that is least up to 28 bytes.
fn least_speedup(rows: &Rows, variant: &str) -> Result<f64, Missing> {
    let latency = |name: &str| line(rows, &format!("{name}{variant}"), "latency");
    let (ours, theirs) = (latency("default")?, latency("oc-k7")?);
    let short = ours.by_bytes().filter(|(bytes, _)| (1..=28).contains(bytes));
    let speedups = short.map(|(bytes, latency)| Ok(theirs.at_bytes(bytes)? / latency));
    speedups.collect::<Result<Vec<_>, _>>()?.into_iter().reduce(f64::min).ok_or(Missing)
}

/// How much more the default takes than the fastest other algorithm, where that is most.
fn slowest_against_others(rows: &Rows, variant: &str) -> Result<Finding, Missing> {
    const MOST: f64 = 3.0;
    let ours = line(rows, &format!("default{variant}"), "latency")?;
    let mut worst: Option<(f64, String)> = None;
    for name in OTHERS {
        // Not all run with contention.
        let Ok(theirs) = line(rows, &format!("{name}{variant}"), "latency") else { continue };
        for (bytes, latency) in ours.by_bytes() {
            let Ok(other) = theirs.at_bytes(bytes) else { continue };
            let excess = 100.0 * (latency / other - 1.0);
            if worst.as_ref().is_none_or(|(most, _)| excess > *most) {
                worst = Some((excess, format!("{excess:+.1} % ({name}, {bytes} B)")));
            }
        }
    }
    let (excess, measured) = worst.ok_or(Missing)?;
    Ok(Finding::new(measured, format!("<= {MOST} %"), excess <= MOST))
}

/// What higher notification degrees add to the latency of one line, in words, and the least of it in percent.
fn notification(rows: &Rows, base: &str, degrees: [&str; 2]) -> Result<(String, f64), Missing> {
    let latency = |name: &str| line(rows, name, "latency")?.at_bytes(32);
    let added = |degree| Ok(100.0 * (latency(&format!("{base}+{degree}"))? / latency(base)? - 1.0));
    let [one, other] = degrees.map(added);
    let (one, other) = (one?, other?);
    Ok((format!("{} {one:+.1} %, {} {other:+.1} %", degrees[0], degrees[1]), one.min(other)))
}

/// How much less one algorithm takes than another, with contention, from `least` bytes to 192 lines.
fn gap(rows: &Rows, name: &str, other: &str, least: u64) -> Result<Finding, Missing> {
    let latency = |name: &str| line(rows, &format!("{name}+contention"), "latency");
    let (ours, other) = (latency(name)?, latency(other)?);
    let wanted = ours.by_bytes().filter(|(bytes, _)| (least..=192 * 32).contains(bytes));
    let gaps: Vec<f64> = wanted
        .map(|(bytes, latency)| Ok(100.0 * (1.0 - latency / other.at_bytes(bytes)?)))
        .collect::<Result<_, _>>()?;
    let (least, most) = (gaps.iter().copied().reduce(f64::min), gaps.iter().copied().reduce(f64::max));
    let (least, most) = least.zip(most).ok_or(Missing)?;
    Ok(Finding::reported(format!("{least:.1} to {most:.1} % less")))
}

/// The least and the most that the latencies of other roots than rank 0 are longer.
fn by_root(rows: &Rows, name: &str) -> Result<String, Missing> {
    let line = line(rows, name, "latency")?;
    let others = line.rows().filter(|row| row.key.param > 0);
    let changes = others.map(|row| Ok(100.0 * (row.quartiles.median / line.at_bytes(row.key.bytes)? - 1.0)));
    let changes = changes.collect::<Result<Vec<f64>, _>>()?;
    let (least, most) = (changes.iter().copied().reduce(f64::min), changes.iter().copied().reduce(f64::max));
    let (least, most) = least.zip(most).ok_or(Missing)?;
    Ok(format!("{name} {least:+.1} to {most:+.1} %"))
}

/// What each option of k = 7 takes from the latency of a chunk, and adds to the peak.
fn gains(rows: &Rows) -> Result<Finding, Missing> {
    let latency = |name: &str| -> Result<f64, Missing> { line(rows, name, "latency")?.at_bytes(96 * 32) };
    let of = |option: &str| -> Result<String, Missing> {
        let name = format!("oc-k7+{option}");
        let latency = 100.0 * (latency(&name)? / latency("oc-k7")? - 1.0);
        let peak = 100.0 * (peak(rows, &name)? / peak(rows, "oc-k7")? - 1.0);
        Ok(format!("{option} {latency:+.1} %, {peak:+.1} %"))
    };
    Ok(Finding::reported(["leaves", "tiles"].map(of).into_iter().collect::<Result<Vec<_>, _>>()?.join("; ")))
}
