//! Barriers: Fröning, Giese, Montaner, Silla and Duato, *Highly Scalable Barriers for Future High-Performance Computing
//! Clusters*, sections IV to VI.
//!
//! All algorithms on 2 to 48 cores of the SCC; on the paper's cluster its flat and its hierarchical barrier and the
//! default, over nodes and cores of each, up to 4096 nodes; its central barrier through one node's engine. In virtual
//! time barriers repeat each other exactly after the first ones: means of the paper's 10 000 are taken where they are
//! quickly there, on the SCC and on one node, and of fewer elsewhere.

use super::{
    claims, report,
    scaling::{self, LOOKOUTS, Measured, Scaling, node_sizes, of_size},
};
use crate::bench::{Bench, Fit, Key, Missing, Rows, Run, Unit};

/// One run for each list of words.
macro_rules! runs {
    ($([$($word:expr),+])+) => { &[$(Run { program: "bench-barrier", words: &[$($word),+] },)+] };
}

/// Barriers of the SCC that take little time on the host.
const QUICK: &str = "algorithm=world,default,butterfly,dissemination,dissemination-2,dissemination-3,dissemination-7,\
    tournament,tree-k2-push,tree-k2-pull,tree-k4-push,tree-k4-pull,tree-k8-push,tree-k8-pull,tree-k47-pull,hierarchical";

/// The others.
const SLOW: &str =
    "algorithm=rcce-linear,central,central-push,locked-counter,registers,atomic-counters,flat,tree-k8-polled";

/// Barriers that are compared under contention.
const CONTENDED: &str =
    "algorithm=world,rcce-linear,dissemination,tree-k2-push,tree-k4-push,tree-k8-push,tree-k8-pull,tree-k47-pull";

/// Barriers of groups and of late ranks.
const OF_GROUPS: &str = "algorithm=default,dissemination,rcce-linear";

/// The paper's barriers.
const PAPERS: &str = "algorithm=hierarchical,flat";

/// Barriers for machines of several nodes, and the default.
const ON_NODES: &str = "algorithm=default,hierarchical,flat";

/// What suffices where the simulator is not quick.
const FEWER: &str = "repetitions=1000";

/// What suffices on hundreds of cores.
const FEW: &str = "repetitions=100";

/// What suffices on thousands.
const VERY_FEW: &str = "repetitions=20";

/// Latencies over cores, nodes and cores of nodes.
pub(crate) const BARRIER: Bench = Bench {
    name: "barrier",
    about: "barriers by algorithm: on the SCC, on the cluster of the scalable-barriers paper (IV to VI), and its extrapolation",
    // The longest ones come first.
    runs: runs!(
        ["machine=cluster-fpga:64x16", "algorithm=default,hierarchical", FEW]
        ["machine=cluster-fpga:4096x1", "algorithm=hierarchical", VERY_FEW]
        ["machine=cluster-fpga:56x16", PAPERS, FEW]
        ["machine=cluster-fpga:48x16", PAPERS, FEW]
        ["machine=cluster-fpga:40x16", PAPERS, FEW]
        ["machine=cluster-fpga:32x16", ON_NODES, FEW]
        ["machine=cluster-fpga:64x8", ON_NODES, FEW]
        ["cores=48", SLOW] ["cores=47", SLOW] ["cores=32", SLOW] ["cores=24", SLOW] ["cores=16", SLOW]
        ["cores=12", SLOW] ["cores=8", SLOW] ["cores=4", SLOW] ["cores=2", SLOW]
        ["cores=48", QUICK] ["cores=47", QUICK] ["cores=32", QUICK] ["cores=24", QUICK] ["cores=16", QUICK]
        ["cores=12", QUICK] ["cores=8", QUICK] ["cores=4", QUICK] ["cores=2", QUICK]
        ["cores=48", OF_GROUPS, "group=half"] ["cores=48", OF_GROUPS, "group=odd"]
        ["cores=48", OF_GROUPS, "skew=5330"]
        ["cores=48", "machine=+contention", CONTENDED, FEWER] ["cores=16", "machine=+contention", CONTENDED, FEWER]
        ["cores=4", "machine=+contention", CONTENDED, FEWER]
        ["machine=cluster-fpga:2048x1", "algorithm=hierarchical", VERY_FEW]
        ["machine=cluster-fpga:1024x1", "algorithm=hierarchical", VERY_FEW]
        ["machine=cluster-fpga:512x1", "algorithm=hierarchical", FEW]
        ["machine=cluster-fpga:256x1", "algorithm=hierarchical", FEW]
        ["machine=cluster-fpga:128x1", "algorithm=hierarchical", FEW]
        ["machine=cluster-fpga:24x16", PAPERS, FEW] ["machine=cluster-fpga:16x16", ON_NODES, FEW]
        ["machine=cluster-fpga:8x16", ON_NODES, FEW] ["machine=cluster-fpga:4x16", ON_NODES, FEW]
        ["machine=cluster-fpga:2x16", ON_NODES, FEW] ["machine=cluster-fpga:1x16", ON_NODES, FEWER]
        ["machine=cluster-fpga:56x8", PAPERS, FEW] ["machine=cluster-fpga:48x8", PAPERS, FEW]
        ["machine=cluster-fpga:40x8", PAPERS, FEW] ["machine=cluster-fpga:32x8", ON_NODES, FEW]
        ["machine=cluster-fpga:24x8", PAPERS, FEW] ["machine=cluster-fpga:16x8", ON_NODES, FEW]
        ["machine=cluster-fpga:8x8", ON_NODES, FEWER] ["machine=cluster-fpga:4x8", ON_NODES, FEWER]
        ["machine=cluster-fpga:2x8", ON_NODES, FEWER] ["machine=cluster-fpga:1x8", ON_NODES, FEWER]
        ["machine=cluster-fpga:64x4", ON_NODES, FEW] ["machine=cluster-fpga:56x4", PAPERS, FEW]
        ["machine=cluster-fpga:48x4", PAPERS, FEW] ["machine=cluster-fpga:40x4", PAPERS, FEW]
        ["machine=cluster-fpga:32x4", ON_NODES, FEW] ["machine=cluster-fpga:24x4", PAPERS, FEW]
        ["machine=cluster-fpga:16x4", ON_NODES, FEWER] ["machine=cluster-fpga:8x4", ON_NODES, FEWER]
        ["machine=cluster-fpga:4x4", ON_NODES, FEWER] ["machine=cluster-fpga:2x4", ON_NODES, FEWER]
        ["machine=cluster-fpga:1x4", ON_NODES, FEWER]
        ["machine=cluster-fpga:64x1", ON_NODES, FEWER] ["machine=cluster-fpga:56x1", PAPERS, FEWER]
        ["machine=cluster-fpga:48x1", PAPERS, FEWER] ["machine=cluster-fpga:40x1", PAPERS, FEWER]
        ["machine=cluster-fpga:32x1", ON_NODES, FEWER] ["machine=cluster-fpga:24x1", PAPERS, FEWER]
        ["machine=cluster-fpga:16x1", ON_NODES, FEWER] ["machine=cluster-fpga:8x1", ON_NODES, FEWER]
        ["machine=cluster-fpga:4x1", ON_NODES, FEWER] ["machine=cluster-fpga:2x1", ON_NODES, FEWER]
        ["machine=cluster-asic:64x16", "algorithm=hierarchical", FEW]
        ["machine=cluster-asic:64x1", ON_NODES, FEW] ["machine=cluster-asic:8x8", ON_NODES, FEW]
        ["machine=cluster-fpga:1x16", CENTRAL] ["machine=cluster-fpga:1x14", CENTRAL]
        ["machine=cluster-fpga:1x12", CENTRAL] ["machine=cluster-fpga:1x10", CENTRAL]
        ["machine=cluster-fpga:1x8", CENTRAL] ["machine=cluster-fpga:1x6", CENTRAL]
        ["machine=cluster-fpga:1x4", CENTRAL] ["machine=cluster-fpga:1x2", CENTRAL]
        ["machine=cluster-asic:1x16", CENTRAL] ["machine=cluster-asic:1x8", CENTRAL]
        ["machine=cluster-asic:1x4", CENTRAL] ["machine=cluster-asic:1x2", CENTRAL]
    ),
    report: Some(report::all),
    derive: add_fits,
    claims: claims::ALL,
    ..Bench::PLAIN
};

/// The central barrier, where all polls go over an engine; where flags and phase are in the memory of the first node,
/// coherent there (section V.A); and with the phase in every node (V.B). One node and two.
pub(crate) const BARRIER_NODES: Bench = Bench {
    name: "barrier-nodes",
    about: "the central barrier on one and two nodes, over the engine and coherent (barriers paper, figures 3 to 7)",
    runs: runs!(
        ["machine=cluster-fpga:2x16", COHERENT, FEWER] ["machine=cluster-fpga:2x14", COHERENT, FEWER]
        ["machine=cluster-fpga:2x12", COHERENT, FEWER] ["machine=cluster-fpga:2x10", COHERENT, FEWER]
        ["machine=cluster-fpga:2x8", COHERENT, FEWER] ["machine=cluster-fpga:2x7", COHERENT, FEWER]
        ["machine=cluster-fpga:2x6", COHERENT, FEWER] ["machine=cluster-fpga:2x5", COHERENT, FEWER]
        ["machine=cluster-fpga:2x4", COHERENT, FEWER] ["machine=cluster-fpga:2x3", COHERENT, FEWER]
        ["machine=cluster-fpga:2x2", COHERENT, FEWER] ["machine=cluster-fpga:2x1", COHERENT, FEWER]
        ["machine=cluster-fpga:1x16", COHERENT, FEWER] ["machine=cluster-fpga:1x14", COHERENT, FEWER]
        ["machine=cluster-fpga:1x12", COHERENT, FEWER] ["machine=cluster-fpga:1x10", COHERENT, FEWER]
        ["machine=cluster-fpga:1x8", COHERENT, FEWER] ["machine=cluster-fpga:1x6", COHERENT, FEWER]
        ["machine=cluster-fpga:1x4", COHERENT, FEWER] ["machine=cluster-fpga:1x2", COHERENT, FEWER]
        ["machine=cluster-asic:1x16", CENTRAL, FEWER] ["machine=cluster-asic:1x14", CENTRAL, FEWER]
        ["machine=cluster-asic:1x12", CENTRAL, FEWER] ["machine=cluster-asic:1x10", CENTRAL, FEWER]
        ["machine=cluster-asic:1x8", CENTRAL, FEWER] ["machine=cluster-asic:1x6", CENTRAL, FEWER]
        ["machine=cluster-asic:1x4", CENTRAL, FEWER] ["machine=cluster-asic:1x2", CENTRAL, FEWER]
    ),
    ..Bench::PLAIN
};

/// A tree of one level is the central barrier with its flags and its phase in the MPB, here the coherent memory, of the
/// first rank.
const COHERENT: &str = "algorithm=central,tree-k31-pull,flat";

/// The paper's listing of section IV.A.
const CENTRAL: &str = "algorithm=central";

/// The family of machines with the paper's FPGA.
pub(crate) const FPGA: &str = "cluster-fpga";

/// The family with the ASIC that it predicts.
pub(crate) const ASIC: &str = "cluster-asic";

/// The paper's own barrier.
pub(crate) const HIERARCHICAL: &str = "hierarchical";

/// Nodes of the paper's cluster: what is measured up to it is fitted, and extrapolated beyond, as in the paper.
pub(crate) const PAPERS_NODES: u64 = 64;

/// What was measured of an algorithm on a family of clusters, over nodes and cores of each.
pub(crate) fn measured(rows: &Rows, algorithm: &str, family: &str) -> Result<Vec<Measured>, Missing> {
    scaling::measured(rows, &format!("{algorithm}@{family}"))
}

/// The latency on `nodes` nodes of `cores` cores.
pub(crate) fn on_nodes(rows: &Rows, algorithm: &str, family: &str, nodes: u64, cores: u64) -> Result<f64, Missing> {
    let measured = measured(rows, algorithm, family)?;
    measured.iter().find(|found| (found.0, found.1) == (nodes, cores)).map(|found| found.2).ok_or(Missing)
}

/// What growth is fitted to: two nodes and more, so that something crosses the network.
pub(crate) fn grown(rows: &Rows, algorithm: &str) -> Result<Vec<Measured>, Missing> {
    Ok(measured(rows, algorithm, FPGA)?.into_iter().filter(|(nodes, _, _)| *nodes > 1).collect())
}

/// Our Eq. 2: the paper's fit of what its barrier takes on nodes as it had them.
pub(crate) fn scaling(rows: &Rows) -> Result<Scaling, Missing> {
    let papers: Vec<_> =
        grown(rows, HIERARCHICAL)?.into_iter().filter(|(nodes, _, _)| *nodes <= PAPERS_NODES).collect();
    Scaling::of(&papers).ok_or(Missing)
}

/// Adds rows for fits and predictions. They are of no number of nodes that was measured, so they are none of a barrier:
/// `fit` has the coefficients for each number of cores in a node, which is its parameter, and with parameter 0 those
/// of Eq. 2; `lookout` has predictions, by numbers of nodes.
fn add_fits(rows: &mut Rows) {
    let key = |algorithm: &str, ranks: u64, param: u64, metric: &str, unit: Unit| Key {
        algorithm: algorithm.into(),
        variant: format!("@{FPGA}"),
        ranks,
        param,
        bytes: 0,
        metric: metric.into(),
        unit,
    };
    let Ok(grown) = grown(rows, HIERARCHICAL) else { return };
    let mut known = Vec::new();
    for cores in node_sizes(&grown) {
        let curve = Fit::logarithmic(of_size(&grown, cores));
        let line = Fit::linear(of_size(&grown, cores));
        let (Some(curve), Some(line)) = (curve, line) else { continue };
        known.push((key("fit", 0, cores, "per-ln-node", Unit::Microseconds), curve.slope));
        known.push((key("fit", 0, cores, "offset", Unit::Microseconds), curve.intercept));
        known.push((key("fit", 0, cores, "r2-logarithmic", Unit::Fraction), curve.r_squared));
        known.push((key("fit", 0, cores, "r2-linear", Unit::Fraction), line.r_squared));
    }
    if let Ok(ours) = scaling(rows) {
        for (name, Scaling { growth, offset }) in [("fit", ours), ("fit-eq2", Scaling::PAPER)] {
            let coefficients = [
                ("per-ln-node-and-core", growth.slope),
                ("per-ln-node", growth.intercept),
                ("per-core", offset.slope),
                ("offset", offset.intercept),
            ];
            for (metric, value) in coefficients {
                known.push((key(name, 0, 0, metric, Unit::Microseconds), value));
            }
        }
        for lookout in &LOOKOUTS {
            let (nodes, cores) = (lookout.nodes as f64, lookout.cores_per_node as f64);
            let key = |metric| {
                key("lookout", lookout.nodes * lookout.cores_per_node, lookout.nodes, metric, Unit::Microseconds)
            };
            known.push((key("ours"), ours.latency(nodes, cores)));
            known.push((key("eq2"), Scaling::PAPER.latency(nodes, cores)));
            known.extend(lookout.printed.map(|printed| (key("printed"), printed)));
        }
    }
    known.into_iter().for_each(|(key, value)| rows.add_known(key, value));
}

#[cfg(test)]
#[path = "barrier_tests.rs"]
mod tests;
