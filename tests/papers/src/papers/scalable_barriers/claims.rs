//! What is claimed of barriers: by the paper, and by us of our own.

use super::{
    barrier::{ASIC, FPGA, HIERARCHICAL, grown, measured, on_nodes},
    scaling::{node_sizes, of_size},
};
use crate::bench::{Claim, Finding, Fit, Line, Missing, On, Rows};

/// Cores of the SCC.
const CORES: u64 = 48;

/// By how much a default may be slower than another algorithm, in percent.
const SLOWER: f64 = 2.0;

/// Nodes from which on the engine at the master of the flat barrier is congested (section V.B).
const CONGESTED_NODES: u64 = 40;

/// Threads of the paper's Fig. 5.
const THREADS: u64 = 16;

/// All of them.
pub(crate) const ALL: &[Claim] = &[
    Claim {
        text: "48 cores: at least 10 times as fast as RCCE's linear barrier",
        on: On::Scc,
        check: |rows| Ok(Finding::at_least(on_scc(rows, "rcce-linear")? / on_scc(rows, "world")?, 10.0, "times")),
    },
    Claim {
        text: "48 cores: at most 0.6 of dissemination",
        on: On::Scc,
        check: |rows| Ok(Finding::at_most(on_scc(rows, "world")? / on_scc(rows, "dissemination")?, 0.6, "of it")),
    },
    Claim {
        text: "the barrier of all cores: not slower than any other but registers, on 2 to 48 cores",
        on: On::Scc,
        check: |rows| worst(rows, "world", ""),
    },
    Claim {
        text: "the default for groups: not slower than any other but registers, on 2 to 48 cores",
        on: On::Scc,
        check: |rows| worst(rows, "default", ""),
    },
    Claim {
        text: "the barrier of all cores against others, where accesses meet",
        on: On::Scc,
        check: |rows| Ok(Finding::reported(worst(rows, "world", "+contention")?.measured)),
    },
    Claim {
        text: "1024 cores in 64 nodes: at most 15 us (section V.B)",
        on: On::Scc,
        check: |rows| {
            let [paper, ours] = [HIERARCHICAL, "default"].map(|name| on_nodes(rows, name, FPGA, 64, 16));
            Ok(Finding::at_most(paper?.max(ours?), 15.0, "us"))
        },
    },
    Claim {
        text: "the paper's barrier on 8 nodes of 8 cores: as Eq. 2 says",
        on: On::Scc,
        check: |rows| Ok(Finding::within_percent(on_nodes(rows, HIERARCHICAL, FPGA, 8, 8)?, 6.4, 15.0, "us")),
    },
    Claim {
        text: "the paper's barrier on 64 nodes of a core: as Eq. 2 says",
        on: On::Scc,
        check: |rows| Ok(Finding::within_percent(on_nodes(rows, HIERARCHICAL, FPGA, 64, 1)?, 10.9, 15.0, "us")),
    },
    Claim {
        text: "the paper's barrier on 64 nodes of 16 cores: as Eq. 2 says",
        on: On::Scc,
        check: |rows| Ok(Finding::within_percent(on_nodes(rows, HIERARCHICAL, FPGA, 64, 16)?, 13.1, 15.0, "us")),
    },
    Claim { text: "extrapolated to the machines of section VI.C: as published", on: On::Scc, check: extrapolations },
    Claim { text: "the default on nodes: not slower than the paper's barriers", on: On::Scc, check: worst_on_nodes },
    Claim {
        text: "the central barrier of 16 threads through one engine (Fig. 5)",
        on: On::Scc,
        check: |rows| Ok(Finding::within_percent(on_nodes(rows, "central", FPGA, 1, THREADS)?, 94.0, 15.0, "us")),
    },
    Claim {
        text: "the same with an ASIC (section IV.C)",
        on: On::Scc,
        check: |rows| Ok(Finding::within_percent(on_nodes(rows, "central", ASIC, 1, THREADS)?, 43.0, 15.0, "us")),
    },
    Claim {
        text: "the central barrier writes a flag of each thread and the phase (Fig. 5)",
        on: On::Every,
        check: |rows| central_writes(rows),
    },
    Claim {
        text: "growth over 2 to 64 nodes, of one core up to 4096, is logarithmic: R2 for each node size (section VI.A)",
        on: On::Scc,
        check: |rows| determination(rows, Fit::logarithmic, 0.98),
    },
    Claim {
        text: "the same, were it linear (paper: about 0.88)",
        on: On::Scc,
        check: |rows| Ok(Finding::reported(determination(rows, Fit::linear, 0.0)?.measured)),
    },
    Claim {
        text: "the flat barrier grows faster beyond 40 nodes than below, at each node size (Fig. 8)",
        on: On::Scc,
        check: flat_growth,
    },
];

/// The latency on all cores of the SCC.
fn on_scc(rows: &Rows, algorithm: &str) -> Result<f64, Missing> {
    rows.line(algorithm, "latency")?.at(CORES)
}

/// How much more a default takes on the SCC than the fastest other algorithm, where that is most.
fn worst(rows: &Rows, default: &str, variant: &str) -> Result<Finding, Missing> {
    let line = rows.line(&format!("{default}{variant}"), "latency")?;
    let mut worst: Option<(f64, String)> = None;
    for (cores, latency) in line.points() {
        let (others, fastest) = fastest(rows, variant, cores).ok_or(Missing)?;
        let excess = 100.0 * (latency / fastest - 1.0);
        if worst.as_ref().is_none_or(|(most, _)| excess > *most) {
            worst = Some((excess, format!("{excess:+.1} % ({others}, {cores} cores)")));
        }
    }
    let (excess, measured) = worst.ok_or(Missing)?;
    Ok(Finding::new(measured, format!("<= {SLOWER} %"), excess <= SLOWER))
}

/// What no default can be: while a barrier of registers exists, nobody can lock anything, or allocate.
const EXCLUSIVE: &str = "registers";

/// The fastest algorithm with a name of its own on `cores` cores of the SCC, or a variant of it, with its latency.
pub(crate) fn fastest<'r>(rows: &'r Rows, variant: &str, cores: u64) -> Option<(&'r str, f64)> {
    let is_other = |name: &str| !["world", "default", EXCLUSIVE].contains(&name) && !name.contains('/');
    let rows = rows.iter().filter(|row| {
        let key = &row.key;
        (key.metric == "latency" && key.variant == variant && key.param == cores) && is_other(&key.algorithm)
    });
    let latencies = rows.map(|row| (row.key.algorithm.as_str(), row.quartiles.median));
    latencies.min_by(|(_, one), (_, other)| one.total_cmp(other))
}

/// How much more the default takes on nodes than the faster of the paper's barriers, where that is most.
fn worst_on_nodes(rows: &Rows) -> Result<Finding, Missing> {
    let mut worst: Option<(f64, String)> = None;
    for (nodes, cores, latency) in measured(rows, "default", FPGA)? {
        let others = [HIERARCHICAL, "flat"].map(|name| on_nodes(rows, name, FPGA, nodes, cores));
        let fastest = others.into_iter().flatten().reduce(f64::min).ok_or(Missing)?;
        let excess = 100.0 * (latency / fastest - 1.0);
        if worst.as_ref().is_none_or(|(most, _)| excess > *most) {
            worst = Some((excess, format!("{excess:+.1} % ({nodes} nodes of {cores})")));
        }
    }
    let (excess, measured) = worst.ok_or(Missing)?;
    Ok(Finding::new(measured, format!("<= {SLOWER} %"), excess <= SLOWER))
}

/// How far what our fit gives for the paper's machines is from what the paper prints, where that is most.
fn extrapolations(rows: &Rows) -> Result<Finding, Missing> {
    const PERCENT: f64 = 15.0;
    let [ours, printed] = ["ours", "printed"].map(|metric| rows.line(&format!("lookout@{FPGA}"), metric));
    let (ours, printed) = (ours?, printed?);
    let mut most: f64 = 0.0;
    for (nodes, time) in printed.points() {
        let off = 100.0 * (ours.at(nodes)? / time - 1.0);
        if off.abs() > most.abs() {
            most = off;
        }
    }
    Ok(Finding::new(format!("{most:+.1} % at most"), format!("+- {PERCENT} %"), most.abs() <= PERCENT))
}

/// Writes of the central barrier, for each number of threads.
fn central_writes(rows: &Rows) -> Result<Finding, Missing> {
    let line: Line<'_> = rows.line(&format!("central@{FPGA}"), "writes")?;
    let other = line.rows().find(|row| row.quartiles.median != row.key.ranks as f64 + 1.0);
    let measured = other.map_or_else(
        || "so for each number of threads".into(),
        |row| format!("{} of {} threads", row.quartiles.median, row.key.ranks),
    );
    Ok(Finding::new(measured, "threads + 1", other.is_none()))
}

/// The least coefficient of determination over node sizes.
fn determination(rows: &Rows, fit: impl Fn(Vec<(f64, f64)>) -> Option<Fit>, bound: f64) -> Result<Finding, Missing> {
    let grown = grown(rows, HIERARCHICAL)?;
    let fits = node_sizes(&grown).into_iter().map(|cores| {
        let fit = fit(of_size(&grown, cores).collect()).ok_or(Missing)?;
        Ok((cores, fit.r_squared))
    });
    let fits = fits.collect::<Result<Vec<_>, Missing>>()?;
    let least = fits.iter().map(|(_, found)| *found).reduce(f64::min).ok_or(Missing)?;
    let all: Vec<_> = fits.iter().map(|(cores, found)| format!("{found:.3} of {cores}")).collect();
    Ok(Finding::new(all.join(", "), format!("R2 >= {bound}"), least >= bound))
}

/// How much faster the flat barrier grows beyond the nodes from which on it is congested.
fn flat_growth(rows: &Rows) -> Result<Finding, Missing> {
    let flat = grown(rows, "flat")?;
    let mut parts = Vec::new();
    let mut holds = true;
    for cores in node_sizes(&flat) {
        let slope = |is_in: fn(u64) -> bool| {
            let points = flat.iter().filter(|(nodes, size, _)| *size == cores && is_in(*nodes));
            Fit::linear(points.map(|(nodes, _, time)| (*nodes as f64, *time))).map(|fit| fit.slope)
        };
        let below = slope(|nodes| nodes <= CONGESTED_NODES).ok_or(Missing)?;
        let beyond = slope(|nodes| nodes >= CONGESTED_NODES).ok_or(Missing)?;
        holds &= beyond > below;
        parts.push(format!("{below:.2} then {beyond:.2} of {cores}"));
    }
    if parts.is_empty() {
        return Err(Missing);
    }
    Ok(Finding::new(format!("{} us per node", parts.join(", ")), "more", holds))
}
