//! SCOSCo: Christgau and Schnor, *Synchronization of MPI One-Sided Communication on a Non-Cache-Coherent Many-Core
//! System*, section V.
//!
//! Its two times are of 13 targets; of all else figures 4 and 5 show curves whose course the text states. Where it says
//! "nearly constant" or "linear" and gives no number, the bound is ours.

use super::published::{MOST_TARGETS, TARGET_SIDE, TARGET_SIDE_OF_MESSAGES, TARGETS};
use crate::{
    bench::{Evidence, Fit, Line},
    fidelity::{Band, Entry, Status},
};
use anyhow::{Context, Result};

/// The class of windows with the paper's protocol.
const SCOSCO: &str = "scosco";

/// The one over messages.
const MESSAGE: &str = "message";

/// With costs of the hardware alone.
const SCC: &str = "scc";

/// With the software of messages besides.
const CALIBRATED: &str = "scc-calibrated";

pub(crate) const ENTRIES: &[Entry] = &[
    Entry {
        source: "SCOSCo, V.C, Fig. 5",
        what: "target's side of an epoch with 13 targets, scc",
        unit: "us",
        published: TARGET_SIDE,
        band: Band::Percent(15.0),
        status: Status::Predicted,
        ours: |evidence| at(evidence, SCC, SCOSCO, "target", TARGETS),
    },
    Entry {
        source: "SCOSCo, V.C, Fig. 5",
        what: "the same over messages, scc-calibrated",
        unit: "us",
        published: TARGET_SIDE_OF_MESSAGES,
        band: Band::Percent(5.0),
        status: Status::Fitted,
        ours: |evidence| at(evidence, CALIBRATED, MESSAGE, "target", TARGETS),
    },
    Entry {
        source: "SCOSCo, V.C",
        what: "messages against SCOSCo, target's side, least of 1 to 31 targets but 13, scc-calibrated",
        unit: "x",
        published: 4.0,
        band: Band::AtLeast,
        status: Status::Predicted,
        ours: |evidence| least_ratio(evidence, "target"),
    },
    Entry {
        source: "SCOSCo, V.C",
        what: "messages against SCOSCo, origin's side, least of 1 to 31 targets but 13, scc-calibrated",
        unit: "x",
        published: 4.0,
        band: Band::AtLeast,
        status: Status::Predicted,
        ours: |evidence| least_ratio(evidence, "origin"),
    },
    Entry {
        source: "SCOSCo, V.C, Fig. 5",
        what: "messages against SCOSCo, target's side, 13 targets, without software's costs, scc",
        unit: "x",
        published: TARGET_SIDE_OF_MESSAGES / TARGET_SIDE,
        band: Band::None,
        status: Status::Reported("MPICH's software is most of the published time, and scc has hardware's costs alone"),
        ours: |evidence| {
            let [message, scosco] = [MESSAGE, SCOSCO].map(|class| at(evidence, SCC, class, "target", TARGETS));
            Ok(message? / scosco?)
        },
    },
    Entry {
        source: "SCOSCo, V.B, Fig. 4",
        what: "COMPLETE over 1 to 31 targets: R2 of a straight line (the bound is ours), scc",
        unit: "",
        published: 0.99,
        band: Band::AtLeast,
        status: Status::Predicted,
        ours: |evidence| determination(evidence, "complete"),
    },
    Entry {
        source: "SCOSCo, V.B, Fig. 4",
        what: "WAIT over 1 to 31 targets: R2 of a straight line (the bound is ours), scc",
        unit: "",
        published: 0.99,
        band: Band::AtLeast,
        status: Status::Predicted,
        ours: |evidence| determination(evidence, "wait"),
    },
    Entry {
        source: "SCOSCo, V.B, Fig. 4",
        what: "POST with 31 targets against POST with one: nearly constant (the bound is ours), scc",
        unit: "x",
        published: 1.0,
        band: Band::Percent(15.0),
        status: Status::Predicted,
        ours: |evidence| {
            let [many, one] = [MOST_TARGETS, 1].map(|targets| at(evidence, SCC, SCOSCO, "post", targets));
            Ok(many? / one?)
        },
    },
    Entry {
        source: "SCOSCo, V.B, Fig. 4",
        what: "START with 31 targets: how much more than with one: nearly constant (the bound is ours), scc",
        unit: "us",
        published: 0.1,
        band: Band::AtMost,
        status: Status::Predicted,
        ours: |evidence| {
            let [many, one] = [MOST_TARGETS, 1].map(|targets| at(evidence, SCC, SCOSCO, "start", targets));
            Ok(many? - one?)
        },
    },
    Entry {
        source: "SCOSCo, V.A",
        what: "first and third quartile of COMPLETE: farthest from the median, 1 to 31 targets, scc",
        unit: "%",
        published: 5.0,
        band: Band::None,
        status: Status::Reported(
            "ours begins each loop at other skews, and has none of the jitter of an operating system",
        ),
        ours: |evidence| spread(evidence, "complete"),
    },
    Entry {
        source: "SCOSCo, V.A",
        what: "the same of WAIT, scc",
        unit: "%",
        published: 10.0,
        band: Band::None,
        status: Status::Reported(
            "ours begins each loop at other skews, and has none of the jitter of an operating system",
        ),
        ours: |evidence| spread(evidence, "wait"),
    },
];

/// The median of a call or side with so many targets.
fn at(evidence: &mut Evidence, machine: &str, class: &str, metric: &str, targets: u64) -> Result<f64> {
    Ok(evidence.rows("pscw", machine)?.line(class, metric)?.at(targets)?)
}

/// Targets and medians, as far as the paper has them.
fn points(line: &Line<'_>) -> Vec<(f64, f64)> {
    line.points()
        .filter(|(targets, _)| *targets <= MOST_TARGETS)
        .map(|(targets, time)| (targets as f64, time))
        .collect()
}

/// How straight a call's growth is.
fn determination(evidence: &mut Evidence, metric: &str) -> Result<f64> {
    let line = evidence.rows("pscw", SCC)?.line(SCOSCO, metric)?;
    Ok(Fit::linear(points(&line)).context("there are too few numbers of targets")?.r_squared)
}

/// The least ratio of messages to SCOSCo on one side, over all numbers of targets but the one that messages are fitted
/// on.
fn least_ratio(evidence: &mut Evidence, side: &str) -> Result<f64> {
    let rows = evidence.rows("pscw", CALIBRATED)?;
    let (message, scosco) = (rows.line(MESSAGE, side)?, rows.line(SCOSCO, side)?);
    let mut least = f64::INFINITY;
    for (targets, time) in message.points().filter(|(targets, _)| *targets <= MOST_TARGETS && *targets != TARGETS) {
        least = least.min(time / scosco.at(targets)?);
    }
    Ok(least)
}

/// How far, in percent of the median, the first or third quartile of a call is from it at most.
fn spread(evidence: &mut Evidence, metric: &str) -> Result<f64> {
    let line = evidence.rows("pscw", SCC)?.line(SCOSCO, metric)?;
    let spreads = line.rows().filter(|row| row.key.param <= MOST_TARGETS).map(|row| {
        let [_, q1, median, q3, _] = row.quartiles.all();
        100.0 * (median - q1).max(q3 - median) / median
    });
    Ok(spreads.fold(0.0, f64::max))
}
