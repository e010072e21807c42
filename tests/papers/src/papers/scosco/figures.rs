//! The paper's figures, and its table.

use super::published::{MOST_TARGETS, TARGET_SIDE, TARGET_SIDE_OF_MESSAGES, TARGETS};
use crate::{
    bench::{Evidence, Missing, PAPERS_MACHINE, Row, Rows},
    figures::{
        curves,
        figure::{Content, Figure, Plot, Series, figure, linear},
        numbers::number,
    },
};
use anyhow::Result;

pub(crate) const FIGURES: &[Figure] = &[
    figure("scosco-fig-4", "Fig. 4", "Scaling of the four calls of an epoch, at the targets and at the origin")
        .of("pscw", calls)
        .note(
            "One origin and k targets, medians of all epochs and, at the targets, of all targets. The paper draws \
             its curves and gives no numbers of them; in words, START and POST are nearly constant, COMPLETE and \
             WAIT linear. Our START takes no time: it keeps the group and calls nothing else, where the paper's \
             has the overhead of an MPI library.",
        ),
    figure("scosco-fig-5", "Fig. 5", "Both sides of an epoch, SCOSCo against messages").by(sides).note(
        "A side is the sum of the medians of its two calls. The paper's text gives two of its numbers, both of \
         the targets at k = 13. On the machine scc a message costs what the hardware takes, and MPICH's \
         software is missing; on scc-calibrated what a message-based library spends on a packet is fitted to \
         the published 115.2 us, so that this point is no prediction.",
    ),
    figure("scosco-table-1", "Table I", "Classes of synchronisation").of("pscw-late", classes).note(
        "The paper's three classes with its words, and what the calls take that its words are about: one \
         origin puts 1 KB to one target. Where the target is late, it posts 53300 cycles (100 us) after the \
         origin's START, and the origin computes 200 us between START and PUT. What of the waiting overlaps \
         with that is seen in the last column: a class whose START waits takes longer by as much. Cores of the \
         SCC copy by themselves, so that the copy itself overlaps with nothing in any class. Below are the \
         classes that the paper does not have.",
    ),
];

/// A metric of a class over the paper's numbers of targets.
fn curve(rows: &Rows, name: &str, class: &str, metric: &str) -> Result<Series, Missing> {
    let targets = |row: &Row| (row.key.param <= MOST_TARGETS).then_some(row.key.param as f64);
    Ok(Series::ours(name, curves::curve(rows, class, metric, targets)?))
}

fn plot(title: &str, series: Vec<Series>) -> Plot {
    curves::plot(title, [linear("targets"), linear("run time (us)")], series)
}

fn calls(rows: &Rows) -> Result<Content, Missing> {
    let of = |calls: [&str; 2]| -> Result<Vec<Series>, Missing> {
        calls.into_iter().map(|call| curve(rows, &call.to_uppercase(), "scosco", call)).collect()
    };
    Ok(Content::Plots(vec![plot("target", of(["post", "wait"])?), plot("origin", of(["start", "complete"])?)]))
}

fn sides(evidence: &mut Evidence) -> Result<Content> {
    const SCOSCO: &str = "SCOSCo";
    const CALIBRATED: &str = "messages, scc-calibrated";
    let mut plots = Vec::new();
    for side in ["target", "origin"] {
        let rows = evidence.rows("pscw", PAPERS_MACHINE)?;
        let mut series = vec![curve(rows, SCOSCO, "scosco", side)?, curve(rows, "messages, scc", "message", side)?];
        let default = curve(rows, "our default class", "default", side)?;
        series.push(curve(evidence.rows("pscw", "scc-calibrated+ideal")?, CALIBRATED, "message", side)?);
        series.push(default);
        if side == "target" {
            series.push(Series::published(SCOSCO, [(TARGETS as f64, TARGET_SIDE)]));
            series.push(Series::published(CALIBRATED, [(TARGETS as f64, TARGET_SIDE_OF_MESSAGES)]));
        }
        plots.push(plot(side, series));
    }
    Ok(Content::Plots(plots))
}

/// What the paper says of a class: its epoch start, its communication, its overlap.
const CLASSES: [(&str, [&str; 3]); 6] = [
    ("deferred", ["non-blocking", "delayed to epoch's end", "no"]),
    ("immediate", ["blocking", "prompt", "yes"]),
    ("scosco", ["non-blocking", "prompt", "yes"]),
    ("message", ["", "", ""]),
    ("truly-one-sided", ["", "", ""]),
    ("default", ["", "", ""]),
];

fn classes(rows: &Rows) -> Result<Content, Missing> {
    let mut table = Vec::new();
    for (class, words) in CLASSES {
        // Whose target was not late has the parameter 0.
        let time = |call: &str, is_late: bool| {
            let line = rows.line(class, call)?;
            line.points().find(|(cycles, _)| (*cycles > 0) == is_late).map(|(_, time)| number(time)).ok_or(Missing)
        };
        let [start, communication, overlap] = words.map(str::to_owned);
        let name = if class == "scosco" { "trigger-only (scosco)" } else { class };
        table.push(vec![
            name.to_owned(),
            start,
            time("start", true)?,
            communication,
            time("put", false)?,
            time("complete", false)?,
            overlap,
            time("epoch", true)?,
        ]);
    }
    let header = [
        "class",
        "epoch start (paper)",
        "START, target late (us)",
        "communication (paper)",
        "PUT, target there (us)",
        "COMPLETE, target there (us)",
        "overlap (paper)",
        "whole epoch, target late (us)",
    ];
    Ok(Content::table(header, table))
}
