//! The paper's figures and tables that have a counterpart here.
//!
//! Figures 11 to 16 repeat 4 to 10 on two other processors, and 1 to 3 are drawings. The plots have no numbers in the
//! text, which names ratios only; the three tables have.

use crate::{
    bench::{Evidence, Line, Missing, PAPERS_MACHINE, Row, Rows},
    figures::{
        curves::{BANDWIDTH, LATENCY, SIZE, curve, plot, sum_of_curves},
        figure::{Axis, Content, Figure, Plot, Scale, Series, figure, linear},
    },
};
use anyhow::Result;

/// All of them.
pub(crate) const FIGURES: &[Figure] = &[
    figure("one-sided-fig-4", "Fig. 4", "Latency of get, intra-socket: here half-way across a row")
        .of("rma-latency", |rows| latencies(rows, "get", ROW))
        .note(DISTANCES),
    figure("one-sided-fig-5", "Fig. 5", "Latency of put, intra-socket: here half-way across a row")
        .of("rma-latency", |rows| latencies(rows, "put", ROW))
        .note(DISTANCES),
    figure("one-sided-fig-6", "Fig. 6", "Bandwidth, intra-socket: here half-way across a row")
        .of("rma-bandwidth", |rows| bandwidths(rows, ROW))
        .note(DISTANCES),
    figure("one-sided-fig-7", "Fig. 7", "Latency of get, inter-socket: here to the far corner")
        .of("rma-latency", |rows| latencies(rows, "get", CORNER))
        .note(DISTANCES),
    figure("one-sided-fig-8", "Fig. 8", "Bandwidth, inter-socket: here to the far corner")
        .of("rma-bandwidth", |rows| bandwidths(rows, CORNER))
        .note(DISTANCES),
    figure("one-sided-fig-9", "Fig. 9", "Latency of get, shared cache: here one tile")
        .of("rma-latency", |rows| latencies(rows, "get", TILE))
        .note(DISTANCES),
    figure("one-sided-fig-10", "Fig. 10", "Bandwidth, shared cache: here one tile")
        .of("rma-bandwidth", |rows| bandwidths(rows, TILE))
        .note(DISTANCES),
    figure("one-sided-fig-17", "Fig. 17", "Scalability: synchronisation overhead and aggregated bandwidth")
        .by(scalability)
        .note(
            "(a): the paper finds \"about 50 %\" of its Original's time on 16 cores; the thin line is half of ours, \
             `message`. (b): on the machine scc many origins are as fast as if each were alone; the curve of \
             `+contention` has the queues in which accesses meet. The paper's bandwidth of messages falls with more origins, and that of its \
             own design rises to a peak.",
        ),
    figure("one-sided-fig-18", "Fig. 18", "Cache misses of 16 puts of 7 origins to one target, which then reads them")
        .of("rma-lines", lines)
        .note(
            "The paper samples misses of a shared L2 cache. Here, without any sampling, the lines of 32 B that all eight \
             ranks move: fetched into caches and written back from them, and of MPBs and of shared memory besides. Puts \
             have 128 KB at most, 1 MB in the paper.",
        ),
    figure("one-sided-fig-19", "Fig. 19", "Computation and communication overlap ratio of 16 puts")
        .of("rma-overlap", overlaps)
        .note(
            "The copy engine, a core that copies for others, stands for I/OAT. The paper says \"close to 90 %\" of I/OAT \
             in (a) and \"almost full\" of both its designs in (c).",
        ),
    figure("one-sided-fig-20", "Fig. 20", "An application: AWM-Olsen, here a 3-D wave")
        .of("wave-sizes", application)
        .note(
            "Ours is a simpler stencil on smaller cubes: (a) on 32 ranks by cells along a side, (b) with 16 x 16 x 16 \
             cells for each rank (128 x 128 x 128 in the paper). The paper gains about 15 % on medium cubes by its kernel \
             module and 10 % on large ones by I/OAT.",
        ),
    figure(
        "one-sided-table-1",
        "Table 1",
        "Execution time (us) of 16 puts of 256 KB with increasing process skew: designs on messages",
    )
        .of("rma-skew", existing_designs)
        .note(SKEW),
    figure("one-sided-table-2", "Table 2", "Put time (us) with increasing process skew, at the origin")
        .of("rma-skew", |rows| skewed(rows, "origin", &TABLE_2))
        .note(SKEW),
    figure("one-sided-table-3", "Table 3", "Put time (us) with increasing process skew, at the target")
        .of("rma-skew", |rows| skewed(rows, "target", &TABLE_3))
        .note(SKEW),
];

const DISTANCES: &str = "The paper's pairs of cores share a socket, a cache, or a board of Xeon processors; on a mesh \
    they share a tile, a row, or nothing. `message` is windows over messages, as the paper's Original, `two-sided` \
    the messages alone, which need no window that is written back and invalidated, and `truly-one-sided` the paper's \
    design on this hardware. The text has ratios only: of get's latency more than 39 % saved in small messages and 30 % in \
    medium ones, none in large ones, which the fidelity table compares.";

const SKEW: &str = "The target multiplies matrices between post and wait. The paper's cores are Xeons of 2.33 GHz and \
    copy some 1200 MB/s; ours are P54C of 533 MHz. What is to be compared is whether a row grows. I/OAT has no row of \
    ours.";

/// Routers between two ranks of one tile, of one row half-way to the far corner, and of opposite corners.
const TILE: u64 = 1;
const ROW: u64 = 5;
const CORNER: u64 = 9;

/// What is compared: our default, the paper's design, SCOSCo's, windows over messages as before the paper, and messages
/// alone.
const COMPARED: [&str; 5] = ["default", "truly-one-sided", "scosco", "message", "two-sided"];

/// A curve for each of what is compared.
fn compared(of: impl Fn(&str) -> Result<Vec<(f64, f64)>, Missing>) -> Result<Vec<Series>, Missing> {
    COMPARED.into_iter().map(|name| Ok(Series::ours(name, of(name)?))).collect()
}

fn by_bytes(row: &Row) -> f64 {
    row.key.bytes as f64
}

fn by_param(row: &Row) -> f64 {
    row.key.param as f64
}

/// Small, medium and large messages.
fn latencies(rows: &Rows, operation: &str, routers: u64) -> Result<Content, Missing> {
    let parts = [("(a) small", 1..=512), ("(b) medium", 1 << 10..=16 << 10), ("(c) large", 32 << 10..=1 << 20)];
    let metric = format!("{operation}.latency");
    let plots = parts.into_iter().map(|(title, sizes)| {
        let is_in = |row: &Row| row.key.param == routers && sizes.contains(&row.key.bytes);
        let series = compared(|name| curve(rows, name, &metric, |row| is_in(row).then(|| by_bytes(row))))?;
        Ok(plot(title, [SIZE, LATENCY], series))
    });
    Ok(Content::Plots(plots.collect::<Result<_, Missing>>()?))
}

/// Get and put, with what reading and writing lines takes as the limit of both.
fn bandwidths(rows: &Rows, routers: u64) -> Result<Content, Missing> {
    let plots = [("(a) get", "get"), ("(b) put", "put")].map(|(title, operation)| {
        let metric = format!("{operation}.throughput");
        let of = |name: &str| curve(rows, name, &metric, |row| (row.key.param == routers).then(|| by_bytes(row)));
        let mut series = compared(of)?;
        let most = rows.line("lines", &metric)?.at(routers)?;
        let ends = series.first().map(|series| [series.points.first(), series.points.last()]).ok_or(Missing)?;
        let limit = ends.into_iter().flatten().map(|(bytes, _)| (*bytes, most));
        series.push(Series::model("one call for all lines", limit));
        Ok(plot(title, [SIZE, BANDWIDTH], series))
    });
    Ok(Content::Plots(plots.into_iter().collect::<Result<_, Missing>>()?))
}

/// Epochs without data, then puts of two sizes, the smaller ones once more where they wait for each other.
fn scalability(evidence: &mut Evidence) -> Result<Content> {
    const SMALL: u64 = 64 << 10;
    const LARGE: u64 = 512 << 10;
    let rows = evidence.rows("rma-scaling", PAPERS_MACHINE)?;
    let mut plots = vec![synchronisation(rows)?];
    for (title, bytes) in [("(b, L) put, 64 KB", SMALL), ("(b, R) put, 512 KB", LARGE)] {
        let series = compared(|name| crowd(rows, name, bytes))?;
        plots.push(plot(title, [ORIGINS, BANDWIDTH], series));
    }
    let rows = evidence.rows("rma-contention", PAPERS_MACHINE)?;
    plots[1].series.push(Series::ours(CONTENDED, crowd(rows, CONTENDED, SMALL)?));
    Ok(Content::Plots(plots))
}

const ORIGINS: Axis = linear("origin processes");

/// Origins that meet at the memory of the target.
const CONTENDED: &str = "default+contention";

fn synchronisation(rows: &Rows) -> Result<Plot, Missing> {
    let empty = |name: &str| curve(rows, name, "target", |row| (row.key.bytes == 0).then(|| by_param(row)));
    let mut series = compared(empty)?;
    let half = empty("message")?.into_iter().map(|(origins, time)| (origins, time / 2.0));
    series.push(Series::model("half of message", half));
    Ok(plot("(a) synchronisation overhead", [ORIGINS, LATENCY], series))
}

/// The throughput of puts of many origins.
fn crowd(rows: &Rows, name: &str, bytes: u64) -> Result<Vec<(f64, f64)>, Missing> {
    curve(rows, name, "put.throughput", |row| (row.key.bytes == bytes).then(|| by_param(row)))
}

/// Lines that caches move, and all lines.
fn lines(rows: &Rows) -> Result<Content, Missing> {
    const LINES: Axis = Axis { label: "lines of 32 B", scale: Scale::Decimal };
    const SHARE: Axis = linear("lines moved for a line put");
    /// 16 of each of seven origins.
    const PUTS: f64 = 7.0 * 16.0;
    const LINE_BYTES: f64 = 32.0;
    const CACHES: [&str; 2] = ["lines_fetched", "lines_written_back"];
    const ALL: [&str; 6] = [
        "lines_fetched",
        "lines_written_back",
        "combined_lines_read",
        "combined_lines_written",
        "mpb_lines_read",
        "mpb_lines_written",
    ];
    let plot_of = |title: &str, metrics: &[&str]| -> Result<Plot, Missing> {
        let mut series = compared(|name| sum_of_curves(rows, name, metrics, |row| Some(by_bytes(row))))?;
        // Messages go past the caches, and nothing is no power of ten.
        series.iter_mut().for_each(|series| series.points.retain(|(_, lines)| *lines > 0.0));
        series.retain(|series| !series.points.is_empty());
        Ok(plot(title, [SIZE, LINES], series))
    };
    let caches = plot_of("fetched into caches and written back", &CACHES)?;
    let all = plot_of("all, of MPBs and memory too", &ALL)?;
    let shares = all.series.iter().map(|Series { name, points, .. }| {
        let share = |(bytes, lines): &(f64, f64)| (*bytes, lines / (PUTS * bytes / LINE_BYTES));
        Series::ours(name, points.iter().map(share))
    });
    let shares = plot("all, for each line of data", [SIZE, SHARE], shares.collect());
    Ok(Content::Plots(vec![caches, all, shares]))
}

/// Overlap of the origin by size and by computation, and of the target.
fn overlaps(rows: &Rows) -> Result<Content, Missing> {
    const OVERLAP: Axis = linear("overlap (fraction)");
    const COMPUTATION: Axis = linear("T_comp / T_comm");
    /// Hundredths of the communication that the computation takes where sizes vary.
    const PERCENT: u64 = 120;
    const LARGEST: u64 = 1 << 20;
    /// The paper's I/OAT in (a).
    const IOAT: [(f64, f64); 1] = [(LARGEST as f64, 0.9)];
    let by_size = |metric: &'static str| {
        let x = |row: &Row| (row.key.param == PERCENT).then(|| by_bytes(row));
        with_engine(move |name| curve(rows, name, metric, x))
    };
    let by_computation = |row: &Row| (row.key.bytes == LARGEST).then(|| by_param(row) / 100.0);
    let mut sizes = by_size("origin.overlap")?;
    sizes.push(Series::published(ENGINE, IOAT));
    let computation = with_engine(|name| curve(rows, name, "origin.overlap", by_computation))?;
    Ok(Content::Plots(vec![
        plot("(a) origin, T_comp = 1.2 T_comm", [SIZE, OVERLAP], sizes),
        plot("(b) origin, 1 MB", [COMPUTATION, OVERLAP], computation),
        plot("(c) target, T_comp = 1.2 T_comm", [SIZE, OVERLAP], by_size("target.overlap")?),
    ]))
}

/// Our I/OAT.
const ENGINE: &str = "copy-engine";

/// A curve for each of what is compared, and for the copy engine.
fn with_engine(of: impl Fn(&str) -> Result<Vec<(f64, f64)>, Missing>) -> Result<Vec<Series>, Missing> {
    let mut series = compared(&of)?;
    series.push(Series::ours(ENGINE, of(ENGINE)?));
    Ok(series)
}

/// Steps of the wave, by the size of the cube and by ranks.
fn application(rows: &Rows) -> Result<Content, Missing> {
    const STEP: Axis = linear("time of a step (us)");
    const CUBE: Axis = linear("cells along a side");
    const PROCESSES: Axis = linear("processes");
    /// Those that the application has.
    const VERSIONS: [&str; 4] = ["default", "truly-one-sided", "message", "two-sided"];
    let of = |metric: &str, x: fn(&Row) -> f64| {
        let series = VERSIONS.map(|name| Ok(Series::ours(name, curve(rows, name, metric, |row| Some(x(row)))?)));
        series.into_iter().collect::<Result<Vec<_>, Missing>>()
    };
    let mut sizes = of("step", by_bytes)?;
    // A row knows how much its ranks exchange, which grows with the cube.
    for series in &mut sizes {
        if series.points.len() != CUBES.len() {
            return Err(Missing);
        }
        series.points.iter_mut().zip(CUBES).for_each(|(point, side)| point.0 = side);
    }
    Ok(Content::Plots(vec![
        plot("(a) 32 ranks", [CUBE, STEP], sizes),
        plot("(b) weak scaling", [PROCESSES, STEP], of("weak.step", by_param)?),
    ]))
}

/// Cells along a side of the cubes of bench `wave-sizes`, ascending.
const CUBES: [f64; 5] = [16.0, 24.0, 32.0, 48.0, 64.0];

/// Sizes of the tables' matrices, and what the paper calls them.
const MATRICES: [(u64, &str); 5] =
    [(0, "0x0 (base)"), (32, "32x32"), (64, "64x64"), (128, "128x128"), (256, "256x256")];

/// A line of a table of the paper.
type Printed = (&'static str, [u32; MATRICES.len()]);

const TABLE_1: [Printed; 3] = [
    ("MVAPICH2", [3404, 3780, 6126, 27_023, 194_467]),
    ("MPICH2", [4615, 4675, 4815, 24_906, 192_848]),
    ("OpenMPI", [3804, 3898, 6563, 27_381, 194_560]),
];
const TABLE_2: [Printed; 3] = [
    ("MVAPICH2", [3404, 3780, 6126, 27_023, 194_467]),
    ("T1S-kernel", [3365, 3333, 3398, 3390, 3572]),
    ("T1S-i/oat", [2291, 2298, 2310, 2331, 2389]),
];
const TABLE_3: [Printed; 3] = [
    ("MVAPICH2", [3400, 3775, 6121, 27_018, 194_461]),
    ("T1S-kernel", [3369, 3236, 3401, 23_570, 190_663]),
    ("T1S-i/oat", [2294, 2288, 2696, 23_328, 190_740]),
];

/// What there was before: designs in which the target takes part.
fn existing_designs(rows: &Rows) -> Result<Content, Missing> {
    table(rows, &["two-sided", "message"], "origin", &TABLE_1)
}

/// The same beside designs in which it does not.
fn skewed(rows: &Rows, side: &str, printed: &[Printed]) -> Result<Content, Missing> {
    table(rows, &["two-sided", "message", "truly-one-sided", "default"], side, printed)
}

/// Ours, then what the paper prints.
fn table(rows: &Rows, names: &[&str], side: &str, printed: &[Printed]) -> Result<Content, Missing> {
    let cells = |line: &Line<'_>| {
        MATRICES.iter().map(|(n, _)| Ok(format!("{:.0}", line.at(*n)?))).collect::<Result<Vec<_>, Missing>>()
    };
    let ours = names
        .iter()
        .map(|name| Ok([format!("{name} (scc)")].into_iter().chain(cells(&rows.line(name, side)?)?).collect()));
    let ours = ours.collect::<Result<Vec<_>, Missing>>()?;
    let papers = printed.iter().map(|(name, times)| {
        [format!("paper: {name} (Clovertown)")].into_iter().chain(times.map(|time| time.to_string())).collect()
    });
    let header = ["Matrix size"].into_iter().chain(MATRICES.map(|(_, name)| name));
    Ok(Content::table(header, ours.into_iter().chain(papers).collect()))
}

#[cfg(test)]
mod tests;
