//! Truly one-sided communication: Lai and Panda, *Designing Truly One-Sided MPI-2 RMA Intra-node Communication on
//! Multi-core Systems*, sections 3 and 5.
//!
//! Its machines are Xeons and Opterons, so that only ratios compare: with its `Original` our class `message`, which is
//! built over packets as that over sends and receives; with its `T1S` our class `truly-one-sided`, whose origins copy by
//! themselves, as its kernel-assisted design does; with its I/OAT our copy engine.

use crate::{
    bench::Evidence,
    fidelity::{Band, Entry, NOT_PUBLISHED, Status},
};
use anyhow::Result;

/// The machine of all of it.
const SCC: &str = "scc";

/// The paper's design.
const NEW: &str = "truly-one-sided";

/// What it is compared with.
const ORIGINAL: &str = "message";

/// Messages alone, without windows.
const BY_HAND: &str = "two-sided";

/// Origins of figure 17: the host has 16 cores, of which one is the target.
const MOST_ORIGINS: u64 = 15;

/// Matrices of the last column of tables 1 to 3.
const LARGEST: u64 = 256;

pub(crate) const ENTRIES: &[Entry] = &[
    Entry {
        source: "Truly one-sided, 5.2, Fig. 17a",
        what: "synchronisation of a target with 1 to 15 origins: share of messages' time, at most, scc",
        unit: "",
        published: 0.5,
        band: Band::AtMost,
        status: Status::Predicted,
        ours: |evidence| most_of_synchronisation(evidence, ORIGINAL, "target"),
    },
    Entry {
        source: "Truly one-sided, 5.2",
        what: "the same of an origin with 1 to 15 targets, where the paper sees \"similar behavior\", scc",
        unit: "",
        published: 0.5,
        band: Band::None,
        status: Status::Reported(
            "similar is no number; here the targets' POSTs wait for each other at the origin's one register",
        ),
        ours: |evidence| most_of_synchronisation(evidence, ORIGINAL, "origin"),
    },
    Entry {
        source: "Truly one-sided, 5.2, Fig. 17a",
        what: "synchronisation of a target with 1 to 15 origins: share of sends' and receives' by hand, at most, scc",
        unit: "",
        published: NOT_PUBLISHED,
        band: Band::None,
        status: Status::Reported(
            "the paper's Original has windows over its messages; by hand, one byte each stands for POST and COMPLETE, and no \
             window is synchronised",
        ),
        ours: |evidence| most_of_synchronisation(evidence, BY_HAND, "target"),
    },
    Entry {
        source: "Truly one-sided, 5.1",
        what: "gets of 8 bytes: saved of messages' latency, scc",
        unit: "%",
        published: 39.0,
        band: Band::AtLeast,
        status: Status::Predicted,
        ours: |evidence| saved(evidence, "get.latency", 8),
    },
    Entry {
        source: "Truly one-sided, 5.1",
        what: "gets of 4 KB: saved of messages' latency, scc",
        unit: "%",
        published: 30.0,
        band: Band::AtLeast,
        status: Status::Predicted,
        ours: |evidence| saved(evidence, "get.latency", 4 << 10),
    },
    Entry {
        source: "Truly one-sided, 5.1",
        what: "gets of 1 MB: saved of messages' latency, scc",
        unit: "%",
        published: 0.0,
        band: Band::None,
        status: Status::Reported(
            "there both copy once, by the kernel; on the SCC messages go through MPBs, which is two copies more",
        ),
        ours: |evidence| saved(evidence, "get.latency", 1 << 20),
    },
    Entry {
        source: "Truly one-sided, Table 1",
        what: "what the origin of messages waits of the target's 256 x 256 multiplication, scc",
        unit: "%",
        // 194467 - 3404 of the 190663 that a target takes which communicates meanwhile (Table 3).
        published: 100.2,
        band: Band::Percent(15.0),
        status: Status::Predicted,
        ours: |evidence| waited(evidence, ORIGINAL),
    },
    Entry {
        source: "Truly one-sided, Table 1",
        what: "the same of sends and receives by hand, scc",
        unit: "%",
        published: 100.2,
        band: Band::Percent(15.0),
        status: Status::Predicted,
        ours: |evidence| waited(evidence, BY_HAND),
    },
    Entry {
        source: "Truly one-sided, Table 2",
        what: "growth of a one-sided origin's time by a target's 256 x 256 multiplication (the bound is ours), scc",
        unit: "%",
        // 3572 of 3365.
        published: 6.2,
        band: Band::Points(10.0),
        status: Status::Predicted,
        ours: |evidence| {
            let origin = evidence.rows("rma-skew", SCC)?.line(NEW, "origin")?;
            Ok(100.0 * (origin.at(LARGEST)? / origin.at(0)? - 1.0))
        },
    },
    Entry {
        source: "Truly one-sided, Table 3",
        what: "what the target hides of messages' time behind a 256 x 256 multiplication, scc",
        unit: "%",
        // 194461 - 190663 of 3400.
        published: 111.7,
        band: Band::None,
        status: Status::Reported(
            "it depends on how fast messages of 256 KB are: there they copy once, and here three times",
        ),
        ours: |evidence| {
            let rows = evidence.rows("rma-skew", SCC)?;
            let (original, new) = (rows.line(ORIGINAL, "target")?, rows.line(NEW, "target")?);
            Ok(100.0 * (original.at(LARGEST)? - new.at(LARGEST)?) / original.at(0)?)
        },
    },
    Entry {
        source: "Truly one-sided, 5.5, Fig. 19a",
        what: "overlap of an origin with a copy engine, puts of 64 KB to 1 MB, T_comp = 1.2 T_comm, least (the bound is ours), scc",
        unit: "%",
        published: 90.0,
        band: Band::Percent(15.0),
        status: Status::Predicted,
        ours: |evidence| least_overlap(evidence, "copy-engine", "origin.overlap", 64 << 10),
    },
    Entry {
        source: "Truly one-sided, 5.5, Fig. 19a",
        what: "overlap of an origin that copies by itself, puts of 64 KB to 1 MB, most (the bound is ours), scc",
        unit: "%",
        published: 0.0,
        band: Band::Points(5.0),
        status: Status::Predicted,
        ours: |evidence| most_overlap(evidence, NEW, "origin.overlap"),
    },
    Entry {
        source: "Truly one-sided, 5.5, Fig. 19a",
        what: "overlap of an origin over messages, puts of 64 KB to 1 MB, most (the bound is ours), scc",
        unit: "%",
        published: 0.0,
        band: Band::Points(5.0),
        status: Status::Predicted,
        ours: |evidence| most_overlap(evidence, ORIGINAL, "origin.overlap"),
    },
    Entry {
        source: "Truly one-sided, 5.5, Fig. 19c",
        what: "overlap of a target, \"almost full\", puts of 256 KB and 1 MB, least (the bound is ours), scc",
        unit: "%",
        published: 100.0,
        band: Band::Percent(15.0),
        status: Status::Predicted,
        ours: |evidence| least_overlap(evidence, NEW, "target.overlap", 256 << 10),
    },
    Entry {
        source: "Truly one-sided, 5.5, Fig. 19c",
        what: "overlap of a target over messages, puts of 64 KB to 1 MB, most (the bound is ours), scc",
        unit: "%",
        published: 0.0,
        band: Band::Points(5.0),
        status: Status::Predicted,
        ours: |evidence| most_overlap(evidence, ORIGINAL, "target.overlap"),
    },
    Entry {
        source: "Truly one-sided, 5.6, Fig. 20b",
        what: "a stencil on 32 ranks, as much for each: saved of the time over messages, scc",
        unit: "%",
        published: NOT_PUBLISHED,
        band: Band::None,
        status: Status::Reported(
            "the paper sees \"stable improvement\" and gives no number; its \"about 15%\" and \"around 10%\" are of figure 20a, \
             with cubes of some size, and it is another application, of which another share is communication",
        ),
        ours: |evidence| {
            let rows = evidence.rows("wave-sizes", SCC)?;
            let [new, original] = [NEW, ORIGINAL].map(|name| rows.line(name, "weak.step").and_then(|line| line.at(32)));
            Ok(100.0 * (1.0 - new? / original?))
        },
    },
];

/// The largest share that synchronising has of what it takes in another design, as far as the paper measures it.
fn most_of_synchronisation(evidence: &mut Evidence, other: &str, side: &str) -> Result<f64> {
    let rows = evidence.rows("rma-scaling", SCC)?;
    let (new, original) = (rows.line(NEW, side)?, rows.line(other, side)?);
    let mut most: f64 = 0.0;
    for row in new.rows().filter(|row| row.key.bytes == 0 && row.key.param <= MOST_ORIGINS) {
        most = most.max(row.quartiles.median / original.at(row.key.param)?);
    }
    Ok(most)
}

/// What is saved of the latency of one operation over the shortest distance, in percent.
fn saved(evidence: &mut Evidence, metric: &str, bytes: u64) -> Result<f64> {
    let rows = evidence.rows("rma-latency", SCC)?;
    let of = |algorithm| rows.median(algorithm, metric, 1, bytes);
    Ok(100.0 * (1.0 - of(NEW)? / of(ORIGINAL)?))
}

/// How much of the target's multiplication the origin waits for, in percent.
fn waited(evidence: &mut Evidence, algorithm: &str) -> Result<f64> {
    let rows = evidence.rows("rma-skew", SCC)?;
    let (origin, computation) = (rows.line(algorithm, "origin")?, rows.line(algorithm, "compute")?);
    Ok(100.0 * (origin.at(LARGEST)? - origin.at(0)?) / computation.at(LARGEST)?)
}

/// Overlaps in percent at T_comp = 1.2 T_comm, of puts of `bytes` bytes and more.
fn overlaps(evidence: &mut Evidence, algorithm: &str, metric: &str, bytes: u64) -> Result<Vec<f64>> {
    let line = evidence.rows("rma-overlap", SCC)?.line(algorithm, metric)?;
    let rows = line.rows().filter(|row| row.key.param == 120 && row.key.bytes >= bytes);
    let overlaps: Vec<_> = rows.map(|row| 100.0 * row.quartiles.median).collect();
    if overlaps.is_empty() { Err(crate::bench::Missing.into()) } else { Ok(overlaps) }
}

fn least_overlap(evidence: &mut Evidence, algorithm: &str, metric: &str, bytes: u64) -> Result<f64> {
    Ok(overlaps(evidence, algorithm, metric, bytes)?.into_iter().fold(f64::INFINITY, f64::min))
}

/// The overlap of puts of 64 KB and more that is farthest from none.
fn most_overlap(evidence: &mut Evidence, algorithm: &str, metric: &str) -> Result<f64> {
    Ok(overlaps(evidence, algorithm, metric, 64 << 10)?
        .into_iter()
        .fold(0.0, |most, one| if one.abs() > most.abs() { one } else { most }))
}
