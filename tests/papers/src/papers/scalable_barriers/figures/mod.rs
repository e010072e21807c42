//! The paper's figures.
//!
//! Figures 1, 2 and 6 are drawings, and 4 has the parts of one load, which a price list does not know apart.

use super::{
    published::{CENTRAL, CENTRAL_WITH_ASIC, LOCAL, NODES, ON_8_OF_8, ON_64_OF_1, ON_64_OF_16, THREADS},
    scaling::{ENGINE, ENGINE_ASIC, FLAT, FPGA, Scaling, TREE, over_nodes},
};
use crate::{
    bench::{Fit, Missing, Row, Rows},
    figures::{
        curves::{LATENCY, curve, formula, plot},
        figure::{Axis, Content, Figure, Scale, Series, figure, linear},
    },
};

/// All of them.
pub(crate) const FIGURES: &[Figure] = &[
    figure("barriers-fig-3", "Fig. 3", "Unoptimised barrier: the central one in local memory and over the engine")
        .of("barrier-nodes", unoptimised)
        .note(
            "The paper's POSIX threads are no program of ours; 147.3 us are theirs. In local memory our master sees 32 \
             flags at a look. `two nodes` has half of the threads in another node than the data. That 94 us are of one \
             node's threads and engine is our reading of figure 5.",
        ),
    figure("barriers-fig-5", "Fig. 5", "Operations of a barrier and its latency, with an FPGA and with an ASIC")
        .of("barrier-nodes", operations)
        .note(
            "The central barrier in one node, over its engine. Reads depend on timing. The paper predicts the ASIC's \
             latency from the FPGA's reads.",
        ),
    figure("barriers-fig-7", "Fig. 7", "Small-scale barrier on two nodes, with coherent flags")
        .of("barrier-nodes", coherent)
        .note(
            "`coherent` has flags and phase in the master's node, where caches hold them (section V.A): the other node \
             sets flags there and polls the phase there. `with a phase in each node` is section V.B. No numbers in the \
             text.",
        ),
    figure("barriers-fig-8", "Fig. 8", "Optimised barrier over nodes: with one master, and in a tree")
        .of("barrier", optimised)
        .note(
            "The paper's barrier takes less than 15 us on 64 nodes of 16 threads, less than 6 us on 8 of 8, and 11 us on \
             64 of 1; 38 us on 64 and 20 us on 8 nodes are what it cites of others on InfiniBand. Its flat barrier is \
             congested from 40 nodes on. That number of nodes, and Eq. 2 on 8 nodes, are what our engine is fitted on.",
        ),
    figure("barriers-fig-9", "Fig. 9", "Trend lines over nodes, for each number of cores in a node")
        .of("barrier", trends)
        .note(
            "Thin lines: a ln(nodes) + b, on the left fitted on ours of 2 nodes and more, on the right the paper's Eq. 2. \
             The paper's coefficients of determination are 0.98 at least.",
        ),
    figure("barriers-fig-10", "Fig. 10", "Varying the number of threads of a node")
        .of("barrier", node_sizes)
        .note("Thin lines: the paper's Eq. 2, which is linear in cores."),
    figure("barriers-fig-11", "Fig. 11", "Extrapolation to 262144 nodes")
        .of("barrier", lookout)
        .note(
            "Thin lines: on the left Eq. 2 and the numbers that the paper makes of it (28, 35, 69 and 282 us), on the \
             right the same formula fitted on our measurements.",
        ),
    figure("barriers-fig-12", "Fig. 12", "FFT on global memory (uncachable)")
        .of("fft-nodes", |rows| {
        transform(rows, "uncached-random")
    })
        .note(FFT),
    figure("barriers-fig-13", "Fig. 13", "FFT on global memory (cachable)")
        .of("fft-nodes", |rows| {
        transform(rows, "cached-whole-random")
    })
        .note(FFT),
];

const FFT: &str = "65536 values, dealt out at random over the nodes that compute; in the paper always over 64, so \
    that its first points have remote accesses and ours have none. Cached memory is flushed as a whole at each \
    barrier, as by the paper's wbinvd. Thin lines: as fast as nodes are many, from two on. The paper: near the \
    optimum, less on 64 nodes, and nothing to be gained by more than 4 threads in a node, one load of each socket \
    being under way.";

/// The tree with flags and phase in the coherent memory of the master's node.
const COHERENT: &str = "tree-k31-pull@cluster-fpga";

/// Threads or cores of a node that figures 8 to 10 have here.
const SIZES: [u64; 4] = [1, 4, 8, 16];

const BY_THREADS: Axis = linear("threads");
const BY_NODES: Axis = linear("nodes");
const BY_MANY_NODES: Axis = Axis { label: "nodes", scale: Scale::Binary };

/// Medians of a metric in `nodes` nodes, by threads up to `most`.
fn by_threads(rows: &Rows, name: &str, metric: &str, nodes: u64, most: u64) -> Result<Vec<(f64, f64)>, Missing> {
    let is_in = |row: &Row| row.key.param == nodes && row.key.ranks <= most;
    curve(rows, name, metric, |row| is_in(row).then_some(row.key.ranks as f64))
}

fn unoptimised(rows: &Rows) -> Result<Content, Missing> {
    const LOCAL_MEMORY: &str = "local memory";
    const ONE_NODE: &str = "over the engine, one node";
    let of = |name, nodes| by_threads(rows, name, "latency", nodes, THREADS);
    let series = vec![
        Series::ours(LOCAL_MEMORY, of(COHERENT, 1)?),
        Series::ours(ONE_NODE, of(ENGINE, 1)?),
        Series::ours("over the engine, two nodes", of(ENGINE, 2)?),
        Series::published(LOCAL_MEMORY, [(16.0, LOCAL)]),
        Series::published(ONE_NODE, [(16.0, CENTRAL)]),
        Series::published("POSIX threads, local memory", [(16.0, 147.3)]),
    ];
    Ok(Content::Plots(vec![plot("", [BY_THREADS, LATENCY], series)]))
}

fn operations(rows: &Rows) -> Result<Content, Missing> {
    let of = |name, metric| by_threads(rows, name, metric, 1, THREADS);
    let latencies = vec![
        Series::ours("FPGA", of(ENGINE, "latency")?),
        Series::ours("ASIC", of(ENGINE_ASIC, "latency")?),
        Series::published("FPGA", [(16.0, CENTRAL)]),
        Series::published("ASIC", [(16.0, CENTRAL_WITH_ASIC)]),
    ];
    let writes = of(ENGINE, "writes")?;
    let flags_and_phase = writes.iter().map(|(threads, _)| (*threads, threads + 1.0)).collect::<Vec<_>>();
    let counts = vec![
        Series::ours("reads, FPGA", of(ENGINE, "reads")?),
        Series::ours("reads, ASIC", of(ENGINE_ASIC, "reads")?),
        Series::ours("writes", writes),
        Series::model("writes", flags_and_phase),
    ];
    Ok(Content::Plots(vec![
        plot("latency", [BY_THREADS, LATENCY], latencies),
        plot("reads and writes of all threads", [BY_THREADS, linear("operations of a barrier")], counts),
    ]))
}

fn coherent(rows: &Rows) -> Result<Content, Missing> {
    let of = |label: &str, name| Ok(Series::ours(label, by_threads(rows, name, "latency", 2, 2 * THREADS)?));
    let series = [of("over the engine", ENGINE), of("coherent", COHERENT), of("with a phase in each node", FLAT)];
    let series = series.into_iter().collect::<Result<_, Missing>>()?;
    Ok(Content::Plots(vec![plot("", [BY_THREADS, LATENCY], series)]))
}

fn optimised(rows: &Rows) -> Result<Content, Missing> {
    let up_to_64 = |name, cores| {
        let points = over_nodes(rows, name, cores)?.into_iter().filter(|(nodes, _)| *nodes <= NODES as f64);
        Ok(points.collect::<Vec<_>>())
    };
    let mut plots = Vec::new();
    for (title, name) in [("flat: one master", FLAT), ("tree: eight notifications at most", TREE)] {
        let of_size = |cores| Ok(Series::ours(threads(cores), up_to_64(name, cores)?));
        let mut series = SIZES.into_iter().map(of_size).collect::<Result<Vec<_>, Missing>>()?;
        if name == TREE {
            series.push(Series::published(threads(1), [(64.0, ON_64_OF_1)]));
            series.push(Series::published(threads(8), [(8.0, ON_8_OF_8)]));
            series.push(Series::published(threads(16), [(64.0, ON_64_OF_16)]));
            series.push(Series::published("InfiniBand, 8 threads [23]", [(8.0, 20.0)]));
            series.push(Series::published("InfiniBand, 1 thread [22]", [(64.0, 38.0)]));
        }
        plots.push(plot(title, [BY_NODES, LATENCY], series));
    }
    Ok(Content::Plots(plots))
}

fn threads(of_node: u64) -> String {
    if of_node == 1 { "1 thread".into() } else { format!("{of_node} threads") }
}

fn cores(of_node: u64) -> String {
    if of_node == 1 { "1 core".into() } else { format!("{of_node} cores") }
}

/// What a fit says of nodes from one number to another.
fn scaled(scaling: &Scaling, [from, to]: [u64; 2], cores: u64) -> Vec<(f64, f64)> {
    formula(from as f64, to as f64, |nodes| scaling.latency(nodes, cores as f64))
}

fn trends(rows: &Rows) -> Result<Content, Missing> {
    let (mut fitted, mut papers) = (Vec::new(), Vec::new());
    for size in SIZES {
        let points: Vec<_> = over_nodes(rows, TREE, size)?.into_iter().filter(|(nodes, _)| *nodes > 1.0).collect();
        let most = points.last().map_or(NODES, |(nodes, _)| *nodes as u64);
        let fit = Fit::logarithmic(points.iter().copied()).ok_or(Missing)?;
        let name = format!("{}, R² {:.3}", cores(size), fit.r_squared);
        fitted.push(Series::ours(&*name, points.clone()));
        fitted.push(Series::model(name, formula(2.0, most as f64, |nodes| fit.at(nodes.ln()))));
        papers.push(Series::ours(cores(size), points));
        papers.push(Series::model(cores(size), scaled(&Scaling::PAPER, [2, most], size)));
    }
    Ok(Content::Plots(vec![
        plot("fitted on ours", [BY_MANY_NODES, LATENCY], fitted),
        plot("Eq. 2 of the paper", [BY_MANY_NODES, LATENCY], papers),
    ]))
}

fn node_sizes(rows: &Rows) -> Result<Content, Missing> {
    let mut series = Vec::new();
    for nodes in [2, 8, 16, 32, NODES] {
        let points = by_threads(rows, TREE, "latency", nodes, u64::MAX)?;
        let points: Vec<_> = points.into_iter().map(|(ranks, time)| (ranks / nodes as f64, time)).collect();
        let name = format!("{nodes} nodes");
        let line = points.iter().map(|(cores, _)| (*cores, Scaling::PAPER.latency(nodes as f64, *cores)));
        let line = line.collect::<Vec<_>>();
        series.push(Series::ours(&*name, points));
        series.push(Series::model(name, line));
    }
    Ok(Content::Plots(vec![plot("", [linear("threads of a node"), LATENCY], series)]))
}

fn lookout(rows: &Rows) -> Result<Content, Missing> {
    /// Nodes of the largest machine, and cores in a node of those that the paper prints something of.
    const MOST: u64 = 1 << 18;
    const CORES: [u64; 4] = [16, 64, 256, 768];
    let printed = rows.line(&format!("lookout@{FPGA}"), "printed")?;
    let mut plots = Vec::new();
    for (title, scaling) in [("Eq. 2 of the paper", Scaling::PAPER), ("fitted on ours", Scaling::ours(rows)?)] {
        let mut series = Vec::new();
        for size in CORES {
            series.push(Series::model(cores(size), scaled(&scaling, [2, MOST], size)));
            let of_size = printed.rows().filter(|row| row.key.ranks == row.key.param * size);
            let points = of_size.map(|row| (row.key.param as f64, row.quartiles.median));
            series.push(Series::published(cores(size), points));
        }
        plots.push(plot(title, [BY_MANY_NODES, LATENCY], series));
    }
    Ok(Content::Plots(plots))
}

/// Times of a transform over nodes, for some numbers of threads in each.
fn transform(rows: &Rows, name: &str) -> Result<Content, Missing> {
    const TIME: Axis = Axis { label: "execution time (us)", scale: Scale::Decimal };
    let mut series = Vec::new();
    for of_node in [1, 2, 4, 8] {
        let is_in = |row: &Row| row.key.ranks == row.key.param * of_node;
        let times = curve(rows, &format!("{name}@{FPGA}"), "total", |row| is_in(row).then_some(row.key.param as f64))?;
        // On one node nothing is remote.
        let remote: Vec<_> = times.iter().copied().filter(|(nodes, _)| *nodes > 1.0).collect();
        let (first, least) = remote.first().copied().ok_or(Missing)?;
        let ideal = remote.into_iter().map(|(nodes, _)| (nodes, least * first / nodes)).collect::<Vec<_>>();
        series.push(Series::ours(threads(of_node), times));
        series.push(Series::model(threads(of_node), ideal));
    }
    Ok(Content::Plots(vec![plot("", [BY_MANY_NODES, TIME], series)]))
}

#[cfg(test)]
mod tests;
