//! What the screen shows of barriers: tables to read instead of rows.

use super::{
    claims::fastest,
    published::NODES,
    scaling::{DEFAULT, FLAT, FPGA, LOOKOUTS, Scaling, TREE, measured, node_sizes},
};
use crate::bench::{BOARD, Missing, Row, Rows, table};

/// All tables that anything was measured for.
pub(crate) fn all(rows: &Rows) -> String {
    let tables = [
        Ok(scc(rows, "")),
        Ok(scc(rows, "+contention")),
        Ok(scc(rows, BOARD)),
        choices(rows),
        groups(rows),
        nodes(rows),
        central(rows),
        fits(rows),
        lookouts(rows),
    ];
    let tables: Vec<_> = tables.into_iter().flatten().filter(|table| !table.is_empty()).collect();
    tables.join("\n\n")
}

/// The distinct values of something over rows, ascending.
fn distinct<'r>(rows: impl Iterator<Item = &'r Row>, of: fn(&Row) -> u64) -> Vec<u64> {
    let mut values: Vec<_> = rows.map(of).collect();
    values.sort_unstable();
    values.dedup();
    values
}

/// A table with a title, of which there are any lines.
fn titled(title: &str, header: &[impl ToString], lines: Vec<Vec<String>>) -> String {
    if lines.is_empty() { String::new() } else { format!("{title}\n{}", table::grid(header, lines)) }
}

fn us(value: f64) -> String {
    format!("{value:.3}")
}

/// Algorithms by cores of the SCC, the fastest on most cores first.
fn scc(rows: &Rows, variant: &str) -> String {
    let is_here =
        |row: &&Row| row.key.metric == "latency" && row.key.variant == variant && row.key.ranks == row.key.param;
    let cores = distinct(rows.iter().filter(is_here), |row| row.key.ranks);
    let mut names: Vec<&str> = Vec::new();
    for row in rows.iter().filter(is_here) {
        if !names.contains(&row.key.algorithm.as_str()) {
            names.push(&row.key.algorithm);
        }
    }
    let at = |name: &str, cores: u64| {
        let row = rows.iter().filter(is_here).find(|row| row.key.algorithm == name && row.key.ranks == cores);
        row.map(|row| row.quartiles.median)
    };
    let most = cores.last().copied().unwrap_or_default();
    names.sort_by(|one, other| {
        let [one, other] = [one, other].map(|name| at(name, most).unwrap_or(f64::INFINITY));
        one.total_cmp(&other)
    });
    let lines = names.iter().map(|name| {
        let cells = cores.iter().map(|cores| at(name, *cores).map_or_else(|| "-".into(), us));
        [(*name).to_owned()].into_iter().chain(cells).collect()
    });
    let header: Vec<_> = [format!("cores{variant}")].into_iter().chain(cores.iter().map(u64::to_string)).collect();
    titled("latency (us) by cores", &header, lines.collect())
}

/// What the default is, and takes, beside the fastest algorithm with a name of its own.
fn choices(rows: &Rows) -> Result<String, Missing> {
    let header = ["cores", "default", "of all (us)", "of a group (us)", "fastest", "(us)"];
    let (world, default) = (rows.line("world", "latency")?, rows.line("default", "latency")?);
    let lines = world.points().map(|(cores, latency)| {
        let (name, other) = fastest(rows, "", cores).ok_or(Missing)?;
        let chosen = chosen(rows, "world", cores, cores);
        Ok(vec![cores.to_string(), chosen, us(latency), us(default.at(cores)?), name.to_owned(), us(other)])
    });
    let lines = lines.collect::<Result<Vec<_>, Missing>>()?;
    let scc = titled("what the default is, and the fastest algorithm by name", &header, lines);
    let header = ["nodes", "cores per node", "default"];
    let mut on_nodes = measured(rows, DEFAULT).unwrap_or_default();
    on_nodes.sort_by_key(|(nodes, cores, _)| (*cores, *nodes));
    let on_nodes = on_nodes.into_iter().map(|(nodes, cores, _)| {
        vec![nodes.to_string(), cores.to_string(), chosen(rows, DEFAULT, nodes * cores, nodes)]
    });
    Ok(format!("{scc}\n\n{}", titled("what the default is on nodes, FPGA", &header, on_nodes.collect()))
        .trim_end()
        .to_owned())
}

/// The name of the barrier that a default has chosen, on `ranks` ranks in `domains` coherence domains.
fn chosen(rows: &Rows, name: &str, ranks: u64, domains: u64) -> String {
    let is_here = |row: &&Row| row.key.name() == name && (row.key.ranks, row.key.param) == (ranks, domains);
    let chosen = rows.iter().filter(is_here).find_map(|row| row.key.metric.strip_prefix("chosen:"));
    chosen.unwrap_or("-").to_owned()
}

/// Barriers of some ranks and of late ones, from the last arrival to the last departure.
fn groups(rows: &Rows) -> Result<String, Missing> {
    let header = ["barrier", "members", "q1 (us)", "median", "q3"];
    let rows = rows.iter().filter(|row| row.key.metric == "last-to-last" && row.key.algorithm.contains('/'));
    let lines = rows.map(|row| {
        let quartiles = &row.quartiles;
        vec![
            row.key.algorithm.clone(),
            row.key.param.to_string(),
            us(quartiles.q1),
            us(quartiles.median),
            us(quartiles.q3),
        ]
    });
    Ok(titled("from the last arrival to the last departure", &header, lines.collect()))
}

/// Barriers by nodes and cores of each.
fn nodes(rows: &Rows) -> Result<String, Missing> {
    let all = measured(rows, TREE)?;
    let sizes = node_sizes(&all);
    let mut counts: Vec<_> = all.iter().map(|(nodes, _, _)| *nodes).collect();
    counts.sort_unstable();
    counts.dedup();
    let mut columns = Vec::new();
    for name in [DEFAULT, TREE, FLAT] {
        let found = measured(rows, name).unwrap_or_default();
        let name = name.split('@').next().unwrap_or_default();
        columns.extend(sizes.iter().map(|size| (format!("{name} x{size}"), *size, found.clone())));
    }
    let lines = counts.iter().map(|count| {
        let cells = columns.iter().map(|(_, size, found)| {
            let time = found.iter().find(|(nodes, cores, _)| (nodes, cores) == (count, size));
            time.map_or_else(|| "-".into(), |(_, _, time)| format!("{time:.2}"))
        });
        [count.to_string()].into_iter().chain(cells).collect()
    });
    let header: Vec<_> =
        ["nodes".to_owned()].into_iter().chain(columns.iter().map(|(title, _, _)| title.clone())).collect();
    Ok(titled("latency (us) by nodes and their cores, FPGA (Fig. 8)", &header, lines.collect()))
}

/// The central barrier through one engine.
fn central(rows: &Rows) -> Result<String, Missing> {
    let header = ["threads", "machine", "reads", "writes", "latency (us)"];
    let is_here = |row: &&Row| row.key.algorithm == "central" && row.key.variant.starts_with('@');
    let of = |like: &Row, metric: &str| {
        let mut rows = rows.iter().filter(is_here);
        let is_it = |row: &&Row| row.key.variant == like.key.variant && row.key.ranks == like.key.ranks;
        let row = rows.find(|row| row.key.metric == metric && is_it(row));
        row.map_or_else(|| "-".into(), |row| format!("{}", row.quartiles.median))
    };
    let latencies = rows.iter().filter(is_here).filter(|row| row.key.metric == "latency");
    let lines = latencies.map(|row| {
        let machine = row.key.variant.trim_start_matches('@').to_owned();
        vec![row.key.ranks.to_string(), machine, of(row, "reads"), of(row, "writes"), us(row.quartiles.median)]
    });
    Ok(titled(
        "the central barrier of one node through its own engine: all reads and writes (Fig. 5)",
        &header,
        lines.collect(),
    ))
}

/// Coefficients for each node size.
fn fits(rows: &Rows) -> Result<String, Missing> {
    let header = ["cores per node", "a (us)", "b (us)", "R2, a ln(nodes) + b", "R2, linear"];
    let of = |metric: &str| rows.line(&format!("fit@{FPGA}"), metric);
    let (a, b, curve, line) = (of("per-ln-node")?, of("offset")?, of("r2-logarithmic")?, of("r2-linear")?);
    let sizes = a.points().filter(|(cores, _)| *cores > 0);
    let lines = sizes.map(|(cores, slope)| {
        let numbers = [slope, b.at(cores)?, curve.at(cores)?, line.at(cores)?];
        Ok([cores.to_string()].into_iter().chain(numbers.map(|number| format!("{number:.4}"))).collect())
    });
    let lines = lines.collect::<Result<Vec<_>, Missing>>()?;
    let fits = titled("growth of the hierarchical barrier over nodes (Fig. 9)", &header, lines);
    let ours =
        Scaling::ours(rows).map_or_else(|_| String::new(), |ours| format!("\nours, up to {NODES} nodes: {ours}"));
    Ok(format!("{fits}{ours}\nEq. 2: {}", Scaling::PAPER))
}

/// The extrapolations of section VI.C.
fn lookouts(rows: &Rows) -> Result<String, Missing> {
    let ours = Scaling::ours(rows)?;
    let header = ["machine", "nodes", "cores per node", "ours (us)", "Eq. 2", "printed"];
    let lines = LOOKOUTS.iter().map(|lookout| {
        let predicted = [ours, Scaling::PAPER].map(|scaling| format!("{:.1}", lookout.by(&scaling)));
        let printed = lookout.printed.map_or_else(|| "-".into(), |printed| format!("{printed}"));
        let sizes = [lookout.name.to_owned(), lookout.nodes.to_string(), lookout.cores_per_node.to_string()];
        sizes.into_iter().chain(predicted).chain([printed]).collect()
    });
    Ok(titled("extrapolation (Fig. 11)", &header, lines.collect()))
}
