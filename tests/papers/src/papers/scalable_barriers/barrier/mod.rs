//! Barriers: sections IV to VI.
//!
//! All algorithms on 2 to 48 cores of the SCC; on the paper's cluster its flat and its hierarchical barrier and the
//! default, over nodes and cores of each, up to 4096 nodes; its central barrier through one node's engine. In virtual
//! time barriers repeat each other exactly after the first ones: means of the paper's 10 000 are taken where they are
//! quickly there, on the SCC and on one node, and of fewer elsewhere.

use super::{
    claims, report,
    scaling::{FPGA, LOOKOUTS, Scaling, TREE, grown, node_sizes, of_size},
};
use crate::bench::{Bench, Fit, Key, Rows, Sweep, Unit};

/// Barriers of the SCC that take little time on the host.
const QUICK: &str = "algorithm=world,default,butterfly,dissemination,dissemination-2,dissemination-3,dissemination-7,\
    tournament,tree-k2-push,tree-k2-pull,tree-k4-push,tree-k4-pull,tree-k8-push,tree-k8-pull,tree-k47-pull,hierarchical";

/// The others.
const SLOW: &str =
    "algorithm=rcce-linear,central,central-push,locked-counter,registers,atomic-counters,flat,tree-k8-polled";

/// Barriers that are compared under contention.
const CONTENDED: &str =
    "algorithm=world,rcce-linear,dissemination,tree-k2-push,tree-k4-push,tree-k8-push,tree-k8-pull,tree-k47-pull";

/// Barriers on the emulated board, which keeps time.
const ON_BOARD: &str = "algorithm=world,dissemination,rcce-linear";

/// Barriers of groups and of late ranks.
const OF_GROUPS: &str = "algorithm=default,dissemination,rcce-linear";

/// The paper's own barrier.
const HIERARCHICAL: &str = "algorithm=hierarchical";

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
    about: "barriers by algorithm: on the SCC, on the cluster of the scalable-barriers paper (IV to VI), and its \
            extrapolation",
    // The longest ones come first.
    runs: &[
        Sweep("bench-barrier", &["machine=cluster-fpga:64x16", "algorithm=default,hierarchical", FEW]),
        Sweep("bench-barrier", &["machine=cluster-fpga:4096x1", HIERARCHICAL, VERY_FEW]),
        Sweep("bench-barrier", &["machine=cluster-fpga:{56|48|40}x16", PAPERS, FEW]),
        Sweep("bench-barrier", &["machine=cluster-fpga:{32x16|64x8}", ON_NODES, FEW]),
        Sweep("bench-barrier", &["machine=scc-board", ON_BOARD, "cores=48", "repetitions=20"]),
        Sweep("bench-barrier", &[SLOW, "cores={48|47|32|24|16|12|8|4|2}"]),
        Sweep("bench-barrier", &[QUICK, "cores={48|47|32|24|16|12|8|4|2}"]),
        Sweep("bench-barrier", &["cores=48", OF_GROUPS, "{group=half|group=odd|skew=5330}"]),
        Sweep("bench-barrier", &["cores={48|16|4}", "machine=+contention", CONTENDED, FEWER]),
        Sweep("bench-barrier", &["machine=cluster-fpga:{2048|1024}x1", HIERARCHICAL, VERY_FEW]),
        Sweep("bench-barrier", &["machine=cluster-fpga:{512|256|128}x1", HIERARCHICAL, FEW]),
        Sweep("bench-barrier", &["machine=cluster-fpga:24x16", PAPERS, FEW]),
        Sweep("bench-barrier", &["machine=cluster-fpga:{16|8|4|2}x16", ON_NODES, FEW]),
        Sweep("bench-barrier", &["machine=cluster-fpga:1x16", ON_NODES, FEWER]),
        Sweep("bench-barrier", &["machine=cluster-fpga:{56|48|40|24}x{8|4}", PAPERS, FEW]),
        Sweep("bench-barrier", &["machine=cluster-fpga:{32x8|16x8|64x4|32x4}", ON_NODES, FEW]),
        Sweep("bench-barrier", &["machine=cluster-fpga:{8|4|2|1}x8", ON_NODES, FEWER]),
        Sweep("bench-barrier", &["machine=cluster-fpga:{16|8|4|2|1}x4", ON_NODES, FEWER]),
        Sweep("bench-barrier", &["machine=cluster-fpga:{64|32|16|8|4|2}x1", ON_NODES, FEWER]),
        Sweep("bench-barrier", &["machine=cluster-fpga:{56|48|40|24}x1", PAPERS, FEWER]),
        Sweep("bench-barrier", &["machine=cluster-asic:64x16", HIERARCHICAL, FEW]),
        Sweep("bench-barrier", &["machine=cluster-asic:{64x1|8x8}", ON_NODES, FEW]),
        Sweep("bench-barrier", &["machine=cluster-fpga:1x{16|14|12|10|8|6|4|2}", CENTRAL]),
        Sweep("bench-barrier", &["machine=cluster-asic:1x{16|8|4|2}", CENTRAL]),
    ],
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
    runs: &[
        Sweep("bench-barrier", &["machine=cluster-fpga:2x{16|14|12|10|8|7|6|5|4|3|2|1}", COHERENT, FEWER]),
        Sweep("bench-barrier", &["machine=cluster-fpga:1x{16|14|12|10|8|6|4|2}", COHERENT, FEWER]),
        Sweep("bench-barrier", &["machine=cluster-asic:1x{16|14|12|10|8|6|4|2}", CENTRAL, FEWER]),
    ],
    ..Bench::PLAIN
};

/// A tree of one level is the central barrier with its flags and its phase in the MPB, here the coherent memory, of the
/// first rank.
const COHERENT: &str = "algorithm=central,tree-k31-pull,flat";

/// The paper's listing of section IV.A.
const CENTRAL: &str = "algorithm=central";

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
    let Ok(grown) = grown(rows, TREE) else { return };
    let mut known = Vec::new();
    for cores in node_sizes(&grown) {
        let fits = Fit::logarithmic(of_size(&grown, cores)).zip(Fit::linear(of_size(&grown, cores)));
        let Some((curve, line)) = fits else { continue };
        let key = |metric, unit| key("fit", 0, cores, metric, unit);
        known.push((key("per-ln-node", Unit::Microseconds), curve.slope));
        known.push((key("offset", Unit::Microseconds), curve.intercept));
        known.push((key("r2-logarithmic", Unit::Fraction), curve.r_squared));
        known.push((key("r2-linear", Unit::Fraction), line.r_squared));
    }
    if let Ok(ours) = Scaling::ours(rows) {
        for (name, Scaling { growth, offset }) in [("fit", ours), ("fit-eq2", Scaling::PAPER)] {
            let coefficients = [
                ("per-ln-node-and-core", growth.slope),
                ("per-ln-node", growth.intercept),
                ("per-core", offset.slope),
                ("offset", offset.intercept),
            ];
            known.extend(coefficients.map(|(metric, value)| (key(name, 0, 0, metric, Unit::Microseconds), value)));
        }
        for lookout in &LOOKOUTS {
            let ranks = lookout.nodes * lookout.cores_per_node;
            let key = |metric| key("lookout", ranks, lookout.nodes, metric, Unit::Microseconds);
            known.push((key("ours"), lookout.by(&ours)));
            known.push((key("eq2"), lookout.by(&Scaling::PAPER)));
            known.extend(lookout.printed.map(|printed| (key("printed"), printed)));
        }
    }
    rows.add_known(known);
}

#[cfg(test)]
mod tests;
