//! Figures of *High-Performance RMA-Based Broadcast on the Intel SCC* (OC-Bcast, Petrović, Shahmirzadi, Ropars and
//! Schiper). Its tables are in [`tables`].

use super::{broadcast::PEAK, published, tables};
use crate::{
    bench::{Evidence, Missing, Rows},
    figures::figure::{Axis, Content, Figure, Plot, Scale, Series},
};
use anyhow::Result;

/// Bytes of a line.
pub(crate) const LINE: u64 = 32;

/// Lines of the longest message of figures 6a and 8a: two chunks.
const SHORT: u64 = 192;

/// Lines of the longest message of figure 6b.
const SHORTEST: u64 = 32;

/// The degrees that the paper compares, as it names them.
pub(crate) const DEGREES: [(&str, &str); 3] = [("k = 2", "oc-k2"), ("k = 7", "oc-k7"), ("k = 47", "oc-k47")];

const BINOMIAL: (&str, &str) = ("binomial", "binomial");
pub(crate) const SCATTER_ALLGATHER: (&str, &str) = ("scatter-allgather", "scatter-allgather");
const DEFAULT: (&str, &str) = ("our default", "default");

pub(crate) const FIGURES: &[Figure] = &[
    Figure {
        id: "oc-bcast-fig-3",
        number: "Fig. 3",
        title: "Completion of puts and gets by distance and size",
        note: "Machine scc, rank 0 and one core at each distance; its memory controller is behind one router. \
               Formulas 7, 8, 11 and 12 with the parameters of Table 1, from which the simulator's prices are taken \
               as well: that both agree shows that the programs do what the formulas say. Of the measured points the \
               paper's text gives one number, 30 % between the least and the largest distance.",
        content: by_distance,
    },
    Figure {
        id: "oc-bcast-fig-4",
        number: "Fig. 4",
        title: "Cores that access one MPB at the same time",
        note: "Machine scc+contention, where the ports of MPBs have queues. Without contention the average grows as \
               well, since cores that come later are farther away. The paper draws its points and gives no numbers; \
               in words, up to 24 cores do not slow each other down, and of 48 the slowest takes more than twice \
               (gets) and more than four times (puts) as long as the fastest. What a port's service takes is fitted \
               on the 24 cores.",
        content: contention,
    },
    Figure {
        id: "oc-bcast-fig-6",
        number: "Fig. 6",
        title: "Latency of short messages by the model",
        note: "Formulas are the full ones of the protocols, with the paper's flags of a line each and all distances \
               one. Ours are runs on scc+flat, all ranks calling at once; their flags are packed, so that they poll \
               less, most of all with k = 47. The paper's formulas for notification and polling are in its full \
               version only; ours are derived from its description and give its Table 2.",
        content: analytical,
    },
    Figure {
        id: "oc-bcast-fig-8",
        number: "Fig. 8",
        title: "Broadcasts measured: latency of short messages, throughput of a sequence",
        note: "Machine scc+contention, root 0, 48 cores. Latencies are those of broadcasts that are apart, by the board's \
               clock, whose reading is part of them as it is of the paper's. Of its curves the paper's text gives the two \
               latencies of one line; the fidelity table says what ours consist of, and what is missing. For the \
               throughputs of long messages the paper says that they are very close to the analytical ones of Table 2, \
               which are the marks at 1 MiB, but for k = 47, whose mark is the 16 % less that it gives.",
        content: measured,
    },
    Figure {
        id: "oc-bcast-table-1",
        number: "Table 1",
        title: "Parameters of the model",
        note: "Ours are recovered from completion times of puts and gets as the paper has found its own, from slopes \
               over lines and distances. The simulator's prices are the published parameters, so this shows that \
               nothing is lost or added between prices and programs.",
        content: tables::parameters,
    },
    Figure {
        id: "oc-bcast-table-2",
        number: "Table 2",
        title: "Peak throughput of broadcasts",
        note: "Published and by our formulas is the analytical throughput, all distances one. Measured is the \
               largest throughput of sequences of messages of 48 chunks and more: with all distances one, with the \
               distances of the mesh, and with contention as well. Of scatter-allgather with distances one it is \
               that of a single message of 48 chunks, of which nothing overlaps with the next.",
        content: tables::peaks,
    },
];

const fn axis(label: &'static str, scale: Scale) -> Axis {
    Axis { label, scale }
}

fn latency_plot(title: &str, series: Vec<Series>) -> Plot {
    let x = axis("message (lines of 32 B)", Scale::Linear);
    Plot { title: title.into(), x, y: axis("latency (us)", Scale::Linear), series }
}

/// A metric of an algorithm over lengths, in lines; lengths of parts of lines are left out.
fn by_lines(rows: &Rows, algorithm: &str, metric: &str, most: u64) -> Result<Vec<(f64, f64)>, Missing> {
    let line = rows.line(algorithm, metric)?;
    let whole = line.by_bytes().filter(|(bytes, _)| *bytes > 0 && bytes % LINE == 0 && *bytes <= most * LINE);
    Ok(whole.map(|(bytes, value)| ((bytes / LINE) as f64, value)).collect())
}

/// Completion times of an operation by distance, for messages of `lines` lines.
fn completions(rows: &Rows, operation: &str, lines: u64) -> Result<Vec<(f64, f64)>, Missing> {
    let line = rows.line(operation, "completion")?;
    let of_size = line.rows().filter(|row| row.key.bytes == lines * LINE);
    let points: Vec<_> = of_size.map(|row| (row.key.param as f64, row.quartiles.median)).collect();
    if points.is_empty() { Err(Missing) } else { Ok(points) }
}

fn by_distance(evidence: &mut Evidence) -> Result<Content> {
    const DISTANCE: Axis = axis("distance (routers)", Scale::Linear);
    let rows = evidence.rows("mpb", "scc")?;
    let mut plots = Vec::new();
    for (title, operation) in [
        ("get, MPB to MPB", "get-to-mpb"),
        ("put, MPB to MPB", "put-from-mpb"),
        ("get, MPB to memory", "get-to-memory"),
        ("put, memory to MPB", "put-from-memory"),
    ] {
        let mut series = Vec::new();
        for lines in [1, 4, 8, 16] {
            let name = if lines == 1 { "1 line".to_owned() } else { format!("{lines} lines") };
            series.push(Series::ours(name.clone(), completions(rows, operation, lines)?));
            series.push(Series::model(name, completions(rows, &format!("model-{operation}"), lines)?));
        }
        let y = axis("completion (us)", Scale::Linear);
        plots.push(Plot { title: title.into(), x: DISTANCE, y, series });
    }

    let mut series = Vec::new();
    for lines in [1, 16, 128] {
        let points = completions(rows, "get-to-mpb", lines)?;
        let nearest = points.first().ok_or(Missing)?.1;
        let growth = points.into_iter().map(|(distance, time)| (distance, 100.0 * (time / nearest - 1.0)));
        series.push(Series::ours(if lines == 1 { "1 line".to_owned() } else { format!("{lines} lines") }, growth));
    }
    series.push(Series::published("any size", [(9.0, 30.0)]));
    let title = "get, MPB to MPB, against one router".into();
    plots.push(Plot { title, x: DISTANCE, y: axis("longer (%)", Scale::Linear), series });
    Ok(Content::Plots(plots))
}

fn contention(evidence: &mut Evidence) -> Result<Content> {
    let rows = evidence.rows("mpb", "scc")?;
    let mut plots = Vec::new();
    for (title, operation, lines) in [("gets of 128 lines", "get", 128), ("puts of 1 line", "put", 1)] {
        let line = rows.line(&format!("{operation}+contention"), "completion")?;
        let of_cores = || line.rows().filter(|row| row.key.bytes == lines * LINE);
        let slowest = of_cores().map(|row| (row.key.param as f64, row.quartiles.max));
        let fastest = of_cores().map(|row| (row.key.param as f64, row.quartiles.min));
        let average = |name: &str| -> Result<Vec<_>, Missing> {
            Ok(rows.line(name, "average")?.points().map(|(cores, time)| (cores as f64, time)).collect())
        };
        let series = vec![
            Series::ours("slowest core", slowest),
            Series::ours("average", average(&format!("{operation}+contention"))?),
            Series::ours("fastest core", fastest),
            Series::ours("average without contention", average(operation)?),
        ];
        let (x, y) = (axis("cores at the same time", Scale::Linear), axis("completion (us)", Scale::Linear));
        plots.push(Plot { title: title.into(), x, y, series });
    }
    Ok(Content::Plots(plots))
}

fn analytical(evidence: &mut Evidence) -> Result<Content> {
    let rows = evidence.rows("broadcast", "scc")?;
    let mut plots = Vec::new();
    for (title, most) in [("up to two chunks", SHORT), ("very short messages", SHORTEST)] {
        let mut series = Vec::new();
        for (name, algorithm) in DEGREES.into_iter().chain([BINOMIAL]) {
            series.push(Series::model(name, by_lines(rows, &format!("model-{algorithm}"), "latency", most)?));
            series.push(Series::ours(name, by_lines(rows, &format!("{algorithm}+flat"), "latency.together", most)?));
        }
        plots.push(latency_plot(title, series));
    }
    Ok(Content::Plots(plots))
}

fn measured(evidence: &mut Evidence) -> Result<Content> {
    let with_contention = |algorithm: &str| format!("{algorithm}+contention");

    let mut latency = Vec::new();
    let rows = evidence.rows("oc-bcast", "scc")?;
    for (name, algorithm) in DEGREES.into_iter().chain([BINOMIAL, DEFAULT]) {
        latency.push(Series::ours(name, by_lines(rows, &with_contention(algorithm), "latency.board", SHORT)?));
    }
    let rows = evidence.rows("broadcast", "scc")?;
    for (name, algorithm) in [DEGREES[1], BINOMIAL] {
        let published = by_lines(rows, &format!("published-{algorithm}"), "latency", SHORT)?;
        latency.push(Series::published(name, published));
    }

    let mut throughput = Vec::new();
    for (name, algorithm) in DEGREES.into_iter().chain([SCATTER_ALLGATHER, DEFAULT]) {
        let points = by_lines(rows, &with_contention(algorithm), "throughput.back-to-back", u64::MAX / LINE)?;
        throughput.push(Series::ours(name, points));
    }
    for (name, algorithm) in DEGREES.into_iter().chain([SCATTER_ALLGATHER]) {
        let peak = rows.line(&format!("published-{algorithm}"), PEAK)?.at_bytes(0)?;
        let measured = if algorithm == "oc-k47" { peak * (1.0 - published::LOST_BY_K47 / 100.0) } else { peak };
        throughput.push(Series::published(name, [(f64::from(1 << 15), measured)]));
    }
    let title = "throughput".into();
    let (x, y) = (axis("message (lines of 32 B)", Scale::Binary), axis("throughput (MB/s)", Scale::Linear));
    Ok(Content::Plots(vec![latency_plot("latency", latency), Plot { title, x, y, series: throughput }]))
}
