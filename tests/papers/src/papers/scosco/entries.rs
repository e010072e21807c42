//! What the paper has measured (section V).
//!
//! Its two times are of 13 targets; of all else figures 4 and 5 show curves whose course the text states. Where it says
//! "nearly constant" or "linear" and gives no number, the bound is ours.

use super::published::{MOST_TARGETS, TARGET_SIDE, TARGET_SIDE_OF_MESSAGES, TARGETS};
use crate::{
    bench::{Fit, Line, Missing, Rows, extremes},
    fidelity::{
        Band::{AtLeast, AtMost, Percent},
        Entry, entry,
    },
};

/// The class of windows with the paper's protocol.
const SCOSCO: &str = "scosco";

/// The one over messages.
const MESSAGE: &str = "message";

/// The machine with the software of messages besides the costs of the hardware.
const CALIBRATED: &str = "scc-calibrated+ideal";

const FIG_4: &str = "SCOSCo, V.B, Fig. 4";
const FIG_5: &str = "SCOSCo, V.C, Fig. 5";

const NO_JITTER: &str = "ours begins each loop at other skews, and has none of the jitter of an operating system";

pub(crate) const ENTRIES: &[Entry] =
    &[
        of_epochs(FIG_5, "target's side of an epoch with 13 targets, scc", "us").predicted(
            TARGET_SIDE,
            Percent(15.0),
            |rows| at(rows, SCOSCO, "target", TARGETS),
        ),
        of_epochs(FIG_5, "the same with the instructions of ours, scc, everything priced", "us").predicted(
            TARGET_SIDE,
            Percent(15.0),
            |rows| at(rows, "scosco@scc-priced", "target", TARGETS),
        ),
        of_epochs(FIG_5, "the same over messages, scc-calibrated", "us").on(CALIBRATED).fitted(
            TARGET_SIDE_OF_MESSAGES,
            Percent(5.0),
            |rows| at(rows, MESSAGE, "target", TARGETS),
        ),
        of_epochs(
            "SCOSCo, V.C",
            "messages against SCOSCo, target's side, least of 1 to 31 targets but 13, scc-calibrated",
            "x",
        )
        .on(CALIBRATED)
        .predicted(4.0, AtLeast, |rows| least_ratio(rows, "target")),
        of_epochs(
            "SCOSCo, V.C",
            "messages against SCOSCo, origin's side, least of 1 to 31 targets but 13, scc-calibrated",
            "x",
        )
        .on(CALIBRATED)
        .predicted(4.0, AtLeast, |rows| least_ratio(rows, "origin")),
        of_epochs(FIG_5, "messages against SCOSCo, target's side, 13 targets, without software's costs, scc", "x")
            .reported(
                TARGET_SIDE_OF_MESSAGES / TARGET_SIDE,
                "MPICH's software is most of the published time, and scc has hardware's costs alone",
                |rows| Ok(at(rows, MESSAGE, "target", TARGETS)? / at(rows, SCOSCO, "target", TARGETS)?),
            ),
        of_epochs(FIG_4, "COMPLETE over 1 to 31 targets: R2 of a straight line (the bound is ours), scc", "")
            .predicted(0.99, AtLeast, |rows| determination(rows, "complete")),
        of_epochs(FIG_4, "WAIT over 1 to 31 targets: R2 of a straight line (the bound is ours), scc", "").predicted(
            0.99,
            AtLeast,
            |rows| determination(rows, "wait"),
        ),
        of_epochs(FIG_4, "POST with 31 targets against POST with one: nearly constant (the bound is ours), scc", "x")
            .predicted(1.0, Percent(15.0), |rows| {
                Ok(at(rows, SCOSCO, "post", MOST_TARGETS)? / at(rows, SCOSCO, "post", 1)?)
            }),
        of_epochs(
            FIG_4,
            "START with 31 targets: how much more than with one: nearly constant (the bound is ours), scc",
            "us",
        )
        .predicted(0.1, AtMost, |rows| Ok(at(rows, SCOSCO, "start", MOST_TARGETS)? - at(rows, SCOSCO, "start", 1)?)),
        of_epochs(
            "SCOSCo, V.A",
            "first and third quartile of COMPLETE: farthest from the median, 1 to 31 targets, scc",
            "%",
        )
        .reported(5.0, NO_JITTER, |rows| spread(rows, "complete")),
        of_epochs("SCOSCo, V.A", "the same of WAIT, scc", "%").reported(10.0, NO_JITTER, |rows| spread(rows, "wait")),
    ];

const fn of_epochs(source: &'static str, what: &'static str, unit: &'static str) -> Entry {
    entry(source, unit, "pscw").what(what)
}

/// The median of a call or side with `targets` targets.
fn at(rows: &Rows, class: &str, metric: &str, targets: u64) -> Result<f64, Missing> {
    rows.line(class, metric)?.at(targets)
}

/// Targets and medians, as far as the paper has them.
fn points(line: &Line<'_>) -> Vec<(f64, f64)> {
    line.points()
        .filter(|(targets, _)| *targets <= MOST_TARGETS)
        .map(|(targets, time)| (targets as f64, time))
        .collect()
}

/// How straight a call's growth is.
fn determination(rows: &Rows, metric: &str) -> Result<f64, Missing> {
    Ok(Fit::linear(points(&rows.line(SCOSCO, metric)?)).ok_or(Missing)?.r_squared)
}

/// The least ratio of messages to SCOSCo on one side, over all numbers of targets but the one that messages are fitted
/// on.
fn least_ratio(rows: &Rows, side: &str) -> Result<f64, Missing> {
    let (message, scosco) = (rows.line(MESSAGE, side)?, rows.line(SCOSCO, side)?);
    let others = message.points().filter(|(targets, _)| *targets <= MOST_TARGETS && *targets != TARGETS);
    let ratios = others.map(|(targets, time)| Ok(time / scosco.at(targets)?));
    Ok(extremes(ratios.collect::<Result<Vec<_>, Missing>>()?)?.0)
}

/// How far, in percent of the median, the first or third quartile of a call is from it at most.
fn spread(rows: &Rows, metric: &str) -> Result<f64, Missing> {
    let line = rows.line(SCOSCO, metric)?;
    let spreads = line.rows().filter(|row| row.key.param <= MOST_TARGETS).map(|row| {
        let [_, q1, median, q3, _] = row.quartiles.all();
        100.0 * (median - q1).max(q3 - median) / median
    });
    Ok(extremes(spreads)?.1)
}
