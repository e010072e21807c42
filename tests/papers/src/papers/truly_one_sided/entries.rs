//! What the paper has measured: sections 3 and 5.
//!
//! Its machines are Xeons and Opterons, so that only ratios compare: with its `Original` our class `message`, which is
//! built over packets as that over sends and receives; with its `T1S` our class `truly-one-sided`, whose origins copy by
//! themselves, as its kernel-assisted design does; with its I/OAT our copy engine.

use super::transfers::{LARGEST, overlaps, waited};
use crate::{
    bench::{Missing, Rows, excess, extremes},
    fidelity::{
        Band::{AtLeast, AtMost, Percent, Points},
        Entry, NOT_PUBLISHED, entry,
    },
};

/// The paper's design.
const NEW: &str = "truly-one-sided";

/// What it is compared with.
const ORIGINAL: &str = "message";

/// Messages alone, without windows.
const BY_HAND: &str = "two-sided";

/// Origins of figure 17: the host has 16 cores, of which one is the target.
const MOST_ORIGINS: u64 = 15;

const FIG_17A: &str = "Truly one-sided, 5.2, Fig. 17a";
const LATENCY: &str = "Truly one-sided, 5.1";
const FIG_19A: &str = "Truly one-sided, 5.5, Fig. 19a";
const FIG_19C: &str = "Truly one-sided, 5.5, Fig. 19c";

pub(crate) const ENTRIES: &[Entry] = &[
    entry(FIG_17A, "", "rma-scaling")
        .what("synchronisation of a target with 1 to 15 origins: share of messages' time, at most, scc")
        .predicted(0.5, AtMost, |rows| most_of_synchronisation(rows, ORIGINAL, "target")),
    entry("Truly one-sided, 5.2", "", "rma-scaling")
        .what("the same of an origin with 1 to 15 targets, where the paper sees \"similar behavior\", scc")
        .reported(
        0.5,
        "similar is no number; here the targets' POSTs wait for each other at the origin's one register",
        |rows| most_of_synchronisation(rows, ORIGINAL, "origin"),
    ),
    entry(FIG_17A, "", "rma-scaling")
        .what("synchronisation of a target with 1 to 15 origins: share of sends' and receives' by hand, at most, scc")
        .reported(
        NOT_PUBLISHED,
        "the paper's Original has windows over its messages; by hand, one byte each stands for POST and COMPLETE, and no \
         window is synchronised",
        |rows| most_of_synchronisation(rows, BY_HAND, "target"),
    ),
    entry(LATENCY, "%", "rma-latency")
        .what("gets of 8 bytes: saved of messages' latency, scc")
        .predicted(39.0, AtLeast, |rows| saved(rows, 8)),
    entry(LATENCY, "%", "rma-latency")
        .what("gets of 4 KB: saved of messages' latency, scc")
        .predicted(30.0, AtLeast, |rows| saved(rows, 4 << 10)),
    entry(LATENCY, "%", "rma-latency")
        .what("gets of 1 MB: saved of messages' latency, scc")
        .reported(
        0.0,
        "there both copy once, by the kernel; on the SCC messages go through MPBs, which is two copies more",
        |rows| saved(rows, 1 << 20),
    ),
    // 194467 - 3404 of the 190663 that a target takes which communicates meanwhile (Table 3).
    entry("Truly one-sided, Table 1", "%", "rma-skew")
        .what("what the origin of messages waits of the target's 256 x 256 multiplication, scc")
        .predicted(100.2, Percent(15.0), |rows| Ok(100.0 * waited(rows, ORIGINAL)?)),
    entry("Truly one-sided, Table 1", "%", "rma-skew")
        .what("the same of sends and receives by hand, scc")
        .predicted(100.2, Percent(15.0), |rows| Ok(100.0 * waited(rows, BY_HAND)?)),
    // 3572 of 3365.
    entry("Truly one-sided, Table 2", "%", "rma-skew")
        .what("growth of a one-sided origin's time by a target's 256 x 256 multiplication (the bound is ours), scc")
        .predicted(6.2, Points(10.0), |rows| {
        let origin = rows.line(NEW, "origin")?;
        Ok(excess(origin.at(LARGEST)?, origin.at(0)?))
    }),
    // 194461 - 190663 of 3400.
    entry("Truly one-sided, Table 3", "%", "rma-skew")
        .what("what the target hides of messages' time behind a 256 x 256 multiplication, scc")
        .reported(
        111.7,
        "it depends on how fast messages of 256 KB are: there they copy once, and here three times",
        |rows| {
            let (original, new) = (rows.line(ORIGINAL, "target")?, rows.line(NEW, "target")?);
            Ok(100.0 * (original.at(LARGEST)? - new.at(LARGEST)?) / original.at(0)?)
        },
    ),
    entry(FIG_19A, "%", "rma-overlap")
        .what(
            "overlap of an origin with a copy engine, puts of 64 KB to 1 MB, T_comp = 1.2 T_comm, least (the bound \
             is ours), scc",
        )
        .predicted(90.0, Percent(15.0), |rows| least_overlap(rows, "copy-engine", "origin.overlap", 64 << 10)),
    entry(FIG_19A, "%", "rma-overlap")
        .what("overlap of an origin that copies by itself, puts of 64 KB to 1 MB, most (the bound is ours), scc")
        .predicted(0.0, Points(5.0), |rows| most_overlap(rows, NEW, "origin.overlap")),
    entry(FIG_19A, "%", "rma-overlap")
        .what("overlap of an origin over messages, puts of 64 KB to 1 MB, most (the bound is ours), scc")
        .predicted(0.0, Points(5.0), |rows| most_overlap(rows, ORIGINAL, "origin.overlap")),
    entry(FIG_19C, "%", "rma-overlap")
        .what("overlap of a target, \"almost full\", puts of 256 KB and 1 MB, least (the bound is ours), scc")
        .predicted(100.0, Percent(15.0), |rows| least_overlap(rows, NEW, "target.overlap", 256 << 10)),
    entry(FIG_19C, "%", "rma-overlap")
        .what("overlap of a target over messages, puts of 64 KB to 1 MB, most (the bound is ours), scc")
        .predicted(0.0, Points(5.0), |rows| most_overlap(rows, ORIGINAL, "target.overlap")),
    entry("Truly one-sided, 5.6, Fig. 20b", "%", "wave-sizes")
        .what("a stencil on 32 ranks, as much for each: saved of the time over messages, scc")
        .reported(
        NOT_PUBLISHED,
        "the paper sees \"stable improvement\" and gives no number; its \"about 15%\" and \"around 10%\" are of figure 20a, \
         with cubes of some size, and it is another application, of which another share is communication",
        |rows| {
            let [new, original] = [NEW, ORIGINAL].map(|name| rows.line(name, "weak.step").and_then(|line| line.at(32)));
            Ok(100.0 * (1.0 - new? / original?))
        },
    ),
];

/// The largest share that synchronising has of what it takes in another design, as far as the paper measures it.
fn most_of_synchronisation(rows: &Rows, other: &str, side: &str) -> Result<f64, Missing> {
    let (new, original) = (rows.line(NEW, side)?, rows.line(other, side)?);
    let empty = new.rows().filter(|row| row.key.bytes == 0 && row.key.param <= MOST_ORIGINS);
    let shares = empty.map(|row| Ok(row.quartiles.median / original.at(row.key.param)?));
    Ok(extremes(shares.collect::<Result<Vec<_>, Missing>>()?)?.1)
}

/// What is saved of the latency of one get over the shortest distance, in percent.
fn saved(rows: &Rows, bytes: u64) -> Result<f64, Missing> {
    let of = |algorithm| rows.median(algorithm, "get.latency", 1, bytes);
    Ok(100.0 * (1.0 - of(NEW)? / of(ORIGINAL)?))
}

/// The least overlap of puts of `bytes` bytes and more, in percent.
fn least_overlap(rows: &Rows, algorithm: &str, metric: &str, bytes: u64) -> Result<f64, Missing> {
    Ok(100.0 * extremes(overlaps(rows, algorithm, metric, bytes)?)?.0)
}

/// The overlap of puts of 64 KB and more that is farthest from none, in percent.
fn most_overlap(rows: &Rows, algorithm: &str, metric: &str) -> Result<f64, Missing> {
    let (least, most) = extremes(overlaps(rows, algorithm, metric, 64 << 10)?)?;
    Ok(100.0 * if most.abs() >= least.abs() { most } else { least })
}
