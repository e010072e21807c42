//! The paper's figures. Its tables are in [`tables`].

use super::{
    measured::{BY_BOARD_CLOCK, LINE, MANY, PEAK, SEQUENCE},
    published::{FARTHER, LOST_BY_K47},
    tables::{self, DEGREES, SCATTER_ALLGATHER},
};
use crate::{
    bench::{Evidence, Missing, PAPERS_MACHINE, Row, Rows, excess},
    figures::{
        curves::{LATENCY, curve, plot},
        figure::{Axis, Content, Figure, Scale, Series, figure, linear},
    },
};
use anyhow::Result;

/// Lines of the longest message of figures 6a and 8a: two chunks.
const SHORT: u64 = 192;

/// Lines of the longest message of figure 6b.
const SHORTEST: u64 = 32;

const BINOMIAL: (&str, &str) = ("binomial", "binomial");
const DEFAULT: (&str, &str) = ("our default", "default");

pub(crate) const FIGURES: &[Figure] = &[
    figure("oc-bcast-fig-3", "Fig. 3", "Completion of puts and gets by distance and size")
        .of("mpb", by_distance)
        .note(
            "Machine scc, rank 0 and one core at each distance; its memory controller is behind one router. \
             Formulas 7, 8, 11 and 12 with the parameters of Table 1, from which the simulator's prices are taken \
             as well: that both agree shows that the programs do what the formulas say. Of the measured points the \
             paper's text gives one number, 30 % between the least and the largest distance.",
        ),
    figure("oc-bcast-fig-4", "Fig. 4", "Cores that access one MPB at the same time")
        .of("mpb", contention)
        .note(
            "Machine scc+contention, where the ports of MPBs have queues. Without contention the average grows as \
             well, since cores that come later are farther away. The paper draws its points and gives no numbers; \
             in words, up to 24 cores do not slow each other down, and of 48 the slowest takes more than twice \
             (gets) and more than four times (puts) as long as the fastest. What a port's service takes is fitted \
             on the 24 cores.",
        ),
    figure("oc-bcast-fig-6", "Fig. 6", "Latency of short messages by the model")
        .of("broadcast", analytical)
        .note(
            "Formulas are the full ones of the protocols, with the paper's flags of a line each and all distances \
             one. Ours are runs on scc+flat, all ranks calling at once; their flags are packed, so that they poll \
             less, most of all with k = 47. The paper's formulas for notification and polling are in its full \
             version only; ours are derived from its description and give its Table 2.",
        ),
    figure("oc-bcast-fig-8", "Fig. 8", "Broadcasts measured: latency of short messages, throughput of a sequence")
        .by(measured)
        .note(
            "Machine scc+contention, root 0, 48 cores. Latencies are those of broadcasts that are apart, by the board's \
             clock, whose reading is part of them as it is of the paper's. Of its curves the paper's text gives the two \
             latencies of one line; the fidelity table says what ours consist of, and what is missing. For the \
             throughputs of long messages the paper says that they are very close to the analytical ones of Table 2, \
             which are the marks at 1 MiB, but for k = 47, whose mark is the 16 % less that it gives.",
        ),
    figure("oc-bcast-table-1", "Table 1", "Parameters of the model")
        .of("mpb", tables::parameters)
        .note(
            "Ours are recovered from completion times of puts and gets as the paper has found its own, from slopes \
             over lines and distances. The simulator's prices are the published parameters, so this shows that \
             nothing is lost or added between prices and programs.",
        ),
    figure("oc-bcast-table-2", "Table 2", "Peak throughput of broadcasts")
        .of("broadcast", tables::peaks)
        .note(
            "Published and by our formulas is the analytical throughput, all distances one. Measured is the \
             largest throughput of sequences of messages of 48 chunks and more: with all distances one, with the \
             distances of the mesh, and with contention as well. Of scatter-allgather with distances one it is \
             that of a single message of 48 chunks, of which nothing overlaps with the next.",
        ),
];

const LINES: &str = "message (lines of 32 B)";

/// A metric of an algorithm over lengths, in lines; lengths of parts of lines are left out.
fn by_lines(rows: &Rows, algorithm: &str, metric: &str, most: u64) -> Result<Vec<(f64, f64)>, Missing> {
    let is_in = |bytes: u64| bytes > 0 && bytes.is_multiple_of(LINE) && bytes <= most * LINE;
    let x = |row: &Row| (row.key.param == 0 && is_in(row.key.bytes)).then_some((row.key.bytes / LINE) as f64);
    curve(rows, algorithm, metric, x)
}

/// A metric of an operation over what was varied, for messages of `lines` lines.
fn of_lines(rows: &Rows, operation: &str, metric: &str, lines: u64) -> Result<Vec<(f64, f64)>, Missing> {
    curve(rows, operation, metric, |row| (row.key.bytes == lines * LINE).then_some(row.key.param as f64))
}

fn size(lines: u64) -> String {
    if lines == 1 { "1 line".into() } else { format!("{lines} lines") }
}

fn by_distance(rows: &Rows) -> Result<Content, Missing> {
    const DISTANCE: Axis = linear("distance (routers)");
    let mut plots = Vec::new();
    for (title, operation) in [
        ("get, MPB to MPB", "get-to-mpb"),
        ("put, MPB to MPB", "put-from-mpb"),
        ("get, MPB to memory", "get-to-memory"),
        ("put, memory to MPB", "put-from-memory"),
    ] {
        let mut series = Vec::new();
        for lines in [1, 4, 8, 16] {
            series.push(Series::ours(size(lines), of_lines(rows, operation, "completion", lines)?));
            let modelled = of_lines(rows, &format!("model-{operation}"), "completion", lines)?;
            series.push(Series::model(size(lines), modelled));
        }
        plots.push(plot(title, [DISTANCE, linear("completion (us)")], series));
    }
    let mut series = Vec::new();
    for lines in [1, 16, MANY] {
        let points = of_lines(rows, "get-to-mpb", "completion", lines)?;
        let nearest = points.first().ok_or(Missing)?.1;
        series.push(Series::ours(size(lines), points.into_iter().map(|(x, time)| (x, excess(time, nearest)))));
    }
    series.push(Series::published("any size", [(9.0, FARTHER)]));
    plots.push(plot("get, MPB to MPB, against one router", [DISTANCE, linear("longer (%)")], series));
    Ok(Content::Plots(plots))
}

fn contention(rows: &Rows) -> Result<Content, Missing> {
    let mut plots = Vec::new();
    for (title, operation, lines) in [("gets of 128 lines", "get", MANY), ("puts of 1 line", "put", 1)] {
        let contended = format!("{operation}+contention");
        let line = rows.line(&contended, "completion")?;
        let of_cores = || line.rows().filter(|row| row.key.bytes == lines * LINE);
        let slowest = of_cores().map(|row| (row.key.param as f64, row.quartiles.max));
        let fastest = of_cores().map(|row| (row.key.param as f64, row.quartiles.min));
        let series = vec![
            Series::ours("slowest core", slowest),
            Series::ours("average", of_lines(rows, &contended, "average", lines)?),
            Series::ours("fastest core", fastest),
            Series::ours("average without contention", of_lines(rows, operation, "average", lines)?),
        ];
        plots.push(plot(title, [linear("cores at the same time"), linear("completion (us)")], series));
    }
    Ok(Content::Plots(plots))
}

fn analytical(rows: &Rows) -> Result<Content, Missing> {
    let mut plots = Vec::new();
    for (title, most) in [("up to two chunks", SHORT), ("very short messages", SHORTEST)] {
        let mut series = Vec::new();
        for (name, algorithm) in DEGREES.into_iter().chain([BINOMIAL]) {
            series.push(Series::model(name, by_lines(rows, &format!("model-{algorithm}"), "latency", most)?));
            series.push(Series::ours(name, by_lines(rows, &format!("{algorithm}+flat"), "latency.together", most)?));
        }
        plots.push(plot(title, [linear(LINES), LATENCY], series));
    }
    Ok(Content::Plots(plots))
}

fn measured(evidence: &mut Evidence) -> Result<Content> {
    let mut latency = Vec::new();
    let rows = evidence.rows("oc-bcast", PAPERS_MACHINE)?;
    for (name, algorithm) in DEGREES.into_iter().chain([BINOMIAL, DEFAULT]) {
        latency.push(Series::ours(name, by_lines(rows, &format!("{algorithm}+contention"), BY_BOARD_CLOCK, SHORT)?));
    }
    let rows = evidence.rows("broadcast", PAPERS_MACHINE)?;
    for (name, algorithm) in [DEGREES[1], BINOMIAL] {
        latency.push(Series::published(name, by_lines(rows, &format!("published-{algorithm}"), "latency", SHORT)?));
    }
    let mut throughput = Vec::new();
    for (name, algorithm) in DEGREES.into_iter().chain([SCATTER_ALLGATHER, DEFAULT]) {
        let points = by_lines(rows, &format!("{algorithm}+contention"), SEQUENCE, u64::MAX / LINE)?;
        throughput.push(Series::ours(name, points));
    }
    for (name, algorithm) in DEGREES.into_iter().chain([SCATTER_ALLGATHER]) {
        let peak = rows.line(&format!("published-{algorithm}"), PEAK)?.at_bytes(0)?;
        let measured = if algorithm == "oc-k47" { peak * (1.0 - LOST_BY_K47 / 100.0) } else { peak };
        throughput.push(Series::published(name, [(f64::from(1 << 15), measured)]));
    }
    let lengths = Axis { label: LINES, scale: Scale::Binary };
    Ok(Content::Plots(vec![
        plot("latency", [linear(LINES), LATENCY], latency),
        plot("throughput", [lengths, linear("throughput (MB/s)")], throughput),
    ]))
}
